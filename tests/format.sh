#!/bin/sh
# Whether clang-format would leave every C file that git tracks as it is.
. "$(dirname "$0")/cases.sh"
cd "$SOURCE" || exit 1
if ! command -v clang-format >/dev/null 2>&1 || ! clang-format --version | grep -q 'version 14\.'; then
    echo "clang-format 14 is not here; others format differently"
    exit 77
fi
git rev-parse --git-dir >/dev/null 2>&1 || {
    echo "this is no git checkout, which tells which files are ours"
    exit 77
}
begin 'all C files are formatted'
bad=$(git ls-files -z '*.c' '*.h' | xargs -0 clang-format --dry-run --Werror 2>&1 | grep error: | head -20)
[ -z "$bad" ] || flunk "$bad"
finish
