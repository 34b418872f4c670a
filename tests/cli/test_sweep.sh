#!/bin/sh
# tune: sweeps on the cpu device, what they store, say and resume, and what builds make of it.
. "$(dirname "$0")/common.sh"
SG_DATABASE=$folder/data/results.db
SG_CACHE=$folder/cache
export SG_DATABASE SG_CACHE
kept=$SG_DATABASE

cat >"$folder/heat.lua" <<'LUA'
return stencil {
  name = "heat", shape = star(1, 1), coefficients = { 0.5, 0.25, 0.25 }, schedule = { method = "naive" },
  tune = { method = { "naive" }, tile = { { x = 64 }, { x = 128 }, { x = 256 } }, vector = { 1, 2 } },
}
LUA
heat="$folder/heat.lua --device cpu --size 5000"

begin 'a sweep says each trial on a pipe, and a table'
exits 0 tune $heat
count=$(sed -n 's|^heat: 5000, \([0-9]*\) of \1 candidates for cpu, [0-9]* cores* (sm_90) in .*|\1|p' "$out")
[ "${count:-0}" -ge 3 ] || flunk "$(cat "$out")"
[ "$(grep -c "^heat [0-9]*/$count .* naive tile=" "$out")" = "$count" ] || flunk "$(cat "$out")"
reports '  best     naive tile='
reports '  default  naive tile='
reports "  kept in  $SG_DATABASE: builds of this size take the best"
[ "$(grep -c '^\*.* naive tile=' "$out")" = 1 ] || flunk 'the default is not marked'
grep -v '^stencilgen: warning: heat: a kernel that was timed again' "$err" >"$folder/more" && # the machine is busy
    flunk "standard error: $(cat "$folder/more")"
best=$(sed -n 's/^  best     //p' "$out")

begin 'a default that the spec leaves out is tried besides the candidates'
sed 's/vector = { 1, 2 }/vector = { 1 }/' "$folder/heat.lua" >"$folder/less.lua"
exits 0 tune "$folder/less.lua" --device cpu --size 5000 --database none
reports 'heat: 5000, 3 of 3 candidates and the default for cpu'

# bench plans for the processor, and a build first for a GPU.
begin 'later builds take the best, and say so'
exits 0 bench $heat --json
reports "\"plan\": \"$best\""
reports '"found": "measured at this size"'
exits 0 bench $heat
reports "  plan     $best"
reports '           measured at this size'
exits 0 bench "$folder/heat.lua" --device cpu --size 5001
reports '           measured at 5000, the nearest'
exits 0 bench $heat --tile 96
reports '           by the model'
SG_DATABASE=none
exits 0 bench $heat
reports '           by the model'
SG_DATABASE=$kept

begin 'systems: plans of all launches, which later builds take'
cat >"$folder/pair.lua" <<'LUA'
return system { name = "pair", fields = { u = "inout", v = "inout" }, boundary = "periodic", stages = {
  { update = function(f) return { u = f.u(0) + f.v(1) / 4 } end },
  { update = function(f) return { v = f.v(0) - f.u(-1) / 4 } end } } }
LUA
pair="$folder/pair.lua --device cpu --size 5000"
exits 0 tune $pair --schedule naive --evaluations 4
reports ' 1-2: naive tile='
best=$(sed -n 's/^  best     //p' "$out")
exits 0 bench $pair --schedule naive # the plan without it was measured too, and is faster
reports "  plan     $best"
reports '           measured at this size'

begin 'JSON'
exits 0 tune $heat --json --evaluations 2 --search random --seed 7
reports '"evaluations": ['
[ "$(grep -c '"state": "right"' "$out")" = 2 ] || flunk "$(cat "$out")"
reports '"finished": true'
reports '"wrong": 0'
reports "\"database\": \"$SG_DATABASE\""

