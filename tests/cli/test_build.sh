#!/bin/sh
# The main job: what it writes and reports, and that files appear whole or not at all.
. "$(dirname "$0")/common.sh"
export SG_CACHE="$folder/cache" # kernels are compiled once
spec=specs/heat2d5.lua
small='--device cpu --size 40x30'

# usual_compiler: the one that this test was given, if any.
given=${SG_CXX-}
usual_compiler() {
    unset SG_CXX
    [ -z "$given" ] || export SG_CXX="$given"
}

begin 'the report has every fact of the main job'
exits 0 $spec $small -o "$folder/new"
reports 'heat2d5: 2D star of radius 1, 5 points, float, fixed boundary'
for line in plan work source binary check speed; do
    grep -q "^  $line " "$out" || flunk "there is no line '$line'"
done
reports 'all 1200 points of 40x30'
holds "$folder/new" heat2d5.cu

begin 'many steps are planned for and measured'
exits 0 $spec $small -o "$folder/new" --steps 10
grep -q '^  speed .* for 10 steps, .* billion points/s, .* of a copy a step$' "$out" ||
    flunk "$(cat "$out")"
exits 0 bench $spec $small --json --steps 3
reports '"steps": 3'
exits 0 bench $spec $small
grep -q '^  speed .* a step, .* billion points/s, .* of a copy$' "$out" || flunk "$(cat "$out")"
exits 0 explain $spec --steps 10
exits 2 bench specs/blur.lua $small --steps 2
says '--steps: blur reads nothing that it writes'

begin 'all kinds of files'
exits 0 $spec $small -o "$folder/kinds" --emit source,plan,model
holds "$folder/kinds" heat2d5.cu heat2d5.model heat2d5.plan
plan=$(cat "$folder/kinds/heat2d5.plan")
reports "  plan     $plan"

begin 'the plan that is written is the plan that is asked for'
exits 0 $spec $small -o "$folder/kinds" --emit plan --method tiled --tile 16x4
grep -q '^tiled tile=16x4 ' "$folder/kinds/heat2d5.plan" || flunk "$(cat "$folder/kinds/heat2d5.plan")"

begin 'binaries, where NVRTC is'
if "$STENCILGEN" doctor | grep -q '^ok *NVRTC'; then
    exits 0 $spec $small -o "$folder/binaries" --emit cubin,ptx --arch sm_80
    holds "$folder/binaries" heat2d5.cubin heat2d5.ptx
    grep -q '^\.target sm_80' "$folder/binaries/heat2d5.ptx" || flunk 'the PTX is not for sm_80'
    [ "$(head -c 4 "$folder/binaries/heat2d5.cubin" | tail -c 3)" = ELF ] || flunk 'this is no cubin'
    reports 'sm_80 cubin: '
else
    skip 'there is no NVRTC'
fi

begin 'without NVRTC all works but cubins'
SG_NVRTC=none
export SG_NVRTC
exits 0 $spec $small -o "$folder/none"
reports '  binary   no cubin: '
exits 4 $spec $small -o "$folder/none" --emit cubin
says 'error:'
holds "$folder/none" heat2d5.cu
unset SG_NVRTC

begin 'a read-only folder'
mkdir "$folder/locked"
chmod 555 "$folder/locked"
chmod 755 "$folder"
# Nothing is read-only for root, so root becomes the user nobody.
nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
[ -w "$folder/locked" ] || nobody=
if $nobody test -x "$STENCILGEN" -a -r "$spec" -a ! -w "$folder/locked" 2>/dev/null; then
    $nobody "$STENCILGEN" $spec $small -o "$folder/locked" >"$out" 2>"$err"
    code=$?
    [ $code = 3 ] || flunk "exit code $code instead of 3: $(cat "$err")"
    says "$folder/locked/heat2d5.cu: error: cannot write: Permission denied"
    holds "$folder/locked"
else
    skip 'this user may write anywhere'
fi

begin 'a folder that is a file, or cannot be made'
: >"$folder/file"
exits 3 $spec $small -o "$folder/file"
says "$folder/file: error: cannot make the folder"
exits 3 $spec $small -o "$folder/a/b/c"
says "$folder/a/b/c: error:"

