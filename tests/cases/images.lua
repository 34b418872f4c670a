-- bulk beyond edges whose cells are not zeros: every rule on each axis and side, and rules that meet at
-- corners. Sizes lie around a tile and below the reach. There are boxes, several steps, cells of 16 bits,
-- arrays that are read at the point alone, and rows that are no packs.
local shapes = require "shapes"

local rules = {
  clamp = { [["clamp"]], [["clamp"]], [["clamp"]] },
  mirror = { [["mirror"]], [["mirror"]], [["mirror"]] },
  periodic = { [["periodic"]], [["periodic"]], [["periodic"]] },
  zero = { [["zero"]], [["zero"]], [["zero"]] },
  constant = { [[constant(3/8)]], [[constant(3/8)]], [[constant(3/8)]] },
  sides = { [[{ "clamp", "zero" }]], [[{ constant(1/4), "mirror" }]], [[{ "mirror", constant(-1/2) }]] },
  ends = { [[{ constant(1/2), "clamp" }]], [[{ "fixed", "clamp" }]], [[{ "zero", "clamp" }]] },
  axes = { [["periodic"]], [["mirror"]], [[{ constant(1/4), "fixed" }]] },
  turned = { [["mirror"]], [["periodic"]], [["periodic"]] },
  planes = { [["mirror"]], [["clamp"]], [["periodic"]] },
  columns = { [["periodic"]], [[{ constant(3/8), "clamp" }]], [["zero"]] },
  rows = { [[{ "zero", "clamp" }]], [["periodic"]], [[{ "fixed", constant(1/4) }]] },
}
local function boundary(name, dims)
  local axes = {}
  for axis = 1, dims do
    axes[axis] = ("xyz"):sub(axis, axis) .. " = " .. rules[name][axis]
  end
  return "{ " .. table.concat(axes, ", ") .. " }"
end

local kernels = {
  { "star2d1", "float", "bulk tile=128 coarsen=y32", "clamp", "axes" },
  { "star2d8", "double", "bulk tile=64 coarsen=y32", "mirror", "sides" },
  { "box2d1", "float", "bulk tile=192 coarsen=y32", "periodic", "ends" },
  { "points2d", "double", "bulk tile=64 coarsen=y9", "constant", "turned" },
  { "wave2d", "float", "bulk tile=192 coarsen=y32", "mirror", "periodic" }, -- others are read at the point alone
  { "pair2d", "float", "bulk tile=128 coarsen=y16", "sides", "clamp" },
  { "star3d1", "float", "bulk tile=64x8 coarsen=z9,y2", "clamp", "sides" },
  { "star3d2", "double", "bulk tile=16x16 coarsen=z5,y2", "planes", "ends" },
  { "star3d8", "float", "bulk tile=32x8 coarsen=z64", "mirror", "constant" },
  { "box3d1", "float", "bulk tile=64x16 coarsen=z64,y4", "sides", "planes" },
  { "points3d", "double", "bulk tile=32x8 coarsen=z9", "constant", "clamp" },
  { "upwind3d", "float", "bulk tile=32x16 coarsen=z64,y2", "clamp", "ends" },
  { "pair3d", "double", "bulk tile=32x8 coarsen=z7,y2", "clamp", "ends" },
  { "star2d1", "float", "bulk tile=128 coarsen=y32", "periodic", "constant", "bfloat16" },
  { "star3d2", "float", "bulk tile=64x16 coarsen=z64,y4", "clamp", "sides", "half" },
  { "pair3d", "float", "bulk tile=64x8 coarsen=z7", "clamp", "constant", "bfloat16" },
  { "column3d", "float", "bulk tile=64x8 coarsen=z9", "clamp", "planes" }, -- not read along x
  { "star3d1", "float", "bulk tile=64x8 coarsen=z9,y2", "periodic", "turned" }, -- cells from the other end
  { "star3d2", "double", "bulk tile=16x16 coarsen=z64,y4", "rows", "axes" },
  { "star3d8", "double", "bulk tile=32x8 coarsen=z64", "periodic", "turned" },
  { "box3d1", "float", "bulk tile=64x12 coarsen=z64,y3", "periodic", "turned" },
  { "box3d1", "double", "bulk tile=32x16 coarsen=z9,y2", "columns", "rows" },
  { "wave3d", "float", "bulk tile=64x16 coarsen=z64,y2", "periodic", "columns" },
  { "pair3d", "double", "bulk tile=32x8 coarsen=z7,y2", "periodic", "rows" },
  { "upwind3d", "float", "bulk tile=32x16 coarsen=z64,y2", "periodic", "columns" },
  { "star3d2", "float", "bulk tile=64x16 coarsen=z64,y2", "periodic", "columns", "half" },
  { "pair3d", "float", "bulk tile=64x8 coarsen=z7", "periodic", "rows", "bfloat16" },
  { "star3d8", "double", "bulk tile=32x32 coarsen=z64,y2", "ends", "sides" }, -- four warps hand their registers over
  { "star3d2", "float", "bulk tile=128x32 coarsen=z64,y2", "zero", "mirror" }, -- three of them mend planes
  { "box3d1", "float", "bulk tile=128x18 coarsen=z9", "constant", "zero" }, -- five
  { "star3d1", "double", "bulk tile=192x8 coarsen=z9", "sides", "zero" }, -- rows of several warps
  { "pair3d", "double", "bulk tile=32x8 coarsen=z7,y2", "zero", "constant" },
}

