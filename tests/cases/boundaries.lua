-- Boundaries of fields, and values that arguments give: every template that serves them, on each axis
-- and side, odd sizes, grids smaller than the reach, rows that cannot be packed, boxes, and steps.
local shapes = require "shapes"

-- Taps of three fields on every side, so that each rule shows.
local updates = {
  [[f.u(0) / 2 + f.u(1) / 8 - f.u(-2) / 4 + f.c(1) * f.d(-3) + f.c(-1) / 8 - f.d(2) / 16 + f.w.prev(1) / 8]],
  [[f.u(0,0) / 2 + (f.u(1,0) - f.u(-1,0) + f.u(0,1) - f.u(0,-2)) / 8 + f.c(1,1) * f.d(-1,0) - f.c(-2,0) / 8
    + f.d(2,0) / 16 + f.d(0,-1) * f.c(0,1) + f.w.prev(0,1) / 8 - f.w.prev(-1,0) / 4]],
  [[f.u(0,0,0) / 2 + (f.u(1,0,0) - f.u(-1,0,0) + f.u(0,1,0) - f.u(0,-1,0) + f.u(0,0,1) - f.u(0,0,-2)) / 8
    + f.c(1,0,1) * f.d(-1,0,0) - f.c(0,-2,0) / 8 + f.d(0,0,2) / 16 + f.d(0,-1,0) * f.c(0,1,-1) + f.w.prev(0,1,0) / 8]],
}
-- The same without products of fields, for kernels that keep partial sums.
local sums = {
  [2] = [[f.u(0,0) / 2 + (f.u(1,0) - f.u(-1,0) + f.u(0,1) - f.u(1,-2)) / 8 + f.c(1,1) / 4 - f.c(-2,0) / 8 + f.d(2,-1) / 16
    + f.d(-1,1) / 2 + f.w.prev(0,1) / 8]],
  [3] = [[f.u(0,0,0) / 2 + (f.u(1,0,1) - f.u(-1,0,0) + f.u(0,1,-1) - f.u(0,0,2)) / 8 + f.c(1,1,0) / 4 - f.c(0,-2,1) / 8
    + f.d(2,0,-1) / 16 + f.d(0,-1,1) / 2 + f.w.prev(0,1,0) / 8]],
}
-- Rules of u, c, d and w along x, y and z; where none is given, the rule of all.
local sets = {
  { all = [["zero"]], u = { [[{ "clamp", constant(param "U") }]], [["mirror"]], [["zero"]] },
    c = { [["mirror"]], [[{ constant(param "V"), "mirror" }]], [["clamp"]] }, d = { [[constant(3/8)]] } },
  { all = [[constant(param "U")]], c = { [["zero"]], [["clamp"]], [[{ "zero", constant(-1/4) }]] },
    w = { [[{ constant(param "V"), "clamp" }]], nil, [["clamp"]] } },
  { all = [["periodic"]], u = { nil, [["periodic"]] } },
  { all = [[{ "clamp", "mirror" }]], d = { [[{ "zero", "mirror" }]], [["mirror"]] }, w = { [["zero"]], [["zero"]], [["mirror"]] } },
  -- What is written is fixed at one end; the rest has values everywhere.
  { all = [["clamp"]], u = { [[{ "fixed", "clamp" }]], [[{ "clamp", "fixed" }]] }, w = { [[{ "fixed", "zero" }]], [[{ "zero", "fixed" }]] } },
}

