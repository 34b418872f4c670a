-- Kernels whose plan.h is kept in tests/golden, so that a change of the generator's text shows.
local shapes = require "shapes"
local cases = {}

local function keep(name, shape, schedule, dtype, boundary, storage)
  local s = shapes.list[shape]
  cases[#cases + 1] = {
    name = name,
    spec = shapes.text(s, dtype or "float", shapes.boundary(boundary or "fixed", s.dims) ..
      (storage and (", storage = %q"):format(storage) or "")),
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
keep("streamed_star3d", "star3d2", "streamed tile=128x8 coarsen=z6,y2 vec=4 time=1", "float", "fixed")
keep("streamed_two2d", "grayscott2d", "streamed tile=128 coarsen=y4 vec=2 time=1", "double", "mixed")
keep("streamed_sums_box3d", "box3d1", "streamed tile=64x8 coarsen=z6,y2 vec=2 time=1", "double", "periodic")
keep("bulk_star3d", "star3d2", "bulk tile=64x16 coarsen=z32,y2 vec=4 time=1", "float", "fixed")
cases[#cases].refusals = { "need sm_90" }
keep("bulk_box2d", "box2d1", "bulk tile=64 coarsen=y32 vec=2 time=1", "double", "zero")
cases[#cases].refusals = { "need sm_90" }
keep("bulk_scaled2d", "wave2d", "bulk tile=64 coarsen=y32 vec=2 time=1", "double", "fixed")
cases[#cases].refusals = { "need sm_90" }
keep("bulk_half3d", "star3d2", "bulk tile=64x32 coarsen=z32,y2 vec=8 time=1", "float", "fixed", "half")
cases[#cases].refusals = { "need sm_90" }
-- A layer that a sum's point finds by its place.
cases[#cases + 1] = {
  name = "bulk_placed3d",
  spec = [[return stencil { name = "sponge", boundary = "zero", update = function(u, p, at)
      local rim = min(min(at.x, at.nx - 1 - at.x), min(at.y, at.ny - 1 - at.y), at.nz - 1 - at.z)
      return where(lt(rim, 20), rim / 32 + 3/8, 1) * (u(0,0,0) + apply(laplacian { dims = 3 }, u) / 8)
    end }]],
  schedule = "bulk tile=64x16 coarsen=z32,y2 vec=4 time=1",
  golden = true,
  refusals = { "need sm_90" },
  places = { { size = { 67, 35, 29 } } },
}
keep("cached_halo_box2d", "box2d1", "cached-halo tile=32x8 vec=1 time=1", "float", "clamp")

-- Stages of a system, made one after the other in one launch: planes in shared memory, columns in registers, and strips.
for _, chain in ipairs { { "chained_waves2d", "1-2: chained tile=24 coarsen=y16 vec=4 time=1 lane=2" },
                        { "chained_columns2d", "1-2: chained tile=26 coarsen=y16 vec=1 time=1 lane=1" },
                        { "chained_strips2d", "1-2: chained tile=112 coarsen=y16 vec=1 time=1 lane=2" },
                        { "chained_steps2d", "1-2: chained tile=56 coarsen=y16 vec=1 time=2 lane=2" } } do
  cases[#cases + 1] = {
    name = chain[1],
    spec = [[return system { name = "waves", dtype = "float", fields = { p = "inout", u = "inout", v = "inout" },
      boundary = { x = "zero", y = { "fixed", "clamp" } }, parameters = { r = 0.5 },
      stages = {
        { update = function(f, p) return { u = f.u(0, 0) - p.r * (f.p(1, 0) - f.p(0, 0)),
                                           v = f.v(0, 0) - p.r * (f.p(0, 1) - f.p(0, -1)) } end },
        { update = function(f, p) return { p = f.p(0, 0) - p.r * (f.u(0, 0) - f.u(-1, 0) + f.v(0, 0) - f.v(0, -1)) } end },
      } }]],
    schedule = chain[2],
    golden = true,
    compiled = true, -- the runner judges no systems
    places = { { size = { 67, 35 } } },
  }
end

-- Quotients that points make together.
cases[#cases + 1] = {
  name = "streamed_quotients2d",
  spec = [[return stencil { name = "quotients", boundary = "clamp", fields = { a = "in", b = "in", q = "out", r = "out" },
    update = function(f)
      return { q = f.b(0, 0) / f.a(0, 0) + 1 / f.a(1, 0), r = sqrt(f.b(0, 1)) / f.a(0, -1) }
    end }]],
  schedule = "streamed tile=128 coarsen=y8 vec=4 time=1",
  golden = true,
  places = { { size = { 67, 35 } } },
}

-- Walks that take turns.
cases[#cases + 1] = {
  name = "streamed_order2d",
  spec = [[return stencil { name = "two", boundary = "clamp", fields = { u = "inout", v = "inout" },
    update = function(f)
      local u, v = f.u, f.v
      return { u = u(0, 0) + u(0, 1) * v(0, 0) / 8, v = v(0, 0) - v(0, -1) * u(0, 0) / 8 }
    end }]],
  schedule = "streamed tile=512 coarsen=y32 vec=4 time=1",
  golden = true,
  places = { { size = { 67, 35 } } },
}

-- A flux that a step of the walk computes for the next one.
cases[#cases + 1] = {
  name = "streamed_carried2d",
  spec = [[return stencil { name = "flux", boundary = "clamp", update = function(u)
      local function through(a, b) return a / (2 + abs(b)) - b / (3 + abs(a)) end
      return u(0, 0) + through(u(0, -1), u(0, 0)) - through(u(0, 0), u(0, 1)) + u(1, 0) / 8
    end }]],
  schedule = "streamed tile=128 coarsen=y8 vec=4 time=1",
  golden = true,
  places = { { size = { 67, 35 } } },
}

-- The same with reciprocals that neighbouring points share.
cases[#cases + 1] = {
  name = "streamed_shares2d",
  spec = [[return stencil { name = "shares", boundary = "clamp", fields = { a = "in", q = "out" }, update = function(f)
      local function through(y)
        local left, right, below = 1 / f.a(0, y), 1 / f.a(1, y), 1 / f.a(0, y - 1)
        return (left - below) * (1 / (3 + right * right)) * sqrt(left * left + below * below)
      end
      return through(1) - through(0)
    end }]],
  schedule = "streamed tile=128 coarsen=y8 vec=4 time=1",
  golden = true,
  places = { { size = { 67, 35 } } },
}

-- A filter in passes: the arguments that they share, then the plan.h of each.
cases[#cases + 1] = {
  name = "passes_filter2d",
  spec = [[return convolution { name = "filter", boundary = { x = "mirror", y = "zero" },
    weights = { { 1/16, 2/16, 1/16 }, { 2/16, 4/16, 2/16 }, { 1/16, 2/16, 1/16 } } }]],
  schedule = "register tile=64 coarsen=y8 vec=1 time=1 passes=2",
  golden = true,
  places = { { size = { 67, 35 } } },
}
-- One pass of a filter whose rows are one row times factors, one of them 0 and one negative.
cases[#cases + 1] = {
  name = "streamed_separable2d",
  spec = [[return convolution { name = "filter", boundary = "clamp",
    weights = { { -1/8, -2/8, -1/8 }, { 1/4, 2/4, 1/4 }, { 0, 0, 0 }, { 1/16, 2/16, 1/16 } } }]],
  schedule = "streamed tile=128 coarsen=y8 vec=4 time=1 passes=1",
  golden = true,
  places = { { size = { 67, 35 } } },
}
-- Several steps a launch: the arguments, then the plan.h of each kernel.
keep("line_star1d", "star1d2", "temporal time=16 lane=12", "float", "zero")
keep("pipeline_star2d", "star2d2", "temporal time=8 lane=10 stages=4 coarsen=y64", "double", "periodic")
keep("resident_grayscott2d", "grayscott2d", "resident time=3 tile=24x16", "float", "mirror")
keep("overlapped_grayscott2d", "grayscott2d", "overlapped time=3 tile=24x16", "float", "mirror")
keep("rows_star3d", "star3d2", "rows tile=512x8x16 vec=1 time=1", "float", "mixed")
keep("stars_heat3d", "heat3d", "temporal time=2 tile=24x24 lane=4x4 coarsen=z20")
keep("levels_box3d", "box3d1", "temporal time=2 tile=24x12 lane=4x2 coarsen=z40", "double", "mirror")
keep("levels_boxes3d", "box3d1", "temporal time=2 tile=28x12 lane=2x2 coarsen=z40", "double", "fixed")
keep("cascade_wave2d", "wave2d", "temporal time=4 lane=4 coarsen=y64", "float", "zero")
cases[#cases].places[1].steps = { 4 } -- one launch makes several steps only in a run
keep("cascade_pair3d", "pair3d", "temporal time=2 tile=24x12 lane=4x2 coarsen=z20", "float", "mirror")
-- A wave, whose step reads two levels.
cases[#cases + 1] = {
  name = "pipeline_wave2d",
  spec = [[return stencil { name = "wave", boundary = "zero", fields = { u = { use = "inout", levels = 2 } },
    update = function(f, p) return 2 * f.u(0,0) - f.u.prev(0,0) + apply(laplacian { dims = 2 }, f.u) / 8 end }]],
  schedule = "temporal time=4 lane=4 stages=2 coarsen=y32",
  golden = true,
  places = { { size = { 200, 35 }, steps = { 4 } } }, -- one launch makes several steps only in a run
}
cases[#cases + 1] = {
  name = "levels_wave3d",
  spec = [[return stencil { name = "wave", boundary = "zero", fields = { u = { use = "inout", levels = 2 } },
    update = function(f, p) return 2 * f.u(0,0,0) - f.u.prev(0,0,0) + apply(laplacian { dims = 3 }, f.u) / 16 end }]],
  schedule = "temporal time=2 tile=28x12 lane=2x2 coarsen=z16",
  golden = true,
  places = { { size = { 40, 35, 20 }, steps = { 2 } } },
}
cases[#cases + 1] = {
  name = "pipeline_symmetric2d",
  spec = [[return stencil { name = "blur", shape = box(2, 1), dtype = "float",
    coefficients = { 1/16, 2/16, 1/16, 2/16, 4/16, 2/16, 1/16, 2/16, 1/16 } }]],
  schedule = "temporal time=8 lane=12 stages=2 coarsen=y64",
  golden = true,
  places = { { size = { 1100, 35 } } },
}
keep("given_given1d", "given1d", "naive tile=256 vec=1 time=1")

-- Lists: an operator, an order or a map stands in plan.h with the arguments and the constants.
local function keep_list(name, spec, schedule)
  cases[#cases + 1] = { name = name, spec = "return " .. spec, schedule = schedule, golden = true,
                        places = { { size = { 3001 }, layout = { offset = 1, vary = true } } } }
end

keep_list("reduce_sum", "reduce { name = 'sum', dtype = 'float' }", "one-pass")
keep_list("reduce_dot", [[reduce { name = 'dot', dtype = 'double', inputs = 2, parameters = { k = 2 },
  map = function(x, y, p) return p.k * x * y end }]], "shared threads=256")
keep_list("reduce_argmin", "reduce { name = 'least', op = 'argmin', dtype = 'int64', segmented = true }", "one-pass")
keep_list("scan_sum", "scan { name = 'sum', dtype = 'int32', kind = 'exclusive' }", "look-back threads=256 items=15")
keep_list("scan_persistent", "scan { name = 'sum', dtype = 'float', deterministic = true }",
  "persistent threads=256 items=12 stages=3 blocks=2")
keep_list("scan_own", [[scan { name = 'own', dtype = 'double', identity = 0, init = 1,
  op = function(a, b) return where(eq(b, 0), a, b) end, map = function(x) return x * x end }]],
  "brent-kung threads=128 items=2")
keep_list("merge_values", "merge { name = 'pairs', keys = 'int64', values = 'float' }", "merge-path threads=256 items=7")
keep_list("merge_own", [[merge { name = 'own', keys = 'float', parameters = { k = 2 },
  order = function(a, b, p) return lt(max(a, p.k), max(b, p.k)) end }]], "circular threads=128 items=8 rounds=4")
keep_list("spmv_csr", "spmv { name = 'product', dtype = 'double', index = 'int64' }", "csr balanced threads=256 items=7")
keep_list("spmv_sell", "spmv { name = 'product', dtype = 'float', vectors = 3 }", "sell slice=32 sigma=1024 threads=256")
keep_list("spmv_stencil", [[spmv { name = 'product', dtype = 'double', matrix = 'float',
  diagonals = { {0, 0.7}, {-1, -1}, {1, -0.1}, {1000000, 1e-30} } }]], "stencil threads=128 items=4 apart=32")
return cases
