#!/bin/sh
# The examples that use CUDA themselves: right on a GPU, and skipped with a reason without one.
. "$(dirname "$0")/common.sh"

if [ -e "$EXAMPLES/embed" ]; then
    begin 'embed: bad options are refused'
    refuses "$EXAMPLES/embed" --size 5
    refuses "$EXAMPLES/embed" --steps 3
    refuses "$EXAMPLES/embed" --device cpu
fi

for name in embed embed_driver; do
    begin "$name"
    if [ ! -e "$EXAMPLES/$name" ]; then
        skip 'built without a CUDA toolkit'
    elif ldd "$EXAMPLES/$name" | grep -q 'libcuda.so.1 => not found'; then
        skip 'no driver of a GPU'
    else
        "$EXAMPLES/$name" >out 2>err
        code=$?
        if [ $code = 77 ]; then
            grep -q 'no GPU' err || flunk "it does not say that there is no GPU: $(cat err)"
            skip "$(cat err)"
        elif [ $code != 0 ]; then
            flunk "exit code $code: $(cat out err)"
        fi
    fi
done

begin 'embed: sizes'
if [ -e "$EXAMPLES/embed" ] && "$EXAMPLES/embed" >out 2>&1; then
    for size in 1x1x1 2x3x4 33x17x9 101x3x5; do
        exits 0 "$EXAMPLES/embed" --size $size --steps 41
        prints 'the same bits'
    done
else
    skip 'no GPU'
fi
finish
