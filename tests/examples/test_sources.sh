#!/bin/sh
# The sources of the examples: C that is C++ as well.
. "$(dirname "$0")/common.sh"

begin 'the examples are C++20 too'
cxx=${CXX:-c++}
if has "$cxx"; then
    for name in heat3d wave2d poisson blur cg shot threads poisson_team cg_team; do
        "$cxx" -std=c++20 -x c++ -fsyntax-only -Wall -Wextra -Werror -Wno-missing-field-initializers \
            -I "$SOURCE/runtime" "$SOURCE/examples/$name.c" 2>err || flunk "$name: $(cat err)"
    done
fi

begin 'the example of MPI is C++20 too'
if [ ! -x "$EXAMPLES/heat_team" ]; then
    skip 'built without an MPI'
elif has "$cxx" mpicc; then
    "$cxx" -std=c++20 -x c++ -fsyntax-only -Wall -Wextra -Werror -Wno-missing-field-initializers \
        -DOMPI_SKIP_MPICXX -I "$EXAMPLES/../include" $(mpicc -showme:compile) \
        "$SOURCE/examples/heat_team.c" 2>err || flunk "heat_team: $(cat err)"
fi

begin 'each says what it does in its first lines'
for file in "$SOURCE"/examples/*.[ch]; do
    head -7 "$file" | grep -q '\*/' || flunk "${file##*/}: the first comment is longer than six lines"
done
finish
