-- bulk where rows begin anywhere in a pack: copies then bring every row of a pack's length, by maps of
-- those that begin alike. Rows and planes begin at every place in a pack. Sides have both boundaries that
-- it serves, alone and together. Shapes reach along x in several rows, or have several outputs. Sizes lie
-- around a tile and below it. There are boxes, memory without guard cells, and grids that have no such maps.
local shapes = require "shapes"

local sides = {
  fixed = { "fixed", "fixed", "fixed" },
  zero = { "zero", "zero", "zero" },
  low = { "{ 'zero', 'fixed' }", "{ 'fixed', 'zero' }", "{ 'zero', 'fixed' }" },
  high = { "{ 'fixed', 'zero' }", "'zero'", "'fixed'" },
}
local function boundary(name, dims)
  local axes = {}
  for axis = 1, dims do
    local rule = sides[name][axis]
    axes[axis] = ("xyz"):sub(axis, axis) .. " = " .. (rule:find("'") and rule or ("%q"):format(rule))
  end
  return "{ " .. table.concat(axes, ", ") .. " }"
end

local kernels = {
  { "star2d1", "float", "bulk tile=128 coarsen=y32" },
  { "star2d8", "double", "bulk tile=64 coarsen=y32" },
  { "box2d1", "float", "bulk tile=192 coarsen=y32" }, -- a warp has lanes of two groups
  { "points2d", "double", "bulk tile=64 coarsen=y9" },
  { "wave2d", "float", "bulk tile=192 coarsen=y32" }, -- others are read at the point alone
  { "pair2d", "float", "bulk tile=128 coarsen=y16" },
  { "single2d", "double", "bulk tile=64 coarsen=y16" },
  { "star3d1", "float", "bulk tile=64x8 coarsen=z9,y2" },
  { "star3d2", "double", "bulk tile=16x16 coarsen=z5,y2" },
  { "star3d8", "float", "bulk tile=32x8 coarsen=z64" },
  { "box3d1", "float", "bulk tile=64x16 coarsen=z64,y4" }, -- links need a word of 64 bits
  { "points3d", "double", "bulk tile=32x8 coarsen=z9" },
  { "upwind3d", "float", "bulk tile=32x16 coarsen=z64,y2" },
  { "pair3d", "double", "bulk tile=32x8 coarsen=z7,y2" },
  { "star2d1", "float", "bulk tile=128 coarsen=y32", "bfloat16" }, -- cells of 16 bits: every eighth row
  { "star2d8", "float", "bulk tile=128 coarsen=y32", "half" },
  { "star3d1", "float", "bulk tile=64x8 coarsen=z9,y2", "half" },
  { "star3d2", "float", "bulk tile=64x16 coarsen=z64,y4", "bfloat16" },
  { "pair3d", "float", "bulk tile=64x8 coarsen=z7", "half" },
  { "star2d1", "float", "bulk tile=192 coarsen=y64", "half" }, -- six cells of a lane
  { "star3d2", "float", "bulk tile=128x16 coarsen=z9,y2", "half" }, -- four
  { "box3d1", "float", "bulk tile=96x16 coarsen=z9,y2", "bfloat16" }, -- eight, as a warp has lanes of three rows
  { "column3d", "float", "bulk tile=64x8 coarsen=z9" }, -- not read along x
  { "star3d8", "float", "bulk tile=64x32 coarsen=z64,y2" }, -- four warps hand their registers over
  { "star3d8", "double", "bulk tile=48x24 coarsen=z9,y3" },
}

-- Of rows of x and of y·x cells: each remainder by 4.
local sizes = {
  { { 131, 40 }, { 65, 33 }, { 129, 7 }, { 198, 65 }, { 259, 1 }, { 1, 37 }, { 2, 2 }, { 7, 5 }, { 127, 31 } },
  { { 67, 19, 11 }, { 65, 18, 7 }, { 66, 17, 3 }, { 131, 16, 9 }, { 97, 15, 5 }, { 31, 9, 10 }, { 1, 1, 1 }, { 3, 5, 7 },
    { 33, 1, 20 }, { 13, 52, 9 }, { 2, 3, 1 } },
}
local layouts = {
  nil, { offset = 1 }, { pad = { 3, 2 }, offset = 2, vary = true }, { guard = false }, { offset = 3 },
  { pad = { 5, 0 }, negative = true }, nil, { guard = false, offset = 1 }, { pad = { 1, 1 } },
}

local function places(dims)
  local out = {}
  for i, size in ipairs(sizes[dims - 1]) do
    local first, last
    if i % 3 == 1 then
      first, last = {}, {}
      for axis = 1, dims do
        first[axis], last[axis] = math.min(axis, size[axis] - 1), math.max(1, size[axis] - axis + 1)
      end
    end
    out[i] = { size = size, layout = layouts[i], first = first, last = last, steps = i % 2 == 0 and 2 or nil }
    out[#sizes[dims - 1] + i] = { size = size, layout = layouts[(i + 3) % 9 + 1] }
  end
  return out
end

local cases = {}
local function add(kernel, rule)
  local shape = shapes.list[kernel[1]]
  cases[#cases + 1] = {
    name = ("%s, %s, %s, %s"):format(kernel[1], kernel[4] or kernel[2], kernel[3], rule),
    spec = shapes.text(shape, kernel[2], boundary(rule, shape.dims) .. (kernel[4] and (", storage = '%s'"):format(kernel[4]) or "")),
    schedule = kernel[3],
    places = places(shape.dims),
    arch = "sm_90",
  }
end
for i, kernel in ipairs(kernels) do
  add(kernel, "fixed")
  add(kernel, i % 2 == 0 and "zero" or "low")
  if i % 3 == 0 then
    add(kernel, "high")
  end
end
return cases
