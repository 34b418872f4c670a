#!/bin/sh
# Whether docs/api.md is true of stencilgen.h: nothing is missing, nothing is made up, and its C blocks
# compile. Takes: the shared library, a C compiler. Of a block that begins with ```c,
#   one with `int main` is a program, which is linked and run on the cpu device among the files of specs/;
#   one after <!-- given: PARAMETERS --> is the body of a function that has these, and is compiled;
#   one after <!-- file --> stands in a file by itself, and is compiled.
. "$(dirname "$0")/cases.sh"
page=$SOURCE/docs/api.md
library=$(realpath "$1")
compiler=${2:-cc}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

# ---- the words of the header and of the page ------------------------------------------------------

# Code of the header and its parts without comments, preprocessor lines and texts.
code() {
    (cd "$SOURCE/runtime" && sed -e 's/"[^"]*"//g' stencilgen.h stencilgen/*.h) | awk '
        { line = line $0 "\n" }
        END {
            while ((at = index(line, "/*")) > 0) {
                rest = substr(line, at + 2)
                line = substr(line, 1, at - 1) " " substr(rest, index(rest, "*/") + 2)
            }
            printf "%s", line
        }' | grep -v '^ *#'
}

names() {
    grep -oE '\b(sg|SG)_[A-Za-z0-9_]+' | sort -u
}

code >"$folder/code"
grep -oE '\bSG_VERSION\b' "$SOURCE/runtime/stencilgen.h" | head -1 >"$folder/extra"
grep -oE '\bsg_mpi_transport\b' "$SOURCE/mpi/mpi.h" | head -1 >>"$folder/extra" # its other names are its own
names <"$folder/code" | grep -vE '^SG_API$' | sort -u - "$folder/extra" >"$folder/declared"
names <"$page" >"$folder/mentioned"

# Members of structs: what comes before a comma, a semicolon or a bracket inside of braces.
awk '/^typedef struct [a-z_]+ \{/ { inside = 1; next }
     /^\}/ { inside = 0 }
     inside {
         gsub(/\[[^]]*\]/, "")
         gsub(/;/, ",")
         n = split($0, part, ",")
         for (i = 1; i <= n; i++) {
             sub(/^.*[ *]/, "", part[i])
             if (part[i] ~ /^[a-z_0-9]+$/)
                 print part[i]
         }
     }' "$folder/code" | sort -u >"$folder/members"

begin 'the header was read'
[ "$(wc -l <"$folder/declared")" -gt 80 ] || flunk "only $(wc -l <"$folder/declared") names"
[ "$(wc -l <"$folder/members")" -gt 90 ] || flunk "only $(wc -l <"$folder/members") members"
for name in sg_build sg_error sg_kernel_info SG_ERROR_PLAN SG_TEXT_ARCH SG_BINARY_PTX SG_VERSION; do
    grep -qx "$name" "$folder/declared" || flunk "$name was overlooked"
done
for name in struct_size cuda_context shared_bytes local_bytes high emitted_others trouble; do
    grep -qx "$name" "$folder/members" || flunk "the member $name was overlooked"
done

begin 'the page tells of every name of the header'
missing=$(comm -23 "$folder/declared" "$folder/mentioned" | grep -vx sg_stream_handle)
[ -z "$missing" ] || flunk $missing

begin 'the page tells of every member'
for member in $(cat "$folder/members"); do
    grep -qE "\`[^\`]*\b$member\b[^\`]*\`" "$page" || flunk "$member"
done

begin 'every name on the page is one of the header or of the environment'
variables='SG_NVRTC|SG_NVML|SG_NCCL|SG_TEAM_STORES|SG_TEAM_HIDE|SG_CUDA_DRIVER|SG_CXX|SG_CACHE|SG_DATABASE|SG_PLANS'
unknown=$(comm -13 "$folder/declared" "$folder/mentioned" | grep -vxE "$variables")
[ -z "$unknown" ] || flunk $unknown

begin 'the variables are those that the library reads'
grep -ohE '"SG_[A-Z_]+"' $(find "$SOURCE/runtime" -name "*.c") | tr -d '"' | grep -v '^SG_CPU_' | # these are macros
    sort -u >"$folder/read"
for name in $(echo "$variables" | tr '|' ' '); do
    grep -qx "$name" "$folder/read" || flunk "nothing reads $name"
    grep -q "\`$name\`" "$page" || flunk "the page does not tell of $name"