begin 'a sweep that was killed goes on'
mkfifo "$folder/pipe"
"$STENCILGEN" tune $heat --search exhaustive >"$folder/pipe" 2>"$err" &
child=$!
head -n 1 "$folder/pipe" >"$folder/first"
kill -KILL $child 2>/dev/null
wait $child 2>/dev/null
exits 0 tune $heat --search exhaustive --no-resume --resume
done=$(sed -n 's|^heat: 5000, .*, \([0-9]*\) of them before$|\1|p' "$out")
if grep -q '^heat 1/' "$folder/first" && [ "${done:-0}" -lt 1 ]; then
    # It may have come to its end before the signal.
    [ "$(grep -c '^heat [0-9]*/' "$out")" = "$count" ] || flunk "nothing was resumed: $(cat "$out")"
fi
exits 0 tune $heat --search exhaustive --no-resume
grep -q 'of them before' "$out" && flunk 'a sweep that came to its end was resumed'

begin 'a signal ends a sweep after the trial at hand'
exits 0 tune $heat --search exhaustive --evaluations 1 # ends
"$STENCILGEN" tune $heat --search exhaustive --seed 3 >"$folder/pipe" 2>"$err" &
child=$!
{
    head -n 1
    kill -TERM $child 2>/dev/null
    cat
} <"$folder/pipe" >"$out"
wait $child
code=$?
case $code in
    0) ;; # it came to its end before the signal
    143) reports 'not finished: the same command goes on' ;;
    *) flunk "exit code $code: $(cat "$err")" ;;
esac

begin 'a wrong candidate is a defect'
real=${SG_CXX:-$(command -v c++ || command -v g++)}
cat >"$folder/c++" <<SH
#!/bin/sh
for word; do
    case \$word in
        *.cpp) grep -q 'tile=128 vec=1' "\$word" && sed -i 's/0\.5f \* u_c/0.625f * u_c/' "\$word" ;;
    esac
done
exec $real "\$@"
SH
chmod +x "$folder/c++"
SG_CXX=$folder/c++
export SG_CXX
exits 1 tune $heat --no-resume
reports 'wrong  naive tile=128'
says "candidates of 'heat' gave wrong results, which is a defect of stencilgen; the first: naive tile=128"
exits 0 bench $heat
grep -q 'plan     naive tile=128 vec=1 ' "$out" && flunk 'a build takes a wrong plan'

begin 'a candidate that does not end is ended'
cat >"$folder/c++" <<SH
#!/bin/sh
for word; do
    case \$word in
        *.cpp) grep -q 'tile=128 vec=1' "\$word" && sed -i 's/0\.5f \* u_c/({ static int first; if (__sync_fetch_and_add(\&first, 1) == 0) for (;;) __sync_synchronize(); 0.5f; }) * u_c/' "\$word" ;;
    esac
done
exec $real "\$@"
SH
exits 0 tune $heat --no-resume --limit 2s --evaluations 4 --search exhaustive
reports 'hung  naive tile=128'
reports 'its trial did not end within 2 seconds'
[ "$(grep -c ': its trial did not' "$out")" -lt "$count" ] || flunk 'all hung'
reports '  best     naive tile='

begin 'a candidate that crashes is a failure'
sed -i 's/for (;;) __sync_synchronize();/__builtin_trap();/' "$folder/c++"
exits 0 tune $heat --no-resume
reports 'failed  naive tile=128'
reports 'its process was ended by signal'

begin 'a product is tried in the worker, and checked on the matrix of --input'
# One candidate does not end, and one is wrong for matrices of this size alone.
cat >"$folder/c++" <<SH
#!/bin/sh
for word; do
    case \$word in
        *.cpp)
            grep -q 'jds threads=128' "\$word" && sed -i 's/    Sums sums;/    static int first; if (__sync_fetch_and_add(\&first, 1) == 0) for (;;) __sync_synchronize(); Sums sums;/' "\$word"
            grep -q 'jds threads=256' "\$word" && sed -i 's/    Sums sums;/    if (a.rows == 1138) return; Sums sums;/' "\$word"
            ;;
    esac
done
exec $real "\$@"
SH
bus='specs/spmv.lua --device cpu --input tests/data/mtx/1138_bus.mtx --format jds'
exits 1 tune $bus --limit 2s --search exhaustive
reports 'hung  jds threads=128'
reports 'wrong  jds threads=256'
says 'y at row'
[ "$(grep -c ' us  jds threads=' "$out")" -ge 3 ] || flunk "$(cat "$out")"
exits 0 explain $bus
reports 'jds'

