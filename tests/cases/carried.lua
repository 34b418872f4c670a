-- Updates whose steps along the walk share what they compute: fluxes through faces, which the cells on both sides
-- need, by the method streamed; in 2D and 3D, read two cells away, with divisions and roots, under every boundary, at
-- sizes around a block and below it, in parts, and where rows are no packs. Each saves enough to be carried.
local flux = [[
    local function through(a, b)
      local left, right = a / (2 + abs(b)), b / (3 + abs(a))
      return (left + 1/2) * (right + left * 3) - (a - b) * (left + a * right)
    end
]]
local roots = [[
    local function through(a, b)
      local c = sqrt(2 + a * a) + sqrt(2 + b * b)
      return (a * c - b) / (1 + c * c) + (a + b) * (c + a * b) * (c - a)
    end
]]
-- What is carried twice: a value at the cell, below and above.
local potential = [[
    local function through(a, b) return a - b end
    local function mu(at) return at ^ 3 / (2 + at * at) + (at + 1/4) / (1 + at * at) * at end
]]

-- The same of neighbouring cells along x, whose points have carried it: a chemical potential's Laplacian, in
-- sums that are kept apart, and one that reads two points away on one side.
local neighbours = [[
    local function mu(x, y, z)
      local at, left, right = f.u(x, y, z), f.u(x - 1, y, z), f.u(x + 1, y, z)
      return at ^ 3 - at - (left + right + f.u(x, y - 1, z) - 3 * at) / 4 + at * left * right
    end
]]

local flat = neighbours:gsub(", z", "")
local quotients = flat:gsub("at %* left %* right", "at * left / (3 + abs(right))")
local reciprocals = flat:gsub("at %* left %* right", "at * (1 / (3 + abs(right))) * (1 / (2 + at * at))")

-- A flux that a spec gives by how far the cell beyond the face is: two of its four are another's with the other sign.
local faces = [[
    local function through(dx, dy)
      local a, b = 2 + abs(f.u(0, 0)), 2 + abs(f.u(dx, dy))
      return 2 * a * b / (a + b) * (f.u(dx, dy) - f.u(0, 0)) * (a * a + b * b)
    end
]]
-- The same where its sign comes from one difference, in products with numbers, quotients and magnitudes.
local signs = [[
    local function through(dx, dy)
      local g = f.u(dx, dy) - f.u(0, 0)
      return 3 * g / sqrt(1 + 9 * g * g) + g * abs(g) * (1 / (2 + g * g))
    end
]]

local bodies = {
  faces2d = { 2, faces, "f.u(0, 0) + (through(1, 0) + through(-1, 0) + through(0, 1) + through(0, -1)) / 256" },
  signs2d = { 2, signs, "f.u(0, 0) + (through(1, 0) + through(-1, 0) + through(0, 1) + through(0, -1)) / 64" },
  neighbours2d = { 2, flat, "f.u(0, 0) + (mu(1, 0) + mu(-1, 0) + mu(0, 1) + mu(0, -1) - 4 * mu(0, 0)) / 64" },
  quotients2d = { 2, quotients, "f.u(0, 0) + (mu(1, 0) + mu(-1, 0) + mu(0, 1) + mu(0, -1) - 4 * mu(0, 0)) / 64" },
  reciprocals2d = { 2, reciprocals, "f.u(0, 0) + (mu(1, 0) + mu(-1, 0) + mu(0, 1) + mu(0, -1) - 4 * mu(0, 0)) / 64" },
  aside2d = { 2, flat, "f.u(0, 0) + (mu(2, 0) - mu(1, -1) + mu(0, 1) * f.u(0, 0) + mu(0, -1) - 2 * mu(0, 0)) / 64" },
  neighbours3d = { 3, neighbours, "f.u(0, 0, 0) + (mu(1, 0, 0) + mu(-1, 0, 0) + mu(0, 0, 1) + mu(0, 0, -1) + mu(0, 1, 0) - 5 * mu(0, 0, 0)) / 64" },
  flux2d = { 2, flux, "f.u(0, 0) + (through(f.u(0, -1), f.u(0, 0)) - through(f.u(0, 0), f.u(0, 1)) + f.u(-1, 0) * f.u(1, 0)) / 64" },
  flux3d = { 3, flux, "f.u(0, 0, 0) + (through(f.u(0, 0, -1), f.u(0, 0, 0)) - through(f.u(0, 0, 0), f.u(0, 0, 1)) + f.u(0, 1, 0)) / 64" },
  roots2d = { 2, roots, "f.u(0, 0) + (through(f.u(0, -1), f.u(1, 0)) - through(f.u(0, 0), f.u(1, 1))) / 64" },
  potential2d = { 2, potential, "f.u(0, 0) + (mu(f.u(0, -1)) + mu(f.u(0, 1)) - 2 * mu(f.u(0, 0)) + through(f.u(1, 0), f.u(-2, 0))) / 64" },
  far2d = { 2, flux, "f.u(0, 0) + (through(f.u(0, -2), f.u(-1, -1)) - through(f.u(0, -1), f.u(-1, 0)) + f.u(2, 2)) / 64" },
  wide3d = { 3, flux, "f.u(0, 0, 0) + (through(f.u(0, 1, -1), f.u(-1, 0, 0)) - through(f.u(0, 1, 0), f.u(-1, 0, 1))) / 64" },
}

