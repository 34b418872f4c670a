-- The product of shapes, methods, tiles, boundaries and dtypes, and the sizes, layouts, boxes and steps
-- that each kernel is run with. The runner chooses from it. With --full each shape meets each method. Else each kind of
-- shape does, and its shapes take turns: that many of a kind, and methods, meet in pairs too.
local shapes = require "shapes"

local function names(list)
  local out = {}
  for i, entry in ipairs(list) do
    out[i] = type(entry) == "table" and entry.name or entry
  end
  return out
end

---- shapes ----------------------------------------------------------------------------------------

-- What methods tell apart: the dimensions, an update's form, which fields it has, and whether it reaches far.
local kinds = {
  { "star1d", "star1d1", "star1d2", "star1d3", "heat1d" }, { "far1d", "star1d8" }, { "lopsided1d", "points1d", "upwind1d" },
  { "star2d", "star2d1", "star2d2", "heat2d" }, { "far2d", "star2d8" }, { "lopsided2d", "points2d", "upwind2d" },
  { "star3d", "star3d1", "star3d2", "heat3d" }, { "far3d", "star3d8" },
  { "lopsided3d", "points3d", "upwind3d", "column3d", "behind3d" },
  { "box2d", "box2d1", "box2d2" }, { "box3d", "box3d1", "box3d2" },
  { "functions2d", "nonlinear2d", "functions2d" },
}
local by_kind, kind_names, rest = {}, {}, {}
for _, entry in ipairs(shapes.list) do
  rest[entry.name] = true
