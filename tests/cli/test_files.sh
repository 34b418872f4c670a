#!/bin/sh
# run: images in and out, and grids for ParaView.
. "$(dirname "$0")/common.sh"
export SG_CACHE="$folder/cache" # kernels are compiled once
. "$(dirname "$0")/arrays.sh"
cpu='--device cpu'

cat >"$folder/same.lua" <<'END'
return stencil {
  name = "same", shape = points { { 0, 0 } }, coefficients = { 1 }, dtype = "float",
  boundary = "zero",
}
END
cat >"$folder/scaled.lua" <<'END'
return stencil {
  name = "scaled", dims = 2, dtype = "double", boundary = "zero",
  update = function(u, p) return p.by * u(0, 0) + p.add end,
}
END
same=$folder/same.lua
scaled=$folder/scaled.lua

# image FILE TEXT SAMPLES: a header and its samples in printf's notation.
image() {
    printf "$2$3" >"$1"
}

begin 'a raw image in, an array out'
image "$folder/a.pgm" 'P5\n3 2\n255\n' '\000\001\002\376\377\100'
exits 0 run $cpu "$same" --input "$folder/a.pgm" --output "$folder/a.npy"
npy f4 "$folder/want.npy" '2, 3' 0 1 2 254 255 64
same "$folder/want.npy" "$folder/a.npy"

begin 'and back, unchanged'
exits 0 run $cpu "$same" --input "$folder/a.npy" --output "$folder/b.pgm"
same "$folder/a.pgm" "$folder/b.pgm"
exits 0 run $cpu "$same" --input "$folder/a.pgm" --output "$folder/b.pgm"
same "$folder/a.pgm" "$folder/b.pgm"

begin 'the other forms of a header'
for header in 'P5 3 2 255 ' 'P5\t3\r\n2\n\n255\n' 'P5\n# a comment\n3 # width\n2\n#255\n255\n' 'P5#\n3 2#255\n255\n'; do
    image "$folder/c.pgm" "$header" '\000\001\002\376\377\100'
    exits 0 run $cpu "$same" --input "$folder/c.pgm" --output "$folder/c.npy"
    same "$folder/want.npy" "$folder/c.npy"
done

begin 'a plain image'
for text in 'P2\n3 2\n255\n0 1 2\n254 255 64\n' 'P2 3 2 255 0 1 2 254 255 64' 'P2\n3 2\n255\n000 1\t2 # a\n#\n254\n\n255 64 \n# end'; do
    image "$folder/c.pgm" "$text" ''
    exits 0 run $cpu "$same" --input "$folder/c.pgm" --output "$folder/c.npy"
    same "$folder/want.npy" "$folder/c.npy"
done

begin 'two bytes a sample, and the maxval of the input is that of the output'
image "$folder/deep.pgm" 'P5\n2 2\n1000\n' '\000\000\003\350\001\000\000\377'
exits 0 run $cpu "$same" --input "$folder/deep.pgm" --output "$folder/d.npy"
npy f4 "$folder/want.npy" '2, 2' 0 1000 256 255
same "$folder/want.npy" "$folder/d.npy"
exits 0 run $cpu "$same" --input "$folder/deep.pgm" --output "$folder/d.pgm"
same "$folder/deep.pgm" "$folder/d.pgm"
image "$folder/low.pgm" 'P2 2 1 7 ' '7 0'
exits 0 run $cpu "$same" --input "$folder/low.pgm" --output "$folder/d.pgm"
image "$folder/want.pgm" 'P5\n2 1\n7\n' '\007\000'
same "$folder/want.pgm" "$folder/d.pgm"

begin 'an image for a kernel of doubles'
exits 0 run $cpu "$scaled" --set by=1 --set add=0.25 --input "$folder/low.pgm" --output "$folder/d.npy"
npy f8 "$folder/want.npy" '1, 2' 7.25 0.25
same "$folder/want.npy" "$folder/d.npy"

begin 'what is written is rounded and kept between black and white'
npy f4 "$folder/e.npy" '2, 5' -1000 -0.5 0.49 0.51 1.5 254.4 254.6 255.1 1e30 nan
exits 0 run $cpu "$same" --input "$folder/e.npy" --output "$folder/e.pgm:0..255"
says "$folder/e.pgm: warning: 1 NaN is written as black"
image "$folder/want.pgm" 'P5\n5 2\n255\n' '\000\000\000\001\002\376\377\377\377\000'
same "$folder/want.pgm" "$folder/e.pgm"
npy f4 "$folder/e.npy" '1, 2' inf -inf
exits 0 run $cpu "$same" --input "$folder/e.npy" --output "$folder/e.pgm:0..255"
reports 'no finite value, 0 NaN, 2 infinite'
image "$folder/want.pgm" 'P5\n2 1\n255\n' '\377\000'
same "$folder/want.pgm" "$folder/e.pgm"

