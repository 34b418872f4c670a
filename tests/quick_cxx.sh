#!/bin/sh
# A C++ compiler for tests that run kernels but are not about the compiler's work on them: it optimises less, which
# compiles the largest kernels in a fifth of the time, and leaves out the sanitizers. Tests name it in SG_CXX.
for word; do
    shift
    case $word in
    -fsanitize=* | -fno-sanitize* | -fno-omit-frame-pointer) ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec c++ "$@" -O1
