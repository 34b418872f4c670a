#!/bin/sh
# run: arrays in, arrays out. The arrays are small enough to compute the answer by hand.
. "$(dirname "$0")/common.sh"
export SG_CACHE="$folder/cache" # kernels are compiled once

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
says 'scaled reads c; give it with --input c=FILE.npy, or begin with --init c=0'
exits 2 run $cpu "$folder/shift.lua" --input v="$a"
says "--input 'v': shift reads u"
exits 2 run $cpu "$folder/shift.lua" --input "$a" --input "$a"
says 'one more than shift reads'
exits 2 run $cpu "$folder/shift.lua" --input "$a" --output v=b.npy
says "--output 'v': shift writes u"
exits 2 run $cpu "$folder/shift.lua" --input "$a" --output "$a" --output "$a"
says 'one more than shift writes: u'
exits 2 run $cpu "$folder/levels.lua" --input "$a" --output v=b.npy
says "--output 'v': levels writes u, u.prev"
exits 2 run $cpu "$folder/levels.lua" --input u.next="$a"
says "--input 'u.next': levels reads u, u.prev"
exits 2 run $cpu "$folder/scaled.lua" --input u="$a" --input u="$a"
says 'u is given twice'

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

begin 'two outputs that are one file by another spelling or by a link'
mkdir "$folder/one" "$folder/one/sub"
echo old >"$folder/one/there.npy"
ln -s one "$folder/other"
ln -s there.npy "$folder/one/live.npy"
ln -s new.npy "$folder/one/dangling.npy"
ln "$folder/one/there.npy" "$folder/one/hard.npy"
# refuses FILE FILE: one of the two would be lost.
refuses() {
    exits 2 run $cpu "$folder/levels.lua" --input "$a" --output "u=$1" --output "u.prev=$2"
    says "$2: error: two outputs go to this file"
}
refuses "$folder/one/new.npy" "$folder/one/./new.npy"
refuses "$folder/one/new.npy" "$folder/one/sub/../new.npy"
refuses "$folder/one/new.npy" "$folder/other/new.npy"
refuses "$folder/one/new.npy" "$folder/one/dangling.npy"
refuses "$folder/one/there.npy" "$folder/one/live.npy"
refuses "$folder/one/there.npy" "$folder/one/hard.npy"
holds "$folder/one" hard.npy there.npy
[ "$(cat "$folder/one/there.npy")" = old ] || flunk 'the old file is gone'

begin 'a link is followed, also a dangling one'
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/one/dangling.npy"
array "$folder/want.npy" 5 5 1 2 3 4
same "$folder/want.npy" "$folder/one/new.npy"
[ -L "$folder/one/dangling.npy" ] || flunk 'the link is gone'
chmod 600 "$folder/one/there.npy"
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/one/live.npy"
same "$folder/want.npy" "$folder/one/there.npy"
[ -L "$folder/one/live.npy" ] || flunk 'the link is gone'
[ "$(stat -c %a "$folder/one/there.npy")" = 600 ] || flunk 'the mode is not kept'

begin 'names of up to 255 bytes'
mkdir "$folder/long"
for length in 248 249 255; do
    name=$(printf '%*s' $((length - 4)) '' | tr ' ' n).npy
    exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/long/$name"
    same "$folder/want.npy" "$folder/long/$name"
done
exits 3 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/long/n$name"
says 'cannot write: File name too long'

begin 'an output that is the spec'
cp "$folder/shift.lua" "$folder/shift"
exits 2 run $cpu "$folder/shift" --input "$a" --output "$folder/shift"
says "$folder/shift: error: this is the spec, which the output would replace"
cmp -s "$folder/shift.lua" "$folder/shift" || flunk 'the spec is gone'

begin 'outputs are opened before the work'
# Nothing can be compiled here: a run that is not refused earlier ends with exit code 4.
opened() {
    SG_CACHE=none SG_CXX=/nowhere/c++ exits "$@"
}
opened 4 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/b.npy"
opened 3 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/none/b.npy"
says "$folder/none/b.npy: error: cannot write: No such file or directory"
opened 3 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/one"
says 'cannot write: it is no regular file'
opened 3 run $cpu "$folder/shift.lua" --input "$a" --output "$a/b.npy"
says 'cannot write: Not a directory'
opened 2 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/b.png"
list=$folder/running.lua
echo 'return scan { name = "running", op = "max", dtype = "float" }' >"$list"
opened 4 run $cpu "$list" --input "$a" --output "$folder/b.npy"
opened 3 run $cpu "$list" --input "$a" --output "$folder/none/b.npy"
echo 'return reduce { name = "most", op = "max", dtype = "float" }' >"$folder/most.lua"
opened 3 run $cpu "$folder/most.lua" --input "$a" --output "$folder/none/b.npy"
echo 'return merge { name = "join", keys = "float", values = "float" }' >"$folder/join.lua"
opened 3 run $cpu "$folder/join.lua" --input "$a" --input "$a" --values "$a" --values "$a" \
    --output "$folder/keys.npy" --output-values "$folder/none/values.npy"
