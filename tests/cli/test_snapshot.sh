#!/bin/sh
# run --snapshot: fields as files while the steps go on.
. "$(dirname "$0")/common.sh"
export SG_CACHE="$folder/cache" # kernels are compiled once
. "$(dirname "$0")/arrays.sh"
export SG_DATABASE=none
cpu='--device cpu'

cat >"$folder/shift.lua" <<'EOF'
return stencil { name = "shift", shape = points { { -1 } }, coefficients = { 1 }, dtype = "float",
                 boundary = "periodic" }
EOF
cat >"$folder/same2.lua" <<'EOF'
return stencil { name = "same", shape = points { { 0, 0 } }, coefficients = { 1 }, dtype = "float",
                 boundary = "zero" }
EOF
cat >"$folder/same3.lua" <<'EOF'
return stencil { name = "same", shape = points { { 0, 0, 0 } }, coefficients = { 1 }, dtype = "double",
                 boundary = "zero" }
EOF
cat >"$folder/wave.lua" <<'EOF'
return stencil { name = "wave", dims = 2, dtype = "double", boundary = "mirror",
  fields = { u = { use = "inout", levels = 2 } },
  update = function(f) return 1.5 * f.u(0, 0) + 0.125 * (f.u(1, 0) + f.u(-1, 0) + f.u(0, 1) + f.u(0, -1)) - f.u.prev(0, 0) end }
EOF
drop='u=where(lt(hypot(x - 20, y - 9), 5), 1, 0)'

is() {
    cmp -s "$folder/want" "$1" || flunk "$1 is not as expected: $(od -An -tx1 "$1" | tr -s ' \n' ' ' | tail -c 300)"
}

