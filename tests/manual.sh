#!/bin/sh
# docs/stencilgen.1 against the command: each option, command, exit code and variable.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
page=docs/stencilgen.1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
export LC_ALL=C
"$STENCILGEN" --help >"$folder/help" || exit 1

# same WHAT FILE FILE: both hold the same lines.
same() {
    [ -s "$2" ] || flunk "no $1 were found in the help"
    sort -u "$2" >"$folder/a"
    sort -u "$3" >"$folder/b"
    cmp -s "$folder/a" "$folder/b" ||
        flunk "$1 (< is in the help, > in $page): $(diff "$folder/a" "$folder/b" | grep '^[<>]')"
}

# entries SECTION: what the tags of its list are, of a page in mdoc.
entries() {
    awk -v section="$1" '
        /^\.Sh / { inside = $0 == ".Sh " section }
        inside && /^\.It / { sub(/^\.It /, ""); print }' "$page"
}

begin 'options'
sed -n 's/^  \(-[-a-z]*\).*/\1/p' "$folder/help" >"$folder/known"
entries OPTIONS | sed -n 's/^Fl \\*\(-*[-a-z]*\).*/-\1/p' >"$folder/told"
same options "$folder/known" "$folder/told"

begin 'commands'
sed -n 's/^ *\(usage: \)*stencilgen \([a-z]*\) .*/\2/p' "$folder/help" >"$folder/known"
entries DESCRIPTION | sed -n 's/^Cm //p' >"$folder/told"
same commands "$folder/known" "$folder/told"

begin 'exit codes'
sed -n '/^exit codes/,$p' "$folder/help" | tr -c '0-9\n' ' ' | tr -s ' ' '\n' | grep . >"$folder/known"
entries 'EXIT STATUS' >"$folder/told"
same 'exit codes' "$folder/known" "$folder/told"

begin 'variables of ours that the library reads'
grep -ohE '"SG_[A-Z_]+"' $(find runtime cli -name "*.c") | tr -d '"' | grep -v '^SG_CPU_' >"$folder/known"
entries ENVIRONMENT | tr -s ' ,' '\n' | grep '^SG_' >"$folder/told"
same variables "$folder/known" "$folder/told"

begin 'the page can be set'
if command -v mandoc >/dev/null 2>&1; then
    bad=$(mandoc -T lint -W warning "$page" 2>&1) || flunk "$bad"
elif command -v groff >/dev/null 2>&1; then
    bad=$(groff -mandoc -Tutf8 -ww -z "$page" 2>&1)
    [ -z "$bad" ] || flunk "$bad"
else
    skip 'neither mandoc nor groff is here'
fi
finish
