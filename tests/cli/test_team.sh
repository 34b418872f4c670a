#!/bin/sh
# run and bench on several ranks, threads of one process and processes of MPI: the same bytes as one
# rank makes, checkpoints, refusals, and nothing left behind by what fails.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
. "$(dirname "$0")/ranks.sh"
export SG_CACHE="$folder/cache" # so that each kernel is compiled once
cpu='--device cpu'

# numbers COUNT SEED [RANGE]: from −8 to 8, or from 0 to RANGE, in no order.
numbers() {
    LC_ALL=C awk -v n="$1" -v s="$2" -v range="${3:-0}" 'BEGIN {
        for (i = 0; i < n; i++) {
            s = (s * 75 + 74) % 65537
            printf "%s%.4f", i ? " " : "", range ? s / 65537 * range : s / 4096 - 8
        }
    }'
}

npy f4 "$folder/one.npy" '301,' $(numbers 301 1)
npy f4 "$folder/two.npy" '13, 37' $(numbers 481 2)
npy f4 "$folder/more.npy" '13, 37' $(numbers 481 3)
npy f4 "$folder/three.npy" '7, 9, 11' $(numbers 693 4)
npy f4 "$folder/u.npy" '13, 37' $(numbers 481 5 1)
npy f4 "$folder/v.npy" '13, 37' $(numbers 481 6 0.5)
mkdir "$folder/results"
results=$folder/results
clear_results() {
    rm -f "$results"/*
}

# as_one RANKS ARGUMENT…: a run on so many ranks writes what one rank does.
as_one() {
    ranks=$1
    shift
    exits 0 run $cpu "$@" --output "$results/alone.npy"
    exits 0 run $cpu "$@" --output "$results/ranks.npy" --ranks "$ranks"
    alike "$results/alone.npy" "$results/ranks.npy"
    holds "$results" alone.npy ranks.npy
    cmp -s "$results/ranks.npy" "$folder/two.npy" && flunk 'nothing was computed'
    clear_results
}

begin 'one dimension'
as_one 4 specs/heat1d3.lua --input "$folder/one.npy" --steps 9 --schedule naive
as_one 3 specs/heat1d7.lua --input "$folder/one.npy" --steps 5 --schedule naive --launches 2

begin 'two dimensions, parts of one row too'
as_one 3x2 specs/heat2d5.lua --input "$folder/two.npy" --steps 7 --schedule naive
as_one 1x13 specs/heat2d5.lua --input "$folder/two.npy" --steps 7 --schedule naive
as_one 6 specs/heat2d9.lua --input "$folder/two.npy" --steps 4 --schedule naive --launches 2

begin 'ghost cells that are as wide as the other part'
npy f4 "$folder/even.npy" '8, 16' $(numbers 128 3)
as_one 2x1 specs/heat2d5.lua --input "$folder/even.npy" --steps 8 --schedule naive --launches 8

begin 'components in one file'
cat >"$folder/triple.lua" <<'EOF'
return stencil { name = "triple", dims = 2, boundary = { x = "periodic", y = "clamp" },
  fields = { v = { use = "inout", levels = 2, components = 3 }, w = { use = "out", components = 2 } },
  update = function(f, p, at)
    return { v = { f.v[2](1, 0), f.v[3].prev(0, -1) + at.x, f.v[1](0, 1) / 2 }, w = { f.v[1](0, 0) - at.y, f.v[3](-1, 0) } }
  end }
EOF
npy f4 "$folder/triple.npy" '3, 7, 9' $(numbers 189 3)
npy f4 "$folder/before.npy" '3, 7, 9' $(numbers 189 5)
for second in v.prev 'v[2]'; do
    for ranks in 1 2x3; do
        mkdir "$results/$ranks"
        exits 0 run $cpu "$folder/triple.lua" --input "$folder/triple.npy" --input v.prev="$folder/before.npy" --steps 3 \
            --ranks $ranks --schedule naive --output v="$results/$ranks/v.npy" --output w="$results/$ranks/w.npy" \
            --output "$second=$results/$ranks/second.npy"
        grep 'minimum' "$out" >"$results/$ranks/values"
    done
    for file in v.npy w.npy second.npy values; do
        alike "$results/1/$file" "$results/2x3/$file"
    done
    [ "$(wc -l <"$results/1/values")" -eq 3 ] || flunk 'the report has no values'
    rm -r "$results/1" "$results/2x3"
done

begin 'launches of several steps of two levels, and the steps that they leave'
cat >"$folder/levels.lua" <<'EOF'
return stencil { name = "levels", dims = 2, boundary = "zero", fields = { u = { use = "inout", levels = 2, components = 2 } },
  update = function(f)
    local e = {}
    for c = 1, 2 do
      local v = f.u[c]
      e[c] = 0.3 * v(0, 0) + 0.21 * v(1, 1) + 0.13 * v(-1, -1) + 0.1 * v(0, 1) - 0.19 * v.prev(0, 0)
    end
    return { u = e }
  end }
EOF
npy f4 "$folder/levels.npy" '2, 13, 37' $(numbers 962 7)
for schedule in 'temporal time=2' naive; do
    for ranks in 1 2; do
        exits 0 run $cpu --arch sm_90 "$folder/levels.lua" --input "$folder/levels.npy" --steps 5 --schedule "$schedule" \
            --ranks $ranks --output "$results/${schedule%% *}-$ranks.npy"
    done
done
alike "$results/temporal-1.npy" "$results/temporal-2.npy"
alike "$results/temporal-1.npy" "$results/naive-1.npy"
clear_results

begin 'three dimensions'
as_one 2x2x2 specs/heat3d7.lua --input "$folder/three.npy" --steps 5 --schedule naive
as_one 3 specs/heat3d7.lua --input "$folder/three.npy" --steps 5 --schedule naive
as_one 1x1x7 specs/heat3d7.lua --input "$folder/three.npy" --steps 5 --schedule naive

begin 'one rank of one'
as_one 1 specs/heat2d5.lua --input "$folder/two.npy" --steps 7 --schedule naive

begin 'several fields and parameters'
for ranks in 1 2x3; do
    exits 0 run $cpu specs/grayscott.lua --input u="$folder/u.npy" --input v="$folder/v.npy" \
        --steps 6 --schedule naive --set F=0.03 --set Du=0.125 --ranks $ranks \
        --output u="$results/u$ranks.npy" --output v="$results/v$ranks.npy"
done
alike "$results/u1.npy" "$results/u2x3.npy"
alike "$results/v1.npy" "$results/v2x3.npy"
exits 0 run $cpu specs/grayscott.lua --input u="$folder/u.npy" --input v="$folder/v.npy" \
    --steps 6 --schedule naive --ranks 2x3 --output u="$results/other.npy"
cmp -s "$results/u1.npy" "$results/other.npy" && flunk '--set changes nothing'
clear_results

begin 'levels'
as_one 2x2 specs/wave2d.lua --input u="$folder/two.npy" --input c="$folder/more.npy" --steps 6 \
    --schedule naive
as_one 1x3 specs/wave2d.lua --input u="$folder/two.npy" --input c="$folder/more.npy" --steps 7 \
    --schedule naive --launches 2

begin 'systems: stages that read each other, repeated ones, checkpoints'
npy f4 "$folder/wide.npy" '37, 41' $(numbers 1517 7)
npy f4 "$folder/h.npy" '37, 41' $(numbers 1517 8 1)
as_one 2x2 specs/acoustic.lua --input p="$folder/wide.npy" --input c="$folder/h.npy" \
    --input damp="$folder/h.npy" --steps 7 --schedule naive
as_one 1x2 specs/acoustic.lua --input p="$folder/wide.npy" --input c="$folder/h.npy" \
    --input damp="$folder/h.npy" --steps 6 --schedule naive --launches 2
cat >"$folder/relax.lua" <<'END'
return system { name = "relax", fields = { u = "inout", v = "scratch" }, boundary = "mirror", stages = {
  { update = function(f) return { v = f.u(1, 0) + f.u(0, -1) } end },
  { times = 4, boundary = { x = "clamp", y = "fixed" },
    update = function(f) return { u = (f.u(1, 0) + f.u(-1, 0) + f.u(0, 1) + f.u(0, -1) - f.v(0, 0)) / 4 } end },
} }
END
exits 0 run $cpu "$folder/relax.lua" --input u="$folder/wide.npy" --steps 6 --schedule naive \
    --output u="$results/alone.npy"
exits 0 run $cpu "$folder/relax.lua" --input u="$folder/wide.npy" --steps 4 --schedule naive \
    --ranks 2x2 --checkpoint "$results/state" --every 2 --output u="$results/four.npy"
exits 0 run $cpu "$folder/relax.lua" --restart "$results/state" --steps 6 --ranks 3x1 \
    --output u="$results/ranks.npy"
alike "$results/alone.npy" "$results/ranks.npy"
clear_results
exits 2 run $cpu "$folder/relax.lua" --input u="$folder/wide.npy" --steps 4 --schedule naive \
    --ranks 1x10 --output u="$results/b.npy"
says '1x10 ranks: a part would have 3 cells along y, and needs 4'
sed 's/x = "clamp"/x = "periodic"/' "$folder/relax.lua" >"$folder/mixed.lua"
exits 2 run $cpu "$folder/mixed.lua" --input u="$folder/wide.npy" --schedule naive --ranks 2x2 \
    --output u="$results/b.npy"
says 'x cannot be divided, as some fields, stages or monitors have a periodic boundary there and others do not'
as_one 3 "$folder/mixed.lua" --input u="$folder/wide.npy" --steps 3 --schedule naive
cat >"$folder/mixed.lua" <<'EOF'
return system { name = "ends", boundary = { x = "zero", y = { "zero", "fixed" } },
  fields = { u = "inout", v = { use = "in", boundary = { y = "periodic" } } },
  stages = { { update = function(f) return { u = f.v(0, -1) / 2 + f.u(0, 1) / 4 + f.u(-1, 0) / 8 } end } } }
EOF
sed 's/system/stencil/; s/stages = { { \(.*\) } } }$/\1 }/' "$folder/mixed.lua" >"$folder/ends.lua"
for spec in mixed ends; do
    exits 2 run $cpu "$folder/$spec.lua" --input u="$folder/wide.npy" --input v="$folder/wide.npy" --schedule naive --ranks 1x2 \
        --output u="$results/b.npy"
    says 'y cannot be divided, as some fields, stages or monitors have a periodic boundary there and others do not'
done
rm -f "$folder/mixed.lua" "$folder/relax.lua"

begin 'the same .vti'
for ranks in 1 2x2; do
    exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 3 --schedule naive \
        --ranks $ranks --output "$results/$ranks.vti"
done
exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 3 --schedule naive \
    --output "$results/alone.vti"
alike "$results/alone.vti" "$results/1.vti"
alike "$results/alone.vti" "$results/2x2.vti"
clear_results

begin 'pieces and their .pvti'
for ranks in 1 1x3; do
    exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 4 --schedule naive \
        --ranks $ranks --output "$results/a&b.pvti" --snapshot u="$results/s-%d.pvti" --every 2
    for stem in 'a&b' s-4; do
        for number in 0 1 2; do
            [ $ranks-$number != 1-1 ] || break
            elements "$results/${stem}_$number.vti"
        done >"$results/$stem"
    done
    [ $ranks = 1 ] && mv "$results/a&b" "$results/one"
    [ $ranks = 1 ] || alike "$results/one" "$results/a&b"
    alike "$results/one" "$results/s-4"
done
exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 4 --schedule naive \
    --output "$results/alone.vti"
elements "$results/alone.vti" >"$results/all"
alike "$results/all" "$results/one"
for text in 'WholeExtent="0 37 0 13 0 0"' 'Extent="0 37 5 9 0 0" Source="a&#38;b_1.vti"' \
    '<PDataArray type="Float32" Name="u"/>'; do
    grep -qF "$text" "$results/a&b.pvti" || flunk "no $text: $(cat "$results/a&b.pvti")"
done
grep -qF '<Piece Extent="0 37 5 9 0 0">' "$results/a&b_1.vti" ||
    flunk "$(head -c 500 "$results/a&b_1.vti")"
clear_results
exits 0 run $cpu specs/heat3d7.lua --input "$folder/three.npy" --steps 2 --schedule naive \
    --ranks 2x2x2 --output "$results/b.pvti"
grep -qF 'Extent="6 11 5 9 4 7" Source="b_7.vti"' "$results/b.pvti" || flunk "$(cat "$results/b.pvti")"
elements "$results/b_7.vti" >"$results/last"
[ "$(wc -c <"$results/last")" = 240 ] || flunk 'the last piece has not 60 cells'
exits 0 run $cpu specs/heat3d7.lua --input "$folder/three.npy" --steps 2 --schedule naive \
    --output "$results/all.npy"
[ "$(tail -c 20 "$results/last" | od -An -v -t x4)" = "$(tail -c 20 "$results/all.npy" | od -An -v -t x4)" ] ||
    flunk 'the last row of the last piece differs'
clear_results

begin 'pieces that cannot be written leave nothing'
mkdir "$results/b_1.vti"
exits 3 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 4 --schedule naive \
    --ranks 2x2 --output "$results/b.pvti"
says 'b_1.vti: cannot write: it is no regular file'
rmdir "$results/b_1.vti"
holds "$results"
exits 2 run $cpu specs/grayscott.lua --input u="$folder/two.npy" --input v="$folder/more.npy" \
    --ranks 2 --output u="$results/b.pvti" --output v="$results/b_1.vti"
says 'b_1.vti: error: this may be a piece of'
exits 2 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 4 --ranks 2 --output "$results/b.pvti" \
    --snapshot u="$results/b_%d.vti" --every 1
says 'b_%d.vti: error: this may be a piece of'
exits 2 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --output "$results/b.pvti"
says 'ranks write .pvti files'
holds "$results"

begin 'files of parts appear together or not at all'
if has cc; then
    # A file of this name cannot be renamed to, once; names of other files may be given back.
    cat >"$folder/stuck.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    if (strcmp(to, getenv("STUCK")) == 0) {
        errno = EIO;
        return -1;
    }
    int (*real)(int, const char *, int, const char *) =
        (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
    return real(from_folder, from, to_folder, to);
}
END
    cc -shared -fPIC -o "$folder/stuck.so" "$folder/stuck.c" -ldl || flunk 'no stuck.so'
    # stuck NAME ARGUMENT…: a run of four ranks in which the file NAME cannot be put in its place.
    stuck() {
        name=$1
        shift
        env STUCK="$name" LD_PRELOAD="$folder/stuck.so" ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
            "$STENCILGEN" run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 4 --schedule naive --ranks 2x2 \
            "$@" >"$out" 2>"$err"
        code=$?
        [ $code = 3 ] || flunk "exit code $code instead of 3, with $name: $(cat "$err")"
    }
    for name in b_2.vti b.pvti; do
        stuck $name --output "$results/b.pvti"
        holds "$results"
    done
    says 'b.pvti: cannot write: Input/output error'
    mkdir "$folder/before"
    for name in b_0.vti b_1.vti b.pvti; do
        echo "$name" | tee "$folder/before/$name" >"$results/$name"
    done
    for name in b_2.vti b.pvti; do
        stuck $name --output "$results/b.pvti"
        diff -r "$folder/before" "$results" || flunk "$name: the files are not those from before"
    done
    clear_results
    for name in s-4.pvti s-4_3.vti; do
        stuck $name --output "$results/b.npy" --snapshot u="$results/s-%d.pvti" --every 2
        holds "$results" s-2.pvti s-2_0.vti s-2_1.vti s-2_2.vti s-2_3.vti
        clear_results
    done
fi

begin '--stop-on-nan stops, and says where'
npy f4 "$folder/nan.npy" '13, 37' $(numbers 480 2) nan
exits 1 run $cpu specs/heat2d5.lua --input "$folder/nan.npy" --steps 300 --schedule naive \
    --ranks 2x2 --stop-on-nan --output "$results/b.npy"
says 'NaN'
clear_results
exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 300 --schedule naive \
    --ranks 2x2 --stop-on-nan --output "$results/b.npy"
clear_results

begin 'the report as JSON'
exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 4 --schedule naive \
    --ranks 2x2 --output "$results/b.npy" --json
for text in '"ranks": {' '"count": 4' '"grid": "2x2"' '"engine": "copies within the process"' \
    '"exchanges": 4' '"steps": 4' '"error": null' '"exit": 0' '"minimum": '; do
    reports "$text"
done
clear_results

# ---- refusals --------------------------------------------------------------------------------------

# refused CODE TEXT ARGUMENT…: with one message, and without a file left.
refused() {
    wanted_code=$1
    text=$2
    shift 2
    exits "$wanted_code" run $cpu "$@"
    says "$text"
    [ "$(grep -c . "$err")" = 1 ] || flunk "more than one line: $(cat "$err")"
    holds "$results"
}

begin 'what ranks cannot do is refused'
heat="specs/heat2d5.lua --input $folder/two.npy --schedule naive --steps 3"
refused 2 'is no stencil' specs/reduce_sum.lua --input "$folder/one.npy" --ranks 2
refused 2 '.npy, .vti and .pvti files' $heat --ranks 2 --output "$results/b.pgm"
refused 2 'ranks, --checkpoint and --restart write .npy' $heat --checkpoint "$results/c" --every 1 --output "$results/b.pgm"
printf 'P5\n37 13\n255\n%481s' ' ' >"$folder/two.pgm"
refused 3 'ranks, --checkpoint and --restart need a .npy file in C order, and this is none' specs/heat2d5.lua \
    --input "$folder/two.pgm" --steps 3 --checkpoint "$results/c" --every 1 --output "$results/b.npy"
{
    printf '\223NUMPY\001\000\166\000'
    printf "%-117s\n" "{'descr': '<f4', 'fortran_order': True, 'shape': (13, 37), }"
    tail -c 1924 "$folder/two.npy"
} >"$folder/fortran.npy"
refused 3 "it is in Fortran's order; for ranks, --checkpoint and --restart write it in C order" specs/heat2d5.lua --input "$folder/fortran.npy" --ranks 2 \
    --output "$results/b.npy"
refused 2 '2 ranks along z' $heat --ranks 2x1x2 --output "$results/b.npy"
refused 2 '--checkpoint FILE needs --every N' $heat --ranks 2 --checkpoint "$results/c"
refused 2 "--every 2: nothing is done every so many steps" $heat --ranks 2 --every 2
refused 3 'none' $heat --ranks 2 --output "$results/none/b.npy"
refused 3 'missing.npy' specs/heat2d5.lua --input "$folder/missing.npy" --ranks 2 \
    --output "$results/b.npy"
refused 2 'b.npy' specs/grayscott.lua --input u="$folder/two.npy" --input v="$folder/more.npy" \
    --ranks 2 --output u="$results/b.npy" --output v="$results/b.npy"

begin 'parts that are too thin are refused, and what is named works'
refused 2 'ranks (' $heat --ranks 1x14 --output "$results/b.npy"
named=$(sed -n 's/.*ranks (\([0-9x]*\)) work.*/\1/p' "$err")
exits 0 run $cpu $heat --ranks "${named:-none}" --output "$results/b.npy"
exits 2 bench $cpu specs/heat2d9.lua --size 2x3 --ranks 2
says '; 1 rank (1x1) works'
clear_results

begin 'launches of several steps are shorter where parts are too thin for their ghost cells'
exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 8 --schedule 'resident time=8' \
    --output "$results/alone.npy"
for ranks in 1x1 1x6; do
    exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 8 --schedule 'resident time=8' \
        --ranks $ranks --output "$results/ranks.npy"
    alike "$results/alone.npy" "$results/ranks.npy"
    [ $ranks = 1x1 ] || says "makes 2 steps a launch instead of 8"
done
exits 0 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 8 --ranks 1x13 \
    --output "$results/ranks.npy"
clear_results

begin 'a truncated input is an error of one rank and of all'
head -c 1500 "$folder/two.npy" >"$folder/short.npy"
refused 3 'short.npy' specs/heat2d5.lua --input "$folder/short.npy" --ranks 4 \
    --output "$results/b.npy"

# ---- checkpoints -----------------------------------------------------------------------------------

begin 'a restart on other ranks continues with the same bytes'
again="specs/wave2d.lua --input c=$folder/more.npy" # u is in the state
wave="$again --input u=$folder/two.npy"
exits 0 run $cpu $wave --steps 20 --schedule naive --output "$results/whole.npy"
exits 0 run $cpu $wave --steps 12 --schedule naive --ranks 3x2 --output "$results/half.npy" \
    --checkpoint "$results/state" --every 4
holds "$results" half.npy state whole.npy
cp "$results/state" "$folder/state"
for ranks in 1 2x2 1x5; do
    exits 0 run $cpu $again --steps 20 --restart "$folder/state" --ranks $ranks \
        --output "$results/rest.npy"
    alike "$results/whole.npy" "$results/rest.npy"
done
exits 0 run $cpu $again --steps 20 --restart "$folder/state" --output "$results/rest.npy"
alike "$results/whole.npy" "$results/rest.npy"
clear_results

# ---- points and monitors ---------------------------------------------------------------------------

# Points at cells, between them, and, many of them, between the parts of two, three and four ranks.
cat >"$folder/shot.lua" <<'EOF'
return stencil {
  name = "shot", boundary = "zero", parameters = { dt = 0.5 },
  fields = { p = { use = "inout", levels = 2 }, c = "in" },
  update = function(f, p)
    return f.p(0, 0) - f.p.prev(0, 0) / 2 + f.c(0, 0) / 64 * apply(laplacian { dims = 2, accuracy = 4 }, f.p)
  end,
  points = {
    shot = { field = "p", inject = function(s, f, p) return s * (p.dt * f.c(0, 0)) ^ 2 end },
    echo = { field = "p", inject = function(s, f) return s * f.p(0, 0) / 64 end },
    rec = { field = "p", sample = true }, ground = { field = "c", sample = true },
  },
  monitors = {
    slope = { op = "max", map = function(f, p, at) return abs(f.p(3, 0) - f.p(-3, -1)) + at.x / 256 end },
    cells = { op = "sum", map = function(f) return where(ge(f.p(0, 0), 0), 1, 0) end },
  },
}
EOF
pairs() { # pairs COUNT SEED: places of a grid of 37x13
    LC_ALL=C awk -v n="$1" -v s="$2" 'BEGIN {
        for (i = 0; i < n; i++) {
            s = (s * 75 + 74) % 65537; x = s / 65537 * 36
            s = (s * 75 + 74) % 65537; y = s / 65537 * 12
            if (i % 5 == 0) { x = int(x); y = int(y) }
            if (i == 1) { x = 36; y = 12 }
            printf " %.6f %.6f", x, y
        }
    }'
}
npy f8 "$folder/shots.npy" '40, 2' $(pairs 40 7)
npy f8 "$folder/recs.npy" '60, 2' $(pairs 60 8)
npy f4 "$folder/series.npy" '12, 40' $(numbers 480 9)
npy f4 "$folder/half.npy" '8, 40' $(numbers 480 9 | cut -d ' ' -f 1-320)
# shoot PREFIX SERIES OPTION...: traces and samples go to PREFIX-*.npy. $by runs it.
by='exits 0'
shoot() {
    prefix=$1 series=$2 begins="--input p=$folder/two.npy"
    shift 2
    case $* in *--restart*) begins= ;; esac # the state has p
    $by run $cpu "$folder/shot.lua" $begins --input c="$folder/u.npy" \
        --points shot="$folder/shots.npy:$series" --points echo="$folder/shots.npy:$series" \
        --points rec="$folder/recs.npy:$prefix-rec.npy" --points ground="$folder/recs.npy:$prefix-ground.npy" \
        --monitor slope="$prefix-slope.npy" --monitor cells="$prefix-cells.npy" --schedule naive \
        --output p="$prefix-p.npy" "$@"
}
recorded='p rec ground slope cells'

