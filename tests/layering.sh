#!/bin/sh
# Who may include whom. Takes: the tree. Makes: a case for each rule of docs/architecture.md.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1

# includes FILE…: "file:line:header" of every #include.
includes() {
    grep -HnE '^[[:space:]]*#[[:space:]]*include' "$@" /dev/null |
        sed -E 's/^([^:]*:[0-9]+):.*include[[:space:]]*[<"]([^">]*)[">].*/\1:\2/'
}

# only RULE PATTERN FILE…: the files exist and include of our own headers (those with a folder, or
# stencilgen.h) only what matches.
only() {
    rule=$1
    pattern=$2
    shift 2
    begin "$rule"
    [ -e "$1" ] || flunk "there is no $1"
    bad=$(includes "$@" | grep -E ':((base|matrix|gen|runtime|cli|templates)/|stencilgen\.h)' |
        grep -vE ":($pattern)\$")
    [ -z "$bad" ] || flunk "$bad"
}

# never RULE PATTERN FILE…: no header matches.
never() {
    rule=$1
    pattern=$2
    shift 2
    begin "$rule"
    bad=$(includes "$@" | grep -E ":($pattern)\$")
    [ -z "$bad" ] || flunk "$bad"
}

cuda='(cuda|nvrtc|nvJitLink|cooperative_groups|driver_types|device_launch).*'
lua='(.*/)?(lua|lauxlib|lualib|luaconf)\.h'

only 'base/ includes only base/' 'base/.*' base/*.[ch]
only 'matrix/ includes only base/ and matrix/' '(base|matrix)/.*' matrix/*.[ch]
only 'gen/ includes only base/, matrix/ and gen/' '(base|matrix|gen)/.*' gen/*.[ch]
never 'matrix/ includes no CUDA header' "$cuda" matrix/*.[ch]
never 'gen/ includes no CUDA header' "$cuda" gen/*.[ch]
never 'runtime/ includes no CUDA header' "$cuda" runtime/*.[ch]
never 'no layer but gen/ includes Lua' "$lua" base/*.[ch] matrix/*.[ch] runtime/*.[ch] cli/*.[ch]
both=$(ls runtime/*.[ch] | grep -vE '^runtime/(build|candidates|check|check_data|check_lists|check_sides|check_steps|convert|explain|measure|results_place|search_space|sweep|tune|tuned|upload)\.[ch]$')
only 'runtime/ includes gen/ only in build, candidates, check, convert, explain, measure, results_place, search_space, sweep, tune, tuned and upload' '(base|matrix|runtime)/.*' $both
only 'the command includes only stencilgen.h and base/' '(base/.*|cli/.*|runtime/stencilgen\.h|stencilgen\.h)' cli/*.[ch]

begin 'stencilgen.h includes only the C library and its parts, and these only it'
bad=$(includes runtime/stencilgen.h | grep -vE ':(stddef|stdint)\.h$|:stencilgen/[a-z]+\.h$')
[ -z "$bad" ] || flunk "$bad"
bad=$(includes runtime/stencilgen/*.h | grep -vE ':\.\./stencilgen\.h$')
[ -z "$bad" ] || flunk "$bad"
for part in runtime/stencilgen/*.h; do
    grep -qF "#include \"${part#runtime/}\"" runtime/stencilgen.h || flunk "stencilgen.h leaves out $part"
done

begin 'examples include only stencilgen.h'
for file in examples/*.c examples/*.cpp examples/*.cc; do
    [ -e "$file" ] || continue
    bad=$(includes "$file" | grep -E ':((base|matrix|gen|cli|templates|runtime)/|.*\.h$)' |
        grep -E ':(base|matrix|gen|cli|templates|runtime)/' | grep -vE ':runtime/stencilgen\.h$')
    [ -z "$bad" ] || flunk "$bad"
done

begin 'templates include only plan.h and their common headers'
for file in templates/*.cu templates/*.cuh; do
    bad=$(includes "$file" | grep -vE ':(plan\.h|(arch/)?[a-z_]+\.cuh)$')
    [ -z "$bad" ] || flunk "$bad"
    for header in $(includes "$file" | sed 's/.*://' | grep '\.cuh$'); do
        [ -e "templates/$header" ] || flunk "$file includes $header, which is not in templates/"
    done
done

# What one device has and another has not stands in templates/arch/, and the cpu device has its own.
hardware='\basm\b|__CUDA_ARCH__|__CUDACC|SG_CPU|\b__(ldg|ldcs|stcs|shfl|ballot|reduce|cvta|cluster)[a-z_]*'
begin 'only templates/arch/ knows hardware, and no template the host'
bad=$(find templates -name '*.cu' -o -name '*.cuh' | grep -v '^templates/arch/' | xargs grep -nE "$hardware")
[ -z "$bad" ] || flunk "$bad"
bad=$(grep -rn 'SG_CPU' templates)
[ -z "$bad" ] || flunk "$bad"

begin 'nothing under the library calls Lua but gen/'
bad=$(grep -nE '\b(lua|luaL)_[a-z]+ *\(' base/*.[ch] matrix/*.[ch] runtime/*.[ch] cli/*.[ch] /dev/null)
[ -z "$bad" ] || flunk "$bad"

# The test itself must see what it forbids.
begin 'a forbidden include is seen'
probe=$(mktemp)
printf '#  include <cuda_runtime.h>\n#include "gen/model/model.h"\n' >"$probe"
[ "$(includes "$probe" | grep -cE ":$cuda\$")" = 1 ] || flunk 'cuda_runtime.h was overlooked'
[ "$(includes "$probe" | grep -cE ':gen/')" = 1 ] || flunk 'gen/model/model.h was overlooked'
rm -f "$probe"
finish
