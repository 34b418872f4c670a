#!/bin/sh
# run --points, --monitor and --until. The sums are few enough to be made by hand, and exact.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
cpu="--device cpu"
export SG_CACHE="$folder/cache" # most runs are of one kernel

# Every cell keeps its value but for what is injected, so each step adds to the sums of those before.
cat >"$folder/still.lua" <<'EOS'
return stencil {
  name = "still", parameters = { k = 2 }, boundary = "clamp",
  update = function(u) return u(0) end,
  points = {
    put = { field = "u", inject = function(s, u, p) return s * p.k end },
    take = { field = "u", sample = true },
  },
  monitors = {
    top = { op = "max", map = function(u) return u(0) end },
    rise = { op = "sum", map = function(u) return u(1) - u(0) end },
  },
}
EOS
still="run $cpu $folder/still.lua --input $folder/u.npy --output $folder/o.npy"
put="--points put=$folder/put.npy:$folder/series.npy"
take="--points take=$folder/take.npy:$folder/traces.npy"
npy f4 "$folder/u.npy" '5,' 0 0 0 0 0
npy f8 "$folder/put.npy" '2, 1' 1.5 4
npy f4 "$folder/series.npy" '3, 2' 1 2 3 4 5 6
npy f8 "$folder/take.npy" '3, 1' 1.25 4 0

begin 'points are injected and recorded'
exits 0 $still --steps 3 $put $take
npy f4 "$folder/want.npy" '3, 3' 1 4 0 4 12 0 9 24 0
same "$folder/want.npy" "$folder/traces.npy"
npy f4 "$folder/want.npy" '5,' 0 9 9 0 24
same "$folder/want.npy" "$folder/o.npy"
reports '  points   put: 2 driven by '
reports '  points   take: 3 recorded in '

begin 'batches of --stop-on-nan go on with the series'
exits 0 $still --steps 3 $put $take --stop-on-nan
same "$folder/want.npy" "$folder/o.npy"

begin 'steps that were not made are NaN in traces'
npy f4 "$folder/bad.npy" '102, 1' $(seq 2 99) nan 1 2 3
npy f8 "$folder/one.npy" '1, 1' 2
exits 1 $still --steps 102 --points put="$folder/one.npy:$folder/bad.npy" \
    --points take="$folder/one.npy:$folder/short.npy" --stop-on-nan
nans=$(tail -c 16 "$folder/short.npy" | od -An -tx4 | tr -s ' ')
[ "$nans" = ' 7fc00000 7fc00000 7fc00000 7fc00000' ] || flunk "the last rows are $nans"
[ "$(wc -c <"$folder/short.npy")" -eq $((128 + 4 * 102)) ] || flunk 'it has not 102 rows'

begin 'no points'
npy f8 "$folder/none.npy" '0, 1'
npy f4 "$folder/nothing.npy" '3, 0'
exits 0 $still --steps 3 --points put="$folder/none.npy:$folder/nothing.npy" \
    --points take="$folder/none.npy:$folder/traces2.npy"

begin '--json of points and monitors'
exits 0 $still --steps 3 $put $take --monitor top="$folder/top.npy" --every 1 --until 'top>20' --json
documented put take top k u
reports '"condition": "top>20"'

begin 'monitors are sampled'
exits 0 $still --steps 3 $put $take --monitor top="$folder/top.npy" --monitor rise --every 1
npy f8 "$folder/want.npy" '3,' 4 12 24
same "$folder/want.npy" "$folder/top.npy"
reports 'monitor  rise: 24 after step 3, 3 samples'
exits 0 $still --steps 3 $put $take --monitor top="$folder/top.npy" --every 2
npy f8 "$folder/want.npy" '1,' 12
same "$folder/want.npy" "$folder/top.npy"

begin '--until ends the run'
npy f4 "$folder/long.npy" '40, 2' $(seq 80 | sed 's/.*/1/')
exits 0 $still --steps 40 --points put="$folder/put.npy:$folder/long.npy" $take --until ' top >= 6 ' --every 1
reports 'still: 8 steps of 5'
reports 'until     top >= 6 : since step 3'
exits 0 $still --steps 40 --points put="$folder/put.npy:$folder/long.npy" $take --until 'top>=600' --every 1
reports 'still: 40 steps of 5'
reports 'until    top>=600: at no sample'

