#!/bin/sh
# Ranks and checkpoints of cells of 16 bits: the bytes of one rank, also next to floats, in launches of
# several steps, with points and monitors, on processes of MPI, and after a restart on other ranks.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
. "$(dirname "$0")/ranks.sh"
export SG_CACHE="$folder/cache" # so that each kernel is compiled once
cpu='--device cpu'
begins='--init u=sin(x*0.7)+cos(y*1.3) --init v=sin(x*y) --init c=0.5+x/64'
mkdir "$folder/results"
results=$folder/results

cat >"$folder/mixed.lua" <<'END'
return stencil {
  name = "mixed", boundary = "mirror",
  fields = { u = { use = "inout", storage = "half", levels = 2 }, v = "inout", c = { use = "in", storage = "bfloat16" } },
  update = function(f) return {
    u = f.u(1, 0) / 2 - f.u.prev(0, -1) / 4 + f.c(0, 0) * f.v(-1, 1) / 3, v = f.v(0, 0) / 2 + f.u(0, 1) / 7 } end,
  points = { rec = { field = "u", sample = true }, shot = { field = "u", inject = function(s, f) return s * f.c(0, 0) end } },
  monitors = { peak = { op = "max", map = function(f) return abs(f.u(0, 0)) end } },
}
END
sed '/points = /d; /monitors = /d' "$folder/mixed.lua" >"$folder/plain.lua"
cat >"$folder/heat.lua" <<'END'
return stencil {
  name = "heat", boundary = "fixed", storage = "bfloat16",
  update = function(u) return (u(1, 0) + u(-1, 0) + u(0, 1) + u(0, -1)) / 5 + u(0, 0) / 5 end,
}
END

# plain NAME ARGUMENT…: writes results/NAME-u.npy and -v.npy.
plain() {
    name=$1
    shift
    exits 0 run $cpu "$folder/plain.lua" --size 37x13 "$@" --output u="$results/$name-u.npy" --output v="$results/$name-v.npy"
}
as_alone() {
    alike "$results/alone-u.npy" "$results/$1-u.npy"
    alike "$results/alone-v.npy" "$results/$1-v.npy"
}

begin 'fields of half and float'
plain alone $begins --steps 9 --schedule naive
plain half $begins --steps 4 --schedule naive
cmp -s "$results/alone-u.npy" "$results/half-u.npy" && flunk 'steps change nothing'
for ranks in 1 2x2 1x5 3; do
    plain ranks $begins --steps 9 --schedule naive --ranks $ranks
    as_alone ranks
done
plain ranks $begins --steps 9 --schedule naive --ranks 2x2 --launches 2
as_alone ranks
head -c 100 "$results/ranks-u.npy" | grep -q "'<f2'" || flunk 'u is not of half'
head -c 100 "$results/ranks-v.npy" | grep -q "'<f4'" || flunk 'v is not of float'

begin 'files of VTK hold floats'
heat="$folder/heat.lua --size 37x13 --init u=sin(x*0.7)+cos(y*1.3) --schedule naive --steps 4"
exits 0 run $cpu $heat --output "$results/alone.vti" --snapshot u="$results/alone-%d.vti" --every 2
elements "$results/alone.vti" >"$results/alone"
[ "$(wc -c <"$results/alone")" = 1924 ] || flunk 'these are not 481 floats'
for ranks in 1 2x2; do
    exits 0 run $cpu $heat --ranks $ranks --output "$results/ranks.vti" --snapshot u="$results/ranks-%d.vti" --every 2 \
        --checkpoint "$folder/state"
    alike "$results/alone.vti" "$results/ranks.vti"
    alike "$results/alone-2.vti" "$results/ranks-2.vti"
done
exits 0 run $cpu $heat --ranks 1x3 --output "$results/ranks.pvti"
for number in 0 1 2; do
    elements "$results/ranks_$number.vti"
done >"$results/ranks"
alike "$results/alone" "$results/ranks"

begin 'a restart on other ranks'
plain half $begins --steps 6 --schedule naive --ranks 2 --checkpoint "$folder/state" --every 3
grep -aq '^array u 2$' "$folder/state" || flunk "its head: $(head -c 500 "$folder/state" | tr -d '\000')"
for ranks in 1 3 2x2; do
    plain rest --init c=0.5+x/64 --steps 9 --restart "$folder/state" --ranks $ranks
    as_alone rest
done
sed 's/^array u 2$/array u 8/' "$folder/state" >"$folder/wrong"
exits 3 run $cpu "$folder/plain.lua" --init c=1 --steps 9 --restart "$folder/wrong" --output u="$results/w.npy"
says 'the checkpoint is damaged'

begin 'points and monitors'
npy f8 "$folder/at.npy" '3, 2' 4.25 3.5 18 6 20.5 9.75
npy f4 "$folder/series.npy" '12, 3' $(LC_ALL=C awk 'BEGIN { for (i = 1; i <= 36; i++) printf " %.3f", i * 7 % 11 / 4 - 1 }')
for ranks in '' '--ranks 2x2' '--ranks 1x4'; do
    to=$results/recorded${ranks##* }
    exits 0 run $cpu "$folder/mixed.lua" --size 37x13 $begins --steps 12 --schedule naive $ranks --every 4 \
        --points rec="$folder/at.npy:$to-rec.npy" --points shot="$folder/at.npy:$folder/series.npy" \
        --monitor peak="$to-peak.npy" --output u="$to-u.npy"
    for what in rec peak u; do
        alike "$results/recorded-$what.npy" "$to-$what.npy"
    done
done

begin 'launches of several steps round once each'
exits 0 run $cpu "$folder/heat.lua" --size 61x47 --init "u=sin(x*y)" --steps 13 --schedule 'resident time=3' --output "$results/three.npy"
exits 0 run $cpu "$folder/heat.lua" --size 61x47 --init "u=sin(x*y)" --steps 13 --schedule naive --output "$results/one.npy"
cmp -s "$results/three.npy" "$results/one.npy" && flunk 'single steps round no more often'
for ranks in 1 2x2 1x3; do
    exits 0 run $cpu "$folder/heat.lua" --size 61x47 --init "u=sin(x*y)" --steps 13 --schedule 'resident time=3' --ranks $ranks \
        --stop-on-nan --output "$results/ranks.npy"
    alike "$results/three.npy" "$results/ranks.npy"
done
exits 2 run $cpu "$folder/heat.lua" --size 61x47 --init "u=sin(x*y)" --steps 16 --schedule 'resident time=8' --ranks 1x11 \
    --output "$results/ranks.npy"
says 'and needs 8 for the ghost cells of its neighbours and the steps of a launch'

begin 'bench compares with one rank'
exits 0 bench $cpu "$folder/plain.lua" --size 64x48 --steps 4 --schedule naive --ranks 2
reports 'the same bytes as alone'

begin 'a snapshot of ranks'
exits 0 run $cpu "$folder/heat.lua" --size 19x9 --init "u=sin(x*y)" --steps 4 --schedule naive --every 4 --ranks 2 \
    --snapshot u="$results/shot-%d.npy" --output "$results/last.npy"
alike "$results/shot-4.npy" "$results/last.npy"

begin 'processes of MPI'
if has_mpi; then
    plain alone $begins --steps 9 --schedule naive
    mpi 0 4 run $cpu "$folder/plain.lua" --size 37x13 $begins --steps 9 --schedule naive \
        --output u="$results/mpi-u.npy" --output v="$results/mpi-v.npy"
    as_alone mpi
fi
finish
