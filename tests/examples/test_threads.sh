#!/bin/sh
# The example threads: its own verdict for several numbers of threads.
. "$(dirname "$0")/common.sh"
options threads
failures threads
threads="$EXAMPLES/threads --device cpu"

for count in 1 2 9; do
    begin "$count threads get the bits of one"
    exits 0 $threads --threads $count --size 65x31 --steps 60
    [ "$(grep -c 'same bits$' out)" = $count ] || flunk "$(cat out)"
done
for size in 1x1 5x3 257x2; do
    begin "a grid of $size"
    exits 0 $threads --threads 3 --size $size --steps 50
    [ "$(grep -c 'same bits$' out)" = 3 ] || flunk "$(cat out)"
done

begin 'no steps'
exits 0 $threads --threads 2 --steps 0

begin 'bad numbers of threads are refused'
refuses "$EXAMPLES/threads" --threads 0
refuses "$EXAMPLES/threads" --threads 257

begin 'a wrong constant is found'
exits 1 "$SPOILED/threads" --device cpu --threads 2 --size 65x31 --steps 60
says 'the result is wrong'
finish
