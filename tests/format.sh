#!/bin/sh
# Whether clang-format would leave every C file as it is.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
if ! command -v clang-format >/dev/null 2>&1 || ! clang-format --version | grep -q 'version 14\.'; then
    echo "clang-format 14 is not here; others format differently"
    exit 77
fi
# Where this is no git checkout, all that is here is ours.
files() {
    git ls-files -z '*.c' '*.h' 2>/dev/null ||
        find base bench cli examples gen matrix mpi runtime tests -name '*.[ch]' -print0
}

begin 'all C files are formatted'
[ "$(files | tr '\000' '\n' | wc -l)" -gt 50 ] || flunk 'the files were not found'
bad=$(files | xargs -0 clang-format --dry-run --Werror 2>&1 | grep error: | head -20)
[ -z "$bad" ] || flunk "$bad"
finish