begin 'an output that is a folder'
mkdir -p "$folder/taken/heat2d5.cu"
exits 3 $spec $small -o "$folder/taken"
says "$folder/taken/heat2d5.cu: error: cannot write: "
holds "$folder/taken"

begin 'a full disk'
if [ -w /dev/full ]; then
    mkdir "$folder/full"
    ln -s /dev/full "$folder/full/heat2d5.cu"
    exits 3 $spec $small -o "$folder/full"
    says "$folder/full/heat2d5.cu: error: cannot write: No space left on device"
    [ -L "$folder/full/heat2d5.cu" ] || flunk 'the device was replaced'
else
    skip 'there is no /dev/full'
fi

begin 'standard output that is full or closed is an error'
for arguments in "$spec $small -o $folder/new" '--help' 'doctor' "explain $spec"; do
    if [ -w /dev/full ]; then
        "$STENCILGEN" $arguments >/dev/full 2>"$err"
        code=$?
        [ $code = 3 ] || flunk "exit code $code instead of 3 on a full disk: $arguments"
        says 'standard output: error:'
    fi
    "$STENCILGEN" $arguments >&- 2>"$err"
    code=$?
    [ $code = 3 ] || flunk "exit code $code instead of 3 without standard output: $arguments"
done

begin 'a closed pipe is an error'
mkfifo "$folder/pipe"
sleep 5 <"$folder/pipe" &
reader=$!
exec 9>"$folder/pipe"
kill $reader
wait $reader 2>/dev/null
"$STENCILGEN" --help >&9 2>"$err"
code=$?
exec 9>&-
[ $code = 3 ] || flunk "exit code $code instead of 3"
says 'standard output: error: Broken pipe'

# A compiler that changes a coefficient by less than a ten-thousandth.
cat >"$folder/slip.lua" <<'EOF'
return stencil {
  name = "slip", dims = 1, dtype = "float", boundary = "zero",
  update = function(u, p) return p.a * u(0) + p.b * u(1) + 0.40625 * u(-1) end,
}
EOF
cat >"$folder/c++" <<'EOF'
#!/bin/sh
for argument in "$@"; do
    case $argument in
    *.cpp) sed -i 's/0\.40625f/0.40626f/' "$argument" ;;
    esac
done
exec c++ "$@"
EOF
chmod +x "$folder/c++"

begin 'parameters without a value are drawn for the check'
exits 0 "$folder/slip.lua" --device cpu --size 100 -o "$folder/new"
exits 0 "$folder/slip.lua" --device cpu --size 100 -o "$folder/new" --set a=2
exits 2 "$folder/slip.lua" --device cpu --size 100 -o "$folder/slip" --set c=2
says "slip has no parameter 'c'"
! grep -F '(null)' out || flunk "$(cat out)"
holds "$folder/slip"

begin 'a wrong kernel fails the check'
SG_CXX=$folder/c++
export SG_CXX
exits 1 "$folder/slip.lua" --device cpu --size 100 -o "$folder/new"
reports '  check    WRONG at '
says "error: 'slip' is wrong in "
exits 1 "$folder/slip.lua" --device cpu --size 100 -o "$folder/new" --json
reports '"right": false'
reports '"exit": 1'

begin 'a compiler that does not work'
SG_CXX=$folder/none
exits 4 $spec $small -o "$folder/uncompiled" --emit source,plan
says "$folder/none"
reports "  source   $folder/uncompiled/heat2d5.cu"
holds "$folder/uncompiled" heat2d5.cu heat2d5.plan
exits 4 $spec $small -o "$folder/uncompiled" --json
reports '"launchable": false'
reports "\"error\": \"stencilgen: error: SG_CXX names $folder/none"
usual_compiler

# A compiler that says when it has begun, and then takes its time in a child of its own.
cat >"$folder/slow" <<EOF
#!/bin/sh
case " \$* " in *" -E "*) exec c++ "\$@" ;; esac
sleep 1234 &
echo \$! >"$folder/begun.new"
mv "$folder/begun.new" "$folder/begun"
wait
EOF
chmod +x "$folder/slow"
mkdir "$folder/tmp"