begin 'the scale of an image is the range of the data'
npy f4 "$folder/r.npy" '2, 3' 0 0.25 0.5 1 nan inf
exits 0 run $cpu "$same" --input "$folder/r.npy" --output "$folder/r.pgm"
image "$folder/want.pgm" 'P5\n3 2\n255\n' '\000\100\200\377\000\377'
same "$folder/want.pgm" "$folder/r.pgm"
reports 'minimum 0, maximum 1, 1 NaN, 1 infinite'
reports '           0 .. 1 -> 0..255'
says '1 NaN is written as black'
npy f4 "$folder/r.npy" '1, 2' 3 3
exits 0 run $cpu "$same" --input "$folder/r.npy" --output "$folder/r.pgm"
image "$folder/want.pgm" 'P5\n2 1\n255\n' '\000\000'
same "$folder/want.pgm" "$folder/r.pgm"
npy f4 "$folder/r.npy" '1, 3' -1e38 0 3e38
exits 0 run $cpu "$same" --input "$folder/r.npy" --output "$folder/r.pgm:-1e308..1e308"
image "$folder/want.pgm" 'P5\n3 1\n255\n' '\200\200\200'
same "$folder/want.pgm" "$folder/r.pgm"

begin 'a given range, also of an image that was read'
npy f8 "$folder/r.npy" '1, 5' -1 0 0.1 0.4 9
exits 0 run $cpu "$scaled" --set by=1 --set add=0 --input "$folder/r.npy" --output u="$folder/r.pgm:0..0.4"
image "$folder/want.pgm" 'P5\n5 1\n255\n' '\000\000\100\377\377'
same "$folder/want.pgm" "$folder/r.pgm"
reports '           0 .. 0.4 -> 0..255'
exits 0 run $cpu "$same" --input "$folder/low.pgm" --output "$folder/d.pgm:0..14"
image "$folder/want.pgm" 'P5\n2 1\n7\n' '\004\000'
same "$folder/want.pgm" "$folder/d.pgm"
for range in '' 1 1..1 2..1 0..nan 0..inf ..1 0.. 0..1..2 a..b; do
    exits 2 run $cpu "$same" --input "$folder/a.pgm" --output "$folder/no.pgm:$range"
    says 'what is black and what is white are needed after the colon, the lesser first'
done
exits 2 run $cpu "$same" --input "$folder/a.pgm" --output "$folder/no.npy:0..1"

begin 'an unknown extension is refused before any work'
for name in u.png u.vtk u.NPY u.npz 'u.' u.npy.gz; do
    exits 2 run $cpu "$same" --input "$folder/a.pgm" --output "$folder/$name"
    says "is no kind of file that can be written; arrays are written to .npy files, and grids also to .vti, .pvti and .pgm (.pgm:LOW..HIGH), those of --snapshot also to .png"
    [ ! -e "$folder/$name" ] || flunk 'an output was written'
    cp "$folder/a.pgm" "$folder/$name"
    exits 2 run $cpu "$same" --input "$folder/$name" --output "$folder/b.npy"
    says "is no kind of file that can be read; arrays are read from .npy files, images, .pgm"
    rm "$folder/$name"
done

begin 'a name without an extension is .npy'
mkdir "$folder/v1.5"
npy f4 "$folder/g0.npy" '2, 3' 1 2 3 4 5 6
for name in plain .hidden v1.5/plain; do
    exits 0 run $cpu "$same" --input "$folder/g0.npy" --output "$folder/$name"
    same "$folder/g0.npy" "$folder/$name"
    exits 0 run $cpu "$same" --input "$folder/$name" --output /dev/null
done

begin 'an image from a pipe, whatever its name'
"$STENCILGEN" run $cpu "$same" --input /dev/stdin --output "$folder/b.pgm" <"$folder/a.pgm" \
    >"$out" 2>"$err" || flunk "$(cat "$err")"
same "$folder/a.pgm" "$folder/b.pgm"

begin 'a convolution of an image'
printf 'P2 5 5 256 0 0 0 0 0 0 0 0 0 0 0 0 256 0 0 0 0 0 0 0 0 0 0 0 0' >"$folder/dot.pgm"
exits 0 run $cpu specs/blur.lua --input "$folder/dot.pgm" --output "$folder/f.npy"
npy f4 "$folder/want.npy" '5, 5' 1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1
same "$folder/want.npy" "$folder/f.npy"
exits 2 run $cpu specs/blur.lua --input "$folder/dot.pgm" --output "$folder/f2.npy" --steps 2
says '--steps: blur reads nothing that it writes'
[ ! -e "$folder/f2.npy" ] || flunk 'an output was written'

# refused TEXT HEADER [SAMPLES]: an image that is refused, with exit code 3 and a reason.
refused() {
    image "$folder/bad.pgm" "$2" "${3:-}"
    exits 3 run $cpu "$same" --input "$folder/bad.pgm" --output "$folder/none.npy"
    says "$folder/bad.pgm: error: $1"
    [ ! -e "$folder/none.npy" ] || flunk 'an output was written'
}

