#!/bin/sh
# bench/primitives on the cpu device, with tiny sizes and without rivals: its table, its JSON, sweeps, and
# that it finds what is wrong.
. "$(dirname "$0")/../examples/common.sh"
primitives="${BENCH:-$SOURCE/build/bench}/primitives --device cpu --tiny"
spoiled="${SPOILED_BENCH:-$SOURCE/build/tests/spoiled_bench}/judges/primitives --device cpu --tiny"

begin 'the options'
exits 0 $primitives --help
prints 'usage: primitives'
for bad in '--colour blue' '--size' '--size 0' '--size 4x4' '--log2 34' '--log2 4,' '--repeats 0' '--scale none' \
    '--timing never' '--only nothing' '--kind keys --only scan' '--schedules none' 'extra'; do
    exits 2 $primitives $bad
    [ ! -s out ] || flunk "$bad: it printed $(cat out)"
done
exits 4 $primitives --device abacus
says "unknown device 'abacus'"

begin 'a JSON file that cannot be written is said before the work, and one that can keeps what it holds'
exits 3 $primitives --only reduce --json none/all.json
says 'none/all.json'
[ ! -s out ] || flunk "it printed $(cat out)"
echo before >old.txt
exits 4 $primitives --only reduce --device abacus --json old.txt
[ "$(cat old.txt)" = before ] || flunk 'the old file is gone'

begin 'lists are right'
exits 0 $primitives --only reduce,scan,merge --kind sum,exclusive,pairs --dtype int32 --json lists.json
prints '0 wrong, 0 failed, 0 refused, 0 left out'
[ "$(grep -c '"state": "right"' lists.json)" = 40 ] || flunk "not 40 right figures: $(cat out)"
exits 0 $primitives --only reduce,scan --kind sum,inclusive --dtype float --size 99991 --json reals.json
prints '0 wrong, 0 failed, 0 refused, 0 left out'
exits 0 $primitives --only reduce,scan --dtype half,bfloat16 --timing stream --json short.json
prints '0 wrong, 0 failed, 0 refused, 0 left out'
[ "$(grep -c '"state": "right"' short.json)" = 24 ] || flunk "not 24 right figures: $(cat out)"

begin 'shares are taken of the fastest copy of the run'
grep -q '^copies of 1 MB, GB/s: driver [0-9]*; streamed kernel [0-9]*; naive kernel [0-9]*$' out || flunk "$(cat out)"
awk -F'"copy_bytes": ' '
    /"copies"/ { for (i = 2; i <= NF; i++) if ($i + 0 > most) most = $i + 0; next }
    /"state": "right"/ { rows++; if ($2 + 0 < 0.999999 * most) slower++ }
    END { exit !(most > 0 && rows > 0 && slower == 0) }' reals.json || flunk "a share of less: $(cat reals.json)"
[ "$(grep -c '"copied_by": "[dsn]' reals.json)" = "$(grep -c '"state"' reals.json)" ] || flunk "$(cat reals.json)"

begin 'products and convolutions are right'
exits 0 $primitives --only spmv --data zipf,poisson3d --dtype float --formats csr,sell --json spmv.json
prints 'conversion'
prints '0 wrong, 0 failed, 0 refused, 0 left out'
grep -q '"method": "auto", "schedule": null, "plan": "stencil' spmv.json || flunk "auto saw no stencil: $(cat out)"
exits 0 $primitives --only convolution --data 5x5 --timing stream --json convolution.json
prints '2 passes'
prints '0 wrong, 0 failed, 0 refused, 0 left out'
grep -q '"timing": "flushed"' convolution.json && flunk 'it timed what was not asked for'

begin 'every matrix is what it says'
exits 0 $primitives --only spmv --dtype float --formats none --json matrices.json
prints '0 wrong, 0 failed, 0 refused, 0 left out'
for data in poisson2d poisson3d random16 zipf banded blocked short long mesh mixed mesh3 mesh5 rmat circuit; do
    grep -q "\"data\": \"$data\"" matrices.json || flunk "no $data: $(cat out)"
done

begin 'a sweep says how far auto is behind the best'
printf '# two\nkogge-stone\n\nlook-back items=9 # the other\nlook-back items=-1\n' >three.schedules
exits 1 $primitives --only scan --kind exclusive --dtype int32 --log2 12 --schedules three.schedules --json sweep.json
prints 'look-back threads=256 items=9'
prints '% behind'
prints 'FAILED: look-back items=-1'
[ "$(grep -c '"of_best": 1,' sweep.json)" = 2 ] || flunk "no best one: $(cat sweep.json)"

begin 'what is wrong is found'
for part in reduce scan merge spmv convolution; do
    exits 1 $spoiled --only $part --kind sum,exclusive,pairs,product,general --dtype int32,float \
        --data random,poisson3d,5x5 --formats none --json wrong.json
    prints 'WRONG'
    grep -q '"state": "wrong"' wrong.json || flunk "$part: $(cat wrong.json)"
    case $part in
    scan | merge) ;; # lists of one element, or of one piece of the check's, have nothing wrong
    *) ! grep -q '"state": "right"' wrong.json || flunk "$part: $(cat wrong.json)" ;;
    esac
done

begin 'a budget ends it in good order'
exits 0 $primitives --only spmv --budget 1 --threads 1 --json budget.json
prints 'left out'

begin 'the JSON'
if has python3; then
    for file in lists reals spmv convolution matrices sweep wrong budget; do
        python3 -m json.tool <$file.json >parsed || flunk "$file is not JSON: $(cat $file.json)"
    done
fi
finish
