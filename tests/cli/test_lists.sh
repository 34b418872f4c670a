#!/bin/sh
# run with lists: reductions, scans and merges. All results are exact, so the expected bytes are known.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
cpu='--device cpu'
SG_CACHE=$folder/cache # kernels are compiled once
export SG_CACHE

# spec NAME TEXT: a file NAME.lua that returns it.
spec() {
    echo "return $2" >"$folder/$1.lua"
}

# result TEXT: the line of a result that is printed.
result() {
    grep -qE "^  $1 +$2\$" "$out" || flunk "$1 is not printed as '$2': $(cat "$out")"
}

spec sum 'reduce { name = "total", op = "sum", dtype = "int64" }'
spec fsum 'reduce { name = "total", op = "sum", dtype = "float" }'
spec least 'reduce { name = "least", op = "min", dtype = "double" }'
spec where 'reduce { name = "where", op = "argmax", dtype = "int32" }'
spec dot 'reduce { name = "dot", op = "sum", dtype = "int32", inputs = 2, map = function(a, b) return a * b end }'
spec parts 'reduce { name = "parts", op = "sum", dtype = "int32", segmented = true }'
spec scaled 'reduce { name = "scaled", op = "sum", dtype = "float", map = function(x, p) return p.k * x end }'
spec scan 'scan { name = "sums", op = "sum", dtype = "int32" }'
spec before 'scan { name = "before", op = "max", dtype = "double", kind = "exclusive", init = -1 }'
spec merge 'merge { name = "joined", keys = "int32" }'
spec pairs 'merge { name = "joined", keys = "int32", values = "float" }'

x=$folder/x.npy
list i8 "$x" 1 2 3 4 -20

begin 'a sum is printed'
exits 0 run $cpu "$folder/sum.lua" --input "$x"
reports 'total: 5 elements in '
result result -10
[ ! -e result.npy ] || flunk 'result.npy was written too'

begin 'a sum is written'
exits 0 run $cpu "$folder/sum.lua" --input "$x" --output "$folder/r.npy"
list i8 "$folder/want.npy" -10
same "$folder/want.npy" "$folder/r.npy"
if grep -q '^  result' "$out"; then flunk 'it is printed too'; fi

begin 'what is printed is exact'
list i8 "$folder/large.npy" 9007199254740992 1
exits 0 run $cpu "$folder/sum.lua" --input "$folder/large.npy"
result result 9007199254740993
exits 0 run $cpu "$folder/sum.lua" --input "$folder/large.npy" --json
reports '"result": 9007199254740993'
list f4 "$folder/tenth.npy" 0.1
exits 0 run $cpu "$folder/fsum.lua" --input "$folder/tenth.npy"
result result '0\.1'
list f8 "$folder/third.npy" 0.3333333333333333
exits 0 run $cpu "$folder/least.lua" --input "$folder/third.npy"
result result '0\.3333333333333333'

begin 'numbers that are none'
list f8 "$folder/nan.npy" 1 nan 2
exits 0 run $cpu "$folder/least.lua" --input "$folder/nan.npy" --json
reports '"result": "nan"'
list f8 "$folder/inf.npy" 1 -inf 2
exits 0 run $cpu "$folder/least.lua" --input "$folder/inf.npy"
result result -inf
list f8 "$folder/none.npy"
exits 0 run $cpu "$folder/least.lua" --input "$folder/none.npy" --json
reports '"result": "inf"'

begin 'nothing sums to 0'
list i8 "$folder/none.npy"
exits 0 run $cpu "$folder/sum.lua" --input "$folder/none.npy"
result result 0

begin 'an array of any shape is reduced'
npy i8 "$folder/cube.npy" '2, 2, 3' 1 2 3 4 5 6 7 8 9 10 11 12
exits 0 run $cpu "$folder/sum.lua" --input "$folder/cube.npy"
result result 78

begin 'the greatest element and where it is'
list i4 "$folder/i.npy" 3 9 -1 9
exits 0 run $cpu "$folder/where.lua" --input "$folder/i.npy"
result result 9
result index 1
exits 0 run $cpu "$folder/where.lua" --input "$folder/i.npy" --output index="$folder/at.npy" --json
list i8 "$folder/want.npy" 1
same "$folder/want.npy" "$folder/at.npy"
reports '"result": 9'
documented result index

