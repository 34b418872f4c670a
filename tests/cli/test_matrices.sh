#!/bin/sh
# run and explain with sparse matrices. The products are of small whole numbers, and so exact.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
cpu='--device cpu'
SG_CACHE=$folder/cache # kernels are compiled once
export SG_CACHE
bus=tests/data/mtx/1138_bus.mtx

echo 'return spmv { name = "product", dtype = "double" }' >"$folder/product.lua"
echo 'return spmv { name = "product", dtype = "float" }' >"$folder/single.lua"
echo 'return spmv { name = "product", dtype = "double", vectors = 2 }' >"$folder/two.lua"
product=$folder/product.lua
A=$folder/A.mtx
cat >"$A" <<'END'
%%MatrixMarket matrix coordinate real general
% rows of two, two and no entries
3 4 4
1 1 1
1 3 2
2 2 3
2 3 -1
END
x=$folder/x.npy
list f8 "$x" 1 2 3 4
list f8 "$folder/Ax.npy" 7 3 0

begin 'a product'
exits 0 run $cpu "$product" --input "$A" --input "$x" --output "$folder/y.npy"
same "$folder/Ax.npy" "$folder/y.npy"
reports 'product: 4 entries in '
reports "$A: 3 rows, 4 columns, 4 entries"

begin 'a pattern with values and indented lines, as public collections have them'
printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '  % names' ' 3 4 4' '1 1 9' ' 1 3 9' '2 2 9' '2 4 0' \
    >"$folder/pattern.mtx"
list f8 "$folder/Px.npy" 4 6 0
exits 0 run $cpu "$product" --input "$folder/pattern.mtx" --input "$x" --output "$folder/y.npy"
same "$folder/Px.npy" "$folder/y.npy"

begin 'by name, in any order, and in single precision'
exits 0 run $cpu "$product" --input x="$x" --input A="$A" --output y="$folder/y.npy"
same "$folder/Ax.npy" "$folder/y.npy"
cp "$A" "$folder/other"
exits 0 run $cpu "$product" --input A="$folder/other" --input "$x" -o "$folder/default"
holds "$folder/default" y.npy
same "$folder/Ax.npy" "$folder/default/y.npy"
list f4 "$folder/x4.npy" 1 2 3 4
list f4 "$folder/want.npy" 7 3 0
exits 0 run $cpu "$folder/single.lua" --input "$A" --input "$folder/x4.npy" --output "$folder/y.npy"
same "$folder/want.npy" "$folder/y.npy"

begin 'every format computes the same, and is the one of the plan'
for format in auto coo csr csc ell hyb jds dia bcsr pkt sell; do
    exits 0 run $cpu "$product" --format $format --input "$A" --input "$x" --output "$folder/y.npy"
    same "$folder/Ax.npy" "$folder/y.npy"
    [ $format = auto ] || reports "  plan     $format"
done
plan=$(sed -n 's/^  plan  *//p' "$out")
exits 0 run $cpu "$product" --schedule "$plan" --input "$A" --input "$x" --output "$folder/y.npy"
reports "  plan     $plan"
same "$folder/Ax.npy" "$folder/y.npy"
exits 2 run $cpu "$product" --format cst --input "$A" --input "$x"
says cst

begin 'alpha and beta'
list f8 "$folder/y0.npy" 1 10 100
exits 0 run $cpu "$product" --set alpha=2 --set beta=-1 --input "$A" --input "$x" \
    --input y="$folder/y0.npy" --output "$folder/y.npy"
list f8 "$folder/want.npy" 13 -4 -100
same "$folder/want.npy" "$folder/y.npy"
exits 2 run $cpu "$product" --set beta=1 --input "$A" --input "$x" --output "$folder/none.npy"
says 'beta is not 0, so product reads y; give it with --input y=FILE.npy'
exits 2 run $cpu "$product" --set gamma=1 --input "$A" --input "$x"
says "no parameter 'gamma'"
exits 0 run $cpu "$product" --set alpha=0 --input "$A" --input "$x" --output "$folder/y.npy"
list f8 "$folder/want.npy" 0 0 0
same "$folder/want.npy" "$folder/y.npy"

