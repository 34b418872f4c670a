-- The product of filters and methods: sizes from 1 to 17 weights along an axis, even and odd, in one
-- to three dimensions, in the places of matrix.lua. That has each shape with each method; a filter is one more shape.
local matrix = dofile(root .. "/tests/cases/matrix.lua")
local shapes = require "shapes"

-- Sizes, x first, in one to three dimensions. What methods tell apart is the dimensions, and how far a filter reaches
-- along an axis: each of these classes meets each method.
local classes = {
  one     = { { 1 }, { 1, 1 }, { 1, 1, 1 } },
  two     = { { 2 }, { 2, 2 }, { 2, 2, 2 } },
  three   = { { 3 }, { 3, 3 }, { 3, 3, 3 } },
  uneven  = { { 8 }, { 4, 5 }, { 5, 4, 3 } },
  row     = { { 16 }, { 7, 1 }, { 17, 2, 1 } },
  column  = { { 5 }, { 1, 6 }, { 1, 1, 17 } },
  flat    = { { 4 }, { 8, 3 }, { 4, 1, 5 } },
  square  = { { 7 }, { 7, 7 }, { 3, 2, 4 } },
  wide    = { { 17 }, { 17, 17 }, { 1, 7, 2 } },
}
local class_names = { "one", "two", "three", "uneven", "row", "column", "flat", "square", "wide" }

-- What the weight at (x, y, z) is: no two alike; products of three factors, which separate, some of
-- them 0; or a parameter among numbers. Written as fractions, so that no locale changes them.
local kinds = {
  dense = function(x, y, z, count)
    return ("%d/%d"):format(((x * 37 + y * 59 + z * 83) % 101 - 40) * 2 + 1, 32 * count)
  end,
  product = function(x, y, z, count)
    local function factor(i, by)
      return (i * by) % 9 - 3
    end
    return ("%d/%d"):format(factor(x, 5) * factor(y, 7) * factor(z + 1, 2), 8 * count)
  end,
  given = function(x, y, z, count)
    return (x + y + z) % 3 == 0 and ('param "k" / %d'):format(count) or ("%d/%d"):format(x - 2 * y + 3 * z + 1, 8 * count)
  end,
}
-- What a kernel is made of: weights, and the passes asked for. Products meet each method in passes.
local forms = {
  dense = { kind = "dense", passes = "" },
  product = { kind = "product", passes = "" },
  ["one-pass"] = { kind = "product", passes = " passes=1" },
  passes = { kind = "product" },
  given = { kind = "given", passes = "" },
}
local form_names = { "dense", "product", "one-pass", "passes", "given" }

local function weights(size, kind)
  local count = 1
  for _, n in ipairs(size) do
    count = count * n
  end
  local function list(axis, at)
    if axis == 0 then
      return kinds[kind](at[1], at[2] or 1, at[3] or 1, count)
    end
    local out = {}
    for i = 1, size[axis] do
      at[axis] = i
      out[i] = list(axis - 1, at)
    end
    return "{ " .. table.concat(out, ", ") .. " }"
  end
  return list(#size, {})
end

-- Boundaries of matrix.lua, without the fixed ones.
local mixed = { "{ 'mirror', constant(3/4) }", "{ 'zero', 'clamp' }", "'periodic'" }
local function boundary(name, dims)
  if name ~= "mixed" then
    return shapes.boundary(name, dims)
  end
  local out = {}
  for axis = 1, dims do
    out[axis] = ("xyz"):sub(axis, axis) .. " = " .. mixed[axis]
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

-- The size of a class: `streamed` and `bulk` refuse one dimension, and passes one axis.
local function size_of(v)
  local walks = v.method == "streamed" or v.method == "bulk" or v.form == "passes"
  local size = classes[v.class][math.max(tonumber(v.dims), walks and 2 or 1)]
  local axes = 0
  for _, n in ipairs(size) do
    axes = axes + (n > 1 and 1 or 0)
  end
  if v.form == "passes" and axes < 2 then
    return classes.uneven[#size], #size
  end
  return size, axes
end

local function build(v)
  local size, axes = size_of(v)
  local refusals = { "bytes of shared memory a block", "registers and has", "more rows than a thread can hold" }
  if v.method == "bulk" then
    table.move(matrix.bulk_refusals, 1, #matrix.bulk_refusals, #refusals + 1, refusals)
    refusals[#refusals + 1] = "it makes filters in one pass"
  end
  local form = forms[v.form]
  return {
    spec = ("return convolution { name = 'filter', dtype = %q, boundary = %s,\nweights = %s }"):format(
      v.dtype, boundary(v.boundary, #size), weights(size, form.kind)),
    schedule = matrix.schedule(v.method, v.tile, #size, shapes.bytes[v.dtype]) .. (form.passes or " passes=" .. axes),
    refusals = refusals,
  }
end

return {
  kernel = {
    { "class", class_names },
    { "dims", { "1", "2", "3" } },
    { "method", matrix.methods },
    { "form", form_names },
    { "tile", matrix.tiles },
    { "boundary", { "zero", "constant", "clamp", "mirror", "periodic", "mixed" } },
    { "dtype", { "float", "double" } },
  },
  place = matrix.place,
  build = build,
  put = matrix.put,
}