begin 'two inputs, in order or by name'
list i4 "$folder/a.npy" 1 2 3
list i4 "$folder/b.npy" 4 5 6
exits 0 run $cpu "$folder/dot.lua" --input "$folder/a.npy" --input "$folder/b.npy"
result result 32
exits 0 run $cpu "$folder/dot.lua" --input second="$folder/a.npy" --input input="$folder/b.npy"
result result 32

begin 'segments'
list i8 "$folder/offsets.npy" 0 2 2 3
exits 0 run $cpu "$folder/parts.lua" --input "$folder/a.npy" --input offsets="$folder/offsets.npy" \
    --output "$folder/r.npy"
list i4 "$folder/want.npy" 3 0 3
same "$folder/want.npy" "$folder/r.npy"
exits 0 run $cpu "$folder/parts.lua" --input "$folder/a.npy" --input "$folder/offsets.npy" --json
tr -d ' \n' <"$out" | grep -qF '"result":[3,0,3]' || flunk "$(cat "$out")"
list i8 "$folder/offsets.npy" 0
exits 0 run $cpu "$folder/parts.lua" --input "$folder/a.npy" --input "$folder/offsets.npy" \
    --output "$folder/r.npy"
list i4 "$folder/want.npy"
same "$folder/want.npy" "$folder/r.npy"

begin 'offsets that are none'
for offsets in '0 2 1' '-1 2' '0 4' '0 9007199254740993'; do
    list i8 "$folder/offsets.npy" $offsets
    exits 3 run $cpu "$folder/parts.lua" --input "$folder/a.npy" --input "$folder/offsets.npy" \
        --output "$folder/new.npy"
    says "$folder/offsets.npy: error: offset "
done
list i8 "$folder/offsets.npy"
exits 3 run $cpu "$folder/parts.lua" --input "$folder/a.npy" --input "$folder/offsets.npy"
says 'no offsets; at least 1 is needed'
[ ! -e "$folder/new.npy" ] || flunk 'an output was written'

begin 'a parameter'
list f4 "$folder/f.npy" 1 2 3
exits 0 run $cpu "$folder/scaled.lua" --set k=0.5 --input "$folder/f.npy"
result result 3
exits 2 run $cpu "$folder/scaled.lua" --input "$folder/f.npy"
says '--set k=VALUE'

begin 'scans'
exits 0 run $cpu "$folder/scan.lua" --input "$folder/a.npy" --output "$folder/s.npy"
list i4 "$folder/want.npy" 1 3 6
same "$folder/want.npy" "$folder/s.npy"
list f8 "$folder/d.npy" 2 5 3
exits 0 run $cpu "$folder/before.lua" --input "$folder/d.npy" --output "$folder/s.npy"
list f8 "$folder/want.npy" -1 2 5
same "$folder/want.npy" "$folder/s.npy"
list i4 "$folder/none.npy"
exits 0 run $cpu "$folder/scan.lua" --input "$folder/none.npy" --output "$folder/s.npy"
same "$folder/none.npy" "$folder/s.npy"

begin 'without --output a scan writes output.npy, but not over its input'
exits 0 run $cpu "$folder/scan.lua" --input "$folder/a.npy" -o "$folder/default"
holds "$folder/default" output.npy
exits 2 run $cpu "$folder/scan.lua" --input "$folder/default/output.npy" -o "$folder/default"
says 'would replace the input'

begin 'merges'
list i4 "$folder/b.npy" 2 2 7
exits 0 run $cpu "$folder/merge.lua" --input "$folder/a.npy" --input "$folder/b.npy" \
    --output "$folder/c.npy"
reports 'joined: 6 keys in '
list i4 "$folder/want.npy" 1 2 2 2 3 7
same "$folder/want.npy" "$folder/c.npy"
exits 0 run $cpu "$folder/merge.lua" --input "$folder/none.npy" --input "$folder/b.npy" \
    --output "$folder/c.npy"
same "$folder/b.npy" "$folder/c.npy"