begin 'snapshots, monitors and checkpoints at steps of their own'
cat >"$folder/watched.lua" <<'EOS'
return stencil {
  name = "watched", boundary = "periodic", update = function(u) return u(1) end,
  monitors = { top = { op = "max", map = function(u, p, at) return u(0) + at.x end } },
}
EOS
mkdir -p "$folder/e"
for ranks in '' '--ranks 2'; do
    rm -f "$folder"/e/*
    exits 0 run $cpu "$folder/watched.lua" --size 8 --init u=x --steps 12 --output "$folder/b.npy" $ranks \
        --snapshot u="$folder/e/u-%d.npy" --monitor top="$folder/top.npy" --every 4 --every monitor=3
    [ "$(cd "$folder/e" && echo *)" = 'u-12.npy u-4.npy u-8.npy' ] || flunk "$(ls "$folder/e")"
    reports 'after step 12, 4 samples'
done
rm -f "$folder"/e/*
exits 0 run $cpu "$folder/watched.lua" --size 8 --init u=x --steps 12 --output "$folder/b.npy" \
    --snapshot u="$folder/e/u-%d.npy" --every snapshot=6 --checkpoint "$folder/e.state" --every checkpoint=5
[ "$(cd "$folder/e" && echo *)" = 'u-12.npy u-6.npy' ] || flunk "$(ls "$folder/e")"
head -c 8192 "$folder/e.state" | tr -d '\000' | grep -q '^steps 10$' || flunk 'the checkpoint is not of step 10'

begin 'after every two of five steps'
mkdir "$folder/s"
exits 0 run $cpu "$folder/shift.lua" --size 5 --init u=x+1 --steps 5 --every 2 --output "$folder/b.npy" \
    --snapshot u="$folder/s/u-%03d.npy" --snapshot u="$folder/s/u-%d.vti"
holds "$folder/s" u-002.npy u-004.npy u-2.vti u-4.vti
npy f4 "$folder/want" '5,' 4 5 1 2 3
is "$folder/s/u-002.npy"
npy f4 "$folder/want" '5,' 2 3 4 5 1
is "$folder/s/u-004.npy"
npy f4 "$folder/want" '5,' 1 2 3 4 5
is "$folder/b.npy"
reports "snapshot u: 2 files, the last one $folder/s/u-004.npy"
encode f4 2 3 4 5 1 >"$folder/want"
printf '\n  </AppendedData>\n</VTKFile>\n' >>"$folder/want"
tail -c "$(wc -c <"$folder/want")" "$folder/s/u-4.vti" >"$folder/got"
is "$folder/got"

begin 'what JSON says'
exits 0 run $cpu "$folder/same2.lua" --size 2x2 --init 'u=x + 2*y' --steps 1 --every 1 --json \
    --output "$folder/b.npy" --snapshot u="$folder/s/j-%d.pgm"
tr -d ' \n' <"$out" | grep -qF "\"snapshots\":[{\"array\":\"u\",\"files\":1,\"last\":\"$folder/s/j-1.pgm\",\"low\":0,\"high\":3}]" ||
    flunk "$(cat "$out")"

begin 'an image, whose range is that of the first one, or given'
printf 'P5\n3 2\n255\n\000\063\146\231\314\377' >"$folder/want"
exits 0 run $cpu "$folder/same2.lua" --size 3x2 --init 'u=x + 3*y' --steps 2 --every 1 \
    --output "$folder/b.npy" --snapshot u="$folder/s/i-%d.pgm"
is "$folder/s/i-1.pgm"
is "$folder/s/i-2.pgm"
printf 'P5\n3 2\n255\n\000\000\000\200\377\377' >"$folder/want"
exits 0 run $cpu "$folder/same2.lua" --size 3x2 --init 'u=x + 3*y' --steps 1 --every 1 --range 2:4 \
    --output "$folder/b.npy" --snapshot u="$folder/s/r-%d.pgm"
is "$folder/s/r-1.pgm"

begin 'a slice of three dimensions'
for k in default 0 4; do
    slice="--slice z=$k"
    [ $k = default ] && slice='' k=2
    printf "P5\n2 2\n255\n\\00${k}\\01${k}\\02${k}\\03${k}" >"$folder/want"
    exits 0 run $cpu "$folder/same3.lua" --size 2x2x5 --init 'u=z + 8 * x + 16 * y' --steps 1 --every 1 \
        --range 0:255 $slice --output "$folder/b.npy" --snapshot u="$folder/s/z-%d.pgm"
    is "$folder/s/z-1.pgm"
done
exits 2 run $cpu "$folder/same3.lua" --size 2x2x5 --init u=1 --every 1 --slice z=5 --snapshot u="$folder/s/z-%d.pgm"
says 'has the planes z=0 to z=4'

if "$STENCILGEN" run $cpu "$folder/same2.lua" --size 3x2 --init u=x --every 1 --output "$folder/b.npy" \
    --snapshot u="$folder/s/p-%06d.png" 2>"$err" >"$out"; then
    begin 'a picture'
    head -c 8 "$folder/s/p-000001.png" | od -An -tx1 | grep -q '89 50 4e 47 0d 0a 1a 0a' || flunk 'it is no PNG file'
    for map in viridis plasma magma inferno grey; do
        exits 0 run $cpu "$folder/same2.lua" --size 3x2 --init u=x --every 1 --output "$folder/b.npy" \
            --colours $map --snapshot u="$folder/s/$map-%d.png"
    done
    cmp -s "$folder/s/p-000001.png" "$folder/s/viridis-1.png" || flunk 'viridis is not the default'
    cmp -s "$folder/s/plasma-1.png" "$folder/s/viridis-1.png" && flunk 'plasma is viridis'
    exits 2 run $cpu "$folder/same2.lua" --size 3x2 --init u=x --every 1 --colours jet --snapshot u="$folder/p-%d.png"
    says 'the maps are viridis, plasma, magma, inferno, grey'
else
    says 'was built without libpng'
fi

begin 'the steps are the same with and without'
exits 0 run $cpu "$folder/wave.lua" --size 41x23 --init "$drop" --steps 100 --output u="$folder/a.npy"
exits 0 run $cpu "$folder/wave.lua" --size 41x23 --init "$drop" --steps 100 --output u="$folder/b.npy" --every 7 \
    --snapshot u="$folder/s/w-%03d.npy" --snapshot u.prev="$folder/s/before-%03d.npy"
cmp -s "$folder/a.npy" "$folder/b.npy" || flunk 'snapshots change the result'
exits 0 run $cpu "$folder/wave.lua" --size 41x23 --init "$drop" --steps 91 --output u="$folder/a.npy" \
    --output u.prev="$folder/p.npy"
cmp -s "$folder/a.npy" "$folder/s/w-091.npy" || flunk 'step 91 is another one'
cmp -s "$folder/p.npy" "$folder/s/before-091.npy" || flunk 'the step before 91 is another one'

begin 'with checkpoints, which go on counting'
exits 0 run $cpu "$folder/wave.lua" --size 41x23 --init "$drop" --steps 35 --output u="$folder/a.npy" --every 35 \
    --checkpoint "$folder/state" --snapshot u="$folder/s/c-%03d.npy"
! grep -q '^  ranks' "$out" || flunk 'there are ranks, which nobody asked for'
exits 0 run $cpu "$folder/wave.lua" --restart "$folder/state" --steps 91 --output u="$folder/a.npy" --every 7 \
    --snapshot u="$folder/s/c-%03d.npy" --snapshot u="$folder/s/c-%03d.pgm"
for step in 035 042 091; do
    cmp -s "$folder/s/w-$step.npy" "$folder/s/c-$step.npy" || flunk "step $step is another one"
done
[ -s "$folder/s/c-091.pgm" ] || flunk 'there is no image'

begin 'ranks write their parts'
exits 0 run $cpu "$folder/wave.lua" --size 41x23 --init "$drop" --steps 91 --ranks 2x2 --output u="$folder/a.npy" \
    --every 7 --snapshot u="$folder/s/n-%03d.npy" --snapshot u="$folder/s/n-%03d.vti"
cmp -s "$folder/s/n-091.npy" "$folder/s/w-091.npy" || flunk 'ranks write another field'
reports '13 files'

begin 'images of ranks are put together'
for ranks in 1 3 2x2; do
    exits 0 run $cpu "$folder/wave.lua" --size 41x23 --init "$drop" --steps 14 --ranks $ranks --output u="$folder/a.npy" \
        --every 7 --snapshot u="$folder/s/g$ranks-%03d.npy" --snapshot u="$folder/s/g$ranks-%03d.pgm" \
        --snapshot u.prev="$folder/s/h$ranks-%03d.pgm"
    for name in g h; do
        cmp -s "$folder/s/${name}1-014.pgm" "$folder/s/$name$ranks-014.pgm" || flunk "$ranks ranks draw another $name"
    done
    cmp -s "$folder/s/w-014.npy" "$folder/s/g$ranks-014.npy" || flunk "$ranks ranks write another field"
done
exits 0 run $cpu "$folder/same3.lua" --size 7x5x6 --init 'u=x + 7*(y + 5*z)' --steps 1 --every 1 \
    --output "$folder/b.npy" --snapshot u="$folder/s/k1-%d.pgm"
exits 0 run $cpu "$folder/same3.lua" --size 7x5x6 --init 'u=x + 7*(y + 5*z)' --steps 1 --every 1 --ranks 2x2x2 \
    --output "$folder/b.npy" --snapshot u="$folder/s/k8-%d.pgm"
cmp -s "$folder/s/k1-1.pgm" "$folder/s/k8-1.pgm" || flunk 'eight ranks draw another slice'

begin 'a disk without room'
mkdir "$folder/full"
large="$folder/wave.lua --size 1024x1025 --steps 2 --init u=x --output u=$folder/full/b.npy"
exits 0 run $cpu $large # compiled for what follows
rm "$folder/full/b.npy"
(ulimit -f 8192 && exec "$STENCILGEN" run $cpu $large --every 1 --snapshot u="$folder/full/u-%d.npy") >"$out" 2>"$err"
code=$?
[ $code = 3 ] || flunk "exit code $code instead of 3: $(cat "$err")"
says 'full/u-1.npy: error: cannot write'
holds "$folder/full"

begin 'a signal leaves whole files alone'
mkdir "$folder/ended"
"$STENCILGEN" run $cpu "$folder/wave.lua" --size 1024x1025 --steps 1000000 --init u=x --output u="$folder/ended/b.npy" \
    --every 1 --snapshot u="$folder/ended/u-%d.npy" >"$out" 2>"$err" &
tries=0
while [ ! -e "$folder/ended/u-2.npy" ] && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill $!
wait $!
[ $? = 143 ] || flunk 'the signal did not end it'
[ -e "$folder/ended/u-2.npy" ] || flunk 'there was no snapshot'
for file in "$folder"/ended/* "$folder"/ended/.stencilgen-*; do
    case $file in
    */ended/u-*.npy) [ "$(wc -c <"$file")" = $((128 + 8 * 1024 * 1025)) ] || flunk "$file is not whole" ;;
    */.stencilgen-\*) ;;
    *) flunk "$file was left" ;;
    esac