local function places(dims)
  if dims == 3 then
    return {
      { size = { 136, 19, 21 }, steps = 2 },
      { size = { 135, 18, 23 }, steps = 2 }, -- rows are no packs
      { size = { 136, 19, 21 }, first = { 4, 1, 2 }, last = { 131, 17, 20 } },
      { size = { 5, 3, 2 } },
      { size = { 1, 1, 1 } },
    }
  end
  return {
    { size = { 264, 75 }, steps = 2 },
    { size = { 261, 33 }, steps = 2 },
    { size = { 264, 75 }, first = { 4, 3 }, last = { 259, 70 } },
    { size = { 5, 3 } },
    { size = { 1, 1 } },
  }
end

local cases = {}
local function add(name, schedule, dtype, boundary)
  local dims, functions, update = table.unpack(bodies[name])
  cases[#cases + 1] = {
    name = ("%s, %s, %s, %s"):format(name, dtype, boundary, schedule),
    spec = ("return stencil { name = 'carried', dtype = '%s', boundary = %s, fields = { u = 'inout' },\n  update = function(f)\n%s    return %s\n  end }")
      :format(dtype, boundary, functions, update),
    schedule = schedule,
    places = places(dims),
  }
end
for _, boundary in ipairs { "'fixed'", "'zero'", "constant(1/2)", "'clamp'", "'mirror'", "'periodic'" } do
  add("flux2d", "streamed tile=128 coarsen=y8 vec=4", "float", boundary)
  add("flux2d", "streamed tile=64 coarsen=y5 vec=2", "double", boundary)
  add("flux3d", "streamed tile=64x4 coarsen=z6,y2 vec=4", "float", boundary)
  add("roots2d", "streamed tile=64 coarsen=y7 vec=2", "double", boundary)
  add("potential2d", "streamed tile=128 coarsen=y8 vec=4", "float", boundary)
  add("far2d", "streamed tile=128 coarsen=y6 vec=4", "float", boundary)
  add("wide3d", "streamed tile=32x4 coarsen=z8 vec=2", "double", boundary)
  add("neighbours2d", "streamed tile=128 coarsen=y8 vec=4", "float", boundary)
  add("neighbours2d", "streamed tile=64 coarsen=y5 vec=1", "double", boundary)
  add("faces2d", "streamed tile=128 coarsen=y8 vec=2", "double", boundary)
  add("quotients2d", "streamed tile=64 coarsen=y8 vec=4", "float", boundary)
  add("reciprocals2d", "streamed tile=128 coarsen=y8 vec=4", "float", boundary)
  add("reciprocals2d", "streamed tile=64 coarsen=y7 vec=2", "double", boundary)
  add("signs2d", "streamed tile=128 coarsen=y8 vec=4", "float", boundary)
  add("aside2d", "streamed tile=128 coarsen=y9 vec=2", "double", boundary)
  add("neighbours3d", "streamed tile=64x4 coarsen=z6,y2 vec=4", "float", boundary)
end
return cases