begin 'with beta = 0 what y holds does not matter'
list f8 "$folder/nan.npy" nan nan nan
exits 0 run $cpu "$product" --input "$A" --input "$x" --input y="$folder/nan.npy" \
    --output "$folder/y.npy"
same "$folder/Ax.npy" "$folder/y.npy"

begin 'several vectors, a row each'
npy f8 "$folder/xs.npy" '2, 4' 1 2 3 4 1 0 0 0
npy f8 "$folder/want.npy" '2, 3' 7 3 0 1 0 0
exits 0 run $cpu "$folder/two.lua" --input "$A" --input "$folder/xs.npy" --output "$folder/y.npy"
same "$folder/want.npy" "$folder/y.npy"
exits 2 run $cpu "$folder/two.lua" --input "$A" --input "$x" --output "$folder/none.npy"
[ ! -e "$folder/none.npy" ] || flunk 'an output was written'

begin 'a matrix without entries, and one without columns'
printf '%%%%MatrixMarket matrix coordinate real general\n2 4 0\n' >"$folder/zero.mtx"
exits 0 run $cpu "$product" --input "$folder/zero.mtx" --input "$x" --output "$folder/y.npy"
list f8 "$folder/want.npy" 0 0
same "$folder/want.npy" "$folder/y.npy"
printf '%%%%MatrixMarket matrix coordinate real general\n0 0 0\n' >"$folder/zero.mtx"
list f8 "$folder/none.npy"
exits 0 run $cpu "$product" --input "$folder/zero.mtx" --input "$folder/none.npy" \
    --output "$folder/y.npy"
same "$folder/none.npy" "$folder/y.npy"

begin 'arrays that do not fit'
list f8 "$folder/three.npy" 1 2 3
exits 3 run $cpu "$product" --input "$A" --input "$folder/three.npy"
says "$folder/three.npy: error: 3 elements, but $A has 4 columns"
exits 3 run $cpu "$product" --input "$A" --input "$x" --input y="$x" --set beta=1
says "$x: error: 4 elements, but $A has 3 rows"
exits 3 run $cpu "$product" --input "$A" --input "$folder/x4.npy"
says 'it holds float32, the kernel takes double (float64)'
exits 2 run $cpu "$product" --input "$x"
says 'product reads a matrix; give it with --input A=FILE.mtx'
exits 2 run $cpu "$product" --input "$A"
says 'product reads x'
exits 2 run $cpu "$product" --input "$A" --input "$x" --input "$x"
says 'one more than product reads'
exits 2 run $cpu "$product" --input B="$A" --input "$A"
says "--input 'B': product reads A, x, y"
exits 3 run $cpu "$product" --input "$A" --input "$A"
says 'not a .npy file'

# refused TEXT LINE…: a matrix that is refused, with exit code 3 and the reason.
refused() {
    reason=$1
    shift
    printf '%s\n' "$@" >"$folder/bad.mtx"
    exits 3 run $cpu "$product" --input "$folder/bad.mtx" --input "$x" --output "$folder/none2.npy"
    says "$folder/bad.mtx"
    says "$reason"
    [ ! -e "$folder/none2.npy" ] || flunk 'an output was written'
}

begin 'matrices that are none'
refused complex '%%MatrixMarket matrix coordinate complex general' '1 1 1' '1 1 1 0'
refused error '%%MatrixMarket matrix coordinate real general' '3 4 2' '1 1 1'
refused error '%%MatrixMarket matrix coordinate real general' '3 4 1' '4 1 1'
refused error '%%MatrixMarket matrix coordinate real general' '3 4 1' '0 1 1'
refused error 'hello'
refused error ''
exits 3 run $cpu "$product" --input "$folder/absent.mtx" --input "$x"
says "$folder/absent.mtx"