local sizes = {
  { { 136, 40 }, { 64, 33 }, { 128, 7 }, { 200, 65 }, { 256, 1 }, { 8, 37 }, { 8, 2 }, { 67, 19 }, { 131, 40 }, { 65, 33 },
    { 198, 65 }, { 259, 1 }, { 1, 37 }, { 2, 2 }, { 7, 5 }, { 393, 31 } },
  { { 72, 19, 11 }, { 64, 18, 7 }, { 128, 17, 3 }, { 96, 16, 9 }, { 8, 9, 10 }, { 8, 1, 1 }, { 32, 2, 20 }, { 16, 52, 2 },
    { 35, 11, 9 }, { 131, 19, 11 }, { 67, 33, 7 }, { 9, 10, 12 }, { 63, 1, 8 }, { 193, 9, 3 } },
}

local function places(dims)
  local out = {}
  for i, size in ipairs(sizes[dims - 1]) do
    local first, last
    if i % 3 == 1 then
      first, last = {}, {}
      for axis = 1, dims do
        first[axis] = math.min(axis == 1 and 8 or 1, size[axis] - 1)
        last[axis] = math.max(first[axis] + 1, size[axis] - axis + 1)
      end
    end
    out[i] = { size = size, first = first, last = last, steps = i % 2 == 0 and 2 or nil,
      layout = ({ nil, nil, nil, { offset = 1 }, nil, nil, { pad = { 3, 2 }, offset = 2, vary = true } })[i % 8] }
  end
  out[#out + 1] = { size = sizes[dims - 1][1], layout = { pad = { 8, 1 } }, steps = 3 }
  -- rows that end within a pack
  out[#out + 1] = { size = ({ { 133, 20 }, { 67, 18, 9 } })[dims - 1], layout = { pad = { 3, 0 } }, steps = 2 }
  out[#out + 1] = { size = ({ { 5, 1 }, { 61, 1, 5 } })[dims - 1], layout = { pad = { 3, 0 } } }
  -- the same, where the box ends with a pack
  out[#out + 1] = { size = ({ { 133, 20 }, { 61, 18, 9 } })[dims - 1], layout = { pad = { 3, 0 } }, first = table.move({ 0, 1, 1 }, 1, dims, 1, {}),
    last = ({ { 128, 19 }, { 56, 17, 8 } })[dims - 1] }
  return out
end

local cases = {}
for _, kernel in ipairs(kernels) do
  local shape = shapes.list[kernel[1]]
  for k = 4, 5 do
    cases[#cases + 1] = {
      name = ("%s, %s, %s, %s"):format(kernel[1], kernel[6] or kernel[2], kernel[3], kernel[k]),
      spec = shapes.text(shape, kernel[2],
        boundary(kernel[k], shape.dims) .. (kernel[6] and (", storage = '%s'"):format(kernel[6]) or "")),
      schedule = kernel[3],
      places = places(shape.dims),
      arch = "sm_90",
    }
  end
end
return cases
