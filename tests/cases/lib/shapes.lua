-- The specs that the cases are made of. Each shape is a table:
--   name, dims, points (roughly, for the size of grids), body (the keys of its stencil),
--   linear (one field, weights alone), refusals (texts by which a method may refuse it, and why)
-- and text(shape, dtype, boundary) is its spec.
local shapes = {}
local list = {}

-- Numbers are written as fractions, so that no locale changes them.
local function fraction(i, count)
  local sign = i % 3 == 2 and "-" or ""
  return sign .. (i * 37 % 101 + 20) .. "/" .. 64 * count
end

-- That many coefficients, all different, so that a confusion of taps shows.
local function distinct(count)
  local out = {}
  for i = 0, count - 1 do
    out[#out + 1] = fraction(i, count)
  end
  return "coefficients = { " .. table.concat(out, ", ") .. " }"
end

local function add(name, dims, points, body, more)
  local shape = { name = name, dims = dims, points = points, body = body }
  for key, value in pairs(more or {}) do
    shape[key] = value
  end
  list[#list + 1] = shape
  list[name] = shape
end

local linear = { linear = true }

local function star(dims, radius)
  local count = 1 + 2 * dims * radius
  add(("star%dd%d"):format(dims, radius), dims, count,
    ("shape = star(%d, %d), %s"):format(dims, radius, distinct(count)), linear)
end

local function box(dims, radius)
  local count = (2 * radius + 1) ^ dims // 1 | 0
  add(("box%dd%d"):format(dims, radius), dims, count,
    ("shape = box(%d, %d), %s"):format(dims, radius, distinct(count)), linear)
end

-- The classic seven.
star(1, 1) star(1, 2) star(1, 3) star(2, 1) star(2, 2) star(3, 1) star(3, 2)
box(2, 1) box(2, 2) box(3, 1) box(3, 2)
star(1, 8) star(2, 8) star(3, 8)

-- Equal coefficients, which are factored.
add("heat1d", 1, 7, "coefficients = identity() + 1/8 * laplacian { dims = 1, accuracy = 6 }", linear)
add("heat2d", 2, 9, "coefficients = identity() + 1/16 * laplacian { dims = 2, accuracy = 4 }", linear)
add("heat3d", 3, 13, "coefficients = identity() + 1/32 * laplacian { dims = 3, accuracy = 4 }", linear)

-- Shapes without symmetry, without their centre, along one axis, and of one point.
add("points1d", 1, 3, "shape = points { {-3}, {1}, {5} }, " .. distinct(3), linear)
add("points2d", 2, 5, "shape = points { {0,0}, {2,-1}, {-3,0}, {1,1}, {0,4} }, " .. distinct(5), linear)
add("points3d", 3, 6,
  "shape = points { {1,0,0}, {-2,1,0}, {0,-3,2}, {0,0,-1}, {3,0,1}, {0,1,-4} }, " .. distinct(6), linear)
add("upwind1d", 1, 3, "shape = points { {0}, {-1}, {-2} }, " .. distinct(3), linear)
add("upwind2d", 2, 3, "shape = points { {0,0}, {1,0}, {0,-1} }, " .. distinct(3), linear)
add("upwind3d", 3, 6,
  "shape = points { {0,0,0}, {-1,0,0}, {-2,0,0}, {0,1,0}, {0,2,0}, {0,0,-1} }, " .. distinct(6), linear)
add("column3d", 3, 3, "shape = points { {0,0,-2}, {0,0,0}, {0,0,1} }, " .. distinct(3), linear)
add("behind3d", 3, 2, "shape = points { {0,0,2}, {1,1,3} }, " .. distinct(2), linear)
add("single2d", 2, 1, "shape = points { {0,0} }, coefficients = { 3/4 }", linear)

-- Partial sums need an update that is linear with the same weights everywhere.
local no_sums = { refusals = { "partial sums can be kept" } }

add("minmax1d", 1, 3, [[
  update = function(u, p)
    return max(min(u(-1), u(1)), where(lt(u(0), 0), u(0) * u(1), sqrt(abs(u(0)))))
  end]])
add("nonlinear2d", 2, 5, [[
  update = function(u, p)
    local steep = abs(u(1,0) - u(-1,0)) + abs(u(0,1) - u(0,-1))
    return where(gt(steep, 1), min(u(1,0), u(0,1)), u(0,0) + sqrt(steep) * (u(0,-1) - u(0,0)) / (1 + steep * steep))
  end]])
add("nonlinear3d", 3, 9, [[
  update = function(u, p)
    local corner = max(u(1,1,1), u(-1,-1,-1)) * min(u(1,-1,0), u(-1,1,0))
    return u(0,0,0) + corner * (u(0,0,1) - u(0,0,-1)) / 4
  end]], no_sums)
add("functions2d", 2, 5, [[
  update = function(u, p)
    local s = exp(u(1,0)) + sin(u(-1,0)) * cos(u(0,1))
    return tanh(s) + log(2 + u(0,-1)) + pow(abs(u(0,0)) + 1/2, 3) - floor(4 * u(0,0)) / 8
  end]])

-- Positions: sub-domains, sources and damping by the place, and the step.
add("place1d", 1, 3, [[
  update = function(u, p, at)
    return u(0) / 2 + where(lt(at.x, 20), u(1), u(-2)) / 4 + at.x / 4096 - at.step * u(1) / 64 + at.nx / 8192
  end]])
add("place2d", 2, 6, [[
  fields = { u = "inout", c = "in" },
  update = function(f, p, at)
    local rim = min(min(at.x, at.nx - 1 - at.x), min(at.y, at.ny - 1 - at.y))
    local damp = where(lt(rim, 6), (6 - rim) / 8, 0)
    local source = where(all(eq(at.x, 9), eq(at.y, 4)), sin(at.step / 4), f.c(0, 1) / 8)
    return (1 - damp) * (f.u(0,0) + (f.u(1,0) + f.u(-1,0) + f.u(0,1) + f.u(0,-1) - 4 * f.u(0,0)) / 8) + source
  end]])
add("place3d", 3, 5, [[
  update = function(u, p, at)
    local layer = where(ge(at.z, at.nz - 3), u(1,0,0), u(0,0,-2))
    return u(0,0,0) / 2 + layer / 4 + where(gt(at.y, at.x), u(0,-1,0), at.z - at.y) / 64 + at.step / 16 + at.ny / 1024
  end]])

-- Several arrays: coefficients that are fields, levels, an out field, two fields at once.
add("variable1d", 1, 5, [[
  fields = { u = "inout", c = "in" },
  update = function(f, p)
    return f.u(0) + (f.c(1) * (f.u(1) - f.u(0)) - f.c(-2) * (f.u(0) - f.u(-1))) / 8
  end]])
add("variable2d", 2, 9, [[
  fields = { u = "inout", c = "in" },
  update = function(f, p)
    return f.u(0,0) + f.c(0,0) * (f.u(1,0) + f.u(-1,0) + f.u(0,1) + f.u(0,-1) - 4 * f.u(0,0)) / 8
  end]])
add("variable3d", 3, 14, [[
  fields = { u = "inout", c = "in", d = "in" },
  update = function(f, p)
    local u, c = f.u, f.c
    return u(0,0,0) + c(0,0,0) * (u(1,0,0) + u(-1,0,0) + u(0,1,0) + u(0,-1,0) - 4 * u(0,0,0)) / 8
      + c(0,0,1) * u(0,0,1) - c(0,0,-2) * u(0,0,-1) + f.d(1,0,0) / 4
  end]])
add("wave1d", 1, 4, [[
  fields = { u = { use = "inout", levels = 2 } },
  update = function(f, p) return 2 * f.u(0) - f.u.prev(0) + (f.u(1) - 2 * f.u(0) + f.u(-1)) / 4 end]])
add("wave2d", 2, 11, [[
  fields = { u = { use = "inout", levels = 2 }, c = "in" }, parameters = { r = 0.5 },
  update = function(f, p)
    return 2 * f.u(0,0) - f.u.prev(0,0) + (p.r * f.c(0,0)) ^ 2 * apply(laplacian { dims = 2, accuracy = 4 }, f.u)
  end]])
add("wave3d", 3, 9, [[
  fields = { u = { use = "inout", levels = 2 } },
  update = function(f, p)
    local u, prev = f.u, f.u.prev
    return 2 * u(0,0,0) - prev(0,0,0) + (u(1,0,0) + u(-1,0,0) + u(0,1,0) + u(0,-1,0) + u(0,0,1) + u(0,0,-1)
      - 6 * u(0,0,0)) / 8 + (prev(0,1,0) - prev(0,0,-1)) / 16
  end]])
add("grayscott2d", 2, 10, [[
  fields = { u = "inout", v = "inout" }, parameters = { F = 0.037, k = 0.06, Du = 0.2, Dv = 0.1 },
  update = function(f, p)
    local lap = laplacian { dims = 2 }
    local u, v = f.u(0, 0), f.v(0, 0)
    local reaction = u * v ^ 2
    return { u = u + p.Du * apply(lap, f.u) - reaction + p.F * (1 - u),
             v = v + p.Dv * apply(lap, f.v) + reaction - (p.F + p.k) * v }
  end]])
add("pair3d", 3, 8, [[
  fields = { u = "inout", v = "inout" },
  update = function(f, p)
    return { u = f.u(0,0,1) / 2 + f.v(1,0,0) / 4, v = f.v(0,-1,0) / 2 - f.u(0,0,-1) / 4 }
  end]])
add("pair2d", 2, 8, [[
  fields = { u = "inout", v = "inout" },
  update = function(f, p)
    return { u = f.u(1,1) / 2 + f.v(-1,0) / 4 + 1/8, v = f.v(0,-1) / 2 - f.u(-1,1) / 4 }
  end]])
add("out2d", 2, 4, [[
  fields = { a = "in", s = "out" },
  update = function(f, p) return (f.a(1,0) - f.a(-1,0)) / 2 + (f.a(0,1) - f.a(0,-1)) / 4 end]])
add("out3d", 3, 7, [[
  fields = { u = "inout", flux = "out", c = "in" },
  update = function(f, p)
    local slope = f.u(0,0,1) - f.u(0,0,-1)
    return { u = f.u(0,0,0) + (f.u(1,0,0) + f.u(0,1,0) - 2 * f.u(0,0,0)) / 8 + slope / 4, flux = f.c(0,0,0) * slope }
  end]])

-- Parameters, as coefficients and in an update; one without a default.
add("given1d", 1, 3, [[shape = star(1, 1), coefficients = { 1/2, param "west", param "east" }]])
add("given3d", 3, 7, [[
  shape = star(3, 1), parameters = { k = 0.125, source = 0.25 },
  update = function(u, p)
    return u(0,0,0) + p.k * (u(1,0,0) + u(-1,0,0) + u(0,1,0) + u(0,-1,0) + u(0,0,1) + u(0,0,-1) - 6 * u(0,0,0)) + p.source
  end]])

shapes.list = list

function shapes.text(shape, dtype, boundary)
  return ("return stencil { name = %q, dtype = %q, boundary = %s,\n%s }\n"):format(
    shape.name, dtype, boundary, shape.body)
end

-- Boundaries as they stand in a spec, for so many axes.
local mixed = {
  mixed  = { "'periodic'", "{ 'fixed', 'clamp' }", "{ 'mirror', 'zero' }" },
  mixed2 = { "{ constant(3/4), 'mirror' }", "{ 'zero', 'fixed' }", "'periodic'" },
}
shapes.boundaries = { "fixed", "zero", "constant", "clamp", "mirror", "periodic", "mixed", "mixed2" }

function shapes.boundary(name, dims)
  if name == "constant" then
    return "constant(-5/8)"
  elseif not mixed[name] then
    return ("%q"):format(name)
  end
  local out = {}
  for axis = 1, dims do
    out[axis] = ("xyz"):sub(axis, axis) .. " = " .. mixed[name][axis]
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

shapes.bytes = { float = 4, double = 8 }

return shapes
