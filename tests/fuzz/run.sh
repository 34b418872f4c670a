#!/bin/sh
# Fuzzes for a while. Takes: a target, a dictionary or "", and seeds, files or folders. Makes: a line
# with what was reached; on a crash the log and the input in base64, and fails. The corpus that grows
# meanwhile is thrown away, unless FUZZ_CORPUS names a folder to keep it in.
# FUZZ_SECONDS says how long, 30 by default.
set -u
target=$1
dictionary=$2
shift 2
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT
corpus=${FUZZ_CORPUS:-$place/corpus}
mkdir -p "$corpus" "$place/seeds" "$place/artifacts"
for seed in "$@"; do
    if [ -d "$seed" ]; then
        cp -R "$seed/." "$place/seeds/"
    else
        cp "$seed" "$place/seeds/"
    fi
done
[ -n "$(ls "$place/seeds")" ] || {
    echo "there are no seeds in $*"
    exit 1
}

"$target" -max_total_time="${FUZZ_SECONDS:-30}" -timeout=25 -rss_limit_mb=2048 -max_len=4096 \
    ${dictionary:+-dict="$dictionary"} -print_final_stats=1 -artifact_prefix="$place/artifacts/" \
    "$corpus" "$place/seeds" >"$place/log" 2>&1
code=$?

for input in "$place"/artifacts/*; do
    [ -e "$input" ] || continue
    case $input in
    */slow-unit-*) continue ;;
    esac
    echo "$(basename "$input"): echo '$(base64 -w 0 "$input")' | base64 -d >input; $target input"
done
if [ "$code" != 0 ]; then
    tail -n 60 "$place/log"
    exit 1
fi
awk '/^stat::number_of_executed_units/ { executed = $2 }
    / cov: / { match($0, /cov: [0-9]+/); coverage = substr($0, RSTART + 5, RLENGTH - 5)
               match($0, /ft: [0-9]+/); features = substr($0, RSTART + 4, RLENGTH - 4) }
    END { printf "%d executions, coverage %d, features %d\n", executed, coverage, features
          exit executed == 0 }' "$place/log"