begin 'damaged images'
refused 'not a .pgm file' ''
refused 'not a .pgm file' 'P'
refused 'not a .pgm file' 'P5'
refused 'not a .pgm file' 'P55 1 1 1 '
refused 'not a .pgm file' 'hello'
refused 'a P6 image; a grey one' 'P6 1 1 255 ' 'abc'
refused 'the file ends where the width is to come' 'P5\n'
refused 'the file ends where the height is to come' 'P5\n3\n'
refused 'the file ends where the maxval is to come' 'P5\n3 2\n# 255'
refused 'the file ends after the maxval' 'P5\n3 2\n255'
refused 'the width is no number' 'P5\n-3 2\n255\n'
refused 'no white space after the height' 'P5\n3 2x\n255\n'
refused 'the width is more than 2147483647' 'P5\n2147483648 2\n255\n'
refused 'the width is more than 2147483647' 'P5\n99999999999999999999999 2\n255\n'
refused 'the maxval is more than 65535' 'P5\n3 2\n65536\n'
refused 'the maxval is 0' 'P5\n3 2\n0\n'
refused 'an image without samples' 'P5\n0 2\n255\n'
refused 'an image without samples' 'P5\n3 0\n255\n'
refused 'the file is shorter than its header says' 'P5\n3 2\n255\n' 'abcde'
refused 'the file is longer than its header says' 'P5\n3 2\n255\n' 'abcdefg'
refused 'the file is shorter than its header says' 'P5\n2147483647 2147483647\n65535\n' 'abc'
refused 'the file is shorter than its header says' 'P2 3 2 255 1 2 3 4'
refused 'the file ends after a sample' 'P2 3 2 255 100 2 3 4 5'
refused 'the file is longer than its header says' 'P2 3 2 255 1 2 3 4 5 6 7'
refused 'a sample is more than 255' 'P2 1 1 255 256'
refused 'a sample is more than 3' 'P2 1 1 3 7'
refused 'a sample is no number' 'P2 2 1 255 1 -1'
refused 'a sample is 8, more than the maxval 7' 'P5 1 1 7 ' '\010'

begin 'an image cannot hold what is no plane'
cat >"$folder/line.lua" <<'END'
return stencil {
  name = "line", shape = points { { 0 } }, coefficients = { 1 }, dtype = "float", boundary = "zero",
}
END
list f4 "$folder/line.npy" 1 2 3
exits 2 run $cpu "$folder/line.lua" --input "$folder/line.npy" --output "$folder/line.pgm"
says 'an image has 2 dimensions, but u has 1; give a .npy file'
[ ! -e "$folder/line.pgm" ] || flunk 'an output was written'
exits 3 run $cpu "$folder/line.lua" --input "$folder/a.pgm" --output "$folder/line.npy"
says 'the array has 2 dimensions, but line has 1'

begin 'a grid for ParaView'
npy f4 "$folder/g.npy" '2, 3' 1 2 3 4 5 6
exits 0 run $cpu "$same" --input "$folder/g.npy" --output "$folder/g.vti"
grep -q 'WholeExtent="0 2 0 1 0 0"' "$folder/g.vti" || flunk "$(head -c 500 "$folder/g.vti")"
grep -q 'DataArray type="Float32" Name="u" format="appended" offset="0"' "$folder/g.vti" ||
    flunk "$(head -c 700 "$folder/g.vti")"
{
    encode i8 24
    encode f4 1 2 3 4 5 6
} >"$folder/want"
after=$(LC_ALL=C grep -abo '^_' "$folder/g.vti" | head -1 | cut -d: -f1)
tail -c "+$((after + 2))" "$folder/g.vti" | head -c 32 | cmp -s - "$folder/want" ||
    flunk 'the elements are not as expected'
tail -c 32 "$folder/g.vti" | grep -q '</VTKFile>' || flunk 'it does not end well'
exits 3 run $cpu "$same" --input "$folder/g.vti"
says 'a .vti file can be written, but not read'

begin 'a line for ParaView'
exits 0 run $cpu "$folder/line.lua" --input "$folder/line.npy" --output "$folder/line.vti"
grep -q 'WholeExtent="0 2 0 0 0 0"' "$folder/line.vti" || flunk "$(head -c 500 "$folder/line.vti")"

begin 'a full disk leaves nothing behind'
if [ -w /dev/full ]; then
    mkdir "$folder/full"
    for kind in npy pgm vti; do
        ln -s /dev/full "$folder/full/b.$kind"
        exits 3 run $cpu "$same" --input "$folder/a.pgm" --output "$folder/full/b.$kind"
        says "$folder/full/b.$kind: error: cannot write: No space left on device"
    done
    holds "$folder/full"
else
    skip 'there is no /dev/full'
fi
finish