begin 'merges of pairs'
list f4 "$folder/av.npy" 0.5 1.5 2.5
list f4 "$folder/bv.npy" 10 20 30
exits 0 run $cpu "$folder/pairs.lua" --input "$folder/a.npy" --input "$folder/b.npy" \
    --values "$folder/av.npy" --values "$folder/bv.npy" --output "$folder/c.npy" \
    --output-values "$folder/cv.npy"
same "$folder/want.npy" "$folder/c.npy"
list f4 "$folder/want.npy" 0.5 1.5 10 20 2.5 30
same "$folder/want.npy" "$folder/cv.npy"
exits 0 run $cpu "$folder/pairs.lua" --input b="$folder/b.npy" --input a="$folder/a.npy" \
    --values b_values="$folder/bv.npy" --values "$folder/av.npy" -o "$folder/pairs"
holds "$folder/pairs" output.npy output_values.npy
same "$folder/want.npy" "$folder/pairs/output_values.npy"

begin 'arrays that are missing, unknown or too many'
exits 2 run $cpu "$folder/merge.lua" --input "$folder/a.npy"
says 'joined reads b; give it with --input b=FILE.npy'
exits 2 run $cpu "$folder/pairs.lua" --input "$folder/a.npy" --input "$folder/b.npy" \
    --values "$folder/av.npy"
says 'joined reads b_values; give it with --values b_values=FILE.npy'
exits 2 run $cpu "$folder/merge.lua" --input "$folder/a.npy" --input "$folder/b.npy" \
    --input "$folder/a.npy"
says 'one more than joined reads'
exits 2 run $cpu "$folder/merge.lua" --input "$folder/a.npy" --input "$folder/b.npy" \
    --values "$folder/av.npy"
says 'one more than joined reads'
exits 2 run $cpu "$folder/merge.lua" --input c="$folder/a.npy"
says "--input 'c': joined reads a, b"
exits 2 run $cpu "$folder/merge.lua" --input "$folder/a.npy" --input "$folder/b.npy" \
    --output-values "$folder/cv2.npy"
says 'one more than joined writes'
exits 2 run $cpu "$folder/sum.lua"
says 'total reads input'
exits 2 run $cpu "$folder/sum.lua" --input "$x" --output "$folder/1.npy" --output "$folder/2.npy"
says 'one more than total writes'
exits 2 run $cpu "$folder/sum.lua" --input "$x" --steps 2
says '--steps: total reads nothing that it writes'

begin 'arrays of another type or length'
exits 3 run $cpu "$folder/sum.lua" --input "$folder/f.npy"
says "$folder/f.npy: error: it holds float32, the kernel takes int64"
exits 3 run $cpu "$folder/fsum.lua" --input "$x"
says "$x: error: it holds int64, the kernel takes float (float32)"
list i4 "$folder/four.npy" 1 2 3 4
exits 3 run $cpu "$folder/dot.lua" --input "$folder/a.npy" --input "$folder/four.npy"
says "$folder/four.npy: error: 4 elements, but $folder/a.npy has 3; input and second are of one length"
exits 3 run $cpu "$folder/pairs.lua" --input "$folder/a.npy" --input "$folder/four.npy" \
    --values "$folder/av.npy" --values "$folder/bv.npy"
says "$folder/bv.npy: error: 3 elements, but $folder/four.npy has 4"
npy i4 "$folder/plane.npy" '2, 2' 1 2 3 4
exits 3 run $cpu "$folder/scan.lua" --input "$folder/plane.npy"
says 'the array has 2 dimensions, but sums takes a list'
printf 'P5 1 1 255 a' >"$folder/a.pgm"
exits 3 run $cpu "$folder/scan.lua" --input "$folder/a.pgm"
says 'an image, but sums takes lists'

begin 'files that hold no lists'
exits 2 run $cpu "$folder/scan.lua" --input "$folder/a.npy" --output "$folder/s.pgm"
says 'output of sums is no grid; give a .npy file'
exits 2 run $cpu "$folder/scan.lua" --input "$folder/a.npy" --output "$folder/s.vti"
head -c 134 "$folder/a.npy" >"$folder/short.npy"
exits 3 run $cpu "$folder/scan.lua" --input "$folder/short.npy" --output "$folder/new.npy"
says 'the file is shorter than its header says'
[ ! -e "$folder/new.npy" ] || flunk 'an output was written'

