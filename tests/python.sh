#!/bin/sh
# The Python package over the library of this build, by pytest. Takes: PYTHON, a Python with NumPy and pytest, else the
# first of python3 that has both; STENCILGEN_LIBRARY, the library. Exits with 77 where there is no such Python.
set -u
SOURCE=${SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$SOURCE" || exit 1
for python in ${PYTHON:-python3 /usr/bin/python3}; do
    "$python" -c 'import numpy, pytest' 2>/dev/null || continue
    log=$(mktemp) || exit 1
    PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest -q -rs -p no:cacheprovider tests/python "$@" >"$log" 2>&1
    code=$?
    cat "$log"
    # In the words that tests/count.sh counts.
    for pair in passed:PASSED failed:FAILED skipped:SKIPPED; do
        count=$(tail -n 1 "$log" | grep -oE "[0-9]+ ${pair%%:*}" | cut -d ' ' -f 1)
        [ -z "$count" ] || printf '[  %-7s ] %s test(s).\n' "${pair#*:}" "$count"
    done
    rm -f "$log"
    exit "$code"
done
echo "skipped: there is no Python with NumPy and pytest; install Debian's python3-numpy and python3-pytest"
exit 77
