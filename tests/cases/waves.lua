-- Waves in 2D whose older level is read at the point alone, several steps a launch by the pipeline of temporal: stages
-- and levels of all kinds, each boundary that it serves, sizes around a strip and rows that are no packs, numbers of
-- steps that leave a remainder, and which waves take another way.
local spec = [[return stencil { name = 'wave', fields = { u = { use = "inout", levels = 2 } }, %s,
  update = function(f, p)
    local u, prev = f.u, f.u.prev
    return %s
  end }]]

-- The norm of a step stays small, so that errors do not grow over many steps.
local second = "u(0,0) * 3/2 - prev(0,0) * 3/4 + (u(1,0) + u(-1,0) + u(0,1) + u(0,-1) - 4 * u(0,0)) / 16"
local fourth = "u(0,0) * 5/4 - prev(0,0) / 2 + apply(laplacian { dims = 2, accuracy = 4 }, u) / 32"
local corners = "u(0,0) - prev(0,0) / 2 + (u(1,1) - u(-1,1) / 2 + u(1,-1) / 4 + u(-1,-1) / 8 - u(0,0)) / 8 + 1/16"
local given = "p.a * u(0,0) - p.b * prev(0,0) + (u(2,0) + u(-1,1) + u(0,-1) - 3 * u(0,0)) / 16"

local cases = {}
local function add(name, update, schedule, boundary, dtype, steps, sizes, more)
  local places = {}
  for _, size in ipairs(sizes) do
    for _, n in ipairs(steps) do
      places[#places + 1] = { size = size, steps = n }
    end
  end
  for _, place in ipairs(more or {}) do
    places[#places + 1] = place
  end
  cases[#cases + 1] = {
    name = ("%s, %s, %s, %s"):format(name, dtype, boundary, schedule),
    spec = spec:format(("boundary = %s, dtype = '%s', parameters = { a = 1.25, b = 0.5 }"):format(boundary, dtype), update),
    schedule = schedule,
    places = places,
  }
end

local padded = { { size = { 301, 47 }, steps = 9, layout = { pad = { 3, 0 }, offset = 1 } }, { size = { 304, 40 }, steps = 5, layout = { pad = { 8, 0 }, offset = 8 } } }
add("second", second, "temporal time=4 lane=4 stages=2 coarsen=y16", "'zero'", "float", { 4, 9 }, { { 300, 61 }, { 257, 40 }, { 130, 5 } }, padded)
add("second", second, "temporal time=4 lane=4 stages=1 coarsen=y7", "'fixed'", "float", { 4, 11 }, { { 300, 61 }, { 255, 19 }, { 131, 3 } }, padded)
add("second", second, "temporal time=8 lane=6 stages=4 coarsen=y32", "'periodic'", "double", { 8, 15 }, { { 384, 65 }, { 177, 70 }, { 181, 9 } })
add("second", second, "temporal time=6 lane=4 stages=2 coarsen=y20", "{ x = 'mirror', y = 'zero' }", "float", { 6, 7 }, { { 300, 50 }, { 201, 33 } })
add("second", second, "temporal time=2 lane=4 stages=2 coarsen=y9", "{ x = { 'clamp', 'fixed' }, y = { 'fixed', constant(1/2) } }", "double", { 2, 3 }, { { 300, 30 }, { 203, 17 } })
add("fourth", fourth, "temporal time=4 lane=6 stages=2 coarsen=y24", "'fixed'", "float", { 4, 7 }, { { 400, 61 }, { 355, 27 } }, padded)
add("fourth", fourth, "temporal time=3 lane=5 stages=3 coarsen=y16", "'zero'", "double", { 3, 4 }, { { 320, 41 }, { 293, 18 } })
add("fourth", fourth, "temporal time=8 lane=8 stages=8 coarsen=y64", "'periodic'", "float", { 8, 17 }, { { 448, 70 }, { 449, 65 } })
add("corners", corners, "temporal time=4 lane=4 stages=4 coarsen=y13", "'zero'", "float", { 4, 6 }, { { 260, 30 }, { 259, 31 } })
add("given", given, "temporal time=4 lane=4 stages=2 coarsen=y16", "'zero'", "float", { 4, 5 }, { { 290, 33 }, { 301, 35 } })
-- What the planner takes, also of the waves that planes fall through: a mirror along y, uneven reach, a neighbour in
-- the older level.
add("second", second, "temporal", "'mirror'", "float", { 5 }, { { 200, 65 } })
add("uneven", "u(0,0) - prev(0,0) / 2 + (u(0,1) - u(0,0) + u(1,0)) / 8", "temporal", "'zero'", "float", { 5 }, { { 200, 65 } })
add("older", "u(0,0) - prev(0,0) / 2 + (u(0,1) + u(0,-1) - prev(1,0)) / 8", "temporal", "'zero'", "float", { 5 }, { { 200, 65 } })
add("second", second, "auto", "'zero'", "float", { 40 }, { { 300, 61 } })
return cases
