#!/bin/sh
# Builds bench/rivals_lists.cu with nvcc against a static build of the library and leaves the program
# beside it, whole in itself. Takes: a build folder configured as docs/performance.md says.
# Usage: sh bench/rivals.sh build-gpu [sm_90]; then build-gpu/bench/rivals_lists on a machine with a GPU.
set -eu
build=$1
arch=${2:-sm_90}
library=$build/bench/libstencilgen_whole.a
rm -f "$library"
find "$build" -path '*CMakeFiles/sg_*' -name '*.o' ! -path '*sg_cli*' | xargs ar crs "$library"
nvcc -std=c++17 -O2 -arch="$arch" -I. bench/rivals_lists.cu "$library" -o "$build/bench/rivals_lists" \
    "$(find /usr/lib -name liblua5.4.a | head -1)" -l:libmd.a -lpthread -ldl -lm