done
for name in $(cat "$folder/read"); do
    echo "$name" | grep -qxE "$variables" || flunk "the page does not tell of $name"
done

# ---- links ----------------------------------------------------------------------------------------

begin 'links lead somewhere'
sed -n 's/^##* //p' "$page" | tr 'A-Z' 'a-z' | tr -d ',.:' | tr ' ' '-' >"$folder/anchors"
links=$(grep -oE '\]\(#[^)]*\)' "$page" | sed 's/^](#//; s/)$//' | sort -u)
[ -n "$links" ] || flunk 'there are none'
for link in $links; do
    grep -qx -- "$link" "$folder/anchors" || flunk "#$link"
done
for file in $(grep -oE '`(docs|specs|examples)/[a-z0-9_.]+`' "$page" | tr -d '`' | sort -u); do
    [ -e "$SOURCE/$file" ] || flunk "there is no $file"
done

# ---- blocks of C ----------------------------------------------------------------------------------

# Writes the blocks as block-LINE.KIND.c, with the line directive of where they stand on the page.
awk -v folder="$folder" '
    /^<!-- given: .* -->$/ { kind = "given"; given = $0; sub(/^<!-- given: /, "", given); sub(/ -->$/, "", given); next }
    /^<!-- file -->$/ { kind = "file"; next }
    /^```c$/ { inside = 1; start = NR + 1; body = ""; next }
    /^```$/ && inside {
        if (body ~ /int main\(/)
            kind = "program"
        name = folder "/block-" start "." (kind == "" ? "unknown" : kind) ".c"
        place = "#line " start " \"docs/api.md\"\n"
        if (kind != "program")
            printf "#include \"given.h\"\n" >name
        if (kind == "given")
            printf "void block(%s);\nvoid block(%s) {\n", given, given >name
        printf "%s%s", place, body >name
        if (kind == "given")
            print "}" >name
        close(name)
        inside = 0
        kind = ""
        next
    }
    inside { body = body $0 "\n"; next }
    !/^$/ { kind = "" }' "$page"

# What fragments may use, the CUDA runtime among it, of which nothing needs to be installed.
cat >"$folder/given.h" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stencilgen.h>
typedef struct CUstream_st *cudaStream_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
int cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode);
int cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
int cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long);
int cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
END

# What links with an instrumented library must be instrumented as well.
sanitizers=
! nm -D "$library" | grep -q __asan_init || sanitizers=-fsanitize=address,undefined
cp -r "$SOURCE"/runtime/stencilgen.h "$SOURCE"/runtime/stencilgen "$SOURCE"/specs/*.lua "$folder"

# compile ARGUMENT…: with every warning an error.
compile() {
    "$compiler" $sanitizers -std=c11 -Wall -Wextra -Werror -I"$folder" "$@" 2>&1
}

begin 'every block of C says what it is'
for file in "$folder"/block-*.unknown.c; do
    [ ! -e "$file" ] || flunk "docs/api.md:$(basename "$file" .unknown.c | tr -dc 0-9) is no program and has no comment"
done

for file in "$folder"/block-*.given.c "$folder"/block-*.file.c; do
    begin "the fragment of $(basename "$file" | sed 's/^block-/line /; s/\..*//') compiles"
    said=$(compile -fsyntax-only -Wno-unused "$file") || flunk "$said"
done

begin 'a fragment that does not compile is seen'
printf '#include "given.h"\nvoid block(void);\nvoid block(void) {\nsg_nothing();\n}\n' >"$folder/wrong.c"
! compile -fsyntax-only -Wno-unused "$folder/wrong.c" >/dev/null || flunk 'it compiled'

count=0
for file in "$folder"/block-*.program.c; do
    begin "the program of $(basename "$file" | sed 's/^block-/line /; s/\..*//') runs"
    count=$((count + 1))
    if said=$(compile -o "$folder/program" "$file" "$library" "-Wl,-rpath,$(dirname "$library")" -lm); then
        said=$(cd "$folder" && SG_CUDA_DRIVER=none SG_CACHE=$folder/cache SG_DATABASE=none ./program 2>&1) ||
            flunk "exit code $?: $said"
    else
        flunk "$said"
    fi
done
begin 'there are programs'
[ "$count" -ge 3 ] || flunk "only $count"
finish
