#!/bin/sh
# Random problems on 1 to 8 processes of MPI, half of these numbers a run: the bytes of one rank. PRODUCT=N compares N of them on each number of
# processes, and PRODUCT_SEED=N begins at that seed.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/ranks.sh"

# problems RANKS SEED
problems() {
    timeout -k 5 120 mpirun --oversubscribe -n "$1" "$(dirname "$STENCILGEN")/tests/mpi_same" "$2" "${PRODUCT:-5}" \
        "$folder/cache" >"$out" 2>"$err" </dev/null || flunk "$1 processes: exit code $?: $(cat "$out" "$err")"
    grep -q "^${PRODUCT:-5} problems on $1 ranks$" "$out" || flunk "$1 processes: $(cat "$out" "$err")"
}

begin 'random problems on processes of MPI'
if has_mpi; then
    number=0
    for ranks in 1 2 3 4 6 8; do
        number=$((number + 1))
        drawn $number 2 || continue
        problems $ranks $((${PRODUCT_SEED:-0} + 100 * ranks))
    done

    begin 'random problems with hidden exchanges'
    export SG_TEAM_HIDE=all
    problems 4 $((${PRODUCT_SEED:-0} + 1000))
fi
finish