# A diagonal format would need a number for each row of each of its diagonals: more than 1 GiB.
begin 'a format that would be too large is refused with its bytes'
awk 'BEGIN { n = 20000; print "%%MatrixMarket matrix coordinate pattern general"; print n, n, n
             for (i = 1; i <= n; i++) print i, (i * 7919) % n + 1 }' >"$folder/wide.mtx"
{
    printf '\223NUMPY\001\000\166\000'
    printf "%-117s\n" "{'descr': '<f8', 'fortran_order': False, 'shape': (20000,), }"
    head -c 160000 /dev/zero
} >"$folder/wide.npy"
exits 2 run $cpu "$product" --format dia --input "$folder/wide.mtx" --input "$folder/wide.npy" \
    --output "$folder/none3.npy"
says ' bytes'
[ ! -e "$folder/none3.npy" ] || flunk 'an output was written'
exits 0 explain $cpu "$product" --input "$folder/wide.mtx"
grep -A1 '^  dia ' "$out" | grep -q 'bytes' || flunk "$(cat "$out")"

begin 'explain compares every format with the textbook'
exits 0 explain $cpu "$product" --input $bus
reports '1138_bus.mtx: M = 1138 rows, N = 1138 columns, nnz = 4054 entries, symmetric'
for format in dense coo csr csc ell hyb jds dia bcsr pkt sell stencil; do
    grep -q "^[* ] $format " "$out" || flunk "there is no $format: $(cat "$out")"
done
grep -q '^. dense .* 1295044 ' "$out" || flunk "the dense numbers are not M N: $(cat "$out")"
grep -q '^. csr .* 9247 ' "$out" || flunk "the numbers of csr are not 2 nnz + M + 1: $(cat "$out")"
grep -q '^. coo .* 12162 ' "$out" || flunk "the numbers of coo are not 3 nnz: $(cat "$out")"
exits 0 explain $cpu "$product"
exits 2 explain $cpu "$product" --input $bus --input $bus
says 'explain takes one --input'
exits 3 explain $cpu "$product" --input "$folder/bad.mtx"

# grid N: a 5-point grid of N x N cells, of which cell 7 has another value and cell 40 one entry more.
grid() {
    awk -v n="$1" 'function put(r, c, v) { line[++count] = r " " c " " v }
        BEGIN {
            for (r = 1; r <= n * n; r++) {
                put(r, r, r == 7 ? 5 : 4)
                if (r == 40) put(r, 90, 2)
                if (r > n) put(r, r - n, -1)
                if (r <= n * n - n) put(r, r + n, -1)
                if (r % n != 1) put(r, r - 1, -1)
                if (r % n != 0) put(r, r + 1, -1)
            }
            print "%%MatrixMarket matrix coordinate real general"
            print n * n, n * n, count
            for (i = 1; i <= count; i++) print line[i]
        }'
}
begin 'a stencil is recognised, compiled in, and right where rows deviate'
grid 20 >"$folder/grid.mtx"
list f8 "$folder/ones.npy" $(seq 400 | sed 's/.*/3/')
exits 0 run $cpu "$product" --input "$folder/grid.mtx" --input "$folder/ones.npy" --output "$folder/y.npy"
reports '  plan     stencil threads='
exits 0 run $cpu "$product" --format csr --input "$folder/grid.mtx" --input "$folder/ones.npy" \
    --output "$folder/csr.npy"
same "$folder/csr.npy" "$folder/y.npy"
exits 0 explain $cpu "$product" --input "$folder/grid.mtx"
reports 'stencil: 5 diagonals of one value each are compiled in; of 400 rows 74 lack'
grep -q '^\* stencil ' "$out" || flunk "stencil is not chosen: $(cat "$out")"
exits 2 explain $cpu "$product" --format stencil --input $bus
says 'format stencil: the matrix is no stencil'
exits 2 "$product" $cpu --format stencil
says 'it is built for a matrix'

begin 'JSON'
exits 0 explain $cpu "$product" --input $bus --json
documented
reports '"entries": 4054'
[ "$(grep -c '"formula"' "$out")" = 12 ] || flunk "$(grep -c '"formula"' "$out") formats"
exits 0 run $cpu "$product" --input "$A" --input "$x" --output "$folder/y.npy" --json
documented y
reports '"columns": 4'
reports '"converted_by": "host"'
if has python3; then
    python3 -m json.tool <"$out" >/dev/null || flunk "not JSON: $(cat "$out")"
fi
finish
