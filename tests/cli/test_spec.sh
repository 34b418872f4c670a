#!/bin/sh
# --spec: one of several specs in a file, in every command that takes specs.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/arrays.sh"
export SG_DATABASE=none
cpu='--device cpu'

cat >"$folder/pair.lua" <<'EOF'
local function shift(name, by)
  return stencil { name = name, shape = points { { by } }, coefficients = { 1 }, dtype = "float",
                   boundary = "periodic" }
end
return { shift("left", 1), shift("right", -1) }
EOF
npy f4 "$folder/a.npy" '4,' 1 2 3 4
npy f4 "$folder/right.npy" '4,' 4 1 2 3

begin 'run takes one of several'
exits 2 run $cpu "$folder/pair.lua" --input "$folder/a.npy"
says 'the file returns 2; choose one with --spec NAME'
exits 0 run $cpu "$folder/pair.lua" --spec right --input "$folder/a.npy" --output "$folder/b.npy"
cmp -s "$folder/right.npy" "$folder/b.npy" || flunk 'another spec was run'
exits 0 run $cpu "$folder/pair.lua" --spec right --ranks 1 --input "$folder/a.npy" --output "$folder/c.npy"
cmp -s "$folder/right.npy" "$folder/c.npy" || flunk 'another spec was run on ranks'

begin 'build, explain and tune --list'
exits 0 $cpu "$folder/pair.lua" --spec right -o "$folder/built"
holds "$folder/built" right.cu
exits 0 explain $cpu "$folder/pair.lua" --spec right --json
reports '"index": 1'
grep -q '"left"' "$out" && flunk 'explain has the other spec too'
exits 0 tune --list $cpu "$folder/pair.lua" --spec right --size 64
reports right
grep -q left "$out" && flunk 'tune --list has the other spec too'

begin 'bench on ranks'
exits 0 bench $cpu "$folder/pair.lua" --spec right --ranks 1 --size 4096 --steps 2
reports 'the same bytes as alone'

begin 'an unknown name'
exits 2 $cpu "$folder/pair.lua" --spec up -o "$folder/none"
says "returns no spec named 'up'; it has left, right"
exits 2 run $cpu "$folder/pair.lua" --spec up --input "$folder/a.npy"
says 'it has left, right'

begin 'a file that cannot be read'
exits 2 explain $cpu "$folder/absent.lua" --spec left
says absent.lua
finish
