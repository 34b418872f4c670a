-- Cases outside the product: launches of more blocks than a grid may have along an axis,
-- tiles and boxes at their limits, parameters given by name.
local shapes = require "shapes"

local function case(name, shape, schedule, places, more)
  local out = {
    name = name,
    spec = shapes.text(shapes.list[shape], more and more.dtype or "float", more and more.boundary or "'clamp'"),
    schedule = schedule,
    places = places,
  }
  for key, value in pairs(more or {}) do
    out[key] = value
  end
  out.boundary, out.dtype = nil, nil
  return out
end

-- Odd rows and packs, one tile and less, a single point.
local function sums_at_edges(dims)
  local function size(x, y, z)
    return dims == 3 and { x, y, z } or { x, y }
  end
  return {
    { size = size(67, 13, 9), steps = 3 },
    { size = size(64, 12, 7), steps = 2, layout = { pad = { 3, 0 }, offset = 1 } },
    { size = size(129, 5, 6), layout = { guard = false } },
    { size = size(70, 9, 11), first = size(3, 2, 1), last = size(66, 8, 10) },
    { size = size(3, 2, 2), steps = 2 },
    { size = size(1, 1, 1) },
  }
end

local function short(dims)
  local places = {}
  for _, size in ipairs(dims == 2 and { { 300, 1 }, { 301, 2 }, { 260, 3 }, { 299, 9 }, { 17, 1 } }
    or { { 130, 5, 1 }, { 131, 1, 5 }, { 132, 2, 2 }, { 133, 3, 9 }, { 9, 1, 1 } }) do
    places[#places + 1] = { size = size, steps = 2 }
  end
  return places
end

local cases = {
  -- 65535 blocks is the most along y and z: these take several launches.
  case("many blocks along y", "star2d1", "naive tile=32x1", { { size = { 3, 70001 } } }),
  case("many blocks along y, tiled", "points2d", "tiled tile=4x1", { { size = { 5, 66001 } } }),
  case("many blocks along y, walked", "star2d2", "coarsened tile=8 coarsen=y1", { { size = { 3, 70001 } } }),
  case("many blocks along y, registers", "star2d1", "register tile=8 coarsen=y1", { { size = { 3, 70001 } } }),
  case("many blocks along y, sums", "box2d1", "register tile=8 coarsen=y1", { { size = { 3, 70001 } } }),
  case("many blocks along y, constant", "points2d", "constant tile=4x1", { { size = { 5, 66001 } } }),
  case("many blocks along y, cached halo", "star2d2", "cached-halo tile=4x1", { { size = { 5, 66001 } } }),
  case("many blocks along z", "star3d1", "naive tile=4x4x1", { { size = { 2, 3, 66001 } } }),
  case("many blocks along z, in a box", "star3d1", "tiled tile=4x4x1",
    { { size = { 2, 3, 66101 }, first = { 0, 1, 50 }, last = { 1, 3, 66100 }, steps = 2 } }),
  case("many blocks along z, sums", "box3d1", "register tile=4x4 coarsen=z1", { { size = { 2, 3, 66001 } } }),

  -- The largest tile with one point a thread, and one that is far larger.
  case("a block of 1024 threads", "star2d1", "tiled tile=32x32", { { size = { 65, 97 } }, { size = { 31, 31 } } }),
  case("a tile of 16384 points", "star2d1", "tiled tile=128x128", { { size = { 300, 290 } }, { size = { 5, 5 } } }),
  case("a naive tile larger than the grid", "star3d2", "naive tile=128x128x64", { { size = { 37, 21, 9 } } }),
  case("a walk longer than the grid", "star3d2", "register tile=16x8 coarsen=z1000", { { size = { 37, 21, 9 } } }),
  case("a walk of 1000 planes", "star3d1", "coarsened tile=8x8 coarsen=z1000", { { size = { 9, 9, 2011 } } }),
  case("a window of 16", "star1d8", "register tile=64 coarsen=x16", { { size = { 5000 } }, { size = { 17 } } }),
  case("a window at positions", "place1d", "register tile=7 coarsen=x3", { { size = { 1001 }, steps = 2 }, { size = { 7 } }, { size = { 1 } } },
    { boundary = "'fixed'" }),
  case("a window of one row", "upwind2d", "register tile=7 coarsen=y3", { { size = { 131, 40 }, steps = 2 }, { size = { 7, 2 } } },
    { boundary = "'mirror'", dtype = "double" }),
  case("bulk copies of two fields", "pair2d", "bulk tile=128 coarsen=y40", { { size = { 264, 75 }, steps = 2 }, { size = { 67, 9 } } },
    { boundary = "'zero'", refusals = { "need sm_90" } }),
  case("a window that does not divide", "star1d3", "register tile=50 coarsen=x17", { { size = { 5000 } } }),
  case("a window of 22 in two", "points1d", "register tile=33 coarsen=x22", { { size = { 3001 } } }),

  -- Parameters.
  case("parameters given", "given1d", "naive", { { size = { 1000 } } }, { parameters = { west = -2.5, east = 1e-3 } }),
  case("a parameter of 0", "given3d", "register", { { size = { 40, 20, 30 } } }, { parameters = { k = 0 } }),
  case("a parameter that float rounds", "given3d", "tiled", { { size = { 40, 20, 30 } } }, { parameters = { k = 0.1 } }),

  -- Boxes at the corners of a grid.
  case("corners", "star3d2", "register tile=16x4 coarsen=z5", {
    { size = { 33, 17, 19 }, first = { 0, 0, 0 }, last = { 2, 2, 2 } },
    { size = { 33, 17, 19 }, first = { 31, 15, 17 }, last = { 33, 17, 19 } },
    { size = { 33, 17, 19 }, first = { 31, 0, 17 }, last = { 33, 2, 19 }, steps = 3 },
  }, { boundary = "'periodic'" }),
  -- Tiles as wide as the grid, whose warps reach over several rows, and threads of four rows.
  case("a tile as wide as the grid", "box3d1", "streamed tile=61x8 coarsen=z4,y4 vec=1", {
    { size = { 61, 19, 9 }, steps = 2 }, { size = { 60, 8, 3 } }, { size = { 125, 9, 5 } }, { size = { 2, 3, 2 } },
  }, { boundary = "'zero'" }),
  -- Sums in double, whose loads depend on where they lie next to sides that give values: packs and single points, rows and
  -- planes all of which lie beyond a side, parts of a grid, guard cells.
  case("loads at the edges, zero", "box3d1", "streamed tile=32x4 coarsen=z4,y2 vec=2", sums_at_edges(3), { boundary = "'zero'", dtype = "double" }),
  case("loads at the edges, constant", "box3d1", "streamed tile=61x4 coarsen=z3,y4 vec=1", sums_at_edges(3), { boundary = "constant(-5/8)", dtype = "double" }),
  case("loads at the edges, sides that differ", "box3d1", "streamed tile=32x2 coarsen=z4 vec=1", sums_at_edges(3),
    { boundary = shapes.boundary("mixed2", 3), dtype = "double" }),
  case("loads at the edges, a value each", "points3d", "streamed tile=64x2 coarsen=z4,y2 vec=2", sums_at_edges(3),
    { boundary = "{ x = { constant(1/4), constant(3/4) }, y = { 'zero', constant(1/2) }, z = { constant(-1), 'fixed' } }", dtype = "double" }),
  case("loads at the edges of 2D", "box2d2", "streamed tile=64 coarsen=y4 vec=2", sums_at_edges(2), { boundary = "'zero'", dtype = "double" }),
  case("loads at the edges of 2D, sides that differ", "box2d2", "streamed tile=64 coarsen=y3 vec=1", sums_at_edges(2),
    { boundary = shapes.boundary("mixed2", 2), dtype = "double" }),
  case("a tile as wide as the grid, periodic", "star3d2", "streamed tile=47x12 coarsen=z6,y4 vec=1", {
    { size = { 47, 26, 8 }, steps = 2 }, { size = { 95, 13, 7 }, first = { 3, 1, 0 }, last = { 90, 12, 7 } }, { size = { 2, 3, 2 } },
  }, { boundary = "'periodic'" }),
  case("a tile as wide as the grid, packs", "star3d2", "streamed tile=68x3 coarsen=z8 vec=4", {
    { size = { 68, 11, 9 }, steps = 2 }, { size = { 67, 11, 9 } }, { size = { 135, 5, 4 } },
  }),
  -- Planned for grids shorter than the shape, some of which are longer, and rows shorter than a warp's.
  case("short along y, periodic", "star2d2", "streamed tile=64 coarsen=y3 vec=1", short(2), { plan = { 300, 1 }, boundary = "'periodic'" }),
  case("short along y, mirrored, packs", "box2d2", "streamed tile=128 coarsen=y3 vec=4", short(2), { plan = { 300, 1 }, boundary = "'mirror'" }),
  case("short along z, periodic, packs", "star3d2", "streamed tile=64x4 coarsen=z4,y2 vec=2", short(3), { plan = { 130, 5, 1 }, boundary = "'periodic'" }),
  case("short along y and z, mirrored", "box3d1", "streamed tile=32x4 coarsen=z4,y4 vec=1", short(3),
    { plan = { 130, 2, 1 }, boundary = "'mirror'", dtype = "double" }),
  case("short along y, values along z", "star3d2", "streamed tile=64x4 coarsen=z4 vec=2", short(3),
    { plan = { 130, 1, 5 }, boundary = "{ x = 'clamp', y = 'periodic', z = { 'zero', constant(3/4) } }" }),
  -- Packs next to the last points may reach over the end of the memory.
  case("packs at the end", "star1d1", "naive tile=64 vec=4", {
    { size = { 4097 }, layout = { guard = false } },
    { size = { 4098 }, layout = { guard = false } },
    { size = { 4099 }, layout = { guard = false } },
  }),
  case("packs at the end, upwind", "upwind1d", "naive tile=64 vec=2", {
    { size = { 4097 }, layout = { guard = false } },
    { size = { 2 }, layout = { guard = false } },
  }),
  case("corners with vec", "star3d1", "naive tile=16x4x4 vec=4", {
    { size = { 32, 17, 19 }, first = { 4, 0, 0 }, last = { 9, 2, 2 } },
    { size = { 32, 17, 19 }, first = { 28, 15, 17 }, last = { 32, 17, 19 } },
    { size = { 32, 17, 19 }, first = { 3, 1, 17 }, last = { 32, 17, 19 }, steps = 3 },
    { size = { 32, 17, 19 }, layout = { pad = { 4, 0 }, offset = 4 } },
  }, { boundary = "'zero'" }),
}

-- Kernels that read nothing: every coefficient is 0, or only parameters are left. A method has one of these in 2D, and the
-- other in 1D and 3D.
for dims, size in ipairs { { 70 }, { 9, 8 }, { 9, 8, 7 } } do
  local zeros = ("0, "):rep(2 * dims + 1)
  for i, schedule in ipairs { "naive vec=1", "naive vec=4", "tiled", "coarsened", "register", "constant", "cached-halo" } do
    if full or (i + dims) % 2 == 0 then
      cases[#cases + 1] = {
        name = ("nothing read in %dD, %s"):format(dims, schedule),
        schedule = schedule,
        spec = ("return stencil { name = 'nothing', shape = star(%d, 1), coefficients = { %s } }"):format(dims, zeros),
        places = { { size = size, steps = 2 } },
      }
    end
    if full or (i + dims) % 2 == 1 then
      cases[#cases + 1] = {
        name = ("only parameters in %dD, %s"):format(dims, schedule),
        schedule = schedule,
        spec = ("return stencil { name = 'nothing', dims = %d, boundary = 'zero', fields = { u = 'inout', v = 'in' },\n"
          .. " update = function(f, p) return p.k + 1 end }"):format(dims),
        parameters = { k = 2.5 },
        places = { { size = size } },
      }
    end
  end
end

-- As many fields as there may be, and as many that are written as a lattice of 19 speeds has.
local fields, terms = {}, {}
for i = 1, 32 do
  fields[i] = ("f%d = %q"):format(i, i == 1 and "inout" or "in")
  terms[i] = ("f.f%d(%d,%d) * (%d/32)"):format(i, i % 3 - 1, i % 2, i)
end
for _, schedule in ipairs { "naive", "naive vec=2", "tiled", "coarsened", "register", "cached-halo" } do
  cases[#cases + 1] = {
    name = "32 fields, " .. schedule,
    schedule = schedule,
    spec = ("return stencil { name = 'many', boundary = 'mirror', fields = { %s },\n update = function(f) return %s end }"):format(
      table.concat(fields, ", "), table.concat(terms, " + ")),
    refusals = { "partial sums can be kept" },
    places = { { size = { 130, 40 } }, { size = { 70, 9 }, layout = { pad = { 1, 0 }, vary = true }, steps = 2 } },
  }
end
for _, schedule in ipairs { "naive", "streamed" } do
  cases[#cases + 1] = {
    name = "nineteen speeds, " .. schedule,
    schedule = schedule,
    spec = [[
      local c, fields = {}, {}
      for z = -1, 1 do for y = -1, 1 do for x = -1, 1 do
        if x * x + y * y + z * z < 3 then
          c[#c + 1] = { x, y, z }
          fields["f" .. #c] = "inout"
        end
      end end end
      return stencil { name = "d3q19", dims = 3, fields = fields, boundary = "periodic", update = function(f)
        local sum, out = 0, {}
        for i, d in ipairs(c) do sum = sum + f["f" .. i](-d[1], -d[2], -d[3]) end
        for i, d in ipairs(c) do
          local own = f["f" .. i](-d[1], -d[2], -d[3])
          out["f" .. i] = own + (sum / 19 - own) / 4
        end
        return out
      end }]],
    refusals = { "bytes of shared memory a block" },
    places = { { size = { 35, 9, 7 } }, { size = { 1, 3, 2 }, steps = 2 } },
  }
end
return cases
