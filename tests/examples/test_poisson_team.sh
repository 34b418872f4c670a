#!/bin/sh
# The example poisson_team: its own verdict on several teams, which compares every bit with one rank.
. "$(dirname "$0")/common.sh"
options poisson_team
failures poisson_team
poisson="$EXAMPLES/poisson_team --device cpu"

for team in '1 4' '2 16' '3 27' '4 32' '5 43'; do
    set -- $team
    begin "$1 ranks on $2 intervals get the bits of one"
    exits 0 $poisson --ranks $1 --size $2
    prints "$1 rank"
    prints '1 rank,'
    prints 'same bits'
    [ "$(sed -n 's/.*: \([0-9]*\) iterations.*/\1/p' out | sort -u | wc -l)" = 1 ] || flunk "$(cat out)"
done

begin 'the end is as close to the solution as it says'
exits 0 $poisson --ranks 2 --size 24
below "$(sed -n 's/from the scheme.s solution: \([^,]*\),.*/\1/p' out)" 1e-6 'the error'

begin 'too few iterations are not taken for a solution'
exits 1 $poisson --ranks 2 --size 16 --steps 50
prints 'not converged'
prints 'same bits'
says 'the result is wrong'

begin 'numbers of ranks that cannot be'
refuses "$EXAMPLES/poisson_team" --ranks 0
refuses "$EXAMPLES/poisson_team" --ranks 65
exits 1 $poisson --ranks 7 --size 4
says 'poisson_team: error: '
says 'work'

begin 'a rank that takes the wrong rows for its own is found'
exits 1 "$SPOILED/poisson_team" --device cpu --ranks 3 --size 24
prints 'OTHER BITS'
says 'the result is wrong'
finish
