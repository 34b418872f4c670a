-- The method resident: updates that only it fuses on a GPU (lib/fused.lua).
local shapes = require "shapes"
local fused = require "fused"
local cases = {}

fused.tiles(fused.adder(cases), "resident")

-- What it refuses.
local function refuse(name, shape, schedule, text)
  cases[#cases + 1] = { name = name, spec = shapes.text(shapes.list[shape], "float", "'zero'"), schedule = schedule,
                        expect = "method resident: " .. text }
end
fused.refusals(refuse, "resident")
refuse("resident: too large", "star2d1", "resident time=4 tile=1000x1000", "it needs")
return cases