begin 'nothing can be measured'
SG_CXX=$folder/none
exits 4 tune $heat --no-resume --evaluations 2
says 'none of '
unset SG_CXX

begin 'no database'
SG_DATABASE=none
exits 0 tune $heat --evaluations 1
reports '  kept in  nothing'
exits 0 tune specs/blur_wide.lua --device cpu --size 512x512 --budget 1s # too little for all
grep -q 'the same command goes on' "$out" && flunk 'nothing is kept to go on from'

begin 'a database that is named'
other=$folder/data/other.db
exits 0 tune $heat --evaluations 1 --database "$other"
reports "  kept in  $other: builds of this size take the best"
exits 0 bench $heat --database "$other"
reports '           measured at this size'
exits 0 explain $heat --database "$other"
tr -s '\n ' ' ' <"$out" | grep -q '  *a build takes naive tile=.* instead, measured at this size' || flunk "$(cat "$out")"
exits 0 doctor --database "$other"
reports "$other, given, 1 result of 1 spec on 1 device"
exits 0 tune export heat --database "$other"
reports '"naive"'
exits 0 report "$folder/heat.lua" --database "$other" -o "$folder/heat.html"
exits 0 bench $heat # the environment's says of none
reports '           by the model'
SG_DATABASE=$kept
exits 0 bench $heat --database none
reports '           by the model'

begin 'an exported plans file serves where there is no database'
exits 0 tune export --plans heat --database "$other"
cp "$out" "$folder/mine.plans"
grep -qE '^cpu .* cores=[0-9]+$' "$folder/mine.plans" || flunk "$(cat "$folder/mine.plans")"
grep -qx '# heat' "$folder/mine.plans" || flunk "$(cat "$folder/mine.plans")"
plan=$(sed -n 's/^stencil [0-9a-f]* | any | 5000 | [0-9.]* | //p' "$folder/mine.plans")
[ "$(echo "$plan" | wc -l)" = 1 ] && [ -n "$plan" ] || flunk "$(cat "$folder/mine.plans")"
cp "$folder/mine.plans" "$folder/slow.plans"
sed -i "s/| $plan\$/| naive tile=32 vec=1 time=1/" "$folder/slow.plans"
printf 'scan 4 bytes | any | 5 | 1 | persistant\r\nstencil 1\r\n' >>"$folder/slow.plans"
SG_DATABASE=none
SG_PLANS=$folder/mine.plans
export SG_PLANS
exits 0 bench $heat
reports "  plan     $plan"
reports '           measured at this size, by the plans for the '
exits 0 bench "$folder/heat.lua" --device cpu --size 5001
reports '           measured at 5000, the nearest, by the plans for the '
exits 0 bench $heat --tile 96
reports '           by the model'
SG_PLANS=:/nowhere/a.plans:$folder/slow.plans:$folder/mine.plans # the first that is there decides
exits 0 bench $heat
reports '  plan     naive tile=32 vec=1 time=1'
for warning in '/nowhere/a.plans, of SG_PLANS, cannot be read: No such file or directory' \
    'slow.plans:[0-9]*: this line is skipped: it has no bars, and begins with neither gpu nor cpu' \
    "slow.plans:[0-9]*: this line is skipped: .*'persistant'"; do
    grep -q "$warning" "$err" || flunk "$warning: $(cat "$err")"
done
sed 's/^cpu .*/gpu H100 sm_90 multiprocessors=132 memory=3352GB\/s/' "$folder/slow.plans" >"$folder/h200.plans"
SG_PLANS=$folder/h200.plans # what is of a GPU serves where that is planned for, and no other
exits 0 $heat -o "$folder"
reports '           measured at this size, by the plans for the H100'
exits 0 $heat -o "$folder" --gpu h200
reports '           by the model'
SG_PLANS=$folder/slow.plans # and a processor's serve no GPU
exits 0 explain $heat --json
reports '"tuned": "naive tile=32'
sed -i 's/cores=[0-9]*/cores=999/' "$folder/slow.plans"
exits 0 explain $heat --json
reports '"tuned": null'
unset SG_PLANS
SG_DATABASE=$kept
exits 0 tune export --plans nobody --database "$other"
[ -s "$out" ] && flunk "$(cat "$out")"
exits 2 tune export --plans --json
says '--plans writes a plans file, and --json JSON; give one of them'
exits 2 tune $heat --plans
says '--plans is no option of tune'

