#!/bin/sh
# stencilgen.h by itself, in both languages and with every compiler that is here.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

# compiles COMPILER LANGUAGE STANDARD: a file that includes nothing else, twice.
compiles() {
    begin "$2 by $1 -std=$3"
    has "$1" || return
    printf '#include "stencilgen.h"\n#include "stencilgen.h"\n' >"$folder/alone"
    printf 'extern const char *version;\nconst char *version = SG_VERSION;\n' >>"$folder/alone"
    bad=$("$1" -x "$2" -std="$3" -Wall -Wextra -Wpedantic -Werror -Iruntime \
        -c -o "$folder/object" "$folder/alone" 2>&1) || flunk "$bad"
}

for compiler in cc gcc clang; do
    compiles $compiler c c11
done
for compiler in c++ g++ clang++; do
    compiles $compiler c++ c++17
done
compiles c++ c++ c++20

# A part alone brings the whole.
for part in runtime/stencilgen/*.h; do
    begin "$part by itself"
    printf '#include "%s"\nconst char *version(void);\nconst char *version(void) { return sg_version(); }\n' \
        "${part#runtime/}" >"$folder/alone"
    bad=$(cc -x c -std=c11 -Wall -Wextra -Werror -Iruntime -c -o "$folder/object" "$folder/alone" 2>&1) ||
        flunk "$bad"
done

begin 'what is wrong is seen'
printf '#include "stencilgen.h"\nstatic int unused;\n' >"$folder/alone"
if cc -x c -std=c11 -Wall -Werror -Iruntime -c -o "$folder/object" "$folder/alone" 2>"$folder/log"; then
    flunk 'an unused variable passed'
fi
grep -q unused "$folder/log" || flunk "$(cat "$folder/log")"
finish
