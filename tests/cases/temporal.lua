-- Several steps a launch: every shape of which the method temporal keeps partial sums, all boundaries, sizes with and without edges in one tile, and numbers of steps that leave
-- a remainder. A place without steps is one launch of all that the kernel fuses.
local shapes = require "shapes"
local cases = {}

local boundaries = {
  fixed = { "'fixed'", "'fixed'", "'fixed'" },
  zero = { "'zero'", "'zero'", "'zero'" },
  constant = { "constant(3/4)", "constant(-1/2)", "constant(1/8)" },
  periodic = { "'periodic'", "'periodic'", "'periodic'" },
  mixed = { "{ constant(3/4), 'fixed' }", "'periodic'", "{ 'zero', 'fixed' }" },
  mixed2 = { "'periodic'", "{ 'fixed', constant(1/4) }", "'periodic'" },
  clamp = { "'clamp'", "'clamp'", "'clamp'" },
  mirror = { "'mirror'", "'mirror'", "'mirror'" },
  mixed3 = { "{ 'clamp', 'mirror' }", "{ 'mirror', 'zero' }", "{ 'fixed', 'clamp' }" },
  mixed4 = { "{ 'zero', 'clamp' }", "{ 'clamp', 'fixed' }", "{ 'mirror', constant(1/8) }" },
  wraps_x = { "'periodic'", "{ 'zero', 'fixed' }", "{ 'clamp', 'zero' }" },
  wraps_y = { "{ 'zero', 'clamp' }", "'periodic'", "{ 'zero', 'fixed' }" },
  wraps_z = { "{ 'fixed', 'zero' }", "{ 'mirror', 'clamp' }", "'periodic'" },
}
local names = { "fixed", "zero", "constant", "periodic", "mixed", "mixed2", "clamp", "mirror", "mixed3", "mixed4" }
-- A mirrored side of a shape that reaches further outwards than inwards takes whole levels (cascade.lua).
local lopsided = { points2d = true, points3d = true, upwind2d = true, upwind3d = true }
local mirrored = { mirror = true, mixed3 = true, mixed4 = true }

local function boundary(name, dims)
  local out = {}
  for axis = 1, dims do
    out[axis] = ("xyz"):sub(axis, axis) .. " = " .. boundaries[name][axis]
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

local layouts = {
  { pad = { 3, 2 }, vary = true }, { offset = 1 }, { pad = { -16, 1 } }, { pad = { 5, 0 }, negative = true },
  { guard = false },
}

