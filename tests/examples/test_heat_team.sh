#!/bin/sh
# The example heat_team: its own verdict as one process and under mpirun. Skipped without an MPI.
. "$(dirname "$0")/common.sh"
if [ ! -x "$EXAMPLES/heat_team" ]; then
    begin 'heat_team'
    skip 'built without an MPI'
    finish
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
options heat_team
failures heat_team
heat=$EXAMPLES/heat_team

for size in 2x2x2 3x4x5 17x33x9 31x30x32; do
    begin "one process without mpirun, on $size"
    exits 0 "$heat" --device cpu --size $size --steps 60
    prints "$size cells on 1 rank (1x1x1), 60 steps"
    prints ' 0 exchanges'
done

# run RANKS ARGUMENT…: under mpirun, which must not wait forever.
run() {
    ranks=$1
    shift
    timeout 120 mpirun --oversubscribe -n $ranks "$@"
}

for case in '2 17x33x9' '2 24x24x24' '3 11x12x13' '4 5x9x31' '8 16x16x16'; do
    set -- $case
    begin "$1 processes on $2"
    has mpirun || continue
    exits 0 run $1 "$heat" --device cpu --size $2 --steps 60
    prints "$2 cells on $1 ranks"
    grep -q ' 0 exchanges' out && flunk "nothing was exchanged: $(cat out)"
    [ "$(wc -l <out)" = 4 ] || flunk "more than rank 0 prints: $(cat out)"
done

begin 'no steps'
has mpirun && exits 0 run 2 "$heat" --device cpu --size 8x8x8 --steps 0

begin 'more processes than planes are refused on all of them'
if has mpirun; then
    exits 1 run 3 "$heat" --device cpu --size 2x2x2
    says 'heat_team: error: '
    says 'work'
fi

begin 'a wrong coefficient is found'
exits 1 "$SPOILED/heat_team" --device cpu --size 17x17x17 --steps 100
says 'the result is wrong'
has mpirun && exits 1 run 2 "$SPOILED/heat_team" --device cpu --size 17x17x17 --steps 100 &&
    says 'the result is wrong'
finish
