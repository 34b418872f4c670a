#!/bin/sh
# The specs and commands that the README shows for the families other than stencils, exactly as printed there.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
readme=$SOURCE/README.md
cd "$folder" || exit 1

# Each line of the block is a file, which is called by the name of its kernel.
awk '/^## Sums, scans/ { here = 1; next } /^## / { here = 0 } here' "$readme" >section
awk '/^```lua/ { inside = 1; next } /^```/ { inside = 0 } inside' section >specs
while read -r line; do
    name=$(echo "$line" | sed 's/.*name = "\([a-z0-9]*\)".*/\1/')
    echo "$line" >"$name.lua"
done <specs
sed -n 's/^    build\/stencilgen/stencilgen/p; s/^     *\(--values\)/\1/p' section |
    sed -e ':a' -e '/\\$/N; s/\\\n//; ta' -e 's/ *#.*//' >commands

list f8 x.npy 3 4
list i4 i.npy 2 1 5 3
list i8 a.npy 1 3
list i8 b.npy 2 3 4
list f4 av.npy 0.5 1.5
list f4 bv.npy 10 20 30
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 2\n' >A.mtx
printf 'P2 3 3 255 10 10 10 10 20 10 10 10 10' >image.pgm

begin 'there are five specs, and a command for each'
[ "$(wc -l <specs)" = 5 ] || flunk "$(cat specs)"
[ "$(wc -l <commands)" = 5 ] || flunk "$(cat commands)"

# shown NAME [FILE=FILE]: runs the command of a spec, with another file in place of the one shown.
shown() {
    command=$(grep "run $1.lua" commands | sed "s|^stencilgen|$STENCILGEN|")
    [ $# = 1 ] || command=$(echo "$command" | sed "s|${2%=*}|${2#*=}|")
    sh -c "$command --device cpu" >"$out" 2>"$err" || flunk "$command: $(cat "$err")"
}

begin 'a norm is printed'
shown norm2
grep -q '^  result *25$' "$out" || flunk "$(cat "$out")"

begin 'a running maximum'
shown running x.npy=i.npy
list i4 want.npy 2 2 5 5
same want.npy y.npy

begin 'a merge of pairs'
shown join
list i8 want.npy 1 2 3 3 4
same want.npy c.npy
list f4 want.npy 0.5 10 1.5 20 30
same want.npy cv.npy

begin 'a product'
shown product
list f8 want.npy 4 6
same want.npy y.npy

begin 'an image'
shown sharpen
printf 'P5\n3 3\n255\n\012\000\012\000\074\000\012\000\012' >want.pgm
same want.pgm sharp.pgm
finish
