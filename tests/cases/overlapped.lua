-- The methods for processors. overlapped: updates of several fields, not linear, of fields that are only read
-- or only written, every boundary, tiles that do not divide the grid, grids of one cell and below one tile,
-- and numbers of steps from 1 to 20. A place without steps is one launch. rows: long rows, whose runs begin and
-- end anywhere in a line of memory, in padded and shifted arrays and in boxes.
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
local function add(shape, schedule, of, steps, box)
  local s = assert(shapes.list[shape], shape)
  lists = lists + 1
  for b, name in ipairs(shapes.boundaries) do
    count = count + 1
    if not full and (b + lists) % 4 ~= 0 then
      goto another
    end
    local dtype = (count + b) % 2 == 0 and "float" or "double"
    local places = { { size = of[s.dims][1] } }
    for i, size in ipairs(of[s.dims]) do
      places[#places + 1] = { size = size, steps = steps and steps[(count + i) % #steps + 1],
                              layout = layouts[(count + i) % (#layouts + 1)], wild = (count + i) % 5 == 0 }
    end
    if box then
      local first, last = {}, {}
      for axis, n in ipairs(of[s.dims][1]) do
        first[axis], last[axis] = n // 3, n - n // 4
      end
      places[#places + 1] = { size = of[s.dims][1], first = first, last = last }
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

add("star1d3", "overlapped time=4 tile=100", sizes, { 4, 9, 20, 1, 3 })
add("minmax1d", "overlapped time=5 tile=37", sizes, { 5, 12, 2 })
add("upwind1d", "overlapped time=16 tile=64", sizes, { 16, 20, 7 })
add("variable1d", "overlapped time=3 tile=50", sizes, { 3, 7 })
add("points2d", "overlapped time=2 tile=20x10", sizes, { 2, 5 })
add("nonlinear2d", "overlapped time=2 tile=32x16", sizes, { 2, 3 })
add("variable2d", "overlapped time=4 tile=24x9", sizes, { 4, 6, 11 })
add("grayscott2d", "overlapped time=3 tile=16x16", sizes, { 3, 4, 8 })
add("pair2d", "overlapped time=4 tile=33x5", sizes, { 4, 13 })
add("upwind2d", "overlapped time=8 tile=16x32", sizes, { 8, 20, 3 })
add("box2d2", "overlapped time=2 tile=48x8", sizes, { 2, 3 })
add("single2d", "overlapped time=6 tile=8x8", sizes, { 6, 13 })
add("nonlinear3d", "overlapped time=2 tile=16x8x4", sizes, { 2, 3 })
add("variable3d", "overlapped time=2 tile=8x8x8", sizes, { 2, 3 })
add("pair3d", "overlapped time=3 tile=7x5x3", sizes, { 3, 7 })
add("out3d", "overlapped time=4 tile=16x8x8", sizes, { 4, 6 })
add("upwind3d", "overlapped time=3 tile=12x6x5", sizes, { 3, 8 })
add("behind3d", "overlapped time=2 tile=8x4x4", sizes, { 2, 5 })
add("box3d1", "overlapped time=2 tile=16x8x8", sizes, { 2, 5 })

local long = { { { 5003 }, { 1030 }, { 17 } }, { { 2311, 5 }, { 1025, 3 }, { 33, 2 } },
               { { 1153, 4, 5 }, { 515, 3, 3 }, { 18, 3, 2 } } }
add("star1d8", "rows tile=4096", long, { 1, 2 }, true)
add("points1d", "rows tile=1000", long, { 1, 2 }, true)
add("box2d2", "rows tile=2048x3", long, { 1, 2 }, true)
add("wave2d", "rows", long, { 1, 3 }, true)
add("pair2d", "rows tile=700x2", long, { 1, 2 }, true)
add("points3d", "rows tile=1024x2x3", long, nil, true)
add("star3d2", "rows", long, { 1, 2 }, true)

-- What they refuse.
local function refuse(name, shape, schedule, text)
  cases[#cases + 1] = { name = name, spec = shapes.text(shapes.list[shape], "float", "'zero'"), schedule = schedule,
                        expect = "method " .. schedule:match("%w+") .. ": " .. text }
end
refuse("overlapped: levels", "wave2d", "overlapped time=2", "it makes several steps of fields that keep no previous level")
refuse("overlapped: nothing inout", "out2d", "overlapped time=2", "no field is both read and written")
refuse("overlapped: one step", "star2d1", "overlapped time=1", "it makes at least two steps a launch")
refuse("overlapped: too large", "star2d1", "overlapped time=4 tile=1024x1024", "it needs")
refuse("rows: packs", "star2d1", "rows vec=4", "it loads single elements")
return cases
