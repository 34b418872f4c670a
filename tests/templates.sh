#!/bin/sh
# Templates are CUDA files as they stand: nvcc compiles each against the example of a plan that lies
# beside it. Needs nvcc, in PATH or under CUDA_HOME; without it there is nothing to see.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

for plan in templates/plan.h templates/*/plan.h; do
    for template in "$(dirname "$plan")"/*.cu; do
        begin "nvcc compiles $template"
        "$nvcc" -std=c++17 -arch=sm_90 -I templates --ptx -o "$folder/ptx" "$template" \
            >"$folder/log" 2>&1 || flunk "$(head -n 3 "$folder/log")"
        # The first launch of a program, if it begins early, waits before it touches memory.
        grep -q await_launch_before "$template" || continue
        ! grep -q next_may_begin "$template" || continue
        early=$(awk '/griddepcontrol.wait/ { waited = 1 }
                     !waited && /(ld|st|atom|red)[a-z.]*\.global|cp\.async/ { print; exit }
                     END { if (!waited) print "it does not wait" }' "$folder/ptx")
        [ -z "$early" ] || flunk "$early"
    done
done
finish