done

begin 'errors before the work'
run="run $cpu $folder/same2.lua --size 3x2 --init u=1"
exits 2 $run --every 1 --snapshot v="$folder/u-%d.npy"
says "--snapshot 'v': same writes u"
exits 2 $run --every 1 --snapshot u="$folder/u.npy"
says 'needs one %06d'
exits 2 $run --every 1 --snapshot u="$folder/u-%s.npy"
exits 2 $run --every 1 --snapshot u="$folder/u-%d.jpg"
says '.npy, .vti, .pvti, .pgm and .png'
exits 2 $run --every 1 --snapshot "$folder/u-%d.npy"
says 'NAME=FILE is needed'
exits 2 $run --snapshot u="$folder/u-%d.npy"
says 'needs --every'
exits 2 $run --every 1 --snapshot u="$folder/u-%d.npy" --snapshot u="$folder/u-%d.npy"
says 'two snapshots go to these files'
exits 2 $run --every 1 --snapshot u="$folder/u-%d.npy" --snapshot u="$folder/./u-%d.npy"
says 'two snapshots go to these files'
exits 2 $run --steps 12 --every 2 --snapshot u="$folder/u-%d.npy" --snapshot u="$folder/u-%02d.npy"
says 'two snapshots go to these files'
exits 2 $run --every 1 --snapshot u="$folder/u-%d.npy" --range 0:1
says 'no snapshot is an image'
exits 2 $run --every 1 --snapshot u="$folder/u-%d.pgm" --range 1:0
says 'two numbers are needed'
exits 2 $run --every 1 --snapshot u="$folder/u-%d.pgm" --colours grey
says 'no snapshot is a .png image'
exits 2 $run --every 1 --snapshot u="$folder/u-%d.pgm" --slice z=0
says 'of a 3D field'
exits 2 $run --every 1 --snapshot u="$folder/u-%d.pgm" --slice 3
says 'as in z=64'
exits 2 run $cpu "$folder/shift.lua" --size 5 --init u=1 --every 1 --snapshot u="$folder/u-%d.pgm"
says 'an image has 2 dimensions'
exits 2 $run --colours grey
says 'are of --snapshot'
exits 3 $run --every 1 --snapshot u="$folder/absent/u-%d.npy"
says 'absent/u-1.npy: error: cannot write'
for kind in npy vti pvti pgm; do # a checkpoint would come first
    exits 3 $run --ranks 2 --steps 2 --snapshot u="$folder/absent/u-%d.$kind" --every 2 --checkpoint "$folder/u-state" --every checkpoint=1
    says "absent/u-2.$kind: error: cannot write"