local function axes(rules, dims)
  local out = {}
  for axis = 1, dims do
    if rules and rules[axis] then
      out[#out + 1] = ("xyz"):sub(axis, axis) .. " = " .. rules[axis]
    end
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

local function text(set, dims, dtype, update)
  return ([[return stencil { name = "own", dtype = %q, boundary = %s, parameters = { U = 0.75, V = -0.375 },
    fields = { u = { use = "inout", boundary = %s }, c = { use = "in", boundary = %s }, d = { use = "in", boundary = %s },
      w = { use = "inout", levels = 2, boundary = %s } },
    update = function(f, p) return { u = %s, w = f.w%s / 2 + f.u%s / 4 } end }]]):format(dtype,
    axes({ set.all, set.all, set.all }, dims), axes(set.u, dims), axes(set.c, dims), axes(set.d, dims), axes(set.w, dims), update,
    ({ "(0)", "(0,0)", "(0,0,0)" })[dims], ({ "(0)", "(0,0)", "(0,0,0)" })[dims])
end

local odd = { { 1001 }, { 67, 23 }, { 35, 11, 9 } }
local even = { { 1024 }, { 80, 24 }, { 48, 12, 9 } }
local function places(dims)
  return {
    { size = odd[dims], steps = 2 },
    { size = even[dims], first = table.move({ 8, 2, 2 }, 1, dims, 1, {}), last = table.move({ 33, 9, 7 }, 1, dims, 1, {}) },
    { size = even[dims], layout = { pad = { 3, 1 }, offset = 1 } },
    { size = table.move({ 1, 1, 1 }, 1, dims, 1, {}) },
    { size = table.move({ 3, 2, 2 }, 1, dims, 1, {}), steps = 2 },
  }
end

local schedules = {
  { 1, "naive tile=64" }, { 1, "naive tile=128 vec=4" }, { 1, "tiled tile=96" }, { 1, "register tile=64 coarsen=x4" },
  { 2, "naive tile=32x4 vec=2" }, { 2, "tiled tile=7x5" }, { 2, "coarsened tile=16 coarsen=y5" },
  { 2, "cached-halo tile=16x8" }, { 2, "streamed tile=64 vec=4 coarsen=y3" }, { 2, "streamed tile=64 vec=1 coarsen=y3" },
  { 3, "naive tile=16x4x4 vec=4" }, { 3, "tiled tile=7x5x3" }, { 3, "coarsened tile=16x4 coarsen=z5" },
  { 3, "cached-halo tile=8x4x4" }, { 3, "streamed tile=64x4 vec=4 coarsen=z3,y2" },
  { 2, "register tile=24 coarsen=y3", sums }, { 3, "register tile=16x4 coarsen=z5", sums }, { 2, "constant tile=16x4", sums },
  { 3, "streamed tile=44x6 vec=2 coarsen=z3,y3", sums }, { 2, "streamed tile=128 coarsen=y8", sums },
  { 2, "bulk tile=64 coarsen=y16", sums }, { 3, "bulk tile=32x8 coarsen=z5", sums },
  { 1, "rows tile=300" }, { 2, "rows tile=40x3" }, { 3, "rows tile=64x3x2" }, { 3, "rows tile=64x4x4" },
}

local cases = {}
for i, entry in ipairs(schedules) do
  for k = 0, 1 do
    local which = (i + 2 * k) % #sets + 1
    local update = (entry[3] or updates)[entry[1]]
    -- streamed finds a cell beyond an end once, so nothing may be mirrored there and clamped too
    local walks = entry[2]:match "^streamed" and (which == 1 or which == 4)
    local set = walks and sets[2] or sets[which]
    cases[#cases + 1] = {
      name = ("%dD, rules %d, %s"):format(entry[1], which, entry[2]),
      schedule = entry[2],
      arch = entry[2]:match "^bulk" and "sm_90" or nil,
      spec = text(set, entry[1], i % 3 == 0 and not entry[2]:match "vec=4" and "double" or "float", update),
      places = places(entry[1]),
      parameters = i % 2 == 0 and { U = 0.625 } or nil,
    }
  end
end
-- One field, whose ends a launch gives: as a lid that moves.
for _, entry in ipairs { { "heat2d", "register tile=24 coarsen=y3" }, { "heat3d", "streamed tile=64x8 coarsen=z8" },
  { "heat3d", "streamed tile=128x4 vec=4 coarsen=z4" }, { "star2d2", "constant tile=16x4" },
  { "heat2d", "rows tile=40x3" } } do
  local shape = shapes.list[entry[1]]
  cases[#cases + 1] = {
    name = ("a lid, %s, %s"):format(entry[1], entry[2]),
    schedule = entry[2],
    spec = shapes.text(shape, "float", [[{ x = "clamp", y = { constant(param "U"), "mirror" } }]]),
    places = places(shape.dims),
    parameters = { U = 1.5 },
  }
end
return cases
