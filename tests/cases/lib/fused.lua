-- What cases of methods that make several steps on a tile share: updates of several fields, not linear, of fields
-- that are only read or only written; tiles that do not divide the grid, grids of one cell and below one tile,
-- and numbers of steps from 1 to 20. A place without steps is one launch.
--   fused.adder(cases): a function add(shape, schedule, sizes, steps, box), which adds every boundary with
--   --full, else a few in turn; with `box` also a box of the largest grid
--   fused.tiles(add, method): the updates by this method
local shapes = require "shapes"
local fused = {}

local sizes = {
  { { 700 }, { 133 }, { 30 }, { 4 }, { 1 } },
  { { 83, 61 }, { 40, 9 }, { 7, 33 }, { 3, 2 }, { 1, 1 } },
  { { 37, 22, 17 }, { 19, 8, 5 }, { 4, 11, 9 }, { 2, 3, 2 }, { 1, 1, 1 } },
}
local layouts = { { pad = { 3, 2 }, vary = true }, { offset = 1 }, { pad = { 5, 0 }, negative = true }, { guard = false } }

function fused.adder(cases)
  local count, lists = 0, 0
  local function add(shape, schedule, of, steps, box)
    local s = assert(shapes.list[shape], shape)
    lists = lists + 1
    for b, name in ipairs(shapes.boundaries) do
      count = count + 1
      if not full and (b + lists) % 4 ~= 0 then
        goto another
      end
      local dtype = (b + lists) // 4 % 2 == 0 and "float" or "double" -- one of each where a few are in turn
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
  return add
end

local tiles = {
  { "star1d3", "time=4 tile=100", { 4, 9, 20, 1, 3 } },
  { "minmax1d", "time=5 tile=37", { 5, 12, 2 } },
  { "upwind1d", "time=16 tile=64", { 16, 20, 7 } },
  { "variable1d", "time=3 tile=50", { 3, 7 } },
  { "points2d", "time=2 tile=20x10", { 2, 5 } },
  { "nonlinear2d", "time=2 tile=32x16", { 2, 3 } },
  { "variable2d", "time=4 tile=24x9", { 4, 6, 11 } },
  { "grayscott2d", "time=3 tile=16x16", { 3, 4, 8 } },
  { "pair2d", "time=4 tile=33x5", { 4, 13 } },
  { "upwind2d", "time=8 tile=16x32", { 8, 20, 3 } },
  { "box2d2", "time=2 tile=48x8", { 2, 3 } },
  { "single2d", "time=6 tile=8x8", { 6, 13 } },
  { "nonlinear3d", "time=2 tile=16x8x4", { 2, 3 } },
  { "variable3d", "time=2 tile=8x8x8", { 2, 3 } },
  { "pair3d", "time=3 tile=7x5x3", { 3, 7 } },
  { "out3d", "time=4 tile=16x8x8", { 4, 6 } },
  { "upwind3d", "time=3 tile=12x6x5", { 3, 8 } },
  { "behind3d", "time=2 tile=8x4x4", { 2, 5 } },
  { "box3d1", "time=2 tile=16x8x8", { 2, 5 } },
}

function fused.tiles(add, method)
  for _, t in ipairs(tiles) do
    add(t[1], method .. " " .. t[2], sizes, t[3])
  end
end

-- Of a method that makes several steps on a tile: what none of them takes.
function fused.refusals(refuse, method)
  refuse(method .. ": nothing inout", "out2d", method .. " time=2", "no field is both read and written")
  refuse(method .. ": one step", "star2d1", method .. " time=1", "it makes at least two steps a launch")
end

return fused
