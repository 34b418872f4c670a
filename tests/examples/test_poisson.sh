#!/bin/sh
# The example poisson: its own verdict at several sizes, and the rate and order that it prints.
. "$(dirname "$0")/common.sh"
options poisson
failures poisson
poisson="$EXAMPLES/poisson --device cpu"

for size in 4 5 9 16 27; do
    begin "rate, error and order are right from $size intervals"
    exits 0 $poisson --size $size
    [ "$(grep -c ' right$' out)" = 2 ] || flunk "$(cat out)"
    prints 'order of the error'
done

begin 'the rate is the spectral radius, and the order is 2'
exits 0 $poisson --size 24
set -- $(grep '^ *48x48' out)
below "$(awk -v a="$4" 'BEGIN { print a - cos(atan2(0, -1) / 48) }')" 1e-7 'the rate less cos(pi/48)'
below "$(awk '/^order/ { sub("h.", "", $5); print $5 - 2 }' out)" 0.01 'the order less 2'

begin 'too few iterations are not taken for a solution'
exits 1 $poisson --size 16 --steps 10
prints 'not converged'
says 'the result is wrong'

begin 'another boundary is found'
exits 1 "$SPOILED/poisson" --device cpu --size 16
says 'the result is wrong'
finish
