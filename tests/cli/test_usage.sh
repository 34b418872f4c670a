#!/bin/sh
# The command line: help, version, typing mistakes, and the message for each.
. "$(dirname "$0")/common.sh"
spec=specs/heat2d5.lua

begin 'help and version'
exits 0 --help
reports 'usage: stencilgen SPEC.lua...'
exits 0 -h
exits 0 run --help
exits 0 --version
reports "stencilgen $(sed -n 's/^#define SG_VERSION "\(.*\)"/\1/p' "$SOURCE/runtime/stencilgen.h")"

# usage_of PAGE: its block of that kind.
usage_of() {
    awk '/^```text usage$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1"
}

begin 'docs/command.md holds the help, word for word'
exits 0 --help
usage_of docs/command.md >"$folder/page"
cmp -s "$folder/page" "$out" || flunk "$(diff "$folder/page" "$out")"

begin 'the README holds the commands of the help'
exits 0 --help
sed '/^$/,$d' "$out" >"$folder/commands"
usage_of README.md >"$folder/readme"
cmp -s "$folder/readme" "$folder/commands" || flunk "$(diff "$folder/readme" "$folder/commands")"

begin 'docs/command.md has every variable of the environment that the manual page has'
sed -n 's/^.*`\(SG_[A-Z_]*\)` |.*/\1/p' docs/command.md | sort -u >"$folder/told"
awk '/^\.Sh / { inside = $0 == ".Sh ENVIRONMENT" } inside && /^\.It / { print }' docs/stencilgen.1 |
    grep -o 'SG_[A-Z_]*' | sort -u >"$folder/known"
cmp -s "$folder/known" "$folder/told" || flunk "$(diff "$folder/known" "$folder/told")"

begin 'every option is refused where it has no meaning, and known otherwise'
for option in $("$STENCILGEN" --help | sed -n 's/^  \(-[-a-z]*\).*/\1/p'); do
    "$STENCILGEN" doctor "$option" >"$out" 2>"$err"
    if grep -q 'unknown option' "$err"; then flunk "$option is in the help but not known"; fi
done

begin 'no arguments'
exits 2
says 'stencilgen: error: no spec is given'

begin 'an unknown option names the nearest'
exits 2 --meth tiled $spec
says "unknown option '--meth'; did you mean --method?"
exits 2 --jsn $spec
says 'did you mean --json?'

begin 'files of arrays are no specs'
exits 2 run specs/heat2d5.lua u.npy
says "run 'u.npy': one spec at a time; files of arrays follow --input"

begin 'a spec without its extension'
: >"$folder/waves.lua"
(cd "$folder" && "$STENCILGEN" waves >"$out" 2>"$err")
says "unknown command 'waves'; did you mean waves.lua?"

begin 'an unknown command names the nearest'
exits 2 explian $spec
says "unknown command 'explian'; did you mean explain?"
exits 2 benhc $spec
says 'did you mean bench?'

begin 'options that another command has'
exits 2 doctor --steps 3
says '--steps is no option of doctor'
exits 2 bench --input a.npy $spec
says '--input is no option of bench'
exits 2 explain --input a.mtx $spec
says '--input of explain is the matrix of an spmv, but heat2d5 is stencil'

begin '--every of one thing'
run="run --device cpu specs/heat2d5.lua --size 9x9 --init u=x --steps 4"
exits 2 $run --every pictures=2
says "give N, or snapshot=N, monitor=N or checkpoint=N"
exits 2 $run --every snapshot=0 --snapshot u="$folder/u.npy"
exits 2 $run --every monitor=2
says '--every monitor=N: there is no --monitor'
exits 2 $run --every monitor=2 --snapshot u="$folder/u-%d.npy"
exits 2 $run --every checkpoint=2 --snapshot u="$folder/u-%d.npy" --checkpoint "$folder/c"
says '--snapshot NAME=FILE needs --every N'

exits 2 $run --every 2
says '--every 2: nothing is done every so many steps; add --snapshot, --monitor, --until or --checkpoint'
exits 2 $run --checkpoint "$folder/c"
says '--checkpoint FILE needs --every N'

begin 'what can be given once'
exits 2 $run --every 2 --until 'a<1' --until 'b<2'
says "--until 'b<2': the option is there already, with 'a<1'"
exits 2 $run --every 2 --checkpoint "$folder/c" --checkpoint "$folder/d"
says "--checkpoint '$folder/d': the option is there already, with '$folder/c'"
exits 2 $run --restart "$folder/c" --restart "$folder/d"
says "--restart '$folder/d': the option is there already"
exits 2 $run --every 2 --until=
says "--until '': a word is needed"

begin 'missing values'
exits 2 $spec --size
says '--size needs a value'
exits 2 $spec --json=yes
says 'this option takes no value'

begin 'sizes'
for size in 0 -1 1.5 8x 8xx8 x8 8x8x8x8 99999999999999999999 8X8 '8 8'; do
    exits 2 $spec --size "$size"
    says "--size '$size'"
done
exits 2 run $spec --input x.npy --size 8
says "--size has 1 extent, but heat2d5 has 2 dimensions"
exits 2 $spec --size 8x8x8
says '--size has 3 extents, but heat2d5 has 2 dimensions'

begin 'parameters'
for value in k k= =1 k=x k=1x k=nan k=inf 1k=1; do
    exits 2 $spec --set "$value"
    says "--set '$value'"
done

begin 'lists and numbers'
exits 2 $spec --emit source,exe
says '--emit'
exits 2 $spec --emit 'source, plan'
exits 2 $spec --seed 0
says '--seed'
exits 2 run $spec --steps 0
says '--steps'
exits 2 $spec --device gpu
says "--device 'gpu': auto, cuda or cpu is needed"

begin 'schedules'
exits 2 $spec --device cpu --method tield
says 'tield'
exits 2 $spec --device cpu --tile 0x8
exits 2 $spec --device cpu --tile -4
exits 2 $spec --device cpu --tile 1.5
exits 2 $spec --device cpu --coarsen q4
exits 2 $spec --device cpu --tile '8 method=tiled'
says "--tile '8 method=tiled': one word is needed"
exits 2 $spec --device cpu --method tile=8
exits 2 $spec --device cpu --arch sm_1
says 'sm_1'

begin 'a spec that is not there'
exits 2 "$folder/none.lua"
says "$folder/none.lua: error:"
exits 2 explain "$folder/none.lua"
exits 2 run "$folder/none.lua" --input x.npy

begin 'a spec that is wrong names its line'
printf 'return stencil {\n  name = "x",\n  shpae = star(1, 1),\n}\n' >"$folder/bad.lua"
exits 2 "$folder/bad.lua"
says "$folder/bad.lua:"
says 'shape'

begin 'a word after -- is a spec, whatever it looks like'
exits 2 -- --json
says '--json: error:'
finish
