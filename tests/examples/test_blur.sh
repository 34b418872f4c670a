#!/bin/sh
# The example blur: its own verdict, and the images that it reads and writes.
. "$(dirname "$0")/common.sh"
options blur
failures blur
blur="$EXAMPLES/blur --device cpu"

for size in 1x1 1x9 7x1 4x4 33x17 640x48; do
    begin "a drawing of $size"
    exits 0 $blur --size $size
    prints 'rounding allows'
    exits 0 $blur --size $size --steps 7
done

begin 'a dot becomes the filter'
printf 'P2\n# a dot\n5 5 256\n0 0 0 0 0  0 0 0 0 0  0 0 256 0 0  0 0 0 0 0  0 0 0 0 0\n' >dot.pgm
exits 0 $blur --input dot.pgm --output filter.pgm
{
    printf 'P5\n5 5\n256\n'
    for sample in 01 04 06 04 01 04 20 30 20 04 06 30 44 30 06 04 20 30 20 04 01 04 06 04 01; do
        printf "\\000\\0$sample"
    done
} >wanted.pgm
cmp -s filter.pgm wanted.pgm || flunk "$(od -An -tu1 filter.pgm)"

begin 'an even grey stays as it is, and edges become softer'
{
    printf 'P5 40 30 255\n'
    head -c 1200 /dev/zero | tr '\000' '\143'
} >grey.pgm
exits 0 $blur --input grey.pgm --output same.pgm --steps 10
tail -c 1200 grey.pgm >a
tail -c 1200 same.pgm >b
cmp -s a b || flunk 'it is not grey any more'
exits 0 $blur --size 64x64 --output disc.pgm
set -- $(sed -n 's/.*goes from \([0-9.]*\) to \([0-9.]*\) of.*/\1 \2/p' out)
below "$2" "$(awk -v a="$1" 'BEGIN { print a / 2 }')" 'the steepest edge'

begin 'what is no image is refused'
for text in '' 'P6 1 1 255 abc' 'P5' 'P5 0 3 255 ' 'P5 3 3 255 ab' 'P2 2 1 7 8 1' 'P2 2 1 99999 1 1' 'P5 9999999999999999999 1 255 '; do
    printf "$text" >bad.pgm
    exits 2 $blur --input bad.pgm --output none.pgm
    says 'blur: bad.pgm: '
    [ ! -e none.pgm ] || flunk 'an image was written'
done
exits 2 $blur --input nothing.pgm
says 'blur: nothing.pgm: cannot be opened'

begin 'an image that cannot be written'
exits 1 $blur --size 8x8 --output no/where.pgm
says 'no/where.pgm'
echo precious >kept.pgm.part
exits 1 $blur --size 8x8 --output kept.pgm
says 'kept.pgm.part: File exists'
[ "$(cat kept.pgm*)" = precious ] || flunk "the folder holds $(ls kept*)"

begin 'a wrong weight is found'
exits 1 "$SPOILED/blur" --device cpu --size 64x64
says 'the result is wrong'
finish
