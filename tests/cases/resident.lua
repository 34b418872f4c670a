-- The method resident: updates that only it fuses on a GPU (lib/fused.lua).
local shapes = require "shapes"
local fused = require "fused"
local cases = {}

local add = fused.adder(cases)
fused.tiles(add, "resident")

-- Last tiles of fewer cells than the shape reaches, through which mirrors lead to cells of other blocks; several
-- rounds, of which the second reads what the first has sent.
local short = {
  { { 33 }, { 34 }, { 35 }, { 36 } },
  { { 33, 17 }, { 34, 18 }, { 35, 9 }, { 17, 35 } },
  { { 17, 9, 9 }, { 18, 10, 17 }, { 9, 17, 11 }, { 11, 11, 10 } },
}
for _, t in ipairs {
  { "star1d3", "time=2 tile=16" }, { "star2d1", "time=2 tile=16x8" }, { "star2d2", "time=2 tile=16x8" },
  { "box2d2", "time=3 tile=16x8" }, { "star3d1", "time=2 tile=8x8x8" }, { "star3d1", "time=3 tile=16x8x8" },
  { "star3d2", "time=2 tile=8x8x8" }, { "box3d1", "time=2 tile=8x8x8" },
} do
  add(t[1], "resident " .. t[2], short, { 4, 9, 5, 6 })
end

-- What it refuses.
local function refuse(name, shape, schedule, text)
  cases[#cases + 1] = { name = name, spec = shapes.text(shapes.list[shape], "float", "'zero'"), schedule = schedule,
                        expect = "method resident: " .. text }
end
fused.refusals(refuse, "resident")
refuse("resident: too large", "star2d1", "resident time=4 tile=1000x1000", "it needs")
return cases
