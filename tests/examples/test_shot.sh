#!/bin/sh
# The example shot: its own verdict at several sizes.
. "$(dirname "$0")/common.sh"
options shot
failures shot
shot="$EXAMPLES/shot --device cpu"

for size in 41x37 64x80; do
    begin "reciprocity holds on $size"
    exits 0 $shot --size $size --steps 300
    prints 'reciprocity'
    [ "$(grep -c ' ms ' out)" = 8 ] || flunk "$(cat out)"
done

begin 'a source with another factor is found'
exits 1 "$SPOILED/shot" --device cpu --size 41x37 --steps 300
says 'the result is wrong'
finish
