#!/bin/sh
# tune --list: which candidates there are, as text and as JSON.
. "$(dirname "$0")/common.sh"
list='tune --list --arch sm_90'

cat >"$folder/star.lua" <<'LUA'
return stencil {
  name = "star", shape = star(2, 1), coefficients = { 0.6, 0.1, 0.1, 0.1, 0.1 },
  tune = { method = { "tiled", "register" }, tile = { { x = 48, y = 4 }, { x = 96 } }, coarsen = { y = { 1, 5 } } },
}
LUA
cat >"$folder/sum.lua" <<'LUA'
return reduce {
  name = "sum", schedule = { threads = 256 },
  tune = { algorithm = { "one-pass", "shared" }, items = { 4, 8, 6 }, blocks = { 132 }, share = { 4 }, alone = { 1024 } },
}
LUA

begin 'the candidates of a stencil'
exits 0 $list "$folder/star.lua" --size 512x512
reports 'star: 6 candidates, float, for H100 (sm_90), 512x512'
sed -n 's/^. *[0-9.]* [um]*s  //p' "$out" | sort >"$folder/got"
cat >"$folder/want" <<'EOF'
register tile=96 coarsen=y1 vec=1 time=1
register tile=96 coarsen=y5 vec=1 time=1
tiled tile=48x4 vec=1 time=1
tiled tile=96x16 vec=1 time=1
tiled tile=96x32 vec=1 time=1
tiled tile=96x8 vec=1 time=1
EOF
cmp -s "$folder/want" "$folder/got" || flunk "$(diff "$folder/want" "$folder/got")"
reports '* what a build takes by the model, which tune leaves out: '

begin 'one element, one point, one exchange'
exits 0 $list "$folder/sum.lua" --size 1
grep -q ', 1 element$' "$out" || flunk "$(head -1 "$out")"
exits 0 run --device cpu specs/heat1d3.lua --size 2 --init u=x --steps 1 --ranks 2 --schedule naive --output "$folder/u.npy"
reports '; 1 exchange of ghost cells by rank 0'
exits 0 specs/heat1d3.lua --device cpu --size 1 --schedule naive -o "$folder"
reports 'the point of 1'

begin 'those of a list, and what no candidate has'
exits 0 $list "$folder/sum.lua" --size 100000
grep -v '^ *no \|^    \|^\*\|is tried without' "$out" | sed 's/ *$//' >"$folder/got"
cat >"$folder/want" <<'EOF'
sum: 5 candidates, float, for H100 (sm_90), 100000 elements

  one-pass threads=256 items=4 blocks=132 share=4 alone=1024
  one-pass threads=256 items=4 blocks=132 share=4 alone=1024 cluster=4
  shared threads=256 items=2
  one-pass threads=256 items=8 blocks=132 share=4 alone=1024
  one-pass threads=256 items=8 blocks=132 share=4 alone=1024 cluster=4

EOF
cmp -s "$folder/want" "$folder/got" || flunk "$(diff "$folder/want" "$folder/got")"
reports 'shared is tried without items, blocks, share, alone, which it does not have'
reports 'no candidate has items=6: algorithm one-pass: elements are read in packs of 4'

begin 'a method that lacks what others have'
sed 's/{ x = 96 }//' "$folder/star.lua" >"$folder/mixed.lua"
exits 0 $list "$folder/mixed.lua" --size 512x512
reports 'tiled tile=48x4 vec=1 time=1'
reports '  no candidate has register: method register: it walks y: set coarsen=y4 instead of a tile along it'
reports '  tiled is tried without coarsen, which it does not have'
exits 0 $list "$folder/mixed.lua" --size 512x512 --json
reports '"keys": "coarsen"'

begin 'the command line constrains, and each candidate builds'
exits 0 $list specs/heat3d7.lua --size 64x64x64 --method register --json
count=$(sed -n 's/.*"count": \([0-9]*\),/\1/p' "$out")
[ "$count" -ge 5 ] || flunk "there are $count candidates"
[ "$(grep -c '"plan": "register ' "$out")" = "$count" ] || flunk 'another method is listed'
[ "$(grep -c '"method": "register"' "$out")" = "$count" ] || flunk 'the values name another method'
plan=$(sed -n 's/.*"plan": "\(.*\)",/\1/p' "$out" | tail -n 1)
exits 0 explain specs/heat3d7.lua --arch sm_90 --size 64x64x64 --schedule "$plan"
reports "$plan"

begin 'the same list each time, the usual plan among them'
exits 0 $list specs/heat2d5.lua --size 500x300 --steps 16
cp "$out" "$folder/first"
[ "$(grep -c '^\* .*tile=' "$out")" = 1 ] || flunk 'not one candidate is the usual one'
exits 0 $list specs/heat2d5.lua --size 500x300 --steps 16
cmp -s "$folder/first" "$out" || flunk 'the second list is another one'

begin 'a matrix decides on formats'
exits 0 $list specs/spmv.lua --input tests/data/mtx/arrow.mtx
reports 'csr grouped'
exits 2 $list specs/spmv.lua --input a.mtx --input b.mtx
says 'tune takes one --input'

begin 'a matrix is of products alone, and has a size'
for command in 'tune --list' tune explain report; do
    for spec in "$folder/star.lua" specs/reduce_sum.lua; do
        exits 2 $command $spec --input tests/data/mtx/arrow.mtx
        says "--input of ${command% --list} is the matrix of an spmv, but "
    done
    exits 2 $command specs/spmv.lua --input tests/data/mtx/arrow.mtx --size 100
    says '--size: the matrix of --input has a size'
    exits 2 $command specs/spmv.lua --input x=tests/data/mtx/arrow.mtx
    says "--input 'x': ${command% --list} takes the matrix A alone"
done
for command in '' bench; do
    exits 2 $command specs/spmv.lua --input tests/data/mtx/arrow.mtx
    says '--input is no option of '
done
exits 0 $list specs/spmv.lua --input A=tests/data/mtx/arrow.mtx

begin 'options that a list or an export has no use for'
for option in '--budget 1s' '--evaluations 3' '--search random' '--limit 1s' --resume --no-resume \
    '--seed 3' '--set k=1' '--database x.db'; do
    exits 2 tune --list "$folder/star.lua" $option
    says "${option%% *} is no option of tune --list"
done
for option in --list '--input a.mtx' '--steps 2' '--arch sm_90' '--device cpu' '--method naive' \
    '--budget 1s' '--seed 3' '--set k=1'; do
    exits 2 tune export $option --database "$folder/none.db"
    says "${option%% *} is no option of tune export"
done
exits 0 tune export --json --size 5 --database "$folder/none.db"

begin 'nothing is left'
exits 2 $list "$folder/star.lua" --method naive
says "star.lua:1: error: tune.method has no value that agrees with the schedule"

begin 'a key that tune does not have'
echo 'return scan { name = "a", tune = { itmes = { 4 } } }' >"$folder/wrong.lua"
exits 2 $list "$folder/wrong.lua"
says "wrong.lua:1: error: unknown key 'itmes' in tune; did you mean 'items'?"

finish
