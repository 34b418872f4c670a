-- Waves whose older level is read at the point alone, several steps a launch by resident, and by the pipeline and the
-- levels of temporal: stages, levels and patches of all kinds, each boundary that it serves, sizes around a strip and rows that are no packs, numbers of
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
add("second", second, "temporal time=3 lane=4 stages=1 coarsen=y7", "'fixed'", "float", { 3, 8 }, { { 300, 61 }, { 255, 19 }, { 131, 3 } }, padded)
add("second", second, "temporal time=8 lane=6 stages=4 coarsen=y32", "'periodic'", "double", { 8, 15 }, { { 384, 65 }, { 177, 70 }, { 181, 9 } })
add("second", second, "temporal time=6 lane=4 stages=2 coarsen=y20", "{ x = 'mirror', y = 'zero' }", "float", { 6, 7 }, { { 300, 50 }, { 201, 33 } })
add("second", second, "temporal time=2 lane=4 stages=2 coarsen=y9", "{ x = { 'clamp', 'fixed' }, y = { 'fixed', constant(1/2) } }", "double", { 2, 3 }, { { 300, 30 }, { 203, 17 } })
add("fourth", fourth, "temporal time=4 lane=6 stages=2 coarsen=y24", "'fixed'", "float", { 4, 7 }, { { 400, 61 }, { 355, 27 } }, padded)
add("fourth", fourth, "temporal time=3 lane=3 stages=3 coarsen=y16", "'zero'", "double", { 3, 4 }, { { 320, 41 }, { 293, 18 } })
add("fourth", fourth, "temporal time=8 lane=8 stages=8 coarsen=y64", "'periodic'", "float", { 8, 17 }, { { 448, 70 }, { 449, 65 } })
add("corners", corners, "temporal time=4 lane=4 stages=4 coarsen=y13", "'zero'", "float", { 4, 6 }, { { 260, 30 }, { 259, 31 } })
add("second", second, "temporal time=4 lane=4 stages=2 coarsen=y16", "'clamp'", "float", { 4, 9 }, { { 300, 61 }, { 257, 40 }, { 130, 5 }, { 130, 1 } }, padded)
add("second", second, "temporal time=8 lane=6 stages=4 coarsen=y32", "'mirror'", "double", { 8, 15 }, { { 384, 65 }, { 181, 9 }, { 182, 2 } })
add("fourth", fourth, "temporal time=6 lane=8 stages=3 coarsen=y24", "{ x = 'zero', y = { 'mirror', 'clamp' } }", "float", { 6, 7 }, { { 400, 61 }, { 355, 27 }, { 290, 3 } })
add("fourth", fourth, "temporal time=4 lane=6 stages=2 coarsen=y24", "{ x = { 'clamp', 'fixed' }, y = { 'clamp', 'zero' } }", "double", { 4, 5 }, { { 400, 61 }, { 353, 26 } })
add("corners", corners, "temporal time=4 lane=4 stages=4 coarsen=y13", "{ x = 'periodic', y = { 'fixed', 'mirror' } }", "float", { 4, 6 }, { { 260, 30 }, { 259, 31 } })
add("corners", corners, "temporal time=3 lane=5 stages=1 coarsen=y9", "{ x = 'mirror', y = { 'clamp', constant(1/2) } }", "float", { 3, 7 }, { { 260, 30 }, { 259, 31 } })
add("given", given, "temporal time=2 lane=4 stages=2 coarsen=y16", "'zero'", "float", { 2, 5 }, { { 290, 33 }, { 301, 35 } })
-- What the planner takes, also of the waves that planes fall through: uneven reach, a neighbour in the older level.
add("second", second, "temporal time=3", "'mirror'", "float", { 5 }, { { 200, 65 } })
add("uneven", "u(0,0) - prev(0,0) / 2 + (u(0,1) - u(0,0) + u(1,0)) / 8", "temporal time=3", "'zero'", "float", { 5 }, { { 200, 65 } })
add("older", "u(0,0) - prev(0,0) / 2 + (u(0,1) + u(0,-1) - prev(1,0)) / 8", "temporal time=2", "'zero'", "float", { 5 }, { { 200, 65 } })
add("second", second, "auto", "'zero'", "float", { 40 }, { { 300, 61 } })

