#!/bin/sh
# The example heat3d: its own verdict at several sizes, and the file that it writes.
. "$(dirname "$0")/common.sh"
options heat3d
failures heat3d
heat3d="$EXAMPLES/heat3d --device cpu"

for size in 3x3x3 4x3x5 17x33x9 21x21x21 33x31x32 64x5x16; do
    begin "the decay is right on $size"
    exits 0 $heat3d --size $size --steps 100
    prints 'equation, exact'
    [ "$(grep -c '^ *[0-9]* *[0-9.]* *[0-9.]* *[0-9.]* *[0-9.]*$' out)" = 10 ] || flunk "$(cat out)"
done

begin 'scheme and equation are both met far more closely than a wrong sign or factor would allow'
exits 0 $heat3d --size 41x41x41 --steps 300
set -- $(tail -3 out | head -1)
below "$(echo "$3 $4" | awk '{ print ($1 - $2) / $1 }')" 1e-10 'the distance from the scheme'
below "$(echo "$3 $5" | awk '{ print ($1 - $2) / $1 }')" 1e-3 'the distance from the equation'
below "$(echo "$3" | awk '{ print $1 / 100 - 0.6 }')" 0.3 'the mode over its start, less 0.6,'

begin 'fewer steps than lines of the table'
exits 0 $heat3d --size 9x9x9 --steps 1
exits 0 $heat3d --size 9x9x9 --steps 7

begin 'a wrong coefficient is found'
exits 1 "$SPOILED/heat3d" --device cpu --size 17x17x17 --steps 100
says 'the result is wrong'

begin 'the .vti file holds the grid, x fastest'
exits 0 $heat3d --size 21x13x8 --steps 50 --output end.vti
amplitude=$(tail -3 out | head -1 | awk '{ print $3 }')
exits 0 "$EXAMPLES/../tests/read_vti" end.vti 21x13x8 0.005 "$amplitude"

begin 'the .vti file is XML but for its numbers'
if has python3; then
    exits 0 python3 "$SOURCE/tests/examples/check_vti.py" end.vti 21x13x8
fi

begin 'a .vti file that cannot be written is an error, before the work'
exits 1 timeout 60 $heat3d --size 65x65x65 --steps 1000000000 --output "$folder/none/end.vti"
says 'none/end.vti'

begin 'a file that is no part of it stays'
echo precious >kept.vti.part
exits 1 $heat3d --size 5x5x5 --steps 1 --output kept.vti
says 'kept.vti.part: File exists'
[ "$(cat kept.vti*)" = precious ] || flunk "the folder holds $(ls kept*)"

begin 'a .vti file that does not fit leaves the one before as it is, and nothing else'
mkdir small && echo before >small/end.vti
(
    trap '' XFSZ
    ulimit -f 2000 # half KiB; the file has twice as many
    exits 1 $heat3d --size 65x65x65 --steps 1 --output small/end.vti
    says 'small/end.vti'
    [ "$case_good" = yes ]
) || flunk 'see above'
[ "$(cat small/*)" = before ] || flunk "the folder holds $(ls small)"
finish
