#!/bin/sh
# quick_cxx.sh gives the compiler what tests ask for, and takes from QUICK_KERNELS only what was made of the same text by
# the same flags and compiler. A compiler that counts its calls stands in front of the real one.
. "$(dirname "$0")/cases.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT INT TERM
real=$(command -v c++) || {
    echo 'there is no c++'
    exit 77
}
mkdir "$folder/bin" "$folder/other" "$folder/kept" "$folder/a" "$folder/b"
for place in bin other; do
    printf '#!/bin/sh\necho "$*" >>"%s/calls"\nexec "%s" "$@"\n' "$folder" "$real" >"$folder/$place/c++"
    chmod +x "$folder/$place/c++"
done
PATH=$folder/bin:$PATH

# compiles PLACE TEXT FLAG…: as the library asks for it; the calls of the compiler so far are in $calls.
compiles() {
    place=$folder/$1
    printf '%s\n' "$2" >"$place/kernel.cpp"
    shift 2
    rm -f "$place/kernel.so"
    sh "$SOURCE/tests/quick_cxx.sh" -std=c++17 -fPIC -Wall "$@" -shared -o "$place/kernel.so" "$place/kernel.cpp" -lc \
        >"$folder/log" 2>&1
    code=$?
    calls=$(cat /dev/null "$folder/calls" 2>/dev/null | wc -l)
    return $code
}
expect() {
    [ "$calls" = "$1" ] || flunk "the compiler was called $calls times instead of $1"
}
one='extern "C" int value() { return 1; }'
two='extern "C" int value() { return 2; }'

begin 'without a folder each kernel is compiled'
unset QUICK_KERNELS
compiles a "$one" -O2 || flunk "$(cat "$folder/log")"
compiles a "$one" -O2 || flunk "$(cat "$folder/log")"
expect 2

begin 'sanitizers are left out'
compiles a "$one" -O2 -fsanitize=address,undefined -fno-sanitize-recover=all || flunk "$(cat "$folder/log")"
! tail -n 1 "$folder/calls" | grep -q sanitize || flunk "$(tail -n 1 "$folder/calls")"

begin 'no function is inlined by force'
forced='__attribute__((always_inline)) inline int value(int i) { return i < 2 ? i : value(i - 1) + value(i - 2); }
extern "C" int first() { return value(20); }' # which GCC refuses to inline
compiles a "$forced" -O2 || flunk "$(cat "$folder/log")"

export QUICK_KERNELS="$folder/kept"
rm "$folder/calls"
begin 'a kernel is compiled once, whichever build and folder asks'
compiles a "$one" -O2 -nodefaultlibs || flunk "$(cat "$folder/log")"
cp "$folder/a/kernel.so" "$folder/first"
compiles b "$one" -Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -Werror \
    -Dalways_inline=unused -Wno-maybe-uninitialized || flunk "$(cat "$folder/log")"
expect 1
cmp -s "$folder/first" "$folder/b/kernel.so" || flunk 'another kernel came back'

begin 'another text, another flag and another compiler make another kernel'
compiles a "$two" -O2 || flunk "$(cat "$folder/log")"
expect 2
! cmp -s "$folder/first" "$folder/a/kernel.so" || flunk 'the first kernel came back'
compiles a "$one" -O2 -fwrapv || flunk "$(cat "$folder/log")"
expect 3
PATH=$folder/other:$PATH
compiles a "$one" -O2 || flunk "$(cat "$folder/log")"
expect 4

begin 'what does not compile fails each time, and so do warnings'
! compiles a 'int value() { return x; }' -O2 || flunk 'it compiled'
! compiles a 'int value() { return x; }' -O2 || flunk 'it was kept'
expect 6
grep -q 'was not declared\|undeclared' "$folder/log" || flunk "$(cat "$folder/log")"
! compiles a 'int value(int i) { int unused = i; return 0; }' -O2 || flunk 'it compiled'
[ "$(ls "$folder/kept" | wc -l)" = 4 ] || flunk "kept: $(ls "$folder/kept")"

begin 'a folder that cannot be written is as none'
QUICK_KERNELS=$folder/missing
compiles a "$one" -O2 || flunk "$(cat "$folder/log")"
[ -s "$folder/a/kernel.so" ] || flunk 'there is no kernel'
expect 8
finish
