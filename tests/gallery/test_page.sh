#!/bin/sh
# Whether docs/gallery.md is true: the Lua that it shows stands in the specs, and each command makes its picture, here after
# two steps instead of all.
. "$(dirname "$0")/../cases.sh"
page=$SOURCE/docs/gallery.md
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
mkdir "$folder/bin" && ln -s "$STENCILGEN" "$folder/bin/stencilgen" && ln -s "$SOURCE/examples" "$SOURCE/specs" "$folder" || exit 1
PATH=$folder/bin:$PATH
SG_CACHE=$folder/cache
export SG_CACHE
cd "$folder" || exit 1

# blocks LANGUAGE: writes its blocks to LANGUAGE.1, LANGUAGE.2 …, the first line of each the words behind LANGUAGE.
blocks() {
    awk -v language="$1" '
        $1 == "```" language { file = language "." ++n; print substr($0, length($1) + 2) >file; next }
        /^```/ { file = "" }
        file != "" { print >file }' "$page"
}

blocks lua
for block in lua.*; do
    spec=$SOURCE/examples/gallery/$(head -n 1 "$block")
    begin "the page's $(head -n 1 "$block") stands in the spec"
    tail -n +2 "$block" >wanted
    lines=$(wc -l <wanted)
    first=$(grep -nxF -- "$(head -n 1 wanted)" "$spec" | head -n 1 | cut -d : -f 1)
    tail -n "+${first:-1}" "$spec" | head -n "$lines" | cmp -s - wanted || flunk "$(cat wanted)"
done

blocks sh
[ "$(ls sh.* | wc -l)" = 10 ] || flunk 'there are not ten commands'
for block in sh.*; do
    picture=$(sed -n 's/.*--snapshot [a-z]*=\([a-z0-9_]*\)-%d.png.*/\1/p' "$block")
    begin "the command of $picture makes a picture"
    sed -e 's/--steps [0-9]*/--steps 2/' -e 's/--every [0-9]*/--every 2/' -e 's/45 900 0/45 2 0/' \
        -e 's/^stencilgen run/stencilgen run --device cpu/' "$block" >command
    sh -e ./command >out 2>err || flunk "exit code $?: $(cat err)"
    [ -s "$picture-2.png" ] || flunk "there is no $picture-2.png: $(cat out)"
    [ -s "$SOURCE/docs/gallery/$picture.png" ] || flunk "the page has no $picture.png"
    grep -q "(.*gallery/$picture.png\|src=\"gallery/$picture.png\"" "$page" || flunk "the page does not show $picture.png"
done
finish
