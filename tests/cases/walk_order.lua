-- Walks that take turns (templates/walk_order.cuh), which plans ask for whose blocks read more at a time than the
-- second-level cache keeps: in float and double, with more walks than parts and fewer, in parts of the grid, and where rows
-- are no packs.
local two = [[return stencil { name = 'two', dtype = '%s', boundary = %s, fields = { u = 'inout', v = 'inout' },
  update = function(f)
    local u, v = f.u, f.v
    local a, b = u(0, 0), v(0, 0)
    return { u = a + (u(0, 1) - u(0, -1) * b + a * u(1, 0)) / 32, v = b + (v(0, 2) - v(0, -1) * a + b * v(-1, 0)) / 32 }
  end }]]
local function places(wide, tall)
  return {
    { size = { wide, tall } }, -- the wide ones: parts of several walks
    { size = { 516, 75 }, steps = 2 },
    { size = { 515, 33 }, steps = 2 }, -- rows are no packs
    { size = { wide, 260 }, first = { 4, 3 }, last = { wide - 5, 250 } },
    { size = { 5, 3 } },
  }
end

local cases = {}
local function add(spec, schedule, dtype, boundary, wide, tall)
  cases[#cases + 1] = {
    name = ("%s, %s, %s"):format(dtype, boundary, schedule),
    spec = spec:format(dtype, boundary),
    schedule = schedule,
    places = places(wide, tall),
  }
end
for i, boundary in ipairs { "'fixed'", "constant(1/2)", "'clamp'", "'periodic'" } do
  add(two, "streamed tile=512 coarsen=y16 vec=4", "float", boundary, i == 1 and 8196 or 1028, 700)
  add(two, "streamed tile=256 coarsen=y16 vec=2", "double", boundary, i == 2 and 4098 or 1026, 1000)
end
return cases
