#!/bin/sh
# Counts cases over several runs. Takes: CTest's JUnit files. Makes: one line with the sums; fails
# where a case failed or a file is missing. A test that says how many of its cases passed, in
# cmocka's words, counts as so many; another counts as one.
set -u
missing=0
files=
for file in "$@"; do
    if [ -s "$file" ]; then
        files="$files $file"
    else
        echo "there is no $file" >&2
        missing=$((missing + 1))
    fi
done
cat /dev/null $files | awk -v failed="$missing" '
    function number(line) {
        sub(/.*\] /, "", line)
        return line + 0
    }
    /<testcase / {
        status = $0
        sub(/.* status="/, "", status)
        sub(/".*/, "", status)
        passes = fails = skips = 0
    }
    /^\[  PASSED  \] [0-9]+ test/ || /[>]\[  PASSED  \] [0-9]+ test/ { passes += number($0) }
    /^\[  FAILED  \] [0-9]+ test/ { fails += number($0) }
    /^\[  SKIPPED \] [0-9]+ test/ { skips += number($0) }
    /<\/testcase>/ {
        if (status == "run" && passes + fails + skips == 0)
            passes = 1
        if (status == "fail" && fails == 0)
            fails = 1
        if (status != "run" && status != "fail" && skips == 0)
            skips = 1
        passed += passes
        failed += fails
        skipped += skips
    }
    END {
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0
    }'
