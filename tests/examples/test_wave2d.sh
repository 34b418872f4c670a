#!/bin/sh
# The example wave2d: its own verdict at several sizes, and the energies that it prints.
. "$(dirname "$0")/common.sh"
options wave2d
failures wave2d
wave2d="$EXAMPLES/wave2d --device cpu"

for size in 1x1 1x7 3x2 17x33 64x64 101x75; do
    begin "energy and standing wave are right on $size"
    exits 0 $wave2d --size $size --steps 500
    prints 'from the exact standing wave'
    [ "$(grep -c 'energy changed by' out)" = 2 ] || flunk "$(cat out)"
done

begin 'the energy stays, though most of it moves back and forth'
exits 0 $wave2d --size 67x45 --steps 3000
for change in $(awk '/energy changed by/ { print $4 }' out); do
    below "$change" 1e-12 'the change of the energy'
done
# Of the heavier membrane; the share that is kinetic varies by more than a quarter.
awk '/4 times/ { on = 1 } on && /^ *[0-9]+ / { k = $3 / $5; if (k > most) most = k
     if (least == "" || k < least) least = k } END { exit !(most - least > 0.25) }' out ||
    flunk "nothing moves: $(cat out)"

begin 'fewer steps than lines of the table'
exits 0 $wave2d --size 9x9 --steps 1
exits 0 $wave2d --size 9x9 --steps 3

begin 'a little damping is found'
exits 1 "$SPOILED/wave2d" --device cpu --size 67x45 --steps 3000
says 'the result is wrong'
finish