end
for _, kind in ipairs(kinds) do
  by_kind[kind[1]] = table.move(kind, 2, #kind, 1, {})
  kind_names[#kind_names + 1] = kind[1]
  for _, shape in ipairs(by_kind[kind[1]]) do
    assert(rest[shape], shape)
    rest[shape] = nil
  end
end
for _, entry in ipairs(shapes.list) do -- each of the others is a kind of its own
  if rest[entry.name] then
    by_kind[entry.name] = { entry.name }
    kind_names[#kind_names + 1] = entry.name
  end
end

---- schedules ------------------------------------------------------------------------------------

-- Tiles by dimensions, and how often a method that walks an axis repeats them; `walked` has the tiles of
-- such methods where theirs differ.
local tiles = {
  free  = {},
  odd   = { { 7 }, { 7, 5 }, { 7, 5, 3 }, coarsen = 3 },
  -- more points than a block has threads, in numbers that threads do not divide
  large = { { 2050 }, { 66, 32 }, { 34, 16, 4 }, walked = { { 2050 }, { 1100 }, { 66, 32 } }, coarsen = 5 },
  thin  = { { 1 }, { 1, 3 }, { 1, 2, 3 }, coarsen = 1 },
  wide  = { { 96 }, { 96, 1 }, { 96, 1, 1 }, coarsen = 40 },
}
local tile_names = { "free", "odd", "large", "thin", "wide" }

local methods = { "naive", "vec", "tiled", "coarsened", "register", "constant", "cached-halo", "streamed", "bulk", "rows", "auto" }

local function walks(method)
  return method == "coarsened" or method == "register"
end

-- For methods with packs and rows: rows of threads that are not whole warps, several rows a thread, the fewest possible.
local function rows(method, tile, dims, bytes)
  local wide = 16 // bytes
  local line = ({
    odd = dims == 3 and "tile=22x6 vec=2 coarsen=z3,y3" or "tile=22 vec=2 coarsen=y3",
    large = ("tile=%d%s vec=%d coarsen=%s"):format(64 * wide, dims == 3 and "x8" or "", wide, dims == 3 and "z5,y2" or "y5"),
    thin = dims == 3 and "tile=8x1 vec=1 coarsen=z1" or "tile=8 vec=1 coarsen=y1",
    wide = ("tile=%d%s vec=%d coarsen=%s40"):format(32 * wide, dims == 3 and "x1" or "", wide, dims == 3 and "z" or "y"),
  })[tile]
  return line and method .. " " .. line or method
end

-- Tiles of whole lines of 128 bytes, whole warps, several rows a thread; in 2D one group of threads, or several.
local function boxes(tile, dims, bytes)
  local line = 128 // bytes
  local sizes = ({
    odd = dims == 3 and { 3 * line, "x8", "z3" } or { 4 * line, "", "y3" },
    large = dims == 3 and { 2 * line, "x8", "z5,y2" } or { 4 * line, "", "y32" },
    thin = dims == 3 and { line, "x4", "z1" } or { 4 * line, "", "y1" },
    wide = dims == 3 and { 4 * line, "x4", "z40,y1" } or { 4 * line, "", "y40" },
  })[tile]
  return sizes and ("bulk tile=%d%s coarsen=%s"):format(table.unpack(sizes)) or "bulk"
end

local function schedule(method, tile, dims, bytes)
  if method == "bulk" then
    return boxes(tile, dims, bytes)
  end
  if method == "streamed" then
    return rows(method, tile, dims, bytes)
  end
  local line = method == "vec" and "naive" or method
  local wide = method == "vec" and (tile == "odd" and 2 or 16 // bytes) or nil
  local t = tiles[tile]
  if t[dims] then
    local sizes = table.move(t[dims], 1, dims, 1, {})
    if walks(method) and t.walked then
      sizes = t.walked[dims]
    elseif walks(method) and dims > 1 then
      sizes[dims] = nil
    end
    if wide then
      sizes[1] = (sizes[1] + wide - 1) // wide * wide
    end
    if method ~= "auto" or tile ~= "wide" then
      line = line .. " tile=" .. table.concat(sizes, "x")
    end
    if walks(method) or (method == "auto" and tile == "wide") then
      line = line .. " coarsen=" .. ("xyz"):sub(dims, dims) .. t.coarsen
    end
  end
  return wide and line .. " vec=" .. wide or line
end

local bulk_refusals = { "it keeps partial sums", "need sm_90", "no tap reads", "must not be periodic", "along an axis that is mirrored",
  "to both sides where x is mirrored", "take at most 256", "would need about" }

-- A tile that the schedule asks for may need more than a block has; the planner's own choice must always fit.
local may_refuse = { "bytes of shared memory a block", "registers and has" }

local function build(v)
  local kind = by_kind[v.kind]
  local shape = shapes.list[v.shape or kind[tonumber(v.turn) % #kind + 1]]
  local refusals = {}
  if v.method == "register" or v.method == "auto" then
    table.move(shape.refusals or {}, 1, 9, 1, refusals)
  end
  if (v.method == "streamed" or v.method == "bulk") and shape.dims == 1 then
    refusals[#refusals + 1] = "it walks the last of several axes"
  end
  if v.method == "bulk" then
    table.move(bulk_refusals, 1, #bulk_refusals, #refusals + 1, refusals)
  end
  if v.method == "constant" and not shape.linear then
    refusals[#refusals + 1] = "constant memory holds the weights of linear updates"
  end
  if v.tile ~= "free" then
    table.move(may_refuse, 1, #may_refuse, #refusals + 1, refusals)
  end
  return {
    spec = shapes.text(shape, v.dtype, shapes.boundary(v.boundary, shape.dims)),
    schedule = schedule(v.method, v.tile, shape.dims, shapes.bytes[v.dtype]),
    refusals = refusals,
  }
end

---- places -----------------------------------------------------------------------------------------

-- Sizes for a kernel k: k.name (the case's), k.dims, k.low[axis], k.high[axis] (its reach), k.block[axis] (points a block
-- makes), k.points (its taps).
local sizes = {
  one = function() return 1 end,
  -- narrower than the shape
  under = function(k, axis) return math.max(1, k.low[axis] + k.high[axis] - axis + 1) end,
  -- narrower than a block
  part = function(k, axis) return math.max(1, math.min(k.block[axis] - 1, 70)) end,
  tile = function(k, axis) return k.block[axis] end,
  odd = function(k, axis) return ({ { 4099 }, { 131, 67 }, { 67, 35, 29 } })[k.dims][axis] end,
  even = function(k, axis) return ({ { 4096 }, { 128, 48 }, { 64, 16, 24 } })[k.dims][axis] end,
  flat = function(k, axis) return ({ { 33 }, { 1, 70 }, { 1, 33, 9 } })[k.dims][axis] end,
  -- some blocks whose taps all lie inside the grid, and some whose taps do not
  inner = function(k, axis)
    local block = k.block[axis]
    local first = math.max(block, (k.low[axis] + block - 1) // block * block)
    return first + block + k.high[axis] + 3 - axis
  end,
}
local size_names = { "one", "under", "part", "tile", "odd", "even", "flat", "inner" }

-- A grid that would keep the reference busy for too long is cut along its last axis.
local function fit(size, k)
  local most = 3000000 // math.max(k.points, 6)
  for axis = k.dims, 1, -1 do
    local rest = 1
    for other = 1, k.dims do
      rest = rest * (other == axis and 1 or size[other])
    end
    if rest * size[axis] > most then
      size[axis] = math.max(1, math.min(size[axis], most // rest))
    end
  end
  return size
end

local layouts = {
  { name = "dense" },
  { name = "padded", pad = { 3, 2 }, vary = true },
  { name = "offset", offset = 1 },
  { name = "backward", pad = { 5, 0 }, negative = true },
  { name = "exact", guard = false }, -- nothing around the cells but what the memory's own guards see
  { name = "aligned", pad = { -16, 1 } }, -- rows begin at multiples of 16 elements
}
for _, layout in ipairs(layouts) do
  layouts[layout.name] = layout
end

-- The first cell of the box and the one behind the last, for an axis of n cells.
local boxes = {
  whole = function(n) return 0, n end,
  inside = function(n) return n // 3, n - n // 4 end,
  face = function(n, axis)
    if axis == 1 then
      return 0, n // 2 + 1
    end
    return n // 4, n
  end,
  cell = function(n, axis)
    local at = ({ n // 2, n - 1, 0 })[axis]
    return at, at + 1
  end,
  empty = function(n) return n, n end,
  -- whole blocks away from the edges: a cell that they write by mistake lies outside of the box
  blocks = function(n, axis, k)
    local block = k.block[axis]
    local first = (k.low[axis] + block - 1) // block * block
    local count = (n - k.high[axis] - first) // block
    if count < 1 then
      return 0, n
    end
    return first, first + count * block
  end,
}
local box_names = { "whole", "inside", "face", "cell", "empty", "blocks" }

local function put(v, k)
  local size, first, last = {}, {}, {}
  for axis = 1, k.dims do
    size[axis] = sizes[v.size](k, axis)
  end
  size = fit(size, k)
  for axis = 1, k.dims do
    first[axis], last[axis] = boxes[v.box](size[axis], axis, k)
  end
  return { size = size, first = first, last = last, layout = layouts[v.layout],
           steps = v.steps == "run" and 3 or nil, wild = v.data == "wild" }
end

local kernel = {
  { "method", methods },
  { "tile", tile_names },
  { "boundary", shapes.boundaries },
  { "dtype", { "float", "double" } },
}
if full then
  table.insert(kernel, 1, { "shape", names(shapes.list) })
else
  table.insert(kernel, 1, { "kind", kind_names })
  table.insert(kernel, 2, { "turn", { "1", "2", "3", "4" } })
end

return {
  kernel = kernel,
  place = {
    { "size", size_names },
    { "layout", names(layouts) },
    { "box", box_names },
    { "steps", { "launch", "run" } },
    { "data", { "plain", "wild" } }, -- wild: some NaNs, infinities, zeros of both signs, tiny and large numbers
  },
  build = build,
  put = put,
  -- for convolution.lua
  methods = methods,
  tiles = tile_names,
  schedule = schedule,
  bulk_refusals = bulk_refusals,
}
