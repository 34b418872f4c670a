#!/bin/sh
# A C++ compiler for tests that run kernels but are not about the compiler's work on them: it optimises less, which
# compiles most kernels in 0.6 of the time and the largest in a fifth, and leaves out the sanitizers. Tests name it in
# SG_CXX.
for word; do
    shift
    case $word in
    -fsanitize=* | -fno-sanitize* | -fno-omit-frame-pointer) ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec c++ -nodefaultlibs "$@" -Og