begin 'points that do not fit the spec are refused'
exits 2 $still --steps 3 $put
says 'still has the points take; give them with --points take=POSITIONS.npy:TRACES.npy'
exits 2 $still --steps 3 $put $take --points puts=a.npy:b.npy
says "--points 'puts': still has the points put, take"
exits 2 $still --steps 3 $put $put $take
says '--points put is given twice'
exits 2 $still --steps 3 --points put=a.npy
says "NAME=POSITIONS.npy:FILE.npy is needed"
exits 2 $still --steps 3 $put --points take="$folder/take.npy:$folder/t.vti"
says 'samples of points are no grid'

begin 'files of another shape or type are refused, and nothing is written'
rm -f "$folder/traces.npy" "$folder/o.npy"
exits 3 $still --steps 4 $put $take
says 'the series of put is (4, 2) of float32, steps x points, not (3, 2) of float32'
exits 3 $still --steps 3 --points put="$folder/one.npy:$folder/series.npy" $take
says 'the series of put is (3, 1) of float32'
npy f8 "$folder/wide.npy" '3, 2' 1 2 3 4 5 6
exits 3 $still --steps 3 --points put="$folder/put.npy:$folder/wide.npy" $take
says 'not (3, 2) of float64; --convert rounds its numbers'
exits 3 $still --steps 3 --points put="$folder/wide.npy:$folder/series.npy" $take
says 'positions of put are n x 1 of float64, x first, not (3, 2) of float64'
exits 3 $still --steps 3 --points put="$folder/series.npy:$folder/series.npy" $take
says 'not (3, 2) of float32'
npy f8 "$folder/out.npy" '2, 1' 1 4.5
exits 3 $still --steps 3 --points put="$folder/out.npy:$folder/series.npy" $take
says "point 1 of 'put' (the first is 0) is at (4.5), outside of the grid: 0 to 4; positions count cells from 0, x first"
[ ! -e "$folder/traces.npy" ] && [ ! -e "$folder/o.npy" ] || flunk 'an output was written'

begin 'series and positions of other types, with --convert'
exits 0 $still --steps 3 $put $take
mv "$folder/traces.npy" "$folder/want.npy"
npy f4 "$folder/near.npy" '2, 1' 1.5 4
exits 3 $still --steps 3 --points put="$folder/near.npy:$folder/series.npy" $take
says 'not (2, 1) of float32; --convert rounds its numbers'
for ranks in '' '--ranks 2'; do
    exits 0 $still --steps 3 --convert --points put="$folder/near.npy:$folder/wide.npy" $take $ranks
    same "$folder/want.npy" "$folder/traces.npy"
done
exits 3 $still --steps 4 --convert --points put="$folder/put.npy:$folder/wide.npy" $take
says 'steps x points, not (3, 2) of float64'
rm -f "$folder/traces.npy" "$folder/o.npy"

begin 'bench on ranks says that it measures no points'
exits 2 bench $cpu "$folder/still.lua" --size 64 --ranks 2
says 'bench on ranks measures no spec with points; run says how long its steps take'

begin 'files of points are not replaced'
cp "$folder/put.npy" "$folder/kept.npy"
for wrong in "--points take=$folder/put.npy:$folder/put.npy" "--points take=$folder/put.npy:$folder/series.npy" \
    "$take --monitor top=$folder/put.npy --every 1" "$take --output u=$folder/series.npy"; do
    exits 2 $still --steps 3 $put $wrong
    says 'this is a file that the run reads, which the output would replace'
done
cmp -s "$folder/put.npy" "$folder/kept.npy" || flunk 'positions were replaced'

begin 'monitors that do not fit are refused'
exits 2 $still --steps 3 $put $take --monitor tops --every 1
says "--monitor 'tops': still has the monitors rise, top"
exits 2 $still --steps 3 $put $take --monitor top
says '--monitor and --until need --every N'
exits 2 $still --steps 3 $put $take --monitor top --monitor top --every 1
says '--monitor top is given twice'
exits 2 $still --steps 3 $put $take --monitor top=a.vti --every 1
says 'samples of a monitor are no grid'
for wrong in top 'top<' 'top<x' '<3' 'top=3'; do
    exits 2 $still --steps 3 $put $take --until "$wrong" --every 1
    says 'a monitor, a relation and a number are needed'
done
finish
