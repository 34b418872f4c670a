-- Cells of 16 bits, converted when they are loaded and rounded when they are stored: each template
-- that converts, packs of all widths, every boundary, odd sizes, one point, padded and shifted arrays,
-- boxes, and several steps, which round after each.
local shapes = require "shapes"

local schedules = {
  { "star1d3", "naive tile=64" },
  { "star1d3", "naive tile=128 vec=8" },
  { "star1d1", "naive tile=64 vec=2" },
  { "star1d3", "rows tile=400" },
  { "box2d1", "rows tile=64x5" },
  { "star3d2", "rows" },
  { "star1d8", "register tile=64 coarsen=x4" },
  { "star1d1", "tiled tile=96" },
  { "star2d2", "naive tile=32x4 vec=8" },
  { "star2d1", "tiled tile=7x5" },
  { "points2d", "constant tile=16x4" },
  { "star2d2", "cached-halo tile=16x8" },
  { "star2d1", "streamed tile=256 vec=8 coarsen=y5" },
  { "star2d2", "streamed tile=64 vec=4 coarsen=y3" },
  { "box2d1", "streamed tile=512 vec=8 coarsen=y4" },
  { "box2d1", "register tile=24 coarsen=y3" },
  { "star3d1", "naive tile=16x4x4 vec=4" },
  { "star3d2", "coarsened tile=16x4 coarsen=z5" },
  { "star3d2", "register tile=16x4 coarsen=z5" },
  { "star3d1", "streamed tile=128x8 vec=8 coarsen=z4,y2" },
  { "box3d1", "streamed tile=44x6 vec=2 coarsen=z3,y3" },
  { "box3d1", "tiled tile=7x5x3" },
}
-- Of the boundaries that bulk copies serve.
local bulk = {
  { "star2d2", "bulk tile=128 vec=8 coarsen=y32", "fixed" },
  { "box2d1", "bulk tile=64 vec=8 coarsen=y64", "zero" },
  { "star3d1", "bulk tile=64x8 vec=8 coarsen=z64,y2", "fixed" },
  { "star3d2", "bulk tile=128x12 vec=8 coarsen=z9", "zero" },
  { "pair3d", "bulk tile=64x8 vec=8 coarsen=z64", "fixed" },
  { "star3d2", "bulk tile=16x32 vec=8 coarsen=z64,y2", "fixed" },
  { "star3d1", "bulk tile=64x24 vec=8 coarsen=z5,y3", "fixed" },
  { "box3d1", "bulk tile=32x32 vec=8 coarsen=z9,y4", "fixed" },
  { "star3d8", "bulk tile=32x8 vec=8 coarsen=z64", "fixed" },
  { "points3d", "bulk tile=64x8 vec=8 coarsen=z4", "fixed" },
  { "upwind3d", "bulk tile=32x16 vec=8 coarsen=z64,y2", "fixed" }, -- nothing above along z is read
  { "column3d", "bulk tile=32x16 vec=8 coarsen=z3,y2", "fixed" },
  { "behind3d", "bulk tile=32x16 vec=8 coarsen=z64,y2", "zero" },
  { "points2d", "bulk tile=64 vec=8 coarsen=y64", "fixed" },
  { "star2d8", "bulk tile=64 vec=8 coarsen=y64", "fixed" },
}

local odd = { { 1001 }, { 67, 23 }, { 35, 11, 9 } }
local even = { { 1024 }, { 80, 24 }, { 48, 12, 9 } }
local function places(dims)
  local first, last = {}, {}
  for axis = 1, dims do
    first[axis], last[axis] = axis == 1 and 8 or 2, even[dims][axis] - 1
  end
  return {
    { size = odd[dims], steps = 2 },
    { size = even[dims], steps = 3 },
    { size = even[dims], first = first, last = last },
    { size = even[dims], layout = { pad = { 8, 0 }, offset = 8 } },
    { size = even[dims], layout = { pad = { 3, 0 }, offset = 1 } },
    { size = table.move({ 1, 1, 1 }, 1, dims, 1, {}) },
    { size = table.move({ 5, 3, 2 }, 1, dims, 1, {}), steps = 2 },
  }
end

