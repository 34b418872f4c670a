#!/bin/sh
# run: files of other real types, rounded with --convert; monitors, and what is refused, of cells of 16 bits.
. "$(dirname "$0")/common.sh"
export SG_CACHE="$folder/cache" # kernels are compiled once
. "$(dirname "$0")/arrays.sh"
cpu='--device cpu'

# copy NAME KEYS: a spec that copies its input.
copy() {
    cat >"$folder/$1.lua" <<END
return stencil {
  name = "$1", dims = 1, $2, fields = { a = "in", b = "out" }, update = function(f) return f.a(0) end,
}
END
}
copy half 'storage = "half"'
copy bfloat16 'storage = "bfloat16"'
copy float 'dtype = "float"'

# bits TYPE FILE NUMBER…: a list of TYPE, f2 or u2, with these patterns.
bits() {
    descr=$1
    shift
    list u2 "$@"
    LC_ALL=C sed "1s/<u2/<$descr/" "$1" >"$1.typed"
    mv "$1.typed" "$1"
}

# rounds SPEC FROM: what becomes of $folder/in.npy, which holds FROM, is $folder/want.npy.
rounds() {
    rm -f "$folder/got.npy"
    exits 3 run $cpu "$folder/$1.lua" --input a="$folder/in.npy" --output b="$folder/got.npy"
    grep -q "in.npy.*it holds $2, the kernel takes $1.*--convert rounds its numbers" "$err" || flunk "no word of --convert"
    [ ! -e "$folder/got.npy" ] || flunk 'there is an output'
    exits 0 run $cpu --convert "$folder/$1.lua" --input a="$folder/in.npy" --output b="$folder/got.npy"
    same "$folder/want.npy" "$folder/got.npy"
}

# Middles go to the even neighbour; then the smallest, the largest, and what is beyond them. A kernel's NaN is CUDA's.
begin 'float to half'
list f4 "$folder/in.npy" 1 1.00048828125 1.00146484375 1.00048840045928955078125 -2.5 65504 65519 65520 -1e9 \
    5.9604644775390625e-8 2.98023223876953125e-8 8.94069671630859375e-8 1e-10 -1e-10 0 inf -inf nan
bits f2 "$folder/want.npy" 15360 15360 15362 15361 49408 31743 31743 31744 64512 1 0 2 0 32768 0 31744 64512 32767
rounds half float32

begin 'float to bfloat16'
list f4 "$folder/in.npy" 1 1.00390625 1.01171875 1.00390636920928955078125 -2.5 3.38e38 3.4e38 -3.4e38 1e-10 0 \
    inf -inf nan
bits u2 "$folder/want.npy" 16256 16256 16258 16257 49184 32638 32640 65408 11996 0 32640 65408 32767
rounds bfloat16 float32

# Once: by way of a float, what lies just above a middle would become the middle.
begin 'double to half, bfloat16 and float'
list f8 "$folder/in.npy" 1.00048828125 1.000488281250000222 1.00146484375 0.9997558593749999 1e300 -1e-300
bits f2 "$folder/want.npy" 15360 15361 15362 15359 31744 32768
rounds half float64
list f8 "$folder/in.npy" 1.00390625 1.003906250000000222 1.01171875 1e300 -1e-300
bits u2 "$folder/want.npy" 16256 16257 16258 32640 32768
rounds bfloat16 float64
list f8 "$folder/in.npy" 1.000000059604644775390625 1.0000000596046450 1.000000178813934326171875 1e300 -1e-300 nan
list f4 "$folder/want.npy" 1 1.00000011920928955078125 1.0000002384185791015625 inf -0 nan
rounds float float64

begin 'half to float, exactly'
bits f2 "$folder/in.npy" 1 1023 1024 15361 31743 64512
list f4 "$folder/want.npy" 5.9604644775390625e-8 6.0975551605224609375e-5 6.103515625e-5 1.0009765625 65504 -inf
rounds float float16

begin 'monitors of cells of 16 bits'
cat >"$folder/still.lua" <<'END'
return stencil {
  name = "still", dims = 2, storage = "bfloat16", update = function(u) return u(0, 0) end,
  monitors = { total = { op = "sum", map = function(u) return u(0, 0) * 1.5 end } },
}
END
exits 0 run $cpu "$folder/still.lua" --size 9x5 --init u=x-y --steps 4 --every 2 --monitor total="$folder/total.npy" \
    --output u="$folder/still.npy"
list f8 "$folder/want.npy" 135 135
same "$folder/want.npy" "$folder/total.npy"

begin 'cells of 16 bits for ParaView, as floats'
exits 0 run $cpu "$folder/still.lua" --size 3x2 --init u=x-2*y --steps 1 --output u="$folder/still.vti" \
    --snapshot u="$folder/still-%d.vti" --every 1
cmp -s "$folder/still.vti" "$folder/still-1.vti" || flunk 'a snapshot of halves is not as the output'
grep -q 'DataArray type="Float32" Name="u" format="appended" offset="0"' "$folder/still.vti" ||
    flunk "$(head -c 700 "$folder/still.vti")"
after=$(LC_ALL=C grep -abo '^_' "$folder/still.vti" | head -1 | cut -d: -f1)
got=$(tail -c "+$((after + 2))" "$folder/still.vti" | head -c 32 | od -An -v -t u8 -N 8 | tr -d ' \n')
[ "$got" = 24 ] || flunk "it says that $got bytes follow"
got=$(tail -c "+$((after + 10))" "$folder/still.vti" | head -c 24 | od -An -v -t f4 | tr -s ' \n' '  ')
[ "$got" = ' 0 1 2 -2 -1 0 ' ] || flunk "it has$got"

begin 'whole numbers stay apart'
list f4 "$folder/in.npy" 1 2 3
exits 3 run $cpu --convert specs/scan.lua --input "$folder/in.npy" --output "$folder/got.npy"
says "it holds float32, the kernel takes int32; --convert makes reals of reals alone, NumPy's astype('int32') of any"
list i4 "$folder/in.npy" 1 2 3
exits 3 run $cpu "$folder/float.lua" --input a="$folder/in.npy" --output b="$folder/got.npy"
says "it holds int32, the kernel takes float (float32); --convert makes reals of reals alone, NumPy's astype('float32') of any"

begin 'pictures in whole numbers of 8 and of 16 bits'
bits u2 "$folder/in.npy" 1 255 4095
exits 3 run $cpu "$folder/float.lua" --input a="$folder/in.npy" --output b="$folder/got.npy"
says "uint16 that are no bits of bfloat16 need NumPy's astype('float32')"
LC_ALL=C sed "1s/<u2/|u1/" "$folder/in.npy" >"$folder/bytes.npy"
exits 3 run $cpu --convert "$folder/float.lua" --input a="$folder/bytes.npy" --output b="$folder/got.npy"
says "type '|u1'; float32 ('<f4')"
says "is needed, as NumPy's astype('float32') makes it"

begin 'what does not go with parts of files'
list f8 "$folder/in.npy" 1 2 3
exits 2 run $cpu --convert "$folder/float.lua" --input a="$folder/in.npy" --steps 1 --every 1 \
    --checkpoint "$folder/state" --output b="$folder/got-u.npy"
says '--convert is for runs without ranks, --checkpoint and --restart'
[ ! -e "$folder/state" ] && [ ! -e "$folder/got-u.npy" ] || flunk 'something was written'
finish
