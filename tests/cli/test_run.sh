#!/bin/sh
# run: arrays in, arrays out. The arrays are small enough to compute the answer by hand.
. "$(dirname "$0")/common.sh"

# A shift along x: every cell takes its left neighbour, and the first one the last. Shifting by
# steps is exact in any arithmetic, so the expected bytes are known.
cat >"$folder/shift.lua" <<'EOF'
return stencil {
  name = "shift", shape = points { { -1 } }, coefficients = { 1 }, dtype = "float",
  boundary = "periodic",
}
EOF
cat >"$folder/scaled.lua" <<'EOF'
return stencil {
  name = "scaled", dims = 1, dtype = "float", boundary = "zero",
  fields = { u = "inout", c = "in" },
  update = function(f, p) return f.u(0) * f.c(0) + p.add end,
}
EOF
cat >"$folder/levels.lua" <<'EOF'
return stencil {
  name = "levels", dims = 1, dtype = "float", boundary = "zero",
  fields = { u = { use = "inout", levels = 2 } },
  update = function(f) return f.u(0) + f.u(0) - f.u.prev(0) end,
}
EOF

cat >"$folder/same2.lua" <<'EOF'
return stencil {
  name = "same", shape = points { { 0, 0 } }, coefficients = { 1 }, dtype = "float",
  boundary = "zero",
}
EOF

# float NUMBER…: small whole numbers from 0 to 8 as little endian float32.
floats() {
    for number in "$@"; do
        case $number in
        0) printf '\000\000\000\000' ;;
        1) printf '\000\000\200\077' ;;
        2) printf '\000\000\000\100' ;;
        3) printf '\000\000\100\100' ;;
        4) printf '\000\000\200\100' ;;
        5) printf '\000\000\240\100' ;;
        6) printf '\000\000\300\100' ;;
        7) printf '\000\000\340\100' ;;
        8) printf '\000\000\000\101' ;;
        nan) printf '\000\000\300\177' ;;
        esac
    done
}

# array FILE COUNT NUMBER…: a one-dimensional .npy file with a header as NumPy pads it.
array() {
    file=$1
    {
        printf '\223NUMPY\001\000\166\000'
        printf "%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': ($2,), }"
        shift 2
        floats "$@"
    } >"$file"
}

same() {
    cmp -s "$1" "$2" || flunk "$2 is not as expected: $(od -An -tf4 -j128 "$2" | tr -s ' \n' ' ')"
}

a=$folder/a.npy
c=$folder/c.npy
array "$a" 5 1 2 3 4 5
array "$c" 5 2 2 1 1 0
cpu='--device cpu'

begin 'one step'
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/b.npy"
array "$folder/want.npy" 5 5 1 2 3 4
same "$folder/want.npy" "$folder/b.npy"
reports 'shift: 1 step of 5 in '

begin 'several steps, even and odd'
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/b.npy" --steps 2
array "$folder/want.npy" 5 4 5 1 2 3
same "$folder/want.npy" "$folder/b.npy"
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/b.npy" --steps 7
same "$folder/want.npy" "$folder/b.npy"

begin 'the output may replace the input where it is named'
cp "$a" "$folder/in-place.npy"
exits 0 run $cpu "$folder/shift.lua" --input "$folder/in-place.npy" --output "$folder/in-place.npy"
array "$folder/want.npy" 5 5 1 2 3 4
same "$folder/want.npy" "$folder/in-place.npy"

begin 'without --output the written fields are files of their names'
exits 0 run $cpu "$folder/shift.lua" --input "$a" -o "$folder/default"
holds "$folder/default" u.npy
same "$folder/want.npy" "$folder/default/u.npy"

begin 'a file that nobody named does not replace the input'
cp "$a" "$folder/default/u.npy"
exits 2 run $cpu "$folder/shift.lua" --input "$folder/default/u.npy" -o "$folder/default"
says 'would replace the input'
same "$a" "$folder/default/u.npy"

begin 'inputs and outputs by name and by order'
array "$folder/want.npy" 5 3 5 4 5 1
exits 0 run $cpu "$folder/scaled.lua" --set add=1 --input c="$c" --input u="$a" \
    --output u="$folder/b.npy"
same "$folder/want.npy" "$folder/b.npy"

begin 'a missing parameter'
exits 2 run $cpu "$folder/scaled.lua" --input u="$a" --input c="$c" --output "$folder/b.npy"
says '--set add=VALUE'
exits 2 run $cpu "$folder/scaled.lua" --set ad=1 --input u="$a" --input c="$c"
says "no parameter 'ad'; did you mean add?"

begin 'missing, unknown and surplus arrays'
exits 2 run $cpu "$folder/scaled.lua" --set add=1 --input u="$a"
says 'scaled reads c; give it with --input c=FILE.npy'
exits 2 run $cpu "$folder/shift.lua" --input v="$a"
says "--input 'v': shift reads u"
exits 2 run $cpu "$folder/shift.lua" --input "$a" --input "$a"
says 'one more than shift reads'
exits 2 run $cpu "$folder/shift.lua" --input "$a" --output v=b.npy
says "--output 'v': shift writes u"
exits 2 run $cpu "$folder/shift.lua" --input "$a" --output "$a" --output "$a"
says 'one more than shift writes'

begin 'a previous level is the current one where it is not given'
exits 0 run $cpu "$folder/levels.lua" --input "$a" --output "$folder/b.npy" --steps 3
same "$a" "$folder/b.npy"

begin 'a previous level that is given, and both written'
array "$folder/prev.npy" 5 0 1 2 3 4
array "$folder/want.npy" 5 3 4 5 6 7
array "$folder/want-prev.npy" 5 2 3 4 5 6
exits 0 run $cpu "$folder/levels.lua" --input "$a" --input u.prev="$folder/prev.npy" --steps 2 \
    --output u="$folder/b.npy" --output u.prev="$folder/b-prev.npy"