begin 'points and monitors of ranks have the bytes of one rank'
shoot "$folder/alone" "$folder/series.npy" --steps 12 --every 3
for ranks in 1x1 2 3x2 5x1 1x4; do
    shoot "$results/b" "$folder/series.npy" --steps 12 --every 3 --ranks $ranks
    for what in $recorded; do
        alike "$folder/alone-$what.npy" "$results/b-$what.npy"
    done
done
reports 'points   rec: 60 recorded in'
reports 'monitor  cells: '
clear_results

# Planned for a GPU, a single step substitutes the first stage. At an end of a part that keeps more cells than are read of it.
begin 'several steps of a system, planned for a GPU'
cat >"$folder/kept.lua" <<'END'
return system { name = "kept", boundary = "fixed", fields = { a = "inout", b = "inout", d = "inout" }, stages = {
  { update = function(f) return { b = f.b(0, 0) / 2 + apply(laplacian { dims = 2 }, f.a) / 8, d = f.a(0, 0) / 2 } end },
  { update = function(f) return { a = f.a(0, 0) / 2 + f.d(-1, 1) / 4 } end },
} }
END
for ranks in 1x1 2x1 2x2; do
    exits 0 run $cpu --arch sm_90 "$folder/kept.lua" --input a="$folder/two.npy" --input b="$folder/u.npy" --input d="$folder/v.npy" \
        --steps 4 --schedule '1-2: chained vec=1 time=2' --ranks $ranks --output a="$results/a-$ranks.npy"
    alike "$results/a-1x1.npy" "$results/a-$ranks.npy"