-- 3D: patches of a lane; tiles at edges, and grids below a tile.
local faces = "u(1,0,0) + u(-1,0,0) + u(0,1,0) + u(0,-1,0) + u(0,0,1) + u(0,0,-1) - 6 * u(0,0,0)"
local second3 = ("u(0,0,0) * 3/2 - prev(0,0,0) * 3/4 + (%s) / 24"):format(faces)
local fourth3 = "u(0,0,0) * 5/4 - prev(0,0,0) / 2 + apply(laplacian { dims = 3, accuracy = 4 }, u) / 48"
local corners3 = "u(0,0,0) - prev(0,0,0) / 2 + (u(1,1,1) - u(-1,1,-1) / 2 + u(1,-1,0) / 4 + u(0,0,-1) / 8 - u(0,0,0)) / 8 + 1/16"
local given3 = "p.a * u(0,0,0) - p.b * prev(0,0,0) + (u(2,0,0) + u(-1,1,0) + u(0,-1,1) - 3 * u(0,0,0) + u(0,0,-1)) / 16"
local planes = { { 77, 45, 29 }, { 33, 40, 11 }, { 19, 9, 23 }, { 5, 3, 2 }, { 40, 1, 6 } }
local few = { { 76, 29, 21 }, { 33, 40, 7 } }
local padded3 = { { size = { 72, 40, 19 }, steps = 5, layout = { pad = { 8, 0 }, offset = 8 } }, { size = { 37, 30, 13 }, steps = 4, layout = { pad = { 3, 2 }, offset = 1 } },
                  { size = { 48, 33, 17 }, first = { 16, 11, 5 }, last = { 36, 25, 13 }, steps = 2 } }
add("second 3D", second3, "temporal time=4 tile=24x8 lane=4x2 coarsen=z9", "'zero'", "float", { 4, 9 }, planes, padded3)
add("second 3D", second3, "temporal time=3 tile=24x10 lane=4x4 coarsen=z9", "'fixed'", "float", { 3, 7 }, planes, padded3)
add("second 3D", second3, "temporal time=2 tile=28x12 lane=2x2 coarsen=z16", "'periodic'", "double", { 2, 5 }, planes, padded3)
add("second 3D", second3, "temporal time=5 tile=16x6 lane=4x2 coarsen=z40", "{ x = { 'clamp', 'fixed' }, y = { 'mirror', constant(1/4) }, z = { 'fixed', constant(1/2) } }", "float", { 5, 6 }, few)
add("fourth 3D", fourth3, "temporal time=2 tile=24x8 lane=4x2 coarsen=z12", "'zero'", "float", { 2, 5 }, few, padded3)
add("second 3D", second3, "temporal time=3 tile=24x26 lane=4x2 coarsen=z7", "{ x = 'mirror', y = 'clamp', z = { 'clamp', 'fixed' } }", "float", { 3, 7 }, planes) -- by boxes, four warps
add("fourth 3D", fourth3, "temporal time=2 tile=24x8 lane=2x2 coarsen=z5", "{ x = 'periodic', y = 'mirror', z = 'fixed' }", "double", { 2, 3 }, few)
add("corners 3D", corners3, "temporal time=4 tile=24x24 lane=4x4 coarsen=z30", "{ x = 'zero', y = 'fixed', z = 'periodic' }", "float", { 4, 6 }, few)
add("second 3D", second3, "temporal time=4 tile=24x8 lane=4x2 coarsen=z9", "'clamp'", "float", { 4, 9 }, planes, padded3)
add("second 3D", second3, "temporal time=2 tile=28x12 lane=2x2 coarsen=z16", "'mirror'", "double", { 2, 5 }, few)
add("fourth 3D", fourth3, "temporal time=2 tile=24x8 lane=4x2 coarsen=z12", "{ x = 'zero', y = 'clamp', z = { 'mirror', 'clamp' } }", "float", { 2, 5 }, few)
add("corners 3D", corners3, "temporal time=4 tile=24x24 lane=4x4 coarsen=z30", "{ x = 'mirror', y = 'fixed', z = { 'clamp', 'zero' } }", "float", { 4, 6 }, few)
add("corners 3D", corners3, "temporal time=3 tile=24x26 lane=4x4 coarsen=z11", "{ x = 'zero', y = 'mirror', z = { 'fixed', 'mirror' } }", "float", { 3, 4 }, few)
add("given 3D", given3, "temporal time=2 tile=24x12 lane=4x2 coarsen=z7", "'zero'", "float", { 2, 3 }, few)
add("second 3D", second3, "temporal time=2", "{ x = 'zero', y = 'zero', z = 'mirror' }", "float", { 5 }, { { 36, 20, 17 } })
add("second 3D", second3, "auto", "'zero'", "float", { 12 }, { { 40, 33, 21 } })