local cases = {}
table.move(bulk, 1, #bulk, #schedules + 1, schedules)
for i, entry in ipairs(schedules) do
  local shape = shapes.list[entry[1]]
  local storage = i % 2 == 0 and "half" or "bfloat16"
  local boundary = entry[3] or shapes.boundaries[(i - 1) % #shapes.boundaries + 1]
  cases[#cases + 1] = {
    name = ("%s, %s, %s, %s"):format(entry[1], storage, entry[2], boundary),
    schedule = entry[2],
    spec = shapes.text(shape, "float", shapes.boundary(boundary, shape.dims) .. (", storage = %q"):format(storage)),
    places = places(shape.dims),
    arch = entry[3] and "sm_90",
  }
end

-- Several steps a launch, between which numbers are not rounded: rows that are packed, rows that are
-- not, and numbers of steps that leave a remainder.
local fused = {
  { "star1d2", "temporal time=16 lane=12", "zero", { 16, 35 } },
  { "points1d", "temporal time=6 lane=20", "periodic", { 6, 13 } },
  { "star2d1", "temporal time=4 lane=4 stages=2 coarsen=y16", "fixed", { 4, 9 } },
  { "box2d1", "temporal time=4 lane=8 stages=4 coarsen=y32", "constant", { 4, 7 } },
  { "star2d2", "temporal time=2 lane=6 stages=2 coarsen=y24", "periodic", { 2, 5 } },
  { "star2d1", "temporal time=3 lane=3 stages=1 coarsen=y7", "zero", { 6, 4 } },
  { "star3d1", "temporal time=2 tile=28x12 lane=2x2 coarsen=z16", "constant", { 2, 5 } },
  { "box3d1", "temporal time=2 tile=24x12 lane=4x2 coarsen=z40", "zero", { 2, 3 } },
  { "heat3d", "temporal time=2 tile=24x24 lane=4x4 coarsen=z20", "periodic", { 4, 3 } },
  { "star3d1", "temporal time=2 tile=28x14 lane=1x2 coarsen=z16", "fixed", { 2, 5 } },
  { "star1d3", "resident time=4 tile=100", "mirror", { 4, 9 } },
  { "grayscott2d", "resident time=3 tile=16x16", "clamp", { 3, 5 } }, -- eight steps may cube a value beyond half
  { "variable2d", "resident time=4 tile=24x9", "zero", { 4, 11 } },
  { "variable3d", "resident time=2 tile=8x8x8", "periodic", { 2, 3 } },
  { "star1d3", "overlapped time=4 tile=100", "mirror", { 4, 9 } },
  { "points1d", "overlapped time=3 tile=64", "constant", { 3, 7 } },
  { "grayscott2d", "overlapped time=3 tile=16x16", "clamp", { 3, 5 } },
  { "star2d2", "overlapped time=2 tile=64x9", "fixed", { 2, 5 } },
  { "variable2d", "overlapped time=4 tile=24x9", "zero", { 4, 11 } },
  { "star3d2", "overlapped time=2 tile=16x8x8", "periodic", { 2, 3 } },
}
local fused_sizes = {
  { { 4096 }, { 1001 }, { 37 } },
  { { 520, 83 }, { 131, 40 }, { 7, 3 } },
  { { 80, 45, 29 }, { 33, 40, 11 }, { 5, 3, 2 } },
}
local values = { constant = "constant(3/4)" } -- which cells hold
for i, entry in ipairs(fused) do
  local shape, places = shapes.list[entry[1]], {}
  for k, size in ipairs(fused_sizes[shape.dims]) do
    places[k] = { size = size, steps = entry[4][k % 2 + 1], layout = k == 2 and { pad = { 3, 2 }, offset = 1 } or nil }
  end
  places[#places + 1] = { size = fused_sizes[shape.dims][1] }
  local storage = i % 2 == 0 and "half" or "bfloat16"
  local rule = values[entry[3]] or ("%q"):format(entry[3])
  cases[#cases + 1] = {
    name = ("%s, %s, %s, %s"):format(entry[1], storage, entry[2], entry[3]),
    schedule = entry[2],
    spec = shapes.text(shape, "float", ("%s, storage = %q"):format(rule, storage)),
    places = places,
  }
end
-- Fields that are each stored in their own type, and read next to each other.
local mixed = {
  [1] = [[fields = { u = "inout", v = { use = "inout", storage = "half" }, c = { use = "in", storage = "bfloat16" } },
    update = function(f) return { u = f.u(-1) / 2 + f.c(2) * f.v(1) / 4, v = f.v(-2) / 2 - f.u(1) / 8 } end]],
  [2] = [[fields = { u = { use = "inout", storage = "half" }, v = "inout", c = { use = "in", storage = "bfloat16" } },
    update = function(f) return { u = f.u(0, 1) / 2 + f.c(-1, 0) * f.v(1, -1) / 4, v = f.v(2, 0) / 2 - f.u(1, 1) / 8 } end]],
  [3] = [[fields = { u = { use = "inout", levels = 2, storage = "bfloat16" }, c = "in", s = { use = "out", storage = "half" } },
    update = function(f) return { u = f.u(0, 0, 1) - f.u.prev(0, 0, 0) / 2 + f.c(1, -1, 0) * f.u(-1, 0, 0) / 4, s = f.c(0, 0, 0) - f.u(0, 1, -1) } end]],
  -- As one plane in shared memory serves it.
  [4] = [[fields = { u = { use = "inout", storage = "half" }, c = "in" },
    update = function(f) return f.u(0, 0, 1) / 2 - f.u(0, 0, -1) / 4 + f.c(1, -1, 0) * f.u(0, 2, 0) / 4 end]],
}
for i, entry in ipairs {
  { 1, "naive tile=64" }, { 1, "naive tile=128 vec=4" }, { 1, "tiled tile=96" }, { 1, "register tile=64 coarsen=x4" },
  { 1, "cached-halo tile=64" }, { 1, "coarsened tile=64 coarsen=x3" },
  { 2, "naive tile=32x4 vec=2" }, { 2, "tiled tile=7x5" }, { 2, "coarsened tile=64 coarsen=y5" },
  { 2, "cached-halo tile=16x8" }, { 2, "streamed tile=256 vec=4 coarsen=y5" }, { 2, "resident time=3 tile=16x16" },
  { 3, "naive tile=16x4x4 vec=4" }, { 3, "tiled tile=7x5x3" }, { 3, "coarsened tile=16x4 coarsen=z5" },
  { 3, "cached-halo tile=16x4x2" }, { 3, "streamed tile=128x8 vec=4 coarsen=z4,y2" }, { 3, "streamed tile=44x6 vec=2 coarsen=z3,y3" },
  { 4, "register tile=16x4 coarsen=z5" }, { 4, "streamed tile=128x8 vec=4 coarsen=z4,y2" },
} do
  local boundary = shapes.boundaries[(i - 1) % #shapes.boundaries + 1]
  local dims = math.min(entry[1], 3)
  local all = places(dims)
  cases[#cases + 1] = {
    name = ("mixed %d, %s, %s"):format(entry[1], entry[2], boundary),
    schedule = entry[2],
    spec = ("return stencil { name = 'mixed', boundary = %s, %s }"):format(shapes.boundary(boundary, dims), mixed[entry[1]]),
    places = { all[1 + i % 2], all[3], all[4 + i % 2], all[7] },
  }
end

-- Filters in passes keep floats between cells of 16 bits; so few registers that a kernel asks for more than it takes.
for _, entry in ipairs { { "sm_80", "bfloat16" }, { "sm_90", "half" } } do
  cases[#cases + 1] = {
    name = "passes between cells of " .. entry[2],
    spec = ([[return convolution { name = "f", dtype = %q, boundary = { x = "mirror", y = "periodic", z = "clamp" },
      weights = { { { 1/16, 1/8, 1/16 }, { 1/8, 1/4, 1/8 } }, { { 1/32, 1/16, 1/32 }, { 1/16, 1/8, 1/16 } } } }]]):format(entry[2]),
    schedule = "streamed tile=64x4 coarsen=z4 vec=1 passes=3",
    arch = entry[1],
    places = { { size = { 24, 1, 37 } }, { size = { 67, 9, 5 } } },
  }
end

cases[#cases + 1] = {
  name = "a value beyond the boundary that cells do not hold",
  spec = shapes.text(shapes.list.star2d1, "float", "constant(1/3), storage = 'half'"),
  schedule = "temporal time=4",
  expect = "method temporal: it holds cells beyond a boundary as memory has them, and half does not hold this constant",
}

cases[#cases + 1] = {
  name = "bulk copies of fields that are not stored alike",
  spec = [[return stencil { name = "s", fields = { u = { use = "inout", storage = "half" }, v = "inout" },
    update = function(f) return { u = f.u(1, 0) + f.v(0, 1), v = f.v(0, 0) } end }]],
  schedule = "bulk",
  expect = "method bulk: its copies bring cells of one type",
}
cases[#cases + 1] = {
  name = "overlapped steps of fields that are not stored alike",
  spec = [[return stencil { name = "s", fields = { u = { use = "inout", storage = "half" }, v = "inout" },
    update = function(f) return { u = f.u(1, 0) + f.v(0, 1), v = f.v(0, 0) } end }]],
  schedule = "overlapped time=2",
  expect = "method overlapped: the fields have cells of different types, and it stores rows of one type",
}

-- What a boundary keeps of a field that no tap reads stays in its array.
for _, schedule in ipairs { "bulk tile=32x16 vec=8 coarsen=z64,y2", "bulk tile=64x8 vec=8 coarsen=z4" } do
  cases[#cases + 1] = {
    name = "two written fields, " .. schedule,
    spec = [[return stencil { name = "s", boundary = "fixed", storage = "half",
      fields = { u = "inout", v = "out", w = "in" },
      update = function(f) return {
        u = f.u(1,0,0) / 2 - f.u(-2,0,0) / 4 + f.u(0,-1,0) / 8 + f.w(0,0,1) / 8,
        v = f.u(0,0,0) / 2 + f.w(0,2,0) / 4 - f.w(0,0,-2) / 8 } end }]],
    schedule = schedule,
    places = places(3),
    arch = "sm_90",
  }
end

for _, storage in ipairs { "half", "bfloat16" } do
  cases[#cases + 1] = {
    name = "a wave with two levels, " .. storage,
    schedule = "streamed tile=256 vec=8 coarsen=y3",
    spec = ([[return stencil { name = "wave", boundary = "periodic", storage = %q,
      fields = { u = { use = "inout", levels = 2 }, c = "in" },
      update = function(f, p)
        return f.u(0, 0) - f.u.prev(0, 0) / 2 + f.c(0, 0) / 4 * apply(laplacian { dims = 2 }, f.u)
      end }]]):format(storage),
    places = places(2),
  }
end
cases[#cases + 1] = {
  name = "a convolution of half",
  schedule = "streamed passes=1",
  spec = [[return convolution { name = "blur", dtype = "half", boundary = "mirror",
    weights = { { 1/16, 2/16, 1/16 }, { 2/16, 4/16, 2/16 }, { 1/16, 2/16, 1/16 } } }]],
  places = { { size = { 67, 23 } }, { size = { 80, 24 } } },
}
cases[#cases + 1] = {
  name = "a convolution of bfloat16 in passes",
  schedule = "naive vec=2 passes=2",
  spec = [[return convolution { name = "blur", dtype = "bfloat16",
    weights = { { 1/16, 2/16, 1/16 }, { 2/16, 4/16, 2/16 }, { 1/16, 2/16, 1/16 } } }]],
  places = { { size = { 67, 23 } }, { size = { 80, 24 } } },
}

-- Lists: packs that begin anywhere, blocks of unusual sizes, infinities and NaN.
local function list_places()
  local out = {}
  for i, size in ipairs { 0, 1, 2, 31, 1001, 4096, 70001 } do
    out[i] = {
      size = { size },
      kind = ({ "random", "wild", "few" })[i % 3 + 1],
      layout = { offset = 3 * i, vary = true, guard = i % 2 == 0 },
      again = i % 2 == 1,
    }
  end
  return out
end
local lists = {
  { "reduce", "op = 'sum'", "auto" },
  { "reduce", "op = 'sum', inputs = 2, map = function(x, y) return x * y end", "one-pass threads=64 items=12 blocks=3" },
  { "reduce", "op = 'max', map = function(x) return x * x end", "coalesced threads=64" },
  { "reduce", "op = 'argmin'", "coarsened threads=64 items=7" },
  { "scan", "op = 'sum'", "auto" },
  { "scan", "op = 'max', kind = 'exclusive'", "look-back threads=64 items=3" },
  { "scan", "op = 'min', kind = 'exclusive'", "persistent threads=64 items=24 stages=3 ahead=2 draw=2" },
  { "scan", "op = 'sum', init = 3, map = function(x) return 3 * x end", "persistent threads=32 items=8 stages=1" },
  { "scan", "op = 'sum', init = 3, map = function(x) return 3 * x end", "look-back threads=1024 items=4" },
  { "scan", "op = 'sum', init = 3, kind = 'exclusive'", "persistent threads=64 items=24 stages=3 blocks=1 ahead=2 draw=2" },
}
for _, storage in ipairs { "half", "bfloat16" } do
  for _, entry in ipairs(lists) do
    cases[#cases + 1] = {
      name = ("%s of %s, %s, %s"):format(entry[1], storage, entry[2], entry[3]),
      schedule = entry[3],
      spec = ("return %s { name = 'n', dtype = %q, %s }"):format(entry[1], storage, entry[2]),
      places = list_places(),
    }
  end
end
return cases
