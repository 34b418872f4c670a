#!/bin/sh
# The example cg_team: its own verdict on several teams, and that they all take the same way.
. "$(dirname "$0")/common.sh"
options cg_team
failures cg_team
cg="$EXAMPLES/cg_team --device cpu"

# residual, iterations: of the last run.
residual() {
    sed -n 's/.*by the host: \([^,]*\),.*/\1/p' out
}

iterations() {
    sed -n 's/.*: \([0-9]*\) iterations.*/\1/p' out
}

for team in '1 1' '1 2' '2 2' '3 3' '2 33' '4 64' '7 50' '16 40'; do
    set -- $team
    begin "$1 ranks on $2 points a side"
    exits 0 $cg --ranks $1 --size $2
    below "$(residual)" 1e-8 'the residual'
    prints ': right'
done

begin 'teams need as many iterations as one rank'
exits 0 $cg --ranks 1 --size 40
alone=$(iterations)
for ranks in 2 3 5; do
    exits 0 $cg --ranks $ranks --size 40
    below "$(($(iterations) - alone))" 2 "the iterations of $ranks ranks less $alone"
done

begin 'as many digits as asked for'
for digits in 1 4 11; do
    exits 0 $cg --ranks 3 --size 20 --digits $digits
    below "$(residual)" 1e-$digits 'the residual'
done

begin 'too few iterations are not taken for a solution'
for steps in 0 5; do
    exits 1 $cg --ranks 3 --size 20 --steps $steps
    prints 'not converged'
    says 'the result is wrong'
done

begin 'numbers of ranks that cannot be'
refuses "$EXAMPLES/cg_team" --ranks 0
refuses "$EXAMPLES/cg_team" --ranks 65
exits 1 $cg --ranks 4 --size 3
says 'cg_team: error: '
says '(2x2) work'

begin 'an operator that is a little wrong is found'
exits 1 "$SPOILED/cg_team" --device cpu --ranks 2 --size 20
says 'the result is wrong'
finish