says "$folder/none/values.npy: error: cannot write"
opened 2 run $cpu "$folder/join.lua" --input "$a" --input "$a" --values "$a" --values "$a" \
    --output "$folder/keys.npy" --output-values "$folder/./keys.npy"
says 'two outputs go to this file'
printf '%%%%MatrixMarket matrix coordinate real general\n5 5 1\n1 1 1\n' >"$folder/m.mtx"
echo 'return spmv { name = "product", dtype = "float" }' >"$folder/product.lua"
opened 3 run $cpu "$folder/product.lua" --input "$folder/m.mtx" --input "$a" --output "$folder/none/y.npy"
if [ "$(id -u)" != 0 ]; then # who may write anywhere
    mkdir "$folder/closed"
    chmod 555 "$folder/closed"
    opened 3 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/closed/b.npy"
    opened 3 run $cpu "$folder/shift.lua" --input "$a" -o "$folder/closed"
fi
left=$(find "$folder" -name '.stencilgen-*')
[ -z "$left" ] || flunk "there is still $left"

begin 'an interrupted run takes its unfinished outputs away'
mkdir "$folder/stopped"
"$STENCILGEN" run $cpu "$folder/levels.lua" --input "$a" --steps 1000000000000 \
    --output u="$folder/stopped/u.npy" --output u.prev="$folder/stopped/prev.npy" >"$out" 2>"$err" &
