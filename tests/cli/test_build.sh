#!/bin/sh
# The main job: what it writes and reports, and that files appear whole or not at all.
. "$(dirname "$0")/common.sh"
spec=specs/heat2d5.lua
small='--device cpu --size 40x30'

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
# Nothing is read-only for root, who therefore becomes nobody.
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
unset SG_CXX

begin 'the first failure decides, and the other specs are built'
exits 2 "$folder/none.lua" $spec $small -o "$folder/others"
holds "$folder/others" heat2d5.cu

begin 'two specs of one name do not replace each other'
cp $spec "$folder/other.lua"
exits 2 $spec "$folder/other.lua" $small -o "$folder/new"
says "two specs are named heat2d5"

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

begin 'bench measures and writes nothing'
(cd "$folder" && mkdir empty && cd empty &&
    "$STENCILGEN" bench "$SOURCE/$spec" $small >"$out" 2>"$err") || flunk "$(cat "$err")"
grep -q '^  speed ' "$out" || flunk 'there is no speed'
grep -q '^  check    right: ' "$out" || flunk 'there is no check'
holds "$folder/empty"

begin 'bench measures what the textbook would do'
[ "$(grep -c ' a step, .* of a copy; .* times as long$' "$out")" = 4 ] || flunk "$(cat "$out")"
for method in naive tiled coarsened register; do
    grep -q "^  *\(beside  *\)*$method tile=" "$out" || flunk "there is no $method: $(cat "$out")"
done
exits 0 bench $spec $small --json
[ "$(grep -c '"refusal": null' "$out")" = 4 ] || flunk "$(cat "$out")"
exits 0 bench $spec $small --method naive
grep -q beside "$out" && flunk "$(cat "$out")"
cat >"$folder/cubic.lua" <<'EOF'
return stencil {
  name = "cubic", shape = box(3, 1),
  update = function(u) return u(1, 1, 1) * u(-1, -1, -1) * u(0, 0, 0) end,
}
EOF
exits 0 bench "$folder/cubic.lua" --size 9x8x7
grep -q '^ *register tile=32x32 coarsen=z32 .*register' "$out" || flunk "$(cat "$out")"

begin 'explain has a row for each method'
exits 0 explain $spec --device cpu
for method in naive tiled coarsened register constant cached-halo; do
    grep -q "^[* ] $method " "$out" || flunk "there is no row for $method"
done
[ "$(grep -c '^\* [a-z]* ' "$out")" -ge 1 ] || flunk 'no method is marked as chosen'

begin 'doctor finds what runs here'
exits 0 doctor
reports 'compiler'
exits 0 doctor --json
reports '"usable": '
finish