local count = 0
local function add_case(s, line, name, dtype, sizes, steps)
  count = count + 1
  local places = {}
  for i, size in ipairs(sizes) do
    local layout = layouts[(count + i) % (#layouts + 1)]
    places[#places + 1] = { size = size, layout = layout, steps = steps[(count + i) % #steps + 1],
                            wild = (count + i) % 4 == 0 }
    if i == 1 then -- large enough for every kernel
      places[#places + 1] = { size = size, layout = layouts[count % #layouts + 1] }
    end
  end
  -- Boxes are made step by step.
  local first, last = {}, {}
  for axis, n in ipairs(sizes[1]) do
    first[axis], last[axis] = n // 3, n - n // 4
  end
  places[#places + 1] = { size = sizes[1], first = first, last = last, steps = 2 }
  cases[#cases + 1] = {
    name = ("%s %s %s %s"):format(s.name, line, name, dtype),
    spec = shapes.text(s, dtype, boundary(name, s.dims)),
    schedule = line,
    places = places,
  }
end

-- A schedule may be a function of the bytes of an element, which returns nil for a type that it does not serve.
-- With --full each meets every boundary and both types, else one of them in turn.
local lists = 0
local function add(shape, schedule, sizes, steps)
  local s = assert(shapes.list[shape], shape)
  lists = lists + 1
  for b, name in ipairs(names) do
    for d, dtype in ipairs { "float", "double" } do
      local line = schedule
      if type(schedule) == "function" then
        line = schedule(shapes.bytes[dtype])
      end
      local turn = (b + lists) % #names
      if lopsided[shape] and mirrored[name] then
        line = nil
      end
      if line and (full or turn == 0 and d == lists // #names % 2 + 1) then
        add_case(s, line, name, dtype, sizes, steps)
      elseif line then
        count = count + 1 -- so that a case has the same places either way
      end
    end
  end
end

-- 1D: a lane holds an odd number of packs of 16 bytes.
local function line(time, packs)
  return function(bytes) return ("temporal time=%d lane=%d"):format(time, packs * 16 // bytes) end
end
local lines = { { 4099 }, { 1024 }, { 383 }, { 37 }, { 4 }, { 1 } }
add("star1d1", line(5, 3), lines, { 5, 12, 3 })
add("star1d2", line(16, 3), lines, { 16, 35, 1 })
add("star1d3", line(4, 5), lines, { 8, 7, 2 })
add("points1d", line(6, 3), lines, { 6, 13, 5 })
add("upwind1d", line(9, 5), lines, { 9, 20, 4 })
add("heat1d", line(3, 3), lines, { 3, 8 })
add("given1d", line(8, 3), lines, { 8, 9, 25 })

-- 2D: strips of a warp, and stages.
local strips = { { 517, 83 }, { 516, 61 }, { 264, 70 }, { 131, 40 }, { 90, 35 }, { 7, 3 }, { 33, 1 }, { 1, 9 } }
add("star2d1", "temporal time=4 lane=4 stages=2 coarsen=y16", strips, { 4, 9, 3 })
add("star2d1", "temporal time=6 lane=6 stages=3 coarsen=y100", strips, { 6, 13, 5 })
add("star2d1", "temporal time=3 lane=3 stages=1 coarsen=y7", strips, { 6, 4 })
add("box2d1", "temporal time=8 lane=4 stages=4 coarsen=y32", strips, { 8, 15, 2 })
add("star2d2", "temporal time=4 lane=6 stages=2 coarsen=y24", strips, { 4, 7, 2 })
add("box2d2", "temporal time=2 lane=5 stages=1 coarsen=y24", strips, { 2, 5 })
add("heat2d", "temporal time=4 lane=8 stages=4 coarsen=y40", strips, { 4, 7 })
add("points2d", "temporal time=2 lane=6 stages=2 coarsen=y20", strips, { 2, 5 })
add("upwind2d", "temporal time=6 lane=4 stages=2 coarsen=y20", strips, { 6, 11 })
-- More blocks than run at once, whose walks then grow shorter.
add("star2d1", "temporal time=2 lane=3 stages=2 coarsen=y1", { { 300, 1700 } }, { 2 })
add("single2d", "temporal time=4 lane=2 stages=2 coarsen=y20", strips, { 4, 5 })

-- 3D: patches of a lane, and 8 to 32 lanes a row.
local planes = { { 77, 45, 29 }, { 33, 40, 11 }, { 76, 45, 23 }, { 19, 9, 23 }, { 64, 21, 13 }, { 5, 3, 2 }, { 1, 17, 4 }, { 40, 1, 6 } }
add("star3d1", "temporal time=2 tile=28x12 lane=2x2 coarsen=z16", planes, { 2, 5, 3 })
add("box3d1", "temporal time=2 tile=24x12 lane=4x2 coarsen=z40", planes, { 2, 3 })
-- Doubles take twice the registers.
local function by_dtype(float, double)
  return function(bytes) return bytes == 4 and float or double end
end
local deep = by_dtype("temporal time=3 tile=24x10 lane=4x4 coarsen=z9", "temporal time=3 tile=24x10 lane=4x2 coarsen=z9")
add("star3d1", deep, planes, { 3, 7 })
-- So many steps and points that the levels cannot keep their planes in registers.
local many = by_dtype("temporal time=4 tile=24x24 lane=4x4 coarsen=z30")
add("star3d1", many, planes, { 5, 11 })
if full then -- one takes a compiler for a GPU as long as twenty others
  add("box3d1", many, planes, { 5 })
end
local wide = by_dtype("temporal time=2 tile=24x8 lane=4x2 coarsen=z12", "temporal time=2 tile=24x8 lane=2x2 coarsen=z12")
add("star3d2", wide, planes, { 2, 5 })
add("box3d2", wide, planes, { 2 })
-- Stars of lanes of a pack: in two warps and in four, patches of which neighbours read all rows, and not all.
add("star3d1", by_dtype("temporal time=4 tile=24x16 lane=4x3 coarsen=z11", "temporal time=4 tile=24x32 lane=2x5 coarsen=z11"), planes, { 4, 9 })
add("star3d2", by_dtype("temporal time=2 tile=24x16 lane=4x3 coarsen=z13", "temporal time=2 tile=24x32 lane=2x5 coarsen=z7"), planes, { 2, 3 })
if not full then -- those that boxes bring on a GPU
  add_case(shapes.list.star3d1, "temporal time=4 tile=24x32 lane=2x5 coarsen=z11", "fixed", "double", planes, { 4, 9 })
  add_case(shapes.list.star3d2, "temporal time=2 tile=24x32 lane=2x5 coarsen=z7", "zero", "double", planes, { 2, 3 })
  add_case(shapes.list.star3d1, "temporal time=4 tile=24x32 lane=2x5 coarsen=z11", "clamp", "double", planes, { 4, 9 })
  add_case(shapes.list.star3d2, "temporal time=2 tile=24x32 lane=2x5 coarsen=z7", "mirror", "double", planes, { 2, 3 })
  add_case(shapes.list.star3d2, "temporal time=3 tile=16x36 lane=4x4 coarsen=z9", "mixed3", "float", planes, { 3, 7 })
  add_case(shapes.list.box3d1, "temporal time=2 tile=28x60 lane=2x4 coarsen=z7", "clamp", "double", planes, { 2, 3 })
  add_case(shapes.list.box3d1, "temporal time=2 tile=28x60 lane=2x4 coarsen=z7", "fixed", "double", planes, { 2, 3 })
  add_case(shapes.list.box3d1, "temporal time=3 tile=24x26 lane=4x2 coarsen=z13", "zero", "float", planes, { 3, 7 })
  add_case(shapes.list.box3d2, "temporal time=2 tile=24x24 lane=4x4 coarsen=z11", "fixed", "float", planes, { 2, 5 })
  -- Tiles that go on at the other side, and others.
  add_case(shapes.list.star3d1, "temporal time=4 tile=24x16 lane=4x3 coarsen=z11", "wraps_x", "float", planes, { 4, 9 })
  add_case(shapes.list.star3d1, "temporal time=3 tile=24x18 lane=2x3 coarsen=z13", "wraps_y", "double", planes, { 3, 7 })
  add_case(shapes.list.star3d2, "temporal time=2 tile=24x16 lane=4x3 coarsen=z13", "wraps_z", "float", planes, { 2, 3 })
  add_case(shapes.list.star3d1, "temporal time=4 tile=24x16 lane=4x3 coarsen=z11", "periodic", "float", planes, { 4, 9 })
  add_case(shapes.list.box3d1, "temporal time=2 tile=28x12 lane=2x2 coarsen=z7", "periodic", "double", planes, { 2, 3 })
  add_case(shapes.list.box3d1, "temporal time=3 tile=24x26 lane=4x2 coarsen=z13", "wraps_x", "float", planes, { 3, 7 })
end
add("heat3d", by_dtype("temporal time=2 tile=24x24 lane=4x4 coarsen=z20", "temporal time=2 lane=2x2"), planes, { 4, 3 })
add("points3d", by_dtype("temporal time=2 tile=20x16 lane=4x3 coarsen=z20"), planes, { 2, 3 })
add("upwind3d", "temporal time=3 tile=24x10 lane=4x4 coarsen=z9", planes, { 3, 7 })
add("given3d", "temporal time=2 tile=28x12 lane=2x2 coarsen=z16", planes, { 2, 5 })
return cases
