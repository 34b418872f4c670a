#!/bin/sh
# bench/stencils on the cpu device, with tiny grids: every part of its table, its JSON, sweeps, and that
# it finds what is wrong.
. "$(dirname "$0")/../examples/common.sh"
stencils="${BENCH:-$SOURCE/build/bench}/stencils --device cpu --tiny"
spoiled="${SPOILED_BENCH:-$SOURCE/build/tests/spoiled_bench}"

begin 'the options'
exits 0 $stencils --help
prints 'usage: stencils'
for bad in '--colour blue' '--size' '--size 4x' '--size 4x4x4x4' '--steps 0' '--shape 4d9' '--weights none' \
    '--only nothing' '--schedules none' 'extra'; do
    exits 2 $stencils $bad
    [ ! -s out ] || flunk "$bad: it printed $(cat out)"
done
exits 4 $stencils --device abacus
says "unknown device 'abacus'"

begin 'a JSON file that cannot be written is said before the work, and one that can keeps what it holds'
exits 3 $stencils --only steps --shape 2d5 --json none/all.json
says 'none/all.json'
[ ! -s out ] || flunk "it printed $(cat out)"
echo before >old.txt
exits 4 $stencils --only steps --shape 2d5 --device abacus --json old.txt
[ "$(cat old.txt)" = before ] || flunk 'the old file is gone'

begin 'all parts are right, in the precision that is drawn'
drawn 0 2 && dtype=float || dtype=double
exits 0 $stencils --shape 1d7,3d13 --dtype $dtype --methods auto,launches --threads 2 --json all.json
for part in 'One step a pass' 'Many steps' 'Small grids'; do
    prints "$part"
done
prints '0 wrong, 0 failed, 0 refused, 0 left out'
[ "$(grep -c '"state": "right"' all.json)" = 16 ] || flunk "not 16 right figures: $(cat out)"

begin 'copies by every way, of which the fastest counts'
grep -q '^copies of 4 MB, GB/s: driver [0-9]*; streamed kernel [0-9]*; naive kernel [0-9]*$' out || flunk "$(cat out)"
fastest=$(sed -n '/"copies"/ { s/{/\n/g; p; }' all.json |
    awk -F'"' '/"by"/ { split($0, rate, "copy_bytes\": "); if (rate[2] + 0 > most) { most = rate[2] + 0; by = $4 } }
        END { print by }')
grep -q "\"copied_by\": \"$fastest\"" all.json || flunk "not by the fastest, '$fastest': $(cat all.json)"

begin "the textbook's methods, distinct weights, another boundary"
exits 0 $stencils --only one-step --shape 2d9box,3d7 --dtype float --size 33x29x17,40x31 \
    --weights distinct --boundary periodic --json one.json
prints 'boundary: periodic'
prints '0 wrong, 0 failed, 0 refused, 0 left out'

begin 'weights given at launch'
exits 0 $stencils --only steps --shape 2d9box,1d7 --dtype double --weights given --boundary zero --json given.json
prints 'weights: given'
prints '0 wrong, 0 failed, 0 refused, 0 left out'

begin 'a sweep says how far auto is behind the best'
printf '# two\nnaive tile=32x8 vec=1\n\ntiled tile=32x8 # the textbook\nregister tile=7\nnaive tile=999999\n' >two.schedules
exits 1 $stencils --only steps --shape 2d5 --dtype double --size 96x64 --steps 5 --schedules two.schedules --json sweep.json
prints 'naive tile=32x8 vec=1 time=1'
prints '% behind'
prints 'auto is within 5 % of the best in '
prints 'FAILED: naive tile=999999'
[ "$(grep -c '"of_best": 1,' sweep.json)" = 1 ] || flunk "no best one: $(cat sweep.json)"
grep -q '"schedule": "tiled tile=32x8", "steps": 5, "plan": "tiled tile=32x8' sweep.json || flunk "$(cat sweep.json)"

begin 'what is wrong is found'
for name in steps boundary; do
    exits 1 "$spoiled/$name/stencils" --device cpu --tiny --only steps --shape 1d3 --dtype double --json wrong.json
    prints 'WRONG'
    grep -q '"state": "wrong"' wrong.json || flunk "$name: $(cat wrong.json)"
done

begin 'a budget ends it in good order'
exits 0 $stencils --only one-step --dtype float --budget 1 --threads 1 --json budget.json
prints 'left out'

begin 'the JSON'
if has python3; then
    for file in $(ls *.json | sed 's/\.json$//'); do
        python3 -m json.tool <$file.json >parsed || flunk "$file is not JSON: $(cat $file.json)"
    done
fi
finish
