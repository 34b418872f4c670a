#!/bin/sh
# Specs that come through pipes: each command reads its spec once.
. "$(dirname "$0")/common.sh"
export SG_CACHE="$folder/cache" # kernels are compiled once
. "$(dirname "$0")/arrays.sh"
spec=specs/heat2d5.lua
database=$folder/results.sqlite
mkfifo "$folder/pipe.lua"

# judged KIND CODE ARGUMENT…: what the command said.
judged() {
    kind=$1
    code=$2
    shift 2
    [ "$code" = 0 ] || flunk "$kind: exit code $code instead of 0: stencilgen $*: $(cat "$err")"
    reports heat2d5
}

# pipes ARGUMENT…: the command with the spec through a named pipe, and through one without a name, as
# a shell's <( ) makes it. Whoever opened the first again would wait without end, and whoever read the
# other again would find nothing.
pipes() {
    cat $spec >"$folder/pipe.lua" &
    timeout 60 "$STENCILGEN" "$@" "$folder/pipe.lua" >"$out" 2>"$err"
    judged 'named pipe' $? "$@"
    kill $! 2>/dev/null
    wait $! 2>/dev/null
    cat $spec | timeout 60 "$STENCILGEN" "$@" /dev/fd/0 >"$out" 2>"$err"
    judged pipe $? "$@"
}

begin 'build, with everything that it writes'
mkdir "$folder/files"
pipes --device cpu --database none -o "$folder/files" --emit source,plan,model --size 64x48
holds "$folder/files" heat2d5.cu heat2d5.model heat2d5.plan

begin 'explain and the list of candidates'
pipes explain --device cpu --database none --size 64x48
pipes tune --list --device cpu --size 64x48

begin 'bench'
pipes bench --device cpu --database none --size 64x48

begin 'run'
npy f4 "$folder/u.npy" '8, 8' $(seq 64)
pipes run --device cpu --database none --input "$folder/u.npy" --output "$folder/v.npy" --steps 2

begin 'tune, whose trials are made by other processes, and report'
pipes tune --device cpu --database "$database" --size 64x48 --evaluations 2 --no-resume
pipes report --database "$database" -o "$folder/page.html"

begin 'standard input'
"$STENCILGEN" explain --device cpu --database none /dev/stdin <$spec >"$out" 2>"$err" || flunk "$(cat "$err")"
reports heat2d5

begin 'what is no text, and what has no end'
printf 'local a\nreturn 1 -- \0' >"$folder/zero.lua"
exits 2 explain --device cpu "$folder/zero.lua"
says "zero.lua:2: error: the file holds a byte 0; a spec is text, in UTF-8"
exits 2 explain --device cpu /dev/zero
says "the file holds a byte 0"
yes 2>/dev/null >"$folder/pipe.lua" &
exits 2 explain --device cpu "$folder/pipe.lua"
says "pipe.lua: error: the spec is larger than 256 KiB"
exits 2 explain --device cpu "$folder"
says "cannot read the spec: Is a directory"
exits 2 explain --device cpu "$folder/none.lua"
says "cannot open the spec: No such file or directory"
finish
