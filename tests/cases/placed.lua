-- Updates that make something of one linear sum by where their point lies, by the method bulk: layers along edges,
-- conditions and numbers along one axis and along several, with and without an interior, more of them than a thread
-- keeps, and sums to which several ways lead; at sizes around a tile and below it, in parts, with several steps.
local function spec(dims, body, boundary, dtype, fields)
  local here = dims == 3 and "0,0,0" or "0,0"
  return (([[return stencil { name = 'placed', boundary = '%s', dtype = '%s', parameters = { k = 0.5 },
  fields = { %s }, update = function(f, p, at)
    local lap = laplacian { dims = %d, accuracy = 4 }
    local s = f.u(HERE) + apply(lap, f.u) / 16
    local z, nz = %s
    %s
  end }]]):format(boundary, dtype, fields or "u = 'inout'", dims,
    dims == 3 and "at.z, at.nz" or "at.y, at.ny", body):gsub("HERE", here))
end

-- A layer of a few cells along all edges.
local sponge = [[local function depth(i, n) return max(3 - i, 3 - (n - 1 - i)) end
    local d = max(0, depth(at.x, at.nx), depth(at.y, at.ny), depth(z, nz))
    return where(gt(d, 0), s * (1 - d ^ 2 / 16), s)]]
-- Squares, which sums take in: their factors are kept, and one square.
local ramp = [[local function ramp(i, n) return where(lt(i, 2), (2 - i) / 2, where(lt(n - 1 - i, 4), (4 - (n - 1 - i)) / 8, 0)) end
    local x, y, z = ramp(at.x, at.nx), ramp(at.y, at.ny), ramp(z, nz)
    return s * (1 - (x * x + y * y + z * z) / 4)]]
local inside = [[local all_of = all(ge(at.x, 4), lt(at.x, at.nx - 5), ge(at.y, 3), lt(z, nz - 2))
    return where(all_of, 1, 0.5) * s + where(eq(at.step, 1), 1, 0)]]
-- Nothing has one answer away from the edges.
local numbers = "return s * (1 + at.x / 64 - at.x * at.y / 4096) + where(lt(at.x, at.y + z), 0.25, p.k) * at.step"
-- Seven numbers along x, of which a thread keeps some.
local many = [[local sum = 0
    for i = 1, 7 do sum = sum + where(lt(at.x, i), i / 8, at.y / 64) end
    return s + sum]]
-- What the interior computes by places, too.
local both = "return s * (at.x / 32 + 1) - where(lt(at.x, 2), at.x / 32 + at.y, at.x / 32 * at.y)"
local waves = [[local d = max(max(4 - at.x, at.x - at.nx + 5), max(4 - z, z - nz + 5)) / 4
    local a = where(gt(d, 0), p.k * d ^ 2, 0)
    return (2 * f.u(HERE) - (1 - a) * f.u.prev(HERE) + f.c(HERE) ^ 2 * apply(lap, f.u) / 16) / (1 + a)]]
-- No places: a sum that is taken in two ways.
local ways = "return where(gt(f.c(HERE), 0), s, abs(s) * f.c(HERE)) - tanh(s)"

local function grids(dims, x, y, z)
  z = z or 1
  local function size(a, b, c)
    return dims == 3 and { a, b, c } or { a, b }
  end
  return {
    { size = size(x, y, z), steps = 3 },
    { size = size(x - 4, y + 3, z + 1), steps = 2, first = size(4, 1, 2), last = size(x - 5, y, z) },
    { size = size(x, y, z), layout = { pad = { 8, 0 }, offset = 8 } },
    { size = size(x - 3, y, z), steps = 2 }, -- rows are no packs
    { size = size(8, 3, 2), steps = 2 },
    { size = size(1, 1, 1) },
  }
end

local cases = {}
local function add(name, dims, body, schedule, boundary, dtype, fields, ...)
  cases[#cases + 1] = {
    name = ("%s%dd, %s, %s, %s"):format(name, dims, dtype, boundary, schedule),
    spec = spec(dims, body, boundary, dtype, fields),
    schedule = schedule,
    places = grids(dims, ...),
    arch = "sm_90",
  }
end

local field, three = "u = 'inout', c = 'in'", "u = { use = 'inout', levels = 2 }, c = 'in'"
for _, boundary in ipairs { "zero", "fixed" } do
  add("sponge", 3, sponge, "bulk tile=64x8 coarsen=z9,y2", boundary, "float", nil, 264, 19, 21)
  add("sponge", 2, sponge, "bulk tile=64 coarsen=y16", boundary, "double", nil, 260, 75)
  add("ramp", 3, ramp, "bulk tile=32x16 coarsen=z64", boundary, "double", nil, 132, 19, 13)
  add("ramp", 2, ramp, "bulk tile=128 coarsen=y32", boundary, "float", nil, 392, 75)
  add("inside", 3, inside, "bulk tile=64x16 coarsen=z8,y4", boundary, "float", nil, 264, 35, 11)
  add("numbers", 3, numbers, "bulk tile=32x16 coarsen=z64,y2", boundary, "float", nil, 72, 19, 13)
  add("numbers", 2, numbers, "bulk tile=64 coarsen=y64", boundary, "double", nil, 132, 75)
  add("many", 3, many, "bulk tile=32x8 coarsen=z7,y2", boundary, "float", nil, 136, 19, 9)
  add("both", 3, both, "bulk tile=32x16 coarsen=z8", boundary, "double", nil, 132, 19, 11)
  add("waves", 3, waves, "bulk tile=64x8 coarsen=z9,y2", boundary, "float", three, 264, 19, 21)
  add("waves", 2, waves, "bulk tile=64 coarsen=y16", boundary, "double", three, 196, 75)
  add("ways", 3, ways, "bulk tile=64x8 coarsen=z9,y2", boundary, "float", field, 136, 19, 21)
  add("ways", 2, ways, "bulk tile=64 coarsen=y64", boundary, "double", field, 132, 75)
end

local function refuse(name, body)
  cases[#cases + 1] = {
    name = name,
    spec = spec(2, body, "zero", "float"),
    schedule = "bulk",
    arch = "sm_90",
    places = { { size = { 64, 64 } } },
    expect = "method bulk: it keeps partial sums, and the update is neither linear nor one linear sum that its own point scales",
  }
end
refuse("weights by place", "return s + at.x * (f.u(1, 0) - f.u(-1, 0)) + f.u(0, 1)")
refuse("a sum and one of its taps", "return where(lt(at.x, 4), f.u(1, 0), s)")
return cases
