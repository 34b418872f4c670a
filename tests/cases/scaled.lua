-- Updates that scale one linear sum by values of their own point, by the method bulk: with which arrays, in which
-- order, under both boundaries that bulk copies serve, at sizes around a tile and below it, in parts and in padded
-- grids, with several steps; and what is no such update.
local function spec(dims, fields, update, more)
  return ("return stencil { name = 'scaled', fields = { %s }, %s,\n  update = function(f, p)\n    local lap = laplacian { dims = %d, accuracy = %s }\n    return %s\n  end }")
    :format(fields, more.text, dims, more.accuracy or "8", (update:gsub("HERE", dims == 3 and "0,0,0" or "0,0")))
end

local acoustic = "2 * f.u(HERE) - f.u.prev(HERE) + f.c(HERE) * apply(lap, f.u) / 8"
local damped = "f.d(HERE) * (2 * f.u(HERE) - f.d(HERE) * f.u.prev(HERE) + f.c(HERE) ^ 2 * apply(lap, f.u) / 16)"
local heat = "f.u(HERE) + f.c(HERE) * apply(lap, f.u) / 16"
local forced = "max(f.b(HERE), 1/2) * (apply(lap, f.a) / 8 + p.k) / (2 + abs(f.b(HERE))) + 1/4" -- the written field's own value counts for nothing
local two = "f.u(HERE) + f.c(HERE) * (apply(lap, f.u) / 16 + f.c(HERE) / 4 + p.k)" -- c is in no sum: it scales itself
local wave = "f.u(HERE) - f.u.prev(HERE) / 2 + apply(lap, f.u) / 16 + p.k * f.c(HERE)" -- linear
local levels = "f.u(HERE) / 2 + f.c(HERE) * (apply(lap, f.u) / 16 + apply(lap, f.u.prev) / 32)" -- two arrays in the sum
local waves = "u = { use = 'inout', levels = 2 }, c = 'in'"

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
    { size = size(x, y, z), layout = { pad = { 3, 0 }, offset = 1 } },
    { size = size(x + 1, y + 2, z), layout = { offset = 3 }, first = size(3, 1, 1), last = size(x - 1, y + 1, z) },
    { size = size(2 * x - 5, y, 2), layout = { guard = false } },
    { size = size(8, 3, 2), steps = 2 },
    { size = size(1, 1, 1) },
  }
end

local cases = {}
local function add(name, dims, fields, update, schedule, boundary, dtype, places, more)
  more = more or {}
  more.text = ("boundary = %s, dtype = '%s'%s"):format(boundary:find("%(") and boundary or ("%q"):format(boundary), dtype, more.parameters and ", parameters = { k = 0.5 }" or "")
  cases[#cases + 1] = {
    name = ("%s, %s, %s, %s"):format(name, dtype, boundary, schedule),
    spec = spec(dims, fields, update, more),
    schedule = schedule,
    places = places,
    arch = "sm_90",
  }
end