job=$!
tries=0
while [ "$(find "$folder/stopped" -name '.stencilgen-*' | wc -l)" != 2 ] && [ $tries -lt 200 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
[ $tries -lt 200 ] || flunk 'the outputs were not opened'
kill -TERM $job
wait $job
holds "$folder/stopped"

begin 'pipes and devices are written as they stand'
mkfifo "$folder/pipe"
cat "$folder/pipe" >"$folder/through.npy" &
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output "$folder/pipe"
wait $!
same "$folder/want.npy" "$folder/through.npy"
[ -p "$folder/pipe" ] || flunk 'the pipe is gone'
exits 0 run $cpu "$folder/shift.lua" --input "$a" --output /dev/null
[ -c /dev/null ] || flunk '/dev/null is gone'
"$STENCILGEN" run $cpu "$folder/shift.lua" --input "$a" --output /dev/stdout 2>"$err" | head -c 148 |
    cmp -s - "$folder/want.npy" || flunk 'not the array on standard output'

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

begin 'a full disk for one output leaves the others'
if [ -w /dev/full ]; then
    exits 3 run $cpu "$folder/levels.lua" --input "$a" --output u=/dev/full \
        --output u.prev="$folder/b.npy" --json
    same "$a" "$folder/b.npy"
    reports '"u.prev": "'"$folder/b.npy"'"'
fi

begin 'written fields without an --output are named'
cat >"$folder/pair.lua" <<'EOF'
return stencil {
  name = "pair", dims = 1, dtype = "float", boundary = "zero",
  fields = { u = "inout", v = "inout" },
  update = function(f) return { u = f.v(0), v = f.u(0) } end,
}
EOF
exits 0 run $cpu "$folder/pair.lua" --input u="$a" --input v="$c" --output v="$folder/b.npy"
same "$a" "$folder/b.npy"
reports 'u: not written; name a file with --output u=FILE'
exits 0 run $cpu "$folder/pair.lua" --input u="$a" --input v="$c" --output v="$folder/b.npy" --json
tr -d ' \n' <"$out" | grep -qF '"not_written":["u"]' || flunk "$(cat "$out")"
exits 0 run $cpu "$folder/pair.lua" --input u="$a" --input v="$c" -o "$folder/pairs"
holds "$folder/pairs" u.npy v.npy
grep -q 'not written' "$out" && flunk 'all were written'

begin 'the values of each output'
array "$folder/nan.npy" 5 4 nan 2 nan 3
exits 0 run $cpu "$folder/shift.lua" --input "$folder/nan.npy" --output "$folder/b.npy"
reports 'minimum 2, maximum 4, 2 NaN, 0 infinite'
exits 0 run $cpu "$folder/shift.lua" --input "$folder/nan.npy" --output "$folder/b.npy" --json
tr -d ' \n' <"$out" | grep -qF '"values":{"u":{"minimum":2,"maximum":4,"nan":2,"infinite":0}}' ||
    flunk "$(cat "$out")"

begin 'steps are counted through all parts of a run'
cat >"$folder/counted.lua" <<'EOF'
return stencil {
  name = "counted", dims = 1, dtype = "float", boundary = "zero",
  update = function(u, p, at) return u(0) + at.step + at.x * at.nx end,
}
EOF
array "$folder/ones.npy" 2 0 1
exits 0 run $cpu "$folder/counted.lua" --input "$folder/ones.npy" --output "$folder/b.npy" \
    --steps 250 --stop-on-nan
found=$(od -An -tf4 -j128 "$folder/b.npy" | tr -s ' \n' ' ')
[ "$found" = ' 31125 31626 ' ] || flunk "$found"

begin '--stop-on-nan'
cat >"$folder/double.lua" <<'EOF'
return stencil {
  name = "double", dims = 1, dtype = "float", boundary = "zero",
  update = function(u, p) return p.by * u(0) end,
}
EOF
# 1 doubled 127 times is the greatest power of 2 of a float, and then comes infinity.
array "$folder/ones.npy" 2 0 1
double="run $cpu $folder/double.lua --input $folder/ones.npy --output $folder/b.npy"
exits 1 $double --schedule 'overlapped time=64' --set by=2 --steps 1000 --stop-on-nan
says 'u has NaN or infinite values since one of the steps 65 to 128; the run ends after step 128'
double="$double --schedule naive"
exits 1 $double --set by=2 --steps 1000 --stop-on-nan
says 'u has NaN or infinite values since one of the steps 101 to 200; the run ends after step 200'
reports '1 infinite'
{
    head -c 128 "$folder/ones.npy"
    printf '\000\000\000\000\000\000\200\177'
} >"$folder/want.npy"
same "$folder/want.npy" "$folder/b.npy"
exits 1 $double --set by=2 --steps 1000 --stop-on-nan --json
tr -d ' \n' <"$out" | grep -qF '"steps":200' || flunk "$(cat "$out")"
tr -d ' \n' <"$out" | grep -qF '"stopped":{"field":"u","first_step":101,"last_step":200}' ||
    flunk "$(cat "$out")"
exits 0 $double --set by=2 --steps 127 --stop-on-nan
exits 1 run $cpu "$folder/double.lua" --input "$a" --output "$folder/b.npy" --set by=3e38 --stop-on-nan
says 'u has NaN or infinite values since step 1, after which the run ends'
exits 0 $double --set by=2 --steps 1000
reports '1000 steps'
exits 1 run $cpu "$folder/double.lua" --set by=2 --input "$folder/nan.npy" --output "$folder/b.npy" \
    --steps 1000 --stop-on-nan
says 'u has NaN or infinite values before the first step'
same "$folder/nan.npy" "$folder/b.npy"
exits 1 run $cpu "$folder/shift.lua" --input "$folder/nan.npy" --output "$folder/b.npy" --stop-on-nan
exits 2 $cpu "$folder/double.lua" --stop-on-nan

begin '--stop-on-nan of a list'
echo 'return scan { name = "sums", op = "sum", dtype = "float" }' >"$folder/sums.lua"
exits 1 run $cpu "$folder/sums.lua" --input "$folder/nan.npy" --output "$folder/b.npy" --stop-on-nan
says 'has NaN or infinite values'
exits 0 run $cpu "$folder/sums.lua" --input "$a" --output "$folder/b.npy" --stop-on-nan

begin 'a parameter has one value'
for command in run bench ''; do
    exits 2 $command $cpu "$folder/double.lua" --set by=1 --set by=2
    says "--set 'by=2': this parameter has a value already"
done

begin 'the size is that of the input'
exits 2 run $cpu "$folder/shift.lua" --input "$a" --size 5x5
exits 3 run $cpu "$folder/shift.lua" --input "$a" --size 6
says '(5,) is the shape, but --size is (6,)'
exits 0 run $cpu "$list" --input "$a" --size 5 --output "$folder/b.npy"
exits 3 run $cpu "$list" --input "$a" --size 4 --output "$folder/b.npy"
says "$a: error: 5 elements are in the files, but --size is 4"
exits 3 run $cpu "$folder/product.lua" --input "$folder/m.mtx" --input "$a" --size 5 --output "$folder/b.npy"
says "$folder/m.mtx: error: 1 entry is in the files, but --size is 5"

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
exits 0 $double --set by=0.5 --json
tr -d ' \n' <"$out" | grep -qF '"parameters":{"by":0.5}' || flunk "$(cat "$out")"
finish
