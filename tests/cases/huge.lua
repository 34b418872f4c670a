-- Grids of more than 2^31 cells, of which a small box is updated: along every axis, and by every
-- method and template. On the cpu device only the cells that are needed take memory.
local shapes = require "shapes"

local far = 1 << 31
local schedules = {
  { "naive tile=64", "naive tile=32x4", "naive tile=16x4x2" },
  { "naive tile=64 vec=4", "naive tile=64x2 vec=4", "naive tile=32x2x2 vec=4" },
  { "tiled tile=100", "tiled tile=32x4", "tiled tile=16x4x2" },
  { "coarsened tile=64 coarsen=x4", "coarsened tile=32 coarsen=y5", "coarsened tile=16x4 coarsen=z5" },
  { "register tile=64 coarsen=x4", "register tile=32 coarsen=y5", "register tile=16x4 coarsen=z5" },
}
local methods = { "naive", "vec", "tiled", "coarsened", "register" }
local index = {}
for i, method in ipairs(methods) do
  index[method] = i
end

-- The long axis is the last one, or x; its size is not a multiple of anything. Or the rows of a small
-- grid lie far apart.
local function long_size(dims, long)
  if long == "last" then
    return ({ { far + 777 }, { 45, far + 777 }, { 5, 4, far + 777 } })[dims]
  elseif long == "x" then
    return table.move({ far + 777, 4, 3 }, 1, dims, 1, {})
  elseif long == "stride" then
    return table.move({ 45, 11, 7 }, 1, dims, 1, {})
  end
  return ({ { far + 777 }, { 46349, 46351 }, { 2053, 1031, 1033 } })[dims] -- long together
end

-- Along each axis: at the low edge, behind 2^31 cells, or at the high edge.
local function box(n, where)
  if where == "begin" then
    return 0, math.min(n, 40)
  elseif where == "end" then
    return math.max(0, n - 37), n
  end
  local at = n > far and far - 20 or n // 2
  return at, math.min(n, at + 41)
end

return {
  kernel = {
    { "shape", { "star1d3", "points1d", "heat2d", "box2d1", "wave2d", "heat3d", "box3d1", "out3d" } },
    { "method", methods },
    { "boundary", { "fixed", "clamp", "mirror", "periodic", "zero" } },
  },
  place = {
    { "long", { "last", "x", "all", "stride" } },
    { "box", { "begin", "middle", "end" } },
  },
  build = function(v)
    local shape = shapes.list[v.shape]
    return {
      spec = shapes.text(shape, "float", shapes.boundary(v.boundary, shape.dims)),
      schedule = schedules[index[v.method]][shape.dims],
      huge = true,
    }
  end,
  put = function(v, k)
    local size, first, last = long_size(k.dims, v.long), {}, {}
    for axis = 1, k.dims do
      first[axis], last[axis] = box(size[axis], v.box)
    end
    return { size = size, first = first, last = last,
             layout = { pad = { v.long == "stride" and far + 3 or 0, 0 } } }
  end,
}
