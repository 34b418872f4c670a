-- Cells of 16 bits, converted when they are loaded and rounded when they are stored: each template
-- that converts, packs of all widths, every boundary, odd sizes, one point, padded and shifted arrays,
-- boxes, and several steps, which round after each.
local shapes = require "shapes"

local schedules = {
  { "star1d3", "naive tile=64" },
  { "star1d3", "naive tile=128 vec=8" },
  { "star1d1", "naive tile=64 vec=2" },
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
for i, entry in ipairs(schedules) do
  local shape = shapes.list[entry[1]]
  local storage = i % 2 == 0 and "half" or "bfloat16"
  local boundary = shapes.boundaries[(i - 1) % #shapes.boundaries + 1]
  cases[#cases + 1] = {
    name = ("%s, %s, %s, %s"):format(entry[1], storage, entry[2], boundary),
    schedule = entry[2],
    spec = shapes.text(shape, "float", shapes.boundary(boundary, shape.dims) .. (", storage = %q"):format(storage)),
    places = places(shape.dims),
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
  { "scan", "op = 'sum', init = 3, map = function(x) return 3 * x end", "look-back threads=1024 items=4" },
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