done
rm -f "$folder/kept.lua"
clear_results

# The steps do not read along y, and the map does, across the ends; then the map is no ring along x, and the steps are.
begin 'monitors that read across ends where steps do not'
cat >"$folder/ring.lua" <<'END'
return stencil {
  name = "ring", boundary = "zero", fields = { u = { use = "inout", boundary = { x = "clamp", y = "periodic" } } },
  update = function(f) return { u = (f.u(1, 0) + f.u(0, 0)) / 2 } end,
  monitors = { across = { op = "max", map = function(f) return f.u(0, 2) - f.u(0, -1) + f.u(0, 0) / 64 end } },
}
END
for ranks in 1x1 1x2 1x4 2x3; do
    exits 0 run $cpu "$folder/ring.lua" --input u="$folder/u.npy" --steps 3 --every 1 --ranks $ranks --schedule naive \
        --output u="$results/u.npy" --monitor across="$results/across-$ranks.npy"
    alike "$results/across-1x1.npy" "$results/across-$ranks.npy"
done
sed 's/x = "clamp"/x = "periodic"/; s/boundary = "zero"/boundary = "periodic"/
     s/fields = {/& c = { use = "in", boundary = "clamp" },/; s/f.u(0, 2)/f.c(1, 0)/' "$folder/ring.lua" >"$folder/both.lua"
exits 2 run $cpu "$folder/both.lua" --input u="$folder/u.npy" --input c="$folder/u.npy" --ranks 2x1 --output u="$results/u.npy"
says 'x cannot be divided, as some fields, stages or monitors have a periodic boundary there and others do not'
rm -f "$folder/ring.lua" "$folder/both.lua"
clear_results

begin 'points outside of the grid, and checkpoints that cannot be written, on ranks'
npy f8 "$folder/beyond.npy" '1, 2' 36 12.5
exits 3 run $cpu "$folder/shot.lua" --input p="$folder/two.npy" --input c="$folder/u.npy" --ranks 2 --steps 12 \
    --points shot="$folder/shots.npy:$folder/series.npy" --points echo="$folder/shots.npy:$folder/series.npy" \
    --points rec="$folder/beyond.npy:$results/r.npy" --points ground="$folder/recs.npy:$results/g.npy" --output p="$results/p.npy"
says 'stencilgen: error: point 0 of '
exits 2 run $cpu specs/heat2d5.lua --init u=0 --size 9223372036854775807x2 --ranks 2 --output "$results/p.npy"
says 'stencilgen: error: the grid has more than'
for state in "$folder/missing/state" /dev/full; do # before the first step
    exits 3 run $cpu specs/heat2d5.lua --input "$folder/two.npy" --steps 99 --every 99 --checkpoint $state --json \
        --output "$results/b.npy"
    reports '"error": "'$state': error: '
    grep -q '"parameters"' "$out" && flunk "steps were made before $state was tried"
done

begin 'a restart goes on with traces and samples'
shoot "$results/b" "$folder/half.npy" --steps 8 --ranks 2x2 --checkpoint "$folder/shot" \
    --every 3 --every checkpoint=4
for ranks in 1 3 1x4; do
    shoot "$results/b" "$folder/series.npy" --steps 12 --ranks $ranks --restart "$folder/shot" --every 3
    for what in $recorded; do
        alike "$folder/alone-$what.npy" "$results/b-$what.npy"
    done
done
clear_results
exits 3 run $cpu "$folder/shot.lua" --input c="$folder/u.npy" --steps 12 --restart "$folder/shot" \
    --points shot="$folder/shots.npy:$folder/series.npy" --points echo="$folder/shots.npy:$folder/series.npy" \
    --points rec="$folder/shots.npy:$results/r.npy" --points ground="$folder/recs.npy:$results/g.npy" \
    --output "$results/p.npy"
says 'the checkpoint has no traces of rec with as many points'
clear_results

begin '--until ends all ranks after the same step'
shoot "$results/b" "$folder/series.npy" --steps 12 --every 2 --ranks 2x2 --until 'cells>0'
reports 'shot: 2 steps of 37x13'
reports 'until    cells>0: since step 2'
clear_results

begin 'a point outside of the grid is an error of all ranks'
npy f8 "$folder/out.npy" '2, 2' 1 1 37 2
exits 3 run $cpu "$folder/shot.lua" --input p="$folder/two.npy" --input c="$folder/u.npy" --steps 12 --ranks 2 \
    --points shot="$folder/shots.npy:$folder/series.npy" --points echo="$folder/shots.npy:$folder/series.npy" \
    --points rec="$folder/out.npy:$results/r.npy" --points ground="$folder/recs.npy:$results/g.npy" \
    --output "$results/p.npy"
says "point 1 of 'rec'"
clear_results

begin 'a restart counts the steps on'
cat >"$folder/placed.lua" <<'EOF'
return stencil {
  name = "placed", boundary = "periodic",
  update = function(u, p, at)
    return u(0, 0) / 2 + u(1, 0) / 4 + sin(at.x + at.y) / 8 + at.step / 64
  end,
}
EOF
placed="$folder/placed.lua --input $folder/two.npy"
exits 0 run $cpu $placed --steps 7 --output "$results/whole.npy"
exits 0 run $cpu $placed --steps 4 --ranks 2x2 --output "$results/half.npy" \
    --checkpoint "$folder/placed" --every 2
exits 0 run $cpu "$folder/placed.lua" --steps 7 --restart "$folder/placed" --ranks 1x3 --output "$results/rest.npy"
alike "$results/whole.npy" "$results/rest.npy"
clear_results

begin 'a restart of grids whose last axes have one cell'
for size in 9x1x4 9x4x1 9x1x1 1x1x1; do
    begun="$cpu specs/heat3d7.lua --size $size --init u=x+3*y+5*z --schedule naive"
    exits 0 run $begun --steps 5 --output "$results/whole.npy"
    exits 0 run $begun --steps 2 --output "$results/half.npy" --checkpoint "$folder/flat" --every 2
    exits 0 run $cpu specs/heat3d7.lua --restart "$folder/flat" --steps 5 --output "$results/rest.npy"
    alike "$results/whole.npy" "$results/rest.npy"
done
exits 2 run $cpu specs/heat3d7.lua --size 9x1 --init u=x --output "$results/b.npy"
says '--size has 2 extents, but heat3d7 has 3 dimensions'
clear_results

begin 'a restart has the size of its state'
refused 2 'its grid is 37x13, but --size is 8x8' $again --steps 20 --restart "$folder/state" --size 8x8 --ranks 2
clear_results

begin 'a restart refuses other values of what steps change'
refused 2 '--input u: steps change it, and --restart has its values' $wave --steps 20 --restart "$folder/state"
refused 2 '--input u.prev: steps change it' $again --input u.prev="$folder/two.npy" --steps 20 --restart "$folder/state" --ranks 2
refused 2 '--init u: steps change it' $again --init u=1 --steps 20 --restart "$folder/state"
clear_results

begin 'a restart needs no more steps than are made'
refused 2 '12 steps are made already' $again --steps 8 --restart "$folder/state" --ranks 2
exits 0 run $cpu $again --steps 12 --restart "$folder/state" --ranks 2 --output "$results/b.npy"
clear_results

begin 'a restart without a step left has the results that no step reads'
cat >"$folder/out.lua" <<'EOF'
return stencil { name = "out", dims = 1, fields = { u = "inout", w = "out" },
  update = function(f) return { u = (f.u(0) + f.u(1)) / 2, w = f.u(-1) * 3 } end }
EOF
exits 0 run $cpu "$folder/out.lua" --input u="$folder/one.npy" --steps 4 --schedule naive --checkpoint "$results/state" --every 2 \
    --output u="$results/u.npy" --output w="$results/w.npy"
for ranks in 1 3; do
    exits 0 run $cpu "$folder/out.lua" --steps 4 --restart "$results/state" --ranks $ranks --output u="$results/u2.npy" \
        --output w="$results/w2.npy"
    alike "$results/u.npy" "$results/u2.npy"
    alike "$results/w.npy" "$results/w2.npy"
done
clear_results

begin 'what is no whole checkpoint of this run is refused'
head -c 9000 "$folder/state" >"$folder/truncated"
refused 3 'truncated' $again --steps 20 --restart "$folder/truncated" --ranks 2 \
    --output "$results/b.npy"
head -c 100 "$folder/state" >"$folder/stump"
refused 3 'no checkpoint' $again --steps 20 --restart "$folder/stump" --ranks 2
refused 3 'no checkpoint' $again --steps 20 --restart "$folder/two.npy" --ranks 2
refused 3 'cannot open: No such file or directory' $again --steps 20 --restart "$folder/nothing" --ranks 2
sed 's/^steps 12$/steps 11/' "$folder/state" >"$folder/damaged"
refused 3 'the checkpoint is damaged: the checksum of its head' $again --steps 20 --restart "$folder/damaged" --ranks 2
sed 's/^stencilgen checkpoint 2$/stencilgen checkpoint 1/' "$folder/state" >"$folder/older"
refused 3 'no checkpoint' $again --steps 20 --restart "$folder/older" --ranks 2

# flipped FILE PLACE: with the lowest bit of one byte turned.
flipped() {
    cp "$1" "$folder/flipped"
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\$(printf %03o $((byte ^ 1)))" | dd of="$folder/flipped" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# Of the title, the checksum of the head, its text and padding, the first and last cells, and the checksums of these.
bytes=$(wc -c <"$folder/state")
end=$((8192 + 2 * 4 * 37 * 13))
for place in 3 35 60 400 8191 8192 10000 $((end - 1)) $end $((bytes - 1)); do
    flipped "$folder/state" $place
    refused 3 'checkpoint' $again --steps 20 --restart "$folder/flipped" --ranks 2 --output "$results/b.npy"
done
holds "$results"
refused 3 'another spec' specs/heat2d5.lua --steps 20 \
    --restart "$folder/state" --ranks 2 --output "$results/b.npy"

# stopped PROCESS: killed as soon as there is a checkpoint. It takes as many steps as it is let.
stopped() {
    tries=0
    while [ ! -s "$results/state" ] && [ $tries -lt 200 ] && kill -0 "$1" 2>/dev/null; do
        sleep 0.1
        tries=$((tries + 1))
    done
    sleep 0.37
    kill -9 "$1" 2>/dev/null || flunk 'it was over before it was killed'
    wait "$1" 2>/dev/null
}

# continues: the last checkpoint is whole.
continues() {
    made=$(head -c 8192 "$results/state" | tr '\0' '\n' | sed -n 's/^steps //p')
    [ "${made:-0}" -ge 50 ] && [ $((made % 50)) = 0 ] || flunk "the checkpoint is of step '$made'"
    exits 0 run $cpu $again --steps $((made + 3)) --restart "$results/state" --ranks 3 \
        --output "$results/rest.npy"
    exits 0 run $cpu $wave --steps $((made + 3)) --schedule naive --output "$results/whole.npy"
    alike "$results/whole.npy" "$results/rest.npy"
    holds "$results" rest.npy state whole.npy
    clear_results
}

begin 'a kill leaves the last whole checkpoint'
"$STENCILGEN" run $cpu $wave --steps 100000000 --schedule naive --ranks 2x2 \
    --output "$results/never.npy" --checkpoint "$results/state" --every 50 >"$out" 2>"$err" &
stopped $!
# What a killed process was writing has a name of its own, which the next run must not mind.
find "$results" -type f ! -name state -exec rm -f {} +
continues

# ---- bench -----------------------------------------------------------------------------------------

begin 'bench compares with one rank'
exits 0 bench $cpu specs/heat2d5.lua --size 64x48 --steps 4 --schedule naive --ranks 2
reports 'times as fast, efficiency'
reports 'the same bytes as alone'
reports 'a step in them, not hidden'
exits 0 bench $cpu specs/heat2d5.lua --size 64x48 --steps 4 --schedule naive --ranks 1x2 --weak --json
reports '"exchange_seconds": '
reports '"speedup": '
reports '"same": null'
echo 'return stencil { name = "by", parameters = { k = true }, update = function(u, p) return u(0) + p.k * u(1) end }' >"$folder/by.lua"
exits 0 bench $cpu "$folder/by.lua" --size 512 --steps 2 --ranks 2 # k has no value: bench takes one
reports 'the same bytes as alone'

# ---- explain ---------------------------------------------------------------------------------------

begin 'explain estimates ranks'
big="specs/heat3d7.lua --gpu h200 --size 512x512x512 --schedule naive"
exits 0 explain $cpu $big --ranks 8 --json
reports '"grid": "1x2x4"'
reports '"part": "512x256x128"'
# A star sends faces alone: two along z, one along y.
reports "\"bytes\": $((4 * (2 * 512 * 256 + 512 * 128)))"
reports '"hidden": true'
exits 0 explain $cpu $big --ranks 1x1x8 --launches 3 --json
reports "\"bytes\": $((3 * 4 * 2 * 512 * 512))" # both neighbours, three planes each
reports '"launches": 3'
# Ghost cells as wide as many launches are too much work where exchanges are hidden, and less than theirs by host memory.
exits 0 explain $cpu $big --ranks 8
reports_line() {
    grep -q "$1" "$out" || flunk "no line '$1': $(cat "$out")"
}
reports_line '^  stores over NVLink   1: .* takes 1$'
reports_line '^  MPI, host memory     1: .* takes \([2-9]\|1[0-9]\)$'
# Stages that are launches of their own are made apart for the neighbours, where the exchange is long.
cat >"$folder/apart.lua" <<'END'
return system { name = "apart", fields = { u = "inout", v = "scratch" }, boundary = "mirror", fuse = false, stages = {
  { update = function(f) return { v = f.u(1, 0, 0) + f.u(0, -1, 0) + f.u(0, 0, 1) } end },
  { update = function(f) return { u = f.u(0, 0, 0) / 2 - f.v(0, 1, -1) / 16 } end },
} }
END
exits 0 explain $cpu "$folder/apart.lua" --gpu h200 --size 512x2048x2048 --ranks 1x4x4 --schedule naive
reports_line '^  NCCL over 400 Gb/s      1 .*, hidden$'
reports_line '^  stores over NVLink      1 .*, not hidden$'
rm -f "$folder/apart.lua"
# Along a periodic axis all ranks have the same neighbours: what explain expects is what ranks send.
cat >"$folder/torus.lua" <<'END'
return stencil { name = "torus", shape = box(3, 1), boundary = "periodic", dtype = "double",
                 update = function(u) return (u(1, 1, 1) + u(-1, -1, -1)) / 2 end }
END
torus="$folder/torus.lua --size 24x20x16 --schedule naive --ranks 2x2x2"
for launches in 1 2; do
    exits 0 explain $cpu $torus --launches $launches --json
    expected=$(sed -n 's/^ *"bytes": \([0-9]*\),$/\1/p' "$out" | head -n 1)
    exits 0 bench $cpu $torus --launches $launches --steps 6 --json
    sent=$(sed -n 's/^ *"bytes": \([0-9.e+]*\),$/\1/p' "$out" | head -n 1)
    [ "$(awk "BEGIN { print ${expected:-0} / $launches == ${sent:-1} }")" = 1 ] ||
        flunk "explain expects $expected bytes an exchange, and ranks send $sent a step"
done
exits 0 explain $cpu $big --ranks 1
reports 'nothing to exchange'
exits 0 explain $cpu specs/heat3d7.lua --gpu h200 --size 768x768x6144 --steps 64 --ranks 8
reports 'steps a launch'
exits 2 explain $cpu specs/heat3d7.lua --size 16x16x16 --ranks 1x1x17
says 'ranks ('
exits 2 explain $cpu specs/reduce_sum.lua --ranks 2
says 'is no stencil'

# ---- MPI -------------------------------------------------------------------------------------------

begin 'doctor names the MPI of the module'
SG_MPI="$folder/nothing.so" "$STENCILGEN" doctor >"$out" 2>"$err" || flunk "exit code $?"
grep -q "^-    MPI .*$folder/nothing.so" "$out" || flunk "$(cat "$out")"
if has_mpi; then
    exits 0 doctor
    grep -q "^ok   MPI  *[A-Za-z].*[0-9], messages of \(host\|device\) memory" "$out" || flunk "$(cat "$out")"
fi

begin 'processes of MPI'
if has_mpi; then
    exits 0 run $cpu $wave --steps 9 --schedule naive --output "$results/alone.npy"
    exits 0 run $cpu specs/heat3d7.lua --input "$folder/three.npy" --steps 4 --schedule naive \
        --output "$results/alone3.npy"
    number=0
    for count in 1 2 3 4 6 8; do # a run has the last, and a drawn half of the others
        number=$((number + 1))
        [ $count = 8 ] || drawn $number 2 || continue
        mpi 0 $count run $cpu $wave --steps 9 --schedule naive --output "$results/mpi.npy"
        alike "$results/alone.npy" "$results/mpi.npy"
        [ "$(grep -c 'wave2d: 9 steps' "$out")" = 1 ] || flunk "not one report: $(cat "$out")"
    done
    reports '8 ('
    reports 'MPI'
    mpi 0 8 run $cpu specs/heat3d7.lua --input "$folder/three.npy" --steps 4 --schedule naive \
        --ranks 2x2x2 --output "$results/mpi.npy"
    alike "$results/alone3.npy" "$results/mpi.npy"
    clear_results
    mpi 0 3 run $cpu $heat --ranks 1x3 --output "$results/b.pvti"
    exits 0 run $cpu $heat --output "$results/alone.vti"
    for number in 0 1 2; do
        elements "$results/b_$number.vti"
    done >"$results/b"
    elements "$results/alone.vti" >"$results/alone"
    alike "$results/alone" "$results/b"
    clear_results
    mkdir "$results/b_2.vti"
    mpi 3 3 run $cpu $heat --ranks 1x3 --output "$results/b.pvti"
    says 'b_2.vti: cannot write'
    rmdir "$results/b_2.vti"
    holds "$results"

    begin 'processes that a launcher starts without their MPI'
    SLURM_STEP_NUM_TASKS=4 refused 4 'a launcher started 4 processes, but in Open MPI' $heat --output "$results/b.npy"

    begin 'failures of processes of MPI: one message, and nothing left'
    mpi 3 3 run $cpu specs/heat2d5.lua --input "$folder/missing.npy" --output "$results/b.npy"
    [ "$(grep -c 'missing.npy' "$err")" = 1 ] || flunk "not one message: $(cat "$err")"
    holds "$results"
    mpi 3 3 run $cpu specs/heat2d5.lua --input "$folder/short.npy" --output "$results/b.npy"
    [ "$(grep -c 'short.npy' "$err")" = 1 ] || flunk "not one message: $(cat "$err")"
    holds "$results"
    mpi 2 2 run $cpu $heat --ranks 3 --output "$results/b.npy"
    says '--ranks names 3 ranks, but 2 processes were started'
    mpi 2 3 run $cpu $heat --ranks 1x14 --output "$results/b.npy"
    holds "$results"

    begin 'one process of MPI that fails before it meets the others'
    # fails_alone CODE TEXT SPEC INPUT: the second of three has this spec and input; all have its exit code.
    fails_alone() {
        wanted_code=$1
        shift
        timeout -k 5 60 mpirun --oversubscribe -n 1 "$STENCILGEN" run $cpu $heat --output "$results/b.npy" : \
            -n 1 "$STENCILGEN" run $cpu "$2" --input "$3" --steps 3 --output "$results/b.npy" : \
            -n 1 "$STENCILGEN" run $cpu $heat --output "$results/b.npy" >"$out" 2>"$err" </dev/null
        code=$?
        [ $code = "$wanted_code" ] || flunk "exit code $code: $(cat "$err")"
        says "rank 1: $1"
        holds "$results"
    }
    fails_alone 3 "$folder/missing.npy: error: cannot open" specs/heat2d5.lua "$folder/missing.npy"
    echo 'return nonsense(' >"$folder/nonsense.lua"
    fails_alone 2 "$folder/nonsense.lua:" "$folder/nonsense.lua" "$folder/two.npy"

    begin 'processes of MPI with different options'
    # differs TEXT OPTIONS OPTIONS: of the first of two, and of the second.
    differs() {
        timeout -k 5 60 mpirun --oversubscribe -n 1 "$STENCILGEN" run $cpu $heat --output "$results/b.npy" $2 : \
            -n 1 "$STENCILGEN" run $cpu $heat --output "$results/b.npy" $3 >"$out" 2>"$err" </dev/null
        code=$?
        [ $code = 2 ] || flunk "exit code $code: $(cat "$err")"
        says "$1"
        holds "$results"
    }
    differs "ranks 0 and 1 were given different options: '--launches 1' and '--launches 2'" '--launches 1' '--launches 2'
    differs "different options: 'nothing more' and '--stop-on-nan'" '' --stop-on-nan
    timeout -k 5 60 mpirun --oversubscribe -n 1 "$STENCILGEN" run $cpu $heat --output "$results/b.npy" --json : \
        -n 1 "$STENCILGEN" run $cpu $heat --output "$results/b.npy" >"$out" 2>"$err" </dev/null || flunk "$(cat "$err")"
    clear_results

    begin 'checkpoints of processes of MPI'
    mpi 0 4 run $cpu $wave --steps 12 --schedule naive --output "$results/half.npy" \
        --checkpoint "$results/state" --every 4
    [ "$(tail -c +8193 "$results/state" | cksum)" = "$(tail -c +8193 "$folder/state" | cksum)" ] ||
        flunk 'the state is not that of 3x2 threads'
    exits 0 run $cpu $wave --steps 20 --schedule naive --output "$results/whole.npy"
    mpi 0 3 run $cpu $again --steps 20 --restart "$results/state" --output "$results/rest.npy"
    alike "$results/whole.npy" "$results/rest.npy"
    clear_results

    begin 'points and monitors of processes of MPI'
    by='mpi 0 4'
    shoot "$results/b" "$folder/series.npy" --steps 12 --every 3
    by='mpi 0 3'
    for what in $recorded; do
        alike "$folder/alone-$what.npy" "$results/b-$what.npy"
    done
    shoot "$results/c" "$folder/series.npy" --steps 12 --every 3 --restart "$folder/shot"
    for what in $recorded; do
        alike "$folder/alone-$what.npy" "$results/c-$what.npy"
    done
    clear_results

    begin 'one process of MPI that is killed ends all'
    mpirun --oversubscribe -n 3 "$STENCILGEN" run $cpu $wave --steps 100000000 --schedule naive \
        --output "$results/never.npy" --checkpoint "$results/state" --every 50 \
        >"$out" 2>"$err" </dev/null &
    launcher=$!
    tries=0
    while [ ! -s "$results/state" ] && [ $tries -lt 200 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    child=$(ps -o pid= --ppid $launcher | head -n 1)
    kill -9 $child || flunk 'there is no process to kill'
    wait $launcher && flunk 'the launcher says that all is well'
    left=$(ps -e -o args= | grep -c "^$STENCILGEN run .*$results/never")
    [ "$left" = 0 ] || flunk "$left processes are left"
    [ ! -e "$results/never.npy" ] || flunk 'there is an output'
    find "$results" -type f ! -name state -exec rm -f {} +
    continues

    # told COUNT WHAT: processes of an application, of which the second does that; what they say is in $out.
    told() {
        timeout -k 5 60 mpirun --oversubscribe -n "$1" "$ranks_program" "$2" >"$out" 2>"$err" \
            </dev/null || flunk "$2: exit code $?: $(cat "$out" "$err")"
        [ "$(grep -c . "$out")" = "$1" ] || flunk "$2: not a line of each: $(cat "$out" "$err")"
    }

    begin 'an application of MPI hears of a rank that fails or hangs'
    ranks_program=$(dirname "$STENCILGEN")/tests/mpi_ranks
    told 5 works
    [ "$(grep -c 'has 15$' "$out")" = 5 ] || flunk "$(cat "$out")"
    told 5 fails
    [ "$(grep -c '^[0234] fails: .*rank 1: there is no kernel' "$out")" = 4 ] || flunk "$(cat "$out")"
    told 5 hangs
    [ "$(grep -c '^[0234] fails: .*rank 1 did not answer within 2 s' "$out")" = 4 ] ||
        flunk "$(cat "$out")"
    told 5 differs
    [ "$(grep -c "^[0-4] fails: .*'heat': ranks . and . were given different steps to make: " "$out")" = 5 ] ||
        flunk "$(cat "$out")"
    told 3 refuses
    [ "$(grep -c '^[02] fails: .*rank 1: a transport needs' "$out")" = 2 ] || flunk "$(cat "$out")"

    begin 'bench on processes of MPI'
    mpi 0 2 bench $cpu specs/heat2d5.lua --size 64x48 --steps 4 --schedule naive
    reports 'the same bytes as alone'
fi
finish