# wait_until COMMAND…: for at most half a minute.
wait_until() {
    tries=0
    until "$@" || [ $tries -ge 300 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    "$@"
}

# interrupt SIGNAL: sends it to a command that compiles. A shell in the background or under nohup would have it ignored, but for env.
interrupt() {
    rm -f "$folder/begun"
    TMPDIR=$folder/tmp SG_CXX=$folder/slow env --default-signal=INT,TERM,HUP \
        "$STENCILGEN" $spec $small -o "$folder/interrupted" >"$out" 2>"$err" &
    command=$!
    wait_until test -e "$folder/begun" || flunk "no compiler was started: $(cat "$err")"
    compiler=$(cat "$folder/begun")
    ls "$folder/tmp" | grep -q '^stencilgen-scratch-' || flunk 'nothing is in TMPDIR'
    kill -s "$1" $command
    wait $command
    code=$?
}

# ended PROCESS: also if its parent has not asked for its status yet.
ended() {
    ! grep '^State:' "/proc/$1/status" 2>/dev/null | grep -qv Z
}

export SG_CACHE=none # from here on each is compiled
begin 'an interrupted compile leaves no file and no process'
if env --default-signal=INT,TERM,HUP true 2>/dev/null; then
    for signal in INT TERM HUP; do
        interrupt $signal
        [ $code -gt 128 ] || flunk "exit code $code after SIG$signal"
        wait_until ended "$compiler" || flunk "the compiler runs after SIG$signal"
        [ -z "$(ls "$folder/tmp")" ] || flunk "SIG$signal left $(ls "$folder/tmp")"
    done
else
    skip 'env does not set signals'
fi

begin 'what a killed compile leaves goes with the next, and nothing else does'
mkdir "$folder/tmp/stencilgen-backup" "$folder/tmp/stencilgen-master"
echo precious >"$folder/tmp/stencilgen-backup/kernel.cpp"
echo precious >"$folder/tmp/stencilgen-master/notes"
touch -d '2 days ago' "$folder/tmp/stencilgen-backup" "$folder/tmp/stencilgen-master"
interrupt KILL
kill "$compiler"
TMPDIR=$folder/tmp
export TMPDIR
swept() {
    exits 0 $spec $small -o "$folder/new"
    ! ls "$TMPDIR" | grep -q '^stencilgen-scratch-'
}
wait_until swept || flunk "left: $(ls "$TMPDIR")"
holds "$TMPDIR" stencilgen-backup/kernel.cpp stencilgen-master/notes

begin 'folders for temporary files that will not do'
TMPDIR=$folder/tmp/none
exits 3 $spec $small -o "$folder/new"
says "$folder/tmp/none: error: cannot make a temporary folder here: No such file or directory"
mkdir "$folder/tmp/open"
chmod 777 "$folder/tmp/open"
TMPDIR=$folder/tmp/open
exits 3 $spec $small -o "$folder/new"
says "$folder/tmp/open: error: compiled code is not put into this folder (TMPDIR), where others could"
says "others may write to $folder/tmp/open, which has no sticky bit (chmod go-w, or +t)"
mkdir "$folder/-tmp"
TMPDIR=-tmp
(cd "$folder" && "$STENCILGEN" "$SOURCE/$spec" $small -o new >"$out" 2>"$err") ||
    flunk "TMPDIR=-tmp: $(cat "$err")"
unset TMPDIR

export SG_CACHE="$folder/cache"
begin 'the first failure decides, and the other specs are built'
exits 2 "$folder/none.lua" $spec $small -o "$folder/others"
holds "$folder/others" heat2d5.cu

begin 'two specs of one name do not replace each other'
cp $spec "$folder/other.lua"
exits 2 $spec "$folder/other.lua" $small -o "$folder/new"
says "two specs are named heat2d5"
sed 's/heat2d5/heat2d6/' $spec >"$folder/other.lua"
mkdir "$folder/linked"
ln -s heat2d5.cu "$folder/linked/heat2d6.cu"
exits 2 $spec "$folder/other.lua" $small -o "$folder/linked"
says "$folder/linked/heat2d6.cu: error: two outputs go to this file"
grep -q heat2d6 "$folder/linked/heat2d5.cu" && flunk 'the first was replaced'

begin 'a name that is a word of the source'
number=0
for name in launch launch1 plan float; do
    number=$((number + 1))
    drawn $number 2 || continue
    cat >"$folder/word.lua" <<END
return system { name = "$name", boundary = "zero", fields = { u = "inout", v = "scratch" }, stages = {
  { update = function(f) return { v = f.u(0, 0) + f.u(1, 0) } end },
  { update = function(f) return { u = f.v(0, 0) - f.v(0, 1) } end } } }
END
    exits 0 "$folder/word.lua" $small -o "$folder/new"
    reports "$name: 2D system"
done

# A run has each place and each schedule once, in drawn pairs. How fast the kernels are is no question.
begin 'places across the ends of a ring, of stages that share a launch'
export SG_CXX="$SOURCE/tests/quick_cxx.sh"
number=0
for way in 'x, 6|1, 0' 'at.nx - 5, x|-1, 0' 'y, 6|0, 1' 'at.ny - 5, y|0, -2'; do
    cat >"$folder/ring.lua" <<END
return system { name = "ring", boundary = "periodic", fields = { a = "inout", c = "inout" }, stages = {
  { update = function(f, p, at)
      local x, y = at.x, at.y
      return { a = f.c(0, 0) * where(lt(${way%|*}), 3, 1) }
    end },
  { update = function(f) return { c = f.a(${way#*|}) + f.c(0, -1) + f.c(1, 0) } end } } }
END
    for schedule in naive streamed rows chained; do
        number=$((number + 1))
        drawn $((number + (number - 1) / 4)) 4 || continue
        exits 0 "$folder/ring.lua" $small -o "$folder/new" --schedule "1-2: $schedule"
        reports 'check    right'
    done
done
usual_compiler

begin 'an output that is the spec itself'
mkdir "$folder/self"
cp $spec "$folder/self/heat2d5.cu"
cp $spec "$folder/plain"
ln -s ../plain "$folder/self/heat2d5.plan"
exits 2 "$folder/self/heat2d5.cu" $small -o "$folder/self"
says "$folder/self/heat2d5.cu: error: this is the spec, which the output would replace"
exits 2 "$folder/plain" $small -o "$folder/self" --emit plan
cmp -s $spec "$folder/self/heat2d5.cu" || flunk 'the spec is gone'
cmp -s $spec "$folder/plain" || flunk 'the spec is gone'
holds "$folder/self" heat2d5.cu

begin 'all files are opened before the first is written'
mkdir -p "$folder/opened/heat2d5.plan"
exits 3 $spec $small -o "$folder/opened" --emit source,plan
says "$folder/opened/heat2d5.plan: error: cannot write: it is no regular file"
holds "$folder/opened"

begin 'JSON'
exits 0 $spec $small -o "$folder/new" --json
reports '"name": "heat2d5"'
reports '"right": true'
reports '"exit": 0'
begin 'the JSON is the documented one'
if has python3; then
    python3 - "$out" <<'EOF' || flunk 'this is not the documented JSON'
import json, sys
kernel = json.load(open(sys.argv[1]))["kernels"][0]
assert kernel["size"] == [40, 30] and kernel["error"] is None
assert kernel["check"]["judged"] == 1200 and kernel["check"]["wrong"] == 0
assert kernel["speed"]["seconds"] > 0 and kernel["files"]["source"].endswith("heat2d5.cu")
EOF
fi

begin 'JSON has the parameters'
cat >"$folder/set.lua" <<'LUA'
return stencil {
  name = "set", dims = 1, dtype = "float", boundary = "zero",
  update = function(u, p) return p.k * u(0) + p.add end,
}
LUA
exits 0 "$folder/set.lua" --device cpu --size 4096 -o "$folder/new" --set k=2 --json
tr -d ' \n' <"$out" | grep -qF '"parameters":{"add":null,"k":2}' ||
    tr -d ' \n' <"$out" | grep -qF '"parameters":{"k":2,"add":null}' || flunk "$(cat "$out")"

begin 'JSON of a spec that is wrong'
echo 'return 1' >"$folder/bad.lua"
exits 2 "$folder/bad.lua" --device cpu --json
reports '"exit": 2'
reports "bad.lua"

begin 'errors in JSON are those that were printed'
for arguments in "$spec --size 8 -o $folder/new" "$spec $small --set k=1 -o $folder/new" \
    "$folder/none.lua" "explain $spec --size 8" "explain $folder/bad.lua" "run $folder/bad.lua" \
    "run $spec --input $folder/none.npy" "bench $spec $small --method tiled --tile 999x999"; do
    "$STENCILGEN" $arguments --device cpu --json >"$out" 2>"$err"
    reports "\"error\": \"$(sed 's/[\\"]/\\&/g' "$err")\""
done

begin 'a schedule of the command line stands in for that of the spec'
cat >"$folder/large.lua" <<'EOF'
return stencil {
  name = "large", shape = star(2, 1), coefficients = { 1, 1, 1, 1, 1 },
  schedule = { method = "tiled", tile = { x = 1024, y = 1024 } },
}
EOF
exits 2 "$folder/large.lua" $small -o "$folder/new"
exits 0 "$folder/large.lua" $small -o "$folder/new" --tile 32x8
reports 'tiled tile=32x8 '

begin 'JSON documents every key'
exits 0 $spec $small -o "$folder/new" --json
for key in $(grep -o '"[a-z_0-9]*":' "$out" | sort -u | tr -d '":'); do
    grep -q "\`$key\`" docs/json.md || flunk "docs/json.md does not say what $key is"
done
exits 0 explain $spec --device cpu --json
for key in $(grep -o '"[a-z_0-9]*":' "$out" | sort -u | tr -d '":'); do
    grep -q "\`$key\`" docs/json.md || flunk "docs/json.md does not say what $key is"
done

begin 'a check with a given seed says so'
exits 0 $spec $small -o "$folder/new" --json --seed 18446744073709551615
reports '"seed": "18446744073709551615"'

begin 'sides of conditions that nothing took are named'
cat >"$folder/sides.lua" <<'EOF'
return {
  stencil {
    name = "sides", fields = { u = "inout", m = { use = "in", values = { 0, 2 } } },
    update = function(f)
      return where(eq(f.m(0), 1), 0, where(gt(f.u(0), 1.5), 1, f.u(1)))
    end,
  },
  reduce {
    name = "sided", op = "sum", dtype = "int32",
    map = function(a) return where(gt(max(a, -5), -9), where(lt(a, 100), 1, 2), 0) end,
  },
}
EOF
exits 0 "$folder/sides.lua" --device cpu --size 700 -o "$folder/new"
reports "           'eq(m(0), 1)' was true 0 of 699 times: that side was not judged"
reports "           'gt(max(a, -5), -9)' was false 0 of 700 times: that side was not judged"
[ "$(grep -c 'that side was' "$out")" = 2 ] || flunk "$(cat "$out")"
exits 0 "$folder/sides.lua" --device cpu --size 700 -o "$folder/new" --json
reports '"condition": "eq(m(0), 1)"'
reports '"side": true'
for key in $(grep -o '"[a-z_0-9]*":' "$out" | sort -u | tr -d '":'); do
    grep -q "\`$key\`" docs/json.md || flunk "docs/json.md does not say what $key is"
done
exits 0 bench "$folder/sides.lua" --device cpu --size 100
reports "'eq(m(0), 1)' was true 0 of "

begin 'no textbook counts an update that is not linear'
cat >"$folder/cubic.lua" <<'EOF'
return stencil {
  name = "cubic", shape = box(3, 1),
  update = function(u) return u(1, 1, 1) * u(-1, -1, -1) * u(0, 0, 0) end,
}
EOF
exits 0 "$folder/cubic.lua" --device cpu --size 9x8x7 -o "$folder/new"
grep -q '^  work     [0-9]* operations a point as emitted; 8 bytes a point$' "$out" || flunk "$(cat "$out")"
grep -q textbook "$folder/new/cubic.cu" && flunk "$(grep textbook "$folder/new/cubic.cu")"
grep -q '^// work    [0-9]* operations a point as written here; at least ' "$folder/new/cubic.cu" ||
    flunk "$(grep work "$folder/new/cubic.cu")"
exits 0 "$folder/cubic.lua" --device cpu --size 9x8x7 -o "$folder/new" --json
reports '"textbook_operations": null'
exits 0 explain "$folder/cubic.lua" --device cpu --json
reports '"textbook_operations": null'

begin 'the head of a file has all that its launch needs'
# head SPEC OPTION…: the first comment of its file.
head_of() {
    name=$1
    shift
    exits 0 "specs/$name.lua" --gpu H100 --emit source --device cpu --size 4096 -o "$folder/heads" "$@"
    sed '/^$/,$d' "$folder/heads/$name.cu" >"$folder/head"
}
has_line() {
    grep -qxF "//     $1" "$folder/head" || flunk "no '$1' in: $(cat "$folder/head")"
}
head_of scan --schedule 'persistent threads=256 items=20 stages=3'
grep -q 'fill `Arguments a` with the size a.count:$' "$folder/head" || flunk "$(cat "$folder/head")"
grep -q '61488>>>(a), whose cudaFuncAttributeMaxDynamicSharedMemorySize has been set to it' "$folder/head" || flunk "$(cat "$folder/head")"
head_of spmv
grep -q 'with the sizes a.rows, a.columns, a.entries:$' "$folder/head" || flunk "$(cat "$folder/head")"
has_line 'a.parameter[0].value: alpha'
has_line 'a.parameter[1].value: beta'
head_of blur --size 512x512 --method bulk
has_line '// <cuda.h> has these maps, and -lcuda the function that makes them'
head_of heat2d5 --size 512x512 --schedule 'streamed vec=1'
grep -q 'is for grids of which no axis is shorter than the shape' "$folder/head" || flunk "$(cat "$folder/head")"
grep -q 'multiples of 1' "$folder/head" && flunk 'all numbers are multiples of 1'

begin 'bench measures and writes nothing'
(cd "$folder" && mkdir empty && cd empty &&
    "$STENCILGEN" bench "$SOURCE/$spec" $small >"$out" 2>"$err") || flunk "$(cat "$err")"
grep -q '^  speed ' "$out" || flunk 'there is no speed'
grep -q '^  check    right: ' "$out" || flunk 'there is no check'
holds "$folder/empty"

begin 'bench measures what the textbook would do'
[ "$(grep -c ' a step, .* of a copy; .* times as long$' "$out")" = 4 ] || flunk "$(cat "$out")"
grep -q ' 0\.00 of a copy' "$out" && flunk 'what is slow has no digit'
for method in naive tiled coarsened register; do
    grep -q "^  *\(textbook  *\)*$method tile=" "$out" || flunk "there is no $method: $(cat "$out")"
done
exits 0 bench $spec $small --json
[ "$(grep -c '"refusal": null' "$out")" = 4 ] || flunk "$(cat "$out")"
exits 0 bench $spec $small --method naive
grep -q '^  textbook ' "$out" && flunk "$(cat "$out")"
exits 0 bench "$folder/cubic.lua" --size 9x8x7
grep -q '^ *register tile=32x32 coarsen=z32 .*register' "$out" || flunk "$(cat "$out")"

begin 'explain has a row for each method'
exits 0 explain $spec --device cpu
for method in naive tiled coarsened register constant cached-halo; do
    grep -q "^[* ] $method " "$out" || flunk "there is no row for $method"
done
[ "$(grep -c '^\* [a-z]* ' "$out")" -ge 1 ] || flunk 'no method is marked as chosen'
grep -q 'estimate for cpu, [0-9]* core' "$out" || flunk 'nothing says that estimates are of the processor'

# A line makes at least 8 steps a launch where nothing says how many.
exits 0 explain specs/heat1d3.lua --steps 4 --gpu T4
reports 'estimate for T4,'
grep -q '(null)' "$out" && flunk "$(cat "$out")"
exits 2 explain specs/heat1d3.lua --steps 4 --gpu T4 --method temporal
grep -q 'method temporal: its launches make more steps than the run has' "$err" || flunk "$(cat "$err")"
exits 0 explain specs/heat1d3.lua --steps 4 --gpu T4 --method temporal --time 4

begin 'doctor finds what runs here'
exits 0 doctor
reports 'compiler'
exits 0 doctor --json
reports '"usable": '
finish
