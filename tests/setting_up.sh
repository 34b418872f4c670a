#!/bin/sh
# setup.sh: its options, and that it sees a change of anything that is built; that bare.sh, which tries
# it in a bare Debian, says why it cannot; and that tests which need a folder have one.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
log=$folder/log

begin '--help tells of every option'
./setup.sh --help >"$log" || flunk "exit code $?"
for option in $(sed -n 's/^    \(--[a-z]*\)) .*/\1/p' setup.sh); do
    grep -q -- "\[$option\]" "$log" || flunk "nothing of $option: $(cat "$log")"
done
[ "$(grep -o '\[--[a-z]*\]' "$log" | wc -l)" -ge 3 ] || flunk "$(cat "$log")"

begin 'an unknown option is refused'
./setup.sh --fast >"$log" 2>&1
code=$?
[ "$code" = 2 ] || flunk "exit code $code instead of 2"
grep -q '^usage: ' "$log" || flunk "$(cat "$log")"

# What such a test writes and removes would lie at the root otherwise.
begin 'no test goes on where it can make no folder'
TMPDIR=$folder/none sh tests/header.sh >"$log" 2>&1 && flunk "it went on: $(cat "$log")"
count=$(grep -rh --include='*.sh' '^[a-z]*=$(mktemp' tests | wc -l)
[ "$count" -ge 10 ] || flunk "only $count make a folder"
grep -rn --include='*.sh' '^[a-z]*=$(mktemp' tests | grep -v ' || exit 1$' >"$log" && flunk "$(cat "$log")"

# README's table of folders, and those that only CMake reads.
begin 'every folder but docs is looked at for changes'
sources=" $(sed -n 's/^ *sources="\(.*\)"$/\1/p' setup.sh | tr '\n' ' ') "
folders=$(sed -n 's/^| `\([a-z]*\)\/` |.*/\1/p' README.md)
[ "$(echo "$folders" | wc -l)" -ge 10 ] || flunk "README.md has no table of folders: $folders"
for source in $folders cmake CMakeLists.txt CMakePresets.json stencilgen.pc.in; do
    [ -e "$source" ] || flunk "there is no $source"
    case $source:$sources in
    docs:* | *" $source "*) ;;
    *) flunk "setup.sh does not look at $source" ;;
    esac
done

begin 'without debootstrap nothing is tried in a bare Debian'
mkdir "$folder/bin"
for program in sh id dirname mkdir; do
    ln -s "$(command -v $program)" "$folder/bin/$program"
done
PATH="$folder/bin" sh tests/bare.sh "$folder/bare" >"$log" 2>&1
code=$?
[ "$code" = 77 ] || flunk "exit code $code instead of 77: $(cat "$log")"
grep -qxE 'there is no debootstrap|a root is made by root alone' "$log" || flunk "$(cat "$log")"
finish