begin 'the library has plans of specs, and each is of one that is there'
gallery=$SOURCE/examples/gallery
keys=$(grep -cE '^(stencil|system) [0-9a-f]{64} ' "$SOURCE/plans/h200.plans")
found=0
for spec in "$gallery"/*.lua "$SOURCE"/specs/*.lua; do
    for type in float double; do
        sed "s/dtype *= *\"[a-z]*\"/dtype = \"$type\"/" "$spec" >"$folder/typed.lua"
        for size in '8192x8192' '4096x4096 --steps 64'; do
            # shellcheck disable=SC2086
            "$STENCILGEN" explain "$folder/typed.lua" --gpu H200 --size $size --database none >"$out" 2>"$err" || continue
            grep -q ' instead, measured at this size' "$out" && found=$((found + 1))
        done
    done
done
[ "$found" = "$keys" ] || flunk "$found of $keys"
waves="explain $gallery/acoustic.lua --gpu H200 --database none --json"
exits 0 $waves --size 8192x8192
reports '"tuned": "bulk tile=96 coarsen=y32'
exits 0 $waves --size 6000x8192
reports '"tuned": "bulk tile=96 coarsen=y32'
for size in 8191x8192 2048x2048; do # no packs, and far from it
    exits 0 $waves --size $size
    reports '"tuned": null'
done

begin 'what another version measured is not used'
if has sqlite3; then
    sqlite3 "$other" "UPDATE place SET generator = '0.0.9'" || flunk 'the database was not changed'
    exits 0 bench $heat --database "$other"
    reports '           by the model; results of stencilgen 0.0.9 are not used'
fi

begin 'a terminal has a bar, no wider than it is'
if has_terminal; then
    script -qec "stty columns 40; '$STENCILGEN' tune $heat --evaluations 2 --no-resume" "$folder/typescript" >/dev/null
    tr '\r' '\n' <"$folder/typescript" | grep 'heat \[' | sed 's/^.\[K//' >"$folder/bars"
    grep -q '^heat \[####*\.* *' "$folder/bars" || flunk "$(cat "$folder/typescript")"
    awk 'length > 40 { bad = 1 } END { exit bad }' "$folder/bars" || flunk "$(cat "$folder/bars")"
fi

begin 'a file that is no database'
echo 'dear diary' >"$folder/diary"
SG_DATABASE=$folder/diary
exits 3 tune $heat
says 'diary'
[ "$(cat "$folder/diary")" = 'dear diary' ] || flunk 'it was written over'
SG_DATABASE=$kept

begin 'a damaged database is set aside, and the command says so'
cp "$other" "$folder/worn.db"
printf 'no page begins like this' | dd of="$folder/worn.db" bs=1 seek=4096 conv=notrunc 2>/dev/null
exits 0 tune $heat --evaluations 1 --database "$folder/worn.db"
says "stencilgen: warning: the database of tuning results $folder/worn.db is damaged (Page 2: "
says "it was set aside as $folder/worn.db.damaged-1 and a new one begun"

begin 'a cache that cannot be used'
SG_CACHE="$folder/diary/cache" exits 0 $heat -o "$folder"
says "stencilgen: warning: binaries are not cached in $folder/diary/cache: Not a directory"

begin 'usage'
exits 2 tune $heat --budget soon
says "--budget 'soon': a time is needed"
exits 2 tune $heat --evaluations 0
exits 2 tune $heat --search lucky
exits 2 tune "$folder/heat.lua" --device cpu --size 50x50
says '--size has 2 extents'
exits 2 $heat --budget 5s
says '--budget is no option of build'
exits 0 tune $heat --budget 0.001s --seed 9
reports 'not finished'
finish