begin 'a full disk leaves nothing behind'
if [ -w /dev/full ]; then
    mkdir "$folder/full"
    ln -s /dev/full "$folder/full/s.npy"
    exits 3 run $cpu "$folder/scan.lua" --input "$folder/a.npy" --output "$folder/full/s.npy"
    says "$folder/full/s.npy: error: cannot write: No space left on device"
    holds "$folder/full"
    "$STENCILGEN" run $cpu "$folder/sum.lua" --input "$x" >/dev/full 2>"$err"
    code=$?
    [ $code = 3 ] || flunk "exit code $code instead of 3"
else
    skip 'there is no /dev/full'
fi

begin 'every algorithm computes the same'
for algorithm in $("$STENCILGEN" explain $cpu "$folder/scan.lua" --json | sed -n 's/.*"method": "\(.*\)",/\1/p'); do
    exits 0 run $cpu "$folder/scan.lua" --method "$algorithm" --input "$folder/a.npy" \
        --output "$folder/s.npy"
    list i4 "$folder/want.npy" 1 3 6
    same "$folder/want.npy" "$folder/s.npy"
    reports "  plan     $algorithm"
done

begin 'a whole schedule as reports print it'
plan=$(sed -n 's/^  plan  *//p' "$out")
exits 0 run $cpu "$folder/scan.lua" --schedule "$plan" --input "$folder/a.npy" --output "$folder/s.npy"
reports "  plan     $plan"
same "$folder/want.npy" "$folder/s.npy"
exits 2 run $cpu "$folder/scan.lua" --schedule 'bogus' --input "$folder/a.npy"
says bogus
exits 2 run $cpu "$folder/scan.lua" --method tiled --input "$folder/a.npy"
says tiled
exits 2 "$folder/scan.lua" $cpu --size 8x8
says '--size has 2 extents, but sums has 1 dimension'

begin 'the main job and bench'
exits 0 $cpu "$folder/scan.lua" --size 1000 -o "$folder/built"
holds "$folder/built" sums.cu
reports 'right: '
reports ' elements/s'
exits 0 bench $cpu "$folder/sum.lua" --size 1000
reports ' a call, '
exits 0 $cpu "$folder/sum.lua" --size 1000 -o "$folder/built" --json
documented source
reports '"family": "reduce"'
reports '"boundary": null'

begin 'a wrong kernel, and a compiler that does not work'
spec slip 'reduce { name = "slip", op = "sum", dtype = "float", map = function(x) return 0.40625 * x end }'
cat >"$folder/c++" <<'END'
#!/bin/sh
for argument in "$@"; do
    case $argument in
    *.cpp) sed -i 's/0\.40625f/0.50625f/' "$argument" ;;
    esac
done
exec c++ "$@"
END
chmod +x "$folder/c++"
SG_CXX=$folder/c++
export SG_CXX
exits 1 $cpu "$folder/slip.lua" --size 1000 -o "$folder/built"
reports '  check    WRONG at '
says "error: 'slip' is wrong in "
SG_CXX=$folder/nothing
exits 4 run $cpu "$folder/sum.lua" --input "$x" --output "$folder/new.npy"
says "$folder/nothing"
[ ! -e "$folder/new.npy" ] || flunk 'an output was written'
unset SG_CXX

begin 'explain'
exits 0 explain $cpu "$folder/scan.lua"
reports '* '
exits 0 explain $cpu "$folder/scan.lua" --json
documented
exits 2 explain $cpu "$folder/scan.lua" --input a.mtx
says '--input of explain is the matrix of an spmv, but sums is scan'

begin 'JSON'
if has python3; then
    for arguments in "run $cpu $folder/sum.lua --input $x" "explain $cpu $folder/scan.lua" \
        "run $cpu $folder/parts.lua --input $folder/a.npy --input $folder/offsets.npy" \
        "run $cpu $folder/least.lua --input $folder/nan.npy" "run $cpu $folder/sum.lua --input none"; do
        "$STENCILGEN" $arguments --json >"$out" 2>"$err"
        python3 -m json.tool <"$out" >/dev/null || flunk "not JSON: $(cat "$out")"
    done
fi
finish
