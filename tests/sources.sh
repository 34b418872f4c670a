#!/bin/sh
# The sources of all selected cases are the same in two processes, whatever the locale, the folder
# and the number of cases before. Takes: the path of run_cases.
set -u
run=$1
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT INT TERM

(cd "$root" && LC_ALL=C exec "$run" --mode sources >"$folder/one") &
one=$!
(cd "$folder" && LC_ALL=comma TZ=Asia/Tokyo exec "$run" --mode sources --root "$root" >"$folder/two") &
two=$!
# One half after the other, so that each case comes after other ones than before.
cd "$folder" || exit 1
for shard in 1/2 0/2; do
    LC_ALL=C "$run" --mode sources --root "$root" --shard "$shard" >>"$folder/shards" || exit 1
done
wait "$one" && wait "$two" || exit 1

failed=0
same() {
    grep '^[0-9a-f]\{16\} ' "$folder/one" | sort >"$folder/expected"
    grep '^[0-9a-f]\{16\} ' "$1" | sort >"$folder/actual"
    if ! cmp -s "$folder/expected" "$folder/actual"; then
        echo "sources differ $2:"
        diff "$folder/expected" "$folder/actual" | head -10
        failed=$((failed + 1))
    fi
}
same "$folder/two" "in another locale and folder"
same "$folder/shards" "after other cases"
[ "$(wc -l <"$folder/expected")" -gt 300 ] || { echo "too few sources"; failed=$((failed + 1)); }
echo "[  PASSED  ] $((3 - failed)) test(s)."
[ "$failed" = 0 ] || echo "[  FAILED  ] $failed test(s)."
echo "$((3 - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
