#!/bin/sh
# Times schedules of specs side by side, each beside a device copy in the same process.
#   bench/sweep.sh COMMAND SIZE FILE SPEC…
# FILE has a schedule a line, as options of the command: --method register --tile 32x8 --coarsen z16.
# Each SPEC is timed as it is and, where its dtype is float, in double. Prints a line for each:
# dtype, spec, plan, registers, milliseconds a step, share of a copy.
set -eu
command=$1 size=$2 schedules=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for spec; do
    name=$(basename "$spec" .lua)
    mkdir -p "$work/float" "$work/double"
    cp "$spec" "$work/float/$name.lua"
    sed 's/"float"/"double"/' "$spec" >"$work/double/$name.lua"
    for dtype in ${DTYPES:-float double}; do
        while read -r schedule; do
            # shellcheck disable=SC2086
            "$command" bench "$work/$dtype/$name.lua" --size "$size" --json $schedule \
                >"$work/out.json" 2>"$work/error" || {
                printf '%-6s %-8s %-46s %s\n' "$dtype" "$name" "$schedule" "$(tail -c 150 "$work/error")"
                continue
            }
            awk -v dtype="$dtype" -v name="$name" '
                function value(line) { sub(/^[^:]*: *"?/, "", line); sub(/"?,?$/, "", line); return line }
                /"plan":/ { plan = value($0) }
                /"registers":/ { registers = value($0) }
                /"local_bytes":/ { local = value($0) }
                /"blocks_resident":/ { blocks = value($0) }
                /"seconds":/ { seconds = value($0) }
                /"of_copy":/ { share = value($0) }
                /"reason":/ { reason = value($0) }
                END { printf "%-6s %-8s %-46s %3s regs %3s local %2s blocks %8.4f ms %6.3f of a copy\n",
                      dtype, name, plan, registers, local, blocks, seconds * 1000, share }' "$work/out.json"
        done <"$schedules"
    done
done
