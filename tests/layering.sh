#!/bin/sh
# Who may include whom. Takes: the tree and cmake/layers.txt. Makes: a case for each folder of that list,
# and for circles between files and between folders. Also: who removes files, by docs/architecture.md.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# includes FILE…: "file:line:header" of every #include.
includes() {
    grep -HnE '^[[:space:]]*#[[:space:]]*include' "$@" /dev/null |
        sed -E 's/^([^:]*:[0-9]+):.*include[[:space:]]*[<"]([^">]*)[">].*/\1:\2/'
}

# "file header" of each include of our own, found in the folders given. Headers are named from the root; those of
# templates and the parts of stencilgen.h are named from their own folder.
own_includes() {
    find "$@" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort | xargs grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]+"' |
        sed -E 's/^([^:]*):.*"([^"]*)"$/\1 \2/' |
        awk '{
            header = $2
            if (system("test -e " header) != 0) {
                place = $1
                sub("[^/]*$", "", place)
                header = place $2
                while (sub("[^/]+/\\.\\./", "", header)) {}
                if (system("test -e " header) != 0) header = "templates/" $2
            }
            print $1, header
        }'
}

# never RULE PATTERN FOLDER…: no header matches.
never() {
    rule=$1
    pattern=$2
    shift 2
    begin "$rule"
    bad=$(includes $(find "$@" -name '*.[ch]') | grep -E ":($pattern)\$")
    [ -z "$bad" ] || flunk "$bad"
}

cuda='(cuda|nvrtc|nvJitLink|cooperative_groups|driver_types|device_launch).*'
lua='(.*/)?(lua|lauxlib|lualib|luaconf)\.h'

# breaches RULES INCLUDES: what no rule allows, also through other headers: a folder reaches what the folders that it
# may use reach.
breaches() {
    awk '
        function folder(file) { sub("(/methods)?/[^/]*$", "", file); return file }
        FILENAME == ARGV[1] && /^[a-z]/ {
            name = $1; sub(":", "", name); known[name] = 1; reach[name, name] = 1
            for (i = 2; i <= NF; i++) {
                direct[name, $i] = 1
                for (at in known) if (reach[$i, at]) reach[name, at] = 1
            }
        }
        FILENAME == ARGV[2] {
            from = folder($1); to = folder($2)
            if (to == "runtime/stencilgen") to = "runtime"
            if (from == "runtime/stencilgen") from = "runtime"
            if (!(from in known)) print $1 ": no rule for " from
            else if (from != to && !direct[from, to]) print $1 " includes " $2
            next_of[$1] = next_of[$1] " " $2; files[$1] = 1
        }
        END {
            for (file in files) {
                split("", seen); todo = 1; list[1] = file
                while (todo > 0) {
                    at = list[todo--]
                    n = split(next_of[at], more, " ")
                    for (i = 1; i <= n; i++) if (!(more[i] in seen)) { seen[more[i]] = 1; list[++todo] = more[i] }
                }
                for (at in seen) {
                    from = folder(file); to = folder(at)
                    if (to == "runtime/stencilgen") to = "runtime"
                    if (from == "runtime/stencilgen") from = "runtime"
                    if (!reach[from, to]) print file " comes to include " at
                }
            }
        }' "$1" "$2"
}

own_includes base matrix gen runtime cli >"$folder/includes"
for layer in $(sed -n 's/:.*//p' cmake/layers.txt | grep '^[a-z]'); do
    begin "$layer/ includes what cmake/layers.txt says"
    [ -d "$layer" ] || flunk "there is no $layer"
done
begin 'no folder reaches what it may not use'
bad=$(breaches cmake/layers.txt "$folder/includes")
[ -z "$bad" ] || flunk "$bad"
begin 'every folder has a rule'
for place in $(find base matrix gen runtime cli -name '*.[ch]' | sed -E 's#(/methods)?/[^/]*$##' | sort -u | grep -v '^runtime/stencilgen$'); do
    grep -q "^$place:" cmake/layers.txt || flunk "$place has none"
done

# loops LIST: pairs that go round.
loops() {
    awk '$1 != $2' "$1" | sort -u | tsort 2>&1 >/dev/null
}
begin 'no files include each other in a circle'
own_includes templates >"$folder/templates"
cat "$folder/includes" "$folder/templates" | grep -v ' runtime/stencilgen.h$' >"$folder/files"
bad=$(loops "$folder/files")
[ -z "$bad" ] || flunk "$bad"
begin 'no folders include each other in a circle'
sed -E 's#(/methods)?/[^/ ]* # #; s#(/methods)?/[^/ ]*$##' "$folder/includes" | sed 's|runtime/stencilgen|runtime|g' >"$folder/folders"
bad=$(loops "$folder/folders")
[ -z "$bad" ] || flunk "$bad"

