#!/bin/sh
# run --init: fields that begin with an expression.
. "$(dirname "$0")/common.sh"
export SG_CACHE="$folder/cache" # kernels are compiled once
. "$(dirname "$0")/arrays.sh"
export SG_DATABASE=none
cpu='--device cpu'

# A step that changes nothing, so that an output is what the field began with.
same_spec() {
    cat >"$folder/same$1.lua" <<EOF
return stencil { name = "same", dims = $1, dtype = "$2", boundary = "zero",
  fields = { u = "inout", c = "in" },
  update = function(f) return f.u($3) + 0 * f.c($3) end }
EOF
}
same_spec 1 double 0
same_spec 2 float 0,0
same_spec 3 double 0,0,0
cat >"$folder/levels.lua" <<'EOF'
return stencil { name = "levels", dims = 1, dtype = "float", boundary = "zero",
  fields = { u = { use = "inout", levels = 2 }, o = "out" },
  update = function(f) return { u = 2 * f.u(0) - f.u.prev(0), o = f.u(0) + 1 } end }
EOF

is() {
    cmp -s "$folder/want.npy" "$folder/$1" ||
        flunk "$1 is not as expected: $(od -An -t"${2:-f4}" -j128 "$folder/$1" | tr -s ' \n' ' ')"
}

begin 'two dimensions, x first'
npy f4 "$folder/want.npy" '2, 3' 7 6 5 17 16 15
exits 0 run $cpu "$folder/same2.lua" --size 3x2 --init 'u=nx + 2 * ny - x + 10 * y' --output "$folder/u.npy"
is u.npy

begin 'three dimensions, in double'
npy f8 "$folder/want.npy" '3, 2, 2' 8 9 9 10 11 12 12 13 14 15 15 16
exits 0 run $cpu "$folder/same3.lua" --size 2x2x3 --init 'u=x + y + 3 * z + nx * ny + nz + 1' \
    --output "$folder/u.npy"
is u.npy f8

begin 'one cell'
npy f8 "$folder/want.npy" '1,' 0.5
exits 0 run $cpu "$folder/same1.lua" --size 1 --init 'u=where(eq(x, 0), 0.5, 3)' --output "$folder/u.npy"
is u.npy f8

begin 'a field from a file and one from an expression, whose size is that of the file'
npy f4 "$folder/c.npy" '2, 3' 0 0 0 0 0 0
npy f4 "$folder/want.npy" '2, 3' 0 1 2 0 1 2
exits 0 run $cpu "$folder/same2.lua" --input c="$folder/c.npy" --init u=x --output "$folder/u.npy"
is u.npy
exits 3 run $cpu "$folder/same2.lua" --input c="$folder/c.npy" --init u=x --size 4x2

begin 'a previous level is the current one, or has its own expression'
npy f4 "$folder/want.npy" '4,' 0 1 2 3
exits 0 run $cpu "$folder/levels.lua" --size 4 --init u=x --output u="$folder/u.npy"
is u.npy
npy f4 "$folder/want.npy" '4,' -1 1 3 5
exits 0 run $cpu "$folder/levels.lua" --size 4 --init u=x --init u.prev=1 --output u="$folder/u.npy"
is u.npy
npy f4 "$folder/want.npy" '4,' 0 -1 -2 -3
exits 0 run $cpu "$folder/levels.lua" --size 4 --init u.prev=x --output u="$folder/u.npy"
is u.npy

begin 'grids of several pieces: sums of x and of y'
sed s/float/double/ specs/reduce_sum.lua >"$folder/sum.lua"
exits 0 run $cpu "$folder/same3.lua" --size 1100x1000x2 --init u=x --output "$folder/big.npy"
exits 0 run $cpu "$folder/sum.lua" --input "$folder/big.npy"
reports "result   1.2089e+09"
exits 0 run $cpu "$folder/same3.lua" --size 1100x1000x2 --init 'u=y + 1000 * z' --output "$folder/big.npy"
exits 0 run $cpu "$folder/sum.lua" --input "$folder/big.npy"
reports "result   2.1989e+09"

begin 'ranks have their parts'
exits 0 run $cpu "$folder/same3.lua" --size 13x7x5 --init 'u=x + 13 * (y + 7 * z)' --output "$folder/one.npy"
exits 0 run $cpu "$folder/same3.lua" --size 13x7x5 --init 'u=x + 13 * (y + 7 * z)' --ranks 2x2x2 \
    --output "$folder/eight.npy"
