#!/bin/sh
# Runs on ranks that are killed at several moments: the last checkpoint is whole and goes on with the same bytes on another
# number of ranks, what a .pvti file names is whole, and no process is left.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
. "$(dirname "$0")/ranks.sh"
export SG_CACHE="$folder/cache" # so that each kernel is compiled once
cpu='--device cpu'

npy f4 "$folder/a.npy" '13, 37' $(awk 'BEGIN { for (i = 0; i < 481; i++) printf "%.4f ", (i * 7919 % 1000) / 500 - 1 }')
mkdir "$folder/results"
results=$folder/results
heat="specs/heat2d5.lua --input $folder/a.npy --schedule naive"
# So long that it is killed before it ends; files appear all the time.
endless="$heat --steps 100000000 --output $results/never.npy --checkpoint $results/state --snapshot u=$results/s-%d.pvti --every 40"
exits 0 run $cpu $heat --steps 1 --output "$results/a.npy" # compiles
rm -f "$results"/*

# killed PROCESS DELAY: so long after the first checkpoint. The process is the run, or one of those that MPI started.
killed() {
    tries=0
    while [ ! -s "$results/state" ] && [ $tries -lt 400 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    sleep "$2"
    kill -9 "$1" 2>/dev/null || flunk 'it was over before it was killed'
}

# whole RANKS: the checkpoint goes on, on so many ranks, and the newest pieces are those of as many steps.
whole() {
    made=$(head -c 8192 "$results/state" | tr '\0' '\n' | sed -n 's/^steps //p')
    [ "${made:-0}" -ge 40 ] && [ $((made % 40)) = 0 ] || flunk "the checkpoint is of step '$made'"
    exits 0 run $cpu specs/heat2d5.lua --steps $((made + 3)) --restart "$results/state" --ranks "$1" --output "$folder/rest.npy"
    exits 0 run $cpu $heat --steps $((made + 3)) --output "$folder/alone.npy"
    alike "$folder/alone.npy" "$folder/rest.npy"
    steps=$(ls "$results" | sed -n 's/^s-\([0-9]*\)\.pvti$/\1/p' | sort -n | tail -1)
    [ "${steps:-0}" -ge 40 ] || flunk 'there is no snapshot'
    exits 0 run $cpu $heat --steps "$steps" --output "$folder/alone.vti"
    elements "$folder/alone.vti" >"$folder/expected"
    for number in 0 1 2 3; do
        grep -qF "Source=\"s-${steps}_$number.vti\"" "$results/s-$steps.pvti" || flunk "no piece $number of s-$steps.pvti"
        elements "$results/s-${steps}_$number.vti"
    done >"$folder/pieces"
    alike "$folder/expected" "$folder/pieces"
    [ ! -e "$results/never.npy" ] || flunk 'there is an output'
    rm -f "$results"/* "$results"/.[!.]*
}

begin 'threads of a process that is killed'
for delay in 0.01 0.07 0.16 0.29; do
    "$STENCILGEN" run $cpu $endless --ranks 1x4 >"$out" 2>"$err" &
    process=$!
    killed $process $delay
    wait $process 2>/dev/null
    whole 3x2
done

begin 'one of four processes of MPI that is killed'
if has_mpi; then
    for delay in 0.03 0.18; do
        mpirun --oversubscribe -n 4 "$STENCILGEN" run $cpu $endless --ranks 1x4 >"$out" 2>"$err" </dev/null &
        launcher=$!
        tries=0
        while [ "$(ps -o pid= --ppid $launcher | wc -l)" -lt 4 ] && [ $tries -lt 200 ]; do
            sleep 0.05
            tries=$((tries + 1))
        done
        killed "$(ps -o pid= --ppid $launcher | tail -n 1 | tr -d ' ')" $delay
        wait $launcher && flunk 'the launcher says that all is well'
        left=$(ps -e -o args= | grep -c "^$STENCILGEN run .*$results/never")
        [ "$left" = 0 ] || flunk "$left processes are left"
        whole 5
    done
fi
finish
