#!/bin/sh
# Templates are CUDA files as they stand: nvcc compiles each against the example of a plan that lies
# next to it. It takes 0.4 s, mostly for the runtime's headers, so of ten templates one, other ones
# on other days, goes through nvcc, and the others through NVRTC (0.07 s), which compiles what the
# generator lays out of both. Where there is no nvcc or no NVRTC, the other compiles all. A run has a
# quarter of the templates, which is drawn.
# Needs nvcc, in PATH or under CUDA_HOME, or NVRTC. Takes: the path of template_ptx.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
template_ptx=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT INT TERM

# compiles TEMPLATE PLAN: to PTX, in the file ptx.
compiles() {
    if [ "$with" = nvcc ]; then
        "$nvcc" -std=c++17 -arch=sm_90 -I templates --ptx -o "$folder/ptx" "$1"
    else
        "$template_ptx" "${1#templates/}" "$2" >"$folder/ptx"
    fi
}

with=NVRTC
compiles templates/naive.cu templates/plan.h 2>/dev/null
[ $? = 77 ] && nvrtc=no || nvrtc=yes
if [ ! -x "$nvcc" ] && [ "$nvrtc" = no ]; then
    echo 'there is neither nvcc nor NVRTC'
    exit 77
fi

turn=$(date +%j | sed 's/^0*//')
for plan in templates/plan.h templates/*/plan.h; do
    for template in "$(dirname "$plan")"/*.cu; do
        turn=$((turn + 1))
        drawn $turn 4 || continue
        with=NVRTC
        [ ! -x "$nvcc" ] || { [ "$nvrtc" = yes ] && [ $((turn % 10)) != 0 ]; } || with=nvcc
        begin "$with compiles $template"
        compiles "$template" "$plan" 2>"$folder/log" || flunk "$(head -n 3 "$folder/log")"
        # A launch that begins early, and is not the second of its program, waits before it touches memory
        # that a launch writes. load_ahead reads what no launch writes, and says so in PTX: "ahead".
        # Of stencils, the sources of all cases are looked at too (cases.sources): the plan there says which wait.
        case $template in
        templates/*/*) grep -q await_launch_before "$template" || continue ;;
        *) grep -q griddepcontrol.wait "$folder/ptx" || continue ;;
        esac
        ! grep -q next_may_begin "$template" || continue
        early=$(awk '/\.entry/ { entered = 1 } # functions that are not inlined come before
                     !entered { next }
                     /griddepcontrol.wait/ { waited = 1 }
                     /ld\.global\.nc.*\/\/ ahead/ { next }
                     !waited && /(ld|st|atom|red)[a-z.]*\.global|cp\.async/ { print; exit }
                     END { if (!waited) print "it does not wait" }' "$folder/ptx")
        [ -z "$early" ] || flunk "$early"
    done
done
finish