same "$folder/want.npy" "$folder/b.npy"
same "$folder/want-prev.npy" "$folder/b-prev.npy"

begin 'two outputs in one file'
exits 2 run $cpu "$folder/levels.lua" --input "$a" --output u="$folder/both.npy" \
    --output u.prev="$folder/both.npy"
says 'two outputs go to this file'
exits 0 run $cpu "$folder/levels.lua" --input "$a" --output u=/dev/null --output u.prev=/dev/null

begin 'NaN is a value'
array "$folder/nan.npy" 3 1 nan 2
array "$folder/want.npy" 3 2 1 nan
exits 0 run $cpu "$folder/shift.lua" --input "$folder/nan.npy" --output "$folder/b.npy"
same "$folder/want.npy" "$folder/b.npy"

begin 'arrays that do not fit the spec'
data=tests/data/npy
exits 3 run $cpu "$folder/shift.lua" --input $data/f4_2x3.npy
says 'the array has 2 dimensions, but shift has 1'
exits 3 run $cpu "$folder/shift.lua" --input $data/f8_5.npy
says 'f8_5.npy: error: it holds float64, the kernel takes float (float32)'
exits 3 run $cpu "$folder/shift.lua" --input $data/int32.npy
says 'int32.npy: error: it holds int32, the kernel takes float (float32)'
exits 3 run $cpu "$folder/shift.lua" --input $data/big_endian.npy
says "type '>f4' is big endian"
exits 3 run $cpu "$folder/same2.lua" --input $data/empty.npy
says 'a grid without elements'
array "$folder/four.npy" 4 1 2 3 4
exits 3 run $cpu "$folder/scaled.lua" --set add=1 --input "$a" --input "$folder/four.npy"
says '(4,) is the shape, but'

begin 'damaged files'
head -c 140 "$a" >"$folder/short.npy"
exits 3 run $cpu "$folder/shift.lua" --input "$folder/short.npy" --output "$folder/new.npy"
says 'the file is shorter than its header says'
[ ! -e "$folder/new.npy" ] || flunk 'an output was written'
exits 3 run $cpu "$folder/shift.lua" --input "$folder/absent.npy"
says "$folder/absent.npy: error: cannot open: No such file or directory"
exits 3 run $cpu "$folder/shift.lua" --input "$folder"
cp "$folder/shift.lua" "$folder/text.npy"
exits 3 run $cpu "$folder/shift.lua" --input "$folder/text.npy"
says 'not a .npy file'

begin 'an input from a pipe'
cat "$a" | "$STENCILGEN" run $cpu "$folder/shift.lua" --input /dev/stdin --output "$folder/b.npy" \
    >"$out" 2>"$err" || flunk "$(cat "$err")"
array "$folder/want.npy" 5 5 1 2 3 4
same "$folder/want.npy" "$folder/b.npy"

begin 'an output that cannot be written'
exits 3 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/none/b.npy"
says "$folder/none/b.npy: error: cannot write: No such file or directory"

# A limit on the size of files fails the write half way, as a full disk does; it is large enough for
# what the compiler writes.
begin 'an output that does not fit leaves the old file, and nothing else'
{
    head -c 80 "$a" | sed 's/(5,)/(2000000,)/'
    head -c 48 /dev/zero | tr '\000' ' '
} | head -c 127 >"$folder/large.npy"
{
    echo
    head -c 8000000 /dev/zero
} >>"$folder/large.npy"
mkdir "$folder/full"
echo old >"$folder/full/b.npy"
(ulimit -f 4000 && exec "$STENCILGEN" run $cpu "$folder/shift.lua" --input "$folder/large.npy" \
    --output "$folder/full/b.npy") >"$out" 2>"$err"
code=$?
[ $code = 3 ] || flunk "exit code $code instead of 3: $(cat "$err")"
says "$folder/full/b.npy: error: cannot write: File too large"
holds "$folder/full" b.npy
[ "$(cat "$folder/full/b.npy")" = old ] || flunk 'the old file is gone'

begin 'the size is that of the input'
exits 2 run $cpu "$folder/shift.lua" --input "$a" --size 5x5
exits 3 run $cpu "$folder/shift.lua" --input "$a" --size 6
says '(5,) is the shape, but --size is (6,)'

begin 'Fortran order'
cat >"$folder/same.lua" <<'EOF'
return stencil {
  name = "same", shape = points { { 0, 0 } }, coefficients = { 1 }, dtype = "float",
  boundary = "zero",
}
EOF
exits 0 run $cpu "$folder/same.lua" --input $data/f4_2x3_fortran.npy --output "$folder/b.npy"
same $data/f4_2x3.npy "$folder/b.npy"

begin 'a filter in passes has its temporary memory'
cat >"$folder/filter.lua" <<'EOF'
return convolution { name = "filter", weights = { { 1, 2, 1 }, { 2, 4, 2 } }, boundary = "clamp" }
EOF
exits 0 run $cpu "$folder/filter.lua" --schedule passes=1 --input $data/f4_2x3.npy --output "$folder/b.npy"
exits 0 run $cpu "$folder/filter.lua" --schedule passes=2 --input $data/f4_2x3.npy --output "$folder/d.npy"
same "$folder/b.npy" "$folder/d.npy"

begin 'JSON'
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/b.npy" --json --steps 4
reports '"steps": 4'
reports '"u": "'"$folder/b.npy"'"'
for key in $(grep -o '"[a-z_0-9]*":' "$out" | sort -u | tr -d '":'); do
    [ "$key" = u ] || grep -q "\`$key\`" docs/json.md || flunk "docs/json.md does not say what $key is"
done
finish
