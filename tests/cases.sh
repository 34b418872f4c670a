# For test scripts: cases that are counted. Sourced with the name of the test in $0.
# `begin NAME`, then checks that call `flunk TEXT` where they do not hold; `finish` at the end.
set -u
SOURCE=${SOURCE:-$(cd "$(dirname "$0")" && while [ ! -e setup.sh ]; do cd ..; done && pwd)}
STENCILGEN=${STENCILGEN:-$SOURCE/build/stencilgen}
PRINT_SOURCE=${PRINT_SOURCE:-$SOURCE/build/tests/print_source}
FILL_RESULTS=${FILL_RESULTS:-$SOURCE/build/tests/fill_results}
[ -n "${LOCPATH-}" ] || export LOCPATH="$SOURCE/build/locales"
passed=0
failed=0
skipped=0
case_name=
case_good=yes

end_case() {
    [ -n "$case_name" ] || return 0
    if [ "$case_good" = yes ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $case_name"
    fi
    case_name=
}

begin() {
    end_case
    case_name=$1
    case_good=yes
}

flunk() {
    echo "$case_name: $*"
    case_good=no
}

skip() {
    echo "skipped: $case_name: $*"
    case_name=
    skipped=$((skipped + 1))
}

# has PROGRAM…: whether all are here; else the case is skipped and says which is missing.
has() {
    for program in "$@"; do
        command -v "$program" >/dev/null 2>&1 && continue
        skip "there is no $program"
        return 1
    done
}

# has_terminal: whether `script` can make a terminal; else the case is skipped.
has_terminal() {
    has script || return 1
    script -qec true /dev/null >/dev/null 2>&1 </dev/null && return 0
    skip 'script can make no terminal here'
    return 1
}

# drawn NUMBER PARTS: whether the case of this number is in the part of a product that this run has, as SG_SEED says, else as
# is drawn; CASES=all: always (see unit/draw.h).
drawn() {
    if [ -z "${SG_SEED-}" ]; then
        SG_SEED=$(od -An -N 3 -t u4 /dev/urandom | tr -d ' ')
        SG_SEED=${SG_SEED:-1}
    fi
    [ -n "${seed_printed-}" ] || echo "SG_SEED=$SG_SEED"
    seed_printed=yes
    [ "${CASES-}" = all ] || [ $((($1 + SG_SEED % $2) % $2)) = 0 ]
}

finish() {
    end_case
    echo "[  PASSED  ] $passed test(s)."
    [ "$skipped" = 0 ] || echo "[  SKIPPED ] $skipped test(s)."
    [ "$failed" = 0 ] || echo "[  FAILED  ] $failed test(s)."
    [ "$failed" = 0 ] || exit 1
    exit 0
}
