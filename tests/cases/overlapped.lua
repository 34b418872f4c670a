-- The methods for processors. overlapped: what lib/fused.lua has. rows: long rows, whose runs begin and end anywhere in a
-- line of memory, in padded and shifted arrays and in boxes.
local shapes = require "shapes"
local fused = require "fused"
local cases = {}
local add = fused.adder(cases)

fused.tiles(add, "overlapped")

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
fused.refusals(refuse, "overlapped")
refuse("overlapped: levels", "wave2d", "overlapped time=2", "it makes several steps of fields that keep no previous level")
refuse("overlapped: too large", "star2d1", "overlapped time=4 tile=1024x1024", "it needs")
refuse("rows: packs", "star2d1", "rows vec=4", "it loads single elements")
return cases