for _, boundary in ipairs { "zero", "fixed" } do
  add("acoustic3d", 3, waves, acoustic, "bulk tile=64x8 coarsen=z9,y2", boundary, "float", grids(3, 136, 19, 21))
  add("acoustic3d", 3, waves, acoustic, "bulk tile=32x16 coarsen=z64", boundary, "double", grids(3, 68, 19, 13))
  add("acoustic2d", 2, waves, acoustic, "bulk tile=128 coarsen=y32", boundary, "float", grids(2, 264, 75))
  add("acoustic2d", 2, waves, acoustic, "bulk tile=64 coarsen=y9", boundary, "double", grids(2, 132, 31))
  add("damped3d", 3, waves .. ", d = 'in'", damped, "bulk tile=32x8 coarsen=z7", boundary, "float", grids(3, 72, 9, 23), { accuracy = "4" })
  add("damped2d", 2, "c = 'in', d = 'in', u = { use = 'inout', levels = 2 }", damped, "bulk tile=128 coarsen=y16", boundary, "float", grids(2, 200, 41))
  add("heat3d", 3, "c = 'in', u = 'inout'", heat, "bulk tile=64x8 coarsen=z32,y4", boundary, "float", grids(3, 68, 13, 9), { accuracy = "2" })
  add("heat2d", 2, "c = 'in', u = 'inout'", heat, "bulk tile=64 coarsen=y64", boundary, "double", grids(2, 132, 75), { accuracy = "2" })
  add("two2d", 2, "u = 'inout', c = 'in'", two, "bulk tile=128 coarsen=y32", boundary, "float", grids(2, 264, 40), { parameters = true })
  add("wave2d", 2, waves, wave, "bulk tile=64 coarsen=y16", boundary, "double", grids(2, 132, 35), { parameters = true })
  add("wave3d", 3, waves, wave, "bulk tile=32x16 coarsen=z8", boundary, "float", grids(3, 72, 19, 11), { accuracy = "4", parameters = true })
  add("own value2d", 2, "u = 'inout', c = 'in'", "f.u(HERE) / 2 + apply(lap, f.c) / 16", "bulk tile=128 coarsen=y32", boundary, "float", grids(2, 264, 40))
  -- Nothing is read at the point alone.
  add("alone2d", 2, "u = 'inout'", "sin(f.u(HERE) + apply(lap, f.u) / 16)", "bulk tile=128 coarsen=y32", boundary, "float", grids(2, 264, 40))
  add("alone3d", 3, "u = 'inout'", "max(apply(lap, f.u) / 16, p.k / 8)", "bulk tile=32x16 coarsen=z8", boundary, "double", grids(3, 72, 19, 11), { accuracy = "4", parameters = true })
  add("levels3d", 3, waves, levels, "bulk tile=32x16 coarsen=z8", boundary, "float", grids(3, 72, 19, 11), { accuracy = "4" })
end
-- Cells beyond an edge that are not zeros, of sums alone; a shape that reaches further above than below.
local upward = "f.u(HERE) + f.c(HERE) * (f.u(0,0,2) - f.u(0,0,-1) + f.u(2,-1,0) - f.u(-2,1,0)) / 8"
for _, rule in ipairs { "clamp", "mirror", "constant(3/8)" } do
  add("acoustic3d", 3, waves, acoustic, "bulk tile=64x32 coarsen=z64,y2", rule, "float", grids(3, 136, 35, 21))
  if rule ~= "mirror" then -- where rows must reach as far to both sides
    add("upward3d", 3, "u = 'inout', c = 'in'", upward, "bulk tile=32x16 coarsen=z7,y2", rule, "double", grids(3, 68, 19, 13))
  end
end
add("forced2d", 2, "a = 'in', b = 'in', s = 'out'", forced, "bulk tile=128 coarsen=y32", "zero", "float", grids(2, 264, 40), { parameters = true })

local function refuse(name, update, expect, more)
  cases[#cases + 1] = {
    name = name,
    spec = spec(2, "u = 'inout', c = 'in'", update, { text = "boundary = 'zero'" .. (more or ""), accuracy = "2" }),
    schedule = "bulk",
    arch = "sm_90",
    places = { { size = { 64, 64 } } },
    expect = "method bulk: " .. expect,
  }
end
local none = "it keeps partial sums, and the update is neither linear nor one linear sum that its own point scales"
refuse("sums that a neighbour scales", "f.u(0,0) + f.c(1,0) * apply(lap, f.u)", none)
refuse("two sums", "f.u(0,0) + f.c(0,0) * apply(lap, f.u) + abs(apply(lap, f.c))", none)
refuse("a sum of 16 bits that is scaled", heat, "it converts cells of half and bfloat16 only where the update is linear", ", storage = 'half'")
refuse("a field that is written, and read at its point alone", "f.u(HERE) + f.u(HERE) * apply(lap, f.c)",
  "a field is written whose own values no tap reads")
return cases
