#!/bin/sh
# What the libraries let out: the functions of stencilgen.h, and nothing else.
# Takes: the paths of libstencilgen.so and libstencilgen.a.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
shared=$1
archive=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
export LC_ALL=C
headers='runtime/stencilgen.h runtime/stencilgen/*.h'
sed 's/@@.*//' tests/exports.txt >"$folder/listed"

# same WHAT FILE FILE: the first file is the second.
same() {
    [ -s "$2" ] || flunk "$1: nothing was found"
    cmp -s "$2" "$3" || flunk "$1 (< is there, > is listed): $(diff "$2" "$3" | grep '^[<>]')"
}

begin 'tests/exports.txt is sorted and holds sg_ names with a version'
sort -u tests/exports.txt | cmp -s - tests/exports.txt || flunk 'it is not sorted'
bad=$(grep -vE '^sg_[a-z0-9_]+@@STENCILGEN_[0-9]+\.[0-9]+$' tests/exports.txt)
[ -z "$bad" ] || flunk "$bad"

begin 'stencilgen.h declares what is listed'
sed -e 's|^#.*||' $headers | tr '\n' ' ' | grep -o 'SG_API [^;]*;' |
    sed -E 's/^[^(]*\b(sg_[a-z0-9_]+)\(.*/\1/' | sort >"$folder/declared"
same 'functions of stencilgen.h' "$folder/declared" "$folder/listed"

begin 'stencilgen.h declares no function without SG_API'
bad=$(grep -nE '^[a-z].*\bsg_[a-z0-9_]+\(' $headers)
[ -z "$bad" ] || flunk "$bad"

begin 'the shared library exports what is listed, each in its version'
nm -D --defined-only --with-symbol-versions "$shared" | grep -v ' A STENCILGEN_' |
    sed 's/.* //' | sort >"$folder/exported"
same "symbols of $shared" "$folder/exported" tests/exports.txt

begin 'the archive defines what is listed, and nothing else that is global'
nm -g --defined-only "$archive" | sed -n 's/^[0-9a-f]* [A-Za-z] //p' | sort >"$folder/global"
same "global symbols of $archive" "$folder/global" "$folder/listed"
finish
