-- The method resident: updates that only it fuses (of several fields, not linear, with fields that
-- are only read or only written), every boundary, tiles that do not divide the grid, grids of one
-- cell and below one tile, and numbers of steps from 1 to 20. A place without steps is one launch.
local shapes = require "shapes"
local cases = {}

local sizes = {
  { { 700 }, { 133 }, { 30 }, { 4 }, { 1 } },
  { { 83, 61 }, { 40, 9 }, { 7, 33 }, { 3, 2 }, { 1, 1 } },
  { { 37, 22, 17 }, { 19, 8, 5 }, { 4, 11, 9 }, { 2, 3, 2 }, { 1, 1, 1 } },
}
local layouts = { { pad = { 3, 2 }, vary = true }, { offset = 1 }, { pad = { 5, 0 }, negative = true }, { guard = false } }

-- Every boundary with --full, else a few in turn.
local count, lists = 0, 0
local function add(shape, schedule, steps)
  local s = assert(shapes.list[shape], shape)
  lists = lists + 1
  for b, name in ipairs(shapes.boundaries) do
    count = count + 1
    if not full and (b + lists) % 4 ~= 0 then
      goto another
    end
    local dtype = (count + b) % 2 == 0 and "float" or "double"
    local places = { { size = sizes[s.dims][1] } }
    for i, size in ipairs(sizes[s.dims]) do
      places[#places + 1] = { size = size, steps = steps[(count + i) % #steps + 1],
                              layout = layouts[(count + i) % (#layouts + 1)], wild = (count + i) % 5 == 0 }
    end
    cases[#cases + 1] = {
      name = ("%s %s %s %s"):format(shape, schedule, name, dtype),
      spec = shapes.text(s, dtype, shapes.boundary(name, s.dims)),
      schedule = schedule,
      places = places,
    }
    ::another::
  end
end

add("star1d3", "resident time=4 tile=100", { 4, 9, 20, 1, 3 })
add("minmax1d", "resident time=5 tile=37", { 5, 12, 2 })
add("upwind1d", "resident time=16 tile=64", { 16, 20, 7 })
add("variable1d", "resident time=3 tile=50", { 3, 7 })
add("points2d", "resident time=2 tile=20x10", { 2, 5 })
add("nonlinear2d", "resident time=2 tile=32x16", { 2, 3 })
add("variable2d", "resident time=4 tile=24x9", { 4, 6, 11 })
add("grayscott2d", "resident time=3 tile=16x16", { 3, 4, 8 })
add("pair2d", "resident time=4 tile=33x5", { 4, 13 })
add("upwind2d", "resident time=8 tile=16x32", { 8, 20, 3 })
add("box2d2", "resident time=2 tile=48x8", { 2, 3 })
add("single2d", "resident time=6 tile=8x8", { 6, 13 })
add("nonlinear3d", "resident time=2 tile=16x8x4", { 2, 3 })
add("variable3d", "resident time=2 tile=8x8x8", { 2, 3 })
add("pair3d", "resident time=3 tile=7x5x3", { 3, 7 })
add("out3d", "resident time=4 tile=16x8x8", { 4, 6 })
add("upwind3d", "resident time=3 tile=12x6x5", { 3, 8 })
add("behind3d", "resident time=2 tile=8x4x4", { 2, 5 })
add("box3d1", "resident time=2 tile=16x8x8", { 2, 5 })

-- What it refuses.
local function refuse(name, shape, schedule, text)
  cases[#cases + 1] = { name = name, spec = shapes.text(shapes.list[shape], "float", "'zero'"), schedule = schedule,
                        expect = "method resident: " .. text }
end
refuse("resident: levels", "wave2d", "resident time=2", "it makes several steps of fields that keep no previous level")
refuse("resident: nothing inout", "out2d", "resident time=2", "no field is both read and written")
refuse("resident: one step", "star2d1", "resident time=1", "it makes at least two steps a launch")
refuse("resident: too large", "star2d1", "resident time=4 tile=1000x1000", "it needs")
return cases
