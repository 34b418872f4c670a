#!/bin/sh
# bench/cliffs on the cpu device: the problems of a file, with schedules of their own.
. "$(dirname "$0")/../examples/common.sh"
cliffs="${BENCH:-$SOURCE/build/bench}/cliffs --device cpu --seconds 60"

begin 'the options'
exits 0 $cliffs --help
prints 'usage: cliffs'
for bad in '--colour blue' '--count 0' '--specs none'; do
    exits 2 $cliffs $bad
done

begin 'a problem with schedules is timed by these and naive alone, without the next size'
cat >problems.txt <<'END'
star 2 1 float zero 33x29 1 | naive | tiled tile=16x8
star 2 1 double clamp 31x17 1    # the next size is 32x24
END
exits 0 $cliffs --specs problems.txt
prints '2 problems, '
prints ' 0 wrong or failed'
grep -q '^  *[0-9.]*  *[0-9.]*  tiled tile=16x8 ' out || flunk "no rate of tiled: $(cat out)"
[ "$(awk '/^star 2 1 float/ { print $11; exit }' out)" = 0.00 ] || flunk "the next size was timed: $(cat out)"
[ "$(awk '/^star 2 1 double/ { print $11; exit }' out)" != 0.00 ] || flunk "the next size was not timed: $(cat out)"

begin 'a schedule that the planner does not take is left out, and one that is none is an error'
echo 'star 2 1 float zero 33x29 1 | naive | temporal lane=1 time=64' >problems.txt
exits 0 $cliffs --specs problems.txt
grep -q '  naive tile=' out && ! grep -q '  temporal ' out || flunk "$(cat out)"
echo 'star 2 1 float zero 33x29 1 | nothing' >problems.txt
exits 1 $cliffs --specs problems.txt
prints "unknown word 'nothing'"

begin 'at most 12 schedules'
line='star 2 1 float zero 33x29 1'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do line="$line | naive"; done
echo "$line" >problems.txt
exits 2 $cliffs --specs problems.txt
says 'more than 12 schedules'
finish