never 'gen/, matrix/ and runtime/ include no CUDA header' "$cuda" gen matrix runtime
never 'no folder but gen/spec includes Lua' "$lua" base matrix runtime cli \
    $(find gen -mindepth 1 -type d | grep -v '^gen/spec$')

# named FILE…: where code compares the name of a family, or asks for one of a family's functions to be there.
named() {
    grep -HnE 'str(n?)cmp\([^;]*(family|FAMILY)|\b(f|family)->(kinds|draw|judge|draw_given|judge_given|explain|build|plan|print) *[!=]= *NULL|= *&families\[' "$@" /dev/null
}
begin 'nobody above gen/ compares the name of a family, or what slots it has'
bad=$(named $(find runtime cli -name '*.[ch]'))
[ -z "$bad" ] || flunk "$bad"
begin 'runtime/ and cli/ know stencils by gen/model alone'
grep -E '^(runtime|cli)[^:]*:.* gen/stencil' cmake/layers.txt && flunk 'cmake/layers.txt lets one include gen/stencil'

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

# What one device has and another has not stands in templates/arch/, and the cpu device has its own.
hardware='\basm\b|__CUDA_ARCH__|__CUDACC|SG_CPU|\b__(ldg|ldcs|stcs|shfl|ballot|reduce|cvta|cluster)[a-z_]*'
begin 'only templates/arch/ knows hardware, and no template the host'
bad=$(find templates -name '*.cu' -o -name '*.cuh' | grep -v '^templates/arch/' | xargs grep -nE "$hardware")
[ -z "$bad" ] || flunk "$bad"
bad=$(grep -rn 'SG_CPU' templates)
[ -z "$bad" ] || flunk "$bad"

begin 'templates include only plan.h and headers of templates/'
for file in $(find templates -name '*.cu' -o -name '*.cuh'); do
    for header in $(includes "$file" | sed 's/.*://'); do
        case $header in
        plan.h) ;;
        *.cuh) [ -e "templates/$header" ] || [ -e "${file%/*}/$header" ] || flunk "$file includes $header, which is not there" ;;
        *) flunk "$file includes $header" ;;
        esac
    done
done

# removing FILE…: those that remove, rename or cut short a file.
removing() {
    grep -lE '(^|[^.a-z_])(unlink|unlinkat|rmdir|rename|renameat|renameat2|remove|ftruncate|truncate|creat)\(|O_TRUNC|fopen\([^,]*, "w' \
        "$@" /dev/null
}
begin 'what removes anything is in the list of how it knows'
sed -n '/^### What is removed/,/^## /p' docs/architecture.md >"$folder/removed"
grep -q '^|' "$folder/removed" || flunk 'docs/architecture.md has no such list'
for file in $(removing $(find base bench cli examples gen matrix runtime -name '*.[ch]')); do
    grep -qF -- "${file#runtime/}\`" "$folder/removed" || flunk "$file is missing in docs/architecture.md"
done

# The test itself must see what it forbids.
begin 'what removes is seen'
printf 'if (unlinkat(folder, name, 0) == 0)\n' >"$folder/one.c"
printf 'FILE *out = fopen(path, "wb");\n' >"$folder/two.c"
printf 'FILE *in = fopen(path, "rb");\n' >"$folder/three.c"
[ "$(removing "$folder"/*.c | wc -l)" = 2 ] || flunk 'something was overlooked'
begin 'a forbidden include is seen'
printf '#  include <cuda_runtime.h>\n#include "gen/model/model.h"\n' >"$folder/probe.c"
[ "$(includes "$folder/probe.c" | grep -cE ":$cuda\$")" = 1 ] || flunk 'cuda_runtime.h was overlooked'
printf 'if (strcmp(r->family, "spmv") == 0)\n' >"$folder/named.c"
[ -n "$(named "$folder/named.c")" ] || flunk 'a comparison of names was overlooked'
printf 'base/job.h gen/model/model.h\n' >"$folder/bad"
breaches cmake/layers.txt "$folder/bad" | grep -q 'base/job.h includes gen/model/model.h' || flunk 'a wrong include was overlooked'
printf 'base/job.h base/text.h\nbase/text.h gen/model/model.h\n' >"$folder/bad"
breaches cmake/layers.txt "$folder/bad" | grep -q 'base/job.h comes to include gen/model/model.h' || flunk 'an include of an include was overlooked'
printf 'a b\nb c\nc a\n' >"$folder/bad"
[ -n "$(loops "$folder/bad")" ] || flunk 'a circle was overlooked'
finish
