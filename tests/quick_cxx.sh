#!/bin/sh
# A C++ compiler for tests that run kernels but are not about the compiler's work on them: it optimises less, which
# compiles most kernels in 0.6 of the time and the largest in a fifth, and leaves out the sanitizers. No function is
# inlined by force, which halves the time of a kernel of several steps once more. Warnings are errors.
# Tests name it in SG_CXX. Where QUICK_KERNELS names a folder, a kernel that was compiled before is taken from there: one
# of the same text, flags and compiler, whichever test or build asked for it.
object= source= before=
for word; do
    shift
    case $before$word in
    -o*kernel.so) object=$word ;;
    *kernel.cpp) source=$word ;;
    esac
    before=
    [ "$word" != -o ] || before=-o
    case $word in
    -fsanitize=* | -fno-sanitize* | -fno-omit-frame-pointer | -g1 | -Og | -O2 | -Werror | -Wno-maybe-uninitialized | -nodefaultlibs | -Dalways_inline=unused) ;;
    *) set -- "$@" "$word" ;;
    esac
done
set -- -nodefaultlibs "$@" -Og -Dalways_inline=unused -Werror -Wno-maybe-uninitialized -Wno-unknown-warning-option
[ -n "${QUICK_KERNELS-}" ] && [ -n "$object" ] && [ -r "$source" ] || exec c++ "$@"

flags=$(for word; do
    case $word in
    "$object" | "$source") ;;
    *) printf '%s ' "$word" ;;
    esac
done)
key=$({
    echo "$(command -v c++) $flags"
    cat "$source"
} | sha256sum)
kept=$QUICK_KERNELS/${key%% *}
cp "$kept" "$object" 2>/dev/null && exit 0
c++ "$@" || exit
# It appears whole: others may look for it now. Without it the next one compiles.
cp "$object" "$kept.$$" 2>/dev/null && mv "$kept.$$" "$kept" 2>/dev/null
exit 0