-- By resident: tiles that divide no grid, every boundary, and a field of one level next to that of two.
local tiles = { { 83, 61 }, { 40, 9 }, { 33, 17 }, { 7, 33 }, { 3, 2 }, { 1, 1 } }
local boxes = { { 37, 22, 17 }, { 18, 10, 17 }, { 4, 11, 9 }, { 1, 1, 1 } }
local guarded = { { size = { 83, 61 }, steps = 9, layout = { pad = { 3, 2 }, offset = 1 } }, { size = { 40, 33 }, steps = 5, layout = { pad = { 5, 0 }, negative = true } } }
add("line", "u(0) * 3/2 - prev(0) * 3/4 + (u(1) + u(-1) - 2 * u(0)) / 8", "resident time=4 tile=64", "'mirror'", "float", { 4, 9 }, { { 700 }, { 133 }, { 4 }, { 1 } })
add("second", second, "resident time=2 tile=16x8", "'zero'", "float", { 2, 5, 1 }, tiles, guarded)
add("second", second, "resident time=3 tile=24x9", "'fixed'", "float", { 3, 7 }, tiles, guarded)
add("second", second, "resident time=4 tile=33x5", "'periodic'", "double", { 4, 13 }, tiles)
add("second", second, "resident time=3 tile=16x16", "{ x = 'mirror', y = { 'clamp', 'fixed' } }", "float", { 3, 8 }, tiles)
add("second", second, "resident time=2 tile=16x16", "{ x = { 'clamp', 'fixed' }, y = { 'mirror', constant(1/2) } }", "double", { 5 }, tiles)
add("fourth", fourth, "resident time=3 tile=32x16", "'clamp'", "float", { 3, 7 }, tiles, guarded)
add("given", given, "resident time=2 tile=16x16", "'mirror'", "float", { 2, 5 }, tiles)
add("second 3D", second3, "resident time=2 tile=16x8x8", "'zero'", "float", { 2, 5 }, boxes)
add("fourth 3D", fourth3, "resident time=2 tile=8x8x8", "{ x = 'periodic', y = 'mirror', z = 'fixed' }", "double", { 2, 5 }, boxes)
add("given 3D", given3, "resident time=3 tile=16x4x4", "{ x = { 'mirror', 'mirror' }, y = { 'fixed', 'mirror' }, z = { 'clamp', 'zero' } }", "float", { 3, 7 }, boxes)
local beside = [[return stencil { name = 'beside', fields = { u = { use = "inout", levels = 2 }, v = "inout", c = "in" }, dtype = '%s', boundary = %s,
  update = function(f)
    local u, v, c = f.u, f.v, f.c
    return { u = u(0,0) * 3/2 - u.prev(0,0) * 3/4 + (v(1,0) + v(0,-1) - v(0,0)) * c(0,0) / 16, v = v(0,0) * 3/4 + u(-1,0) / 8 }
  end }]]
for i, boundary in ipairs { "'zero'", "'fixed'", "'clamp'" } do
  local places = {}
  for _, size in ipairs(tiles) do
    places[#places + 1] = { size = size, steps = 7 }
  end
  cases[#cases + 1] = { name = "beside, " .. boundary, spec = beside:format(i == 2 and "double" or "float", boundary), schedule = "resident time=3 tile=16x8", places = places }
end

-- Which of them it leaves to others.
local function refuse(name, update, storage, text)
  cases[#cases + 1] = { name = "resident: " .. name, spec = spec:format(("boundary = 'zero', storage = '%s'"):format(storage), update),
                        schedule = "resident time=2", expect = "method resident: " .. text }
end
refuse("older neighbour", "u(0,0) - prev(0,0) / 2 + (u(0,1) + u(0,-1) - prev(1,0)) / 8", "float", "of a field with two levels")
cases[#cases + 1] = { name = "resident: the current level is not read", schedule = "resident time=2", expect = "method resident: of a field with two levels",
                      spec = [[return stencil { name = 'given', fields = { u = { use = "inout", levels = 2 }, v = "inout" }, update = function(f)
                        return { u = f.v(1,0) / 2, v = f.v(0,0) / 2 + f.v(0,1) / 4 } end }]] }
-- Of two levels the older one need not be read.
cases[#cases + 1] = { name = "resident: the older level is not read", schedule = "resident time=3 tile=16x8", places = { { size = { 40, 19 }, steps = 7 }, { size = { 3, 2 }, steps = 3 } },
                      spec = [[return stencil { name = 'kept', boundary = 'clamp', fields = { u = { use = "inout", levels = 2 } }, update = function(f)
                        return f.u(0,0) / 2 + f.u(1,0) / 8 + f.u(0,-1) / 4 end }]] }
refuse("16 bits", second, "half", "it makes steps of two levels in float and double")
return cases
