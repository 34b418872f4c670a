# For tests of several ranks: processes of MPI, and files that are to be alike. Sourced behind common.sh.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# alike FILE FILE
alike() {
    cmp "$1" "$2" >/dev/null 2>&1 || flunk "$1 and $2 differ: $(cmp "$1" "$2" 2>&1)"
}

# elements FILE: what is appended to a .vti file.
elements() {
    after=$(LC_ALL=C grep -abo '^_' "$1" | head -1 | cut -d: -f1)
    tail -c "+$((after + 10))" "$1" | head -c -30
}

# Whether ranks can be processes; else the case is skipped.
has_mpi() {
    has mpirun && { [ -e "$(dirname "$STENCILGEN")/libstencilgen_mpi.so" ] || { skip 'there is no libstencilgen_mpi.so' && false; }; }
}

# mpi CODE COUNT ARGUMENT…: the command as so many processes.
mpi() {
    wanted=$1
    processes=$2
    shift 2
    timeout -k 5 120 mpirun --oversubscribe -n "$processes" "$STENCILGEN" "$@" >"$out" 2>"$err" </dev/null
    code=$?
    [ "$code" = "$wanted" ] ||
        flunk "exit code $code instead of $wanted: $processes × stencilgen $*: $(cat "$err")"
}