done
cat >"$folder/parts.lua" <<'EOF'
return stencil { name = "parts", fields = { v = { use = "inout", components = 2 } }, boundary = "zero",
                 update = function(f) return { v = { f.v[2](0, 0), f.v[1](0, 0) } } end }
EOF
run="run $cpu $folder/parts.lua --size 3x2 --init v[1]=1 --output $folder/u-out.npy --every 1"
exits 2 $run --snapshot v="$folder/u-%d.npy"
says "--snapshot 'v': it has components; name one: v[1]"
ls "$folder"/u-* 2>/dev/null && flunk 'files were left'

begin 'snapshots and checkpoints replace no file of the run'
mkdir "$folder/kept"
npy f4 "$folder/kept/u-04.npy" '2, 3,' 1 2 3 4 5 6
cp "$folder/kept/u-04.npy" "$folder/want"
ln -s u-04.npy "$folder/kept/link-10.npy"
run="run $cpu $folder/same2.lua --input $folder/kept/u-04.npy --every 2"
to="--output $folder/kept/b-4.npy"
exits 2 $run $to --steps 4 --snapshot u="$folder/kept/u-%02d.npy"
says 'this is an input, which the snapshot after step 4 would replace'
exits 2 $run $to --steps 10 --checkpoint "$folder/kept/link-10.npy"
says 'this is an input, which the checkpoint would replace'
exits 2 $run $to --checkpoint "$folder/same2.lua"
says 'this is the spec, which the checkpoint would replace'
exits 2 $run $to --steps 4 --snapshot u="$folder/kept/../kept/b-%d.npy"
says 'this is an output, which the snapshot after step 4 would replace'
exits 2 $run $to --checkpoint "$folder/kept/./b-4.npy"
says 'this is an output, which the checkpoint would replace'
exits 2 $run $to --steps 4 --checkpoint "$folder/kept/c-2.npy" --snapshot u="$folder/kept/c-%d.npy"
says 'this is the checkpoint, which the snapshot after step 2 would replace'
is "$folder/kept/u-04.npy"
holds "$folder/kept" u-04.npy
grep -q 'name = "same"' "$folder/same2.lua" || flunk 'the spec was replaced'
exits 0 $run $to --steps 2 --snapshot u="$folder/kept/u-%02d.npy"
holds "$folder/kept" b-4.npy u-02.npy u-04.npy
exits 0 $run $to --steps 2 --checkpoint "$folder/kept/state"
exits 0 run $cpu "$folder/same2.lua" --restart "$folder/kept/state" --checkpoint "$folder/kept/state" --every 2 --steps 4 $to
finish
