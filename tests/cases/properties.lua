-- Properties that hold without a reference: see tests/runner/properties.c.
local shapes = require "shapes"
local cases = {}

local function add(property, shape, dtype, boundary, schedules)
  local s = shapes.list[shape]
  cases[#cases + 1] = {
    name = ("%s %s %s %s"):format(property, shape, dtype, boundary),
    spec = shapes.text(s, dtype, shapes.boundary(boundary, s.dims)),
    property = property,
    schedules = schedules,
    refusals = {
      "it walks the last of several axes",
      "in 3D an update must read as far below as above along an axis that is mirrored",
    },
    places = { { size = table.move(({ { 1201 }, { 131, 67 }, { 67, 35, 41 } })[s.dims], 1, s.dims, 1, {}) } },
  }
end

local methods = { "naive", "naive vec=2", "tiled", "coarsened", "register", "cached-halo", "streamed", "rows", "bulk", "constant" }
local any_update = table.move(methods, 1, #methods - 2, 1, {}) -- the last two are for linear ones

-- Of the shapes of 2D, and of those of 3D, each has half of the methods, and the next the other half.
local seen = { 0, 0, 0 }
local function share(dims, list)
  local some = {}
  seen[dims] = seen[dims] + 1
  for k, method in ipairs(list) do
    if full or dims == 1 or (k + seen[dims]) % 2 == 0 then
      some[#some + 1] = method
    end
  end
  return some
end

-- L(2u - v/2) = 2 L(u) - L(v)/2
for i, shape in ipairs { "star1d3", "heat2d", "box2d2", "points2d", "star3d2", "box3d1", "points3d", "upwind3d" } do
  local boundary = ({ "zero", "clamp", "mirror", "periodic", "fixed" })[i % 5 + 1]
  add("linearity", shape, i % 2 == 0 and "float" or "double", boundary, share(shapes.list[shape].dims, methods))
end

-- On a periodic grid, a shifted input makes a shifted output.
for i, shape in ipairs { "star1d3", "points1d", "box2d1", "nonlinear2d", "star3d2", "points3d", "functions2d" } do
  add("shift", shape, i % 2 == 0 and "double" or "float", "periodic", share(shapes.list[shape].dims, any_update))
end

-- Weights that add up to 1, all exact in binary, keep a constant exactly. Each method meets each boundary and each number
-- of dimensions: of three boundaries it has one in 1D, another in 2D and the last in 3D. The first of streamed, which there
-- is not in 1D, is in 2D too.
local steady = {
  "coefficients = identity() + 1/4 * laplacian { dims = 1 }",
  "coefficients = identity() + 1/8 * laplacian { dims = 2 }",
  "coefficients = identity() + 1/16 * laplacian { dims = 3 }",
}
for dims, body in ipairs(steady) do
  for i, boundary in ipairs { "clamp", "mirror", "periodic" } do
    local some = {}
    for k, method in ipairs(methods) do
      if full or (k + dims + i) % 3 == 0 or method == "streamed" and dims == 2 and i == 1 then
        some[#some + 1] = method
      end
    end
    add("constant", "heat" .. dims .. "d", i == 2 and "double" or "float", boundary, some)
    cases[#cases].spec = shapes.text({ name = "steady", body = body }, i == 2 and "double" or "float", ("%q"):format(boundary))
  end
end

-- All methods agree on the same data.
for i, shape in ipairs { "star1d3", "heat2d", "box2d2", "points2d", "nonlinear2d", "grayscott2d", "wave2d",
                         "heat3d", "box3d1", "points3d", "variable3d", "wave3d", "out3d" } do
  local boundary = ({ "mixed", "clamp", "mixed2", "periodic" })[i % 4 + 1]
  add("agreement", shape, i % 2 == 0 and "float" or "double", boundary)
end
return cases
