-- Kernels whose plan.h is kept in tests/golden, so that a change of what is written shows.
local shapes = require "shapes"
local cases = {}

local function keep(name, shape, schedule, dtype, boundary)
  local s = shapes.list[shape]
  cases[#cases + 1] = {
    name = name,
    spec = shapes.text(s, dtype or "float", shapes.boundary(boundary or "fixed", s.dims)),
    schedule = schedule,
    golden = true,
    places = { { size = table.move({ 67, 35, 29 }, 1, s.dims, 1, {}) } },
  }
end

keep("naive_heat3d", "heat3d", "naive tile=32x4x2 vec=1 time=1")
keep("vec_heat3d", "heat3d", "naive tile=64x4x1 vec=4 time=1")
keep("vec_points3d", "points3d", "naive tile=64x4x1 vec=2 time=1", "double", "mixed")
keep("tiled_box2d", "box2d1", "tiled tile=32x8 vec=1 time=1", "float", "clamp")
keep("tiled_odd", "star3d1", "tiled tile=7x5x3 vec=1 time=1", "double", "mixed2")
keep("coarsened_star3d", "star3d2", "coarsened tile=32x8 coarsen=z16 vec=1 time=1", "float", "constant")
keep("register_heat3d", "heat3d", "register tile=32x8 coarsen=z16 vec=1 time=1")
keep("register_star2d", "star2d2", "register tile=128 coarsen=y16 vec=1 time=1", "double", "periodic")
keep("sums_box3d", "box3d1", "register tile=32x8 coarsen=z16 vec=1 time=1", "float", "mirror")
keep("window_star1d", "star1d2", "register tile=128 coarsen=x4 vec=1 time=1", "float", "zero")
keep("fields_variable3d", "variable3d", "register tile=32x8 coarsen=z8 vec=1 time=1")
keep("levels_wave2d", "wave2d", "tiled tile=32x8 vec=1 time=1", "double", "zero")
keep("two_grayscott2d", "grayscott2d", "coarsened tile=128 coarsen=y16 vec=1 time=1", "float", "periodic")
keep("out_out3d", "out3d", "naive tile=32x4x2 vec=1 time=1")
keep("branches_nonlinear2d", "nonlinear2d", "register tile=128 coarsen=y16 vec=1 time=1", "float", "clamp")
keep("constant_points2d", "points2d", "constant tile=64x4 vec=1 time=1", "double", "mixed")
keep("constant_given3d", "given3d", "constant tile=32x4x2 vec=1 time=1")
keep("cached_halo_box2d", "box2d1", "cached-halo tile=32x8 vec=1 time=1", "float", "clamp")
keep("given_given1d", "given1d", "naive tile=256 vec=1 time=1")
return cases
