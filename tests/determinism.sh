#!/bin/sh
# The same spec, plan and target give the same source, byte for byte: on every run, from any folder,
# by any name of the file, in any locale and environment, and in one process after other specs.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT INT TERM

for spec in specs/*.lua; do
    name=$(basename "$spec" .lua)
    begin "$name is the same on every run"
    "$PRINT_SOURCE" "$spec" '' >"$folder/first" || flunk 'it cannot be built'
    [ -s "$folder/first" ] || flunk 'its source is empty'
    for run in 1 2 3; do
        "$PRINT_SOURCE" "$spec" '' >"$folder/again"
        cmp -s "$folder/first" "$folder/again" || flunk "run $run differs"
    done
    begin "$name is the same from another folder and by another name of the file"
    cp "$spec" "$folder/copy.lua"
    (cd "$folder" && "$PRINT_SOURCE" copy.lua '') >"$folder/again"
    cmp -s "$folder/first" "$folder/again" || flunk 'copy.lua differs'
    (cd / && "$PRINT_SOURCE" "$SOURCE/$spec" '') >"$folder/again"
    cmp -s "$folder/first" "$folder/again" || flunk 'the absolute path differs'
    begin "$name is the same in a locale with a decimal comma"
    if LC_ALL=comma printf '%.1f\n' 0,5 2>/dev/null | grep -q '^0,5' ||
        [ -e "${LOCPATH:-/nowhere}/comma/LC_NUMERIC" ]; then
        LC_ALL=comma "$PRINT_SOURCE" "$spec" '' >"$folder/again"
        cmp -s "$folder/first" "$folder/again" || flunk 'the source differs'
    else
        skip 'the locale could not be made'
    fi
    begin "$name tells nothing of the machine"
    for word in "$SOURCE" "$folder" "$(uname -n)" "${HOME:-/root}/"; do
        if grep -qF -- "$word" "$folder/first"; then flunk "it holds $word"; fi
    done
done

begin 'the command writes the same source'
spec=specs/heat13.lua
for run in a b; do
    mkdir "$folder/$run"
    "$STENCILGEN" "$spec" -o "$folder/$run" --emit source,plan,model --device cpu --size 9x9x9 \
        >/dev/null || flunk "run $run failed"
done
diff -r "$folder/a" "$folder/b" >/dev/null || flunk 'two runs differ'
[ -s "$folder/a/heat13.cu" ] || flunk 'there is no heat13.cu'
finish
