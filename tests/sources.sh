#!/bin/sh
# The sources of the cases are the same in other processes, whatever the locale, the folder and the cases before. A
# quarter of them, which is drawn, has some of every file, method and dtype. Takes: the path of run_cases.
set -u
run=$1
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT INT TERM

(cd "$root" && LC_ALL=C exec "$run" --mode sources --shard 0/4 >"$folder/one") &
one=$!
# The same quarter, one half after the other, so that each case comes after other ones than before.
cd "$folder" || exit 1
for shard in 4/8 0/8; do
    LC_ALL=comma TZ=Asia/Tokyo "$run" --mode sources --root "$root" --shard "$shard" >>"$folder/two" || exit 1
done
wait "$one" || exit 1

failed=0
for run in one two; do
    grep '^[0-9a-f]\{16\} ' "$folder/$run" | sort >"$folder/$run.sorted"
done
if ! cmp -s "$folder/one.sorted" "$folder/two.sorted"; then
    echo "sources differ in another locale and folder, or after other cases:"
    diff "$folder/one.sorted" "$folder/two.sorted" | head -10
    failed=$((failed + 1))
fi
[ "$(wc -l <"$folder/one.sorted")" -gt 300 ] || { echo "too few sources"; failed=$((failed + 1)); }
echo "[  PASSED  ] $((2 - failed)) test(s)."
[ "$failed" = 0 ] || echo "[  FAILED  ] $failed test(s)."
echo "$((2 - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