cmp -s "$folder/one.npy" "$folder/eight.npy" || flunk 'ranks begin with other values'

begin 'fields that nothing gives are 0, of which a warning says so where they stay it'
exits 0 run $cpu "$folder/same2.lua" --size 3x2 --init u=x --output "$folder/u.npy"
says 'warning: c is 0 everywhere: no step changes it, and neither --input nor --init gives it'
exits 0 run $cpu "$folder/same2.lua" --size 3x2 --init c=x --output "$folder/u.npy"
[ ! -s "$err" ] || flunk "there is a word of u: $(cat "$err")"

begin 'errors'
exits 2 run $cpu "$folder/same2.lua" --size 3x2 --init 'u=sine(x)'
says "--init u:1: error: unknown name 'sine'"
exits 2 run $cpu "$folder/same2.lua" --size 3x2 --init 'u=sine(x)' --ranks 2
says "--init u:1: error: unknown name 'sine'"
exits 2 run $cpu "$folder/same2.lua" --size 3x2 --init v=1
says "--init 'v': same reads c, u"
exits 2 run $cpu "$folder/same2.lua" --size 3x2 --init 'sin(x)'
says 'NAME=EXPRESSION is needed'
exits 2 run $cpu "$folder/same2.lua" --size 3x2 --init u=
says 'NAME=EXPRESSION is needed'
exits 2 run $cpu "$folder/same2.lua" --init u=1
says 'give its grid with --size'
exits 2 run $cpu "$folder/same2.lua" --init c=1 --input c="$folder/c.npy"
says 'is given twice'
exits 2 run $cpu specs/scan.lua --size 8 --init input=x
says 'scan has lists'
exits 2 explain $cpu "$folder/same2.lua" --init u=1
says 'is no option of explain'

begin 'components: one file holds them all, or one each'
cat >"$folder/pair.lua" <<'EOF'
return stencil { name = "pair", dims = 2, boundary = "periodic",
  fields = { v = { use = "inout", components = 2 } },
  update = function(f) return { v = { f.v[2](1, 0), f.v[1](0, 0) } } end }
EOF
npy f4 "$folder/v.npy" '2, 2, 3' 1 2 3 4 5 6 7 8 9 10 11 12
npy f4 "$folder/want.npy" '2, 2, 3' 8 9 7 11 12 10 1 2 3 4 5 6
exits 0 run $cpu "$folder/pair.lua" --input "$folder/v.npy" --output "$folder/w.npy"
is w.npy
exits 0 run $cpu "$folder/pair.lua" --size 3x2 --init 'v[1]=1+x+3*y' --init 'v[2]=7+x+3*y' \
    --output v="$folder/w.npy" --output 'v[2]'="$folder/second.npy"
is w.npy
npy f4 "$folder/want.npy" '2, 3' 1 2 3 4 5 6
is second.npy

begin 'components: those without a file are one line of the report'
cat >"$folder/three.lua" <<'EOF'
return stencil { name = "three", dims = 1, boundary = "periodic",
  fields = { v = { use = "inout", components = 3 }, w = { use = "out", components = 2 }, o = "out" },
  update = function(f) return { v = { f.v[2](1), f.v[3](0), f.v[1](0) }, w = { f.v[1](0), 1 }, o = 2 } end }
EOF
exits 0 run $cpu "$folder/three.lua" --size 9 --init v=x --output 'v[2]'="$folder/second.npy"
reports '  output   v: 2 components not written; name a file with --output v=FILE'
reports '  output   w: not written; name a file with --output w=FILE'
reports '  output   o: not written; name a file with --output o=FILE'
[ "$(grep -c 'not written' "$out")" = 3 ] || flunk "$(cat "$out")"
exits 0 run $cpu "$folder/three.lua" --size 9 --init v=x --output v="$folder/v3.npy" --output 'w[1]'="$folder/second.npy"
reports '  output   w[2]: not written; name a file with --output w[2]=FILE'

begin 'components: what does not fit'
exits 3 run $cpu "$folder/pair.lua" --input v="$folder/want.npy" --output "$folder/w.npy"
says '2 dimensions, the first of 2, but v has 3: its 2 components and those of the grid'
exits 2 run $cpu "$folder/pair.lua" --input v="$folder/v.npy" --input 'v[2]'="$folder/want.npy"
says '--input v[2] is given twice'
exits 2 run $cpu "$folder/pair.lua" --input v="$folder/v.npy" --output v="$folder/w.vti"
says 'v has 2 components; give a .npy file, or a file for each'
finish
