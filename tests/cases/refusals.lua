-- Schedules that no kernel can have, and the reasons given.
local shapes = require "shapes"
local cases = {}

local function refuse(name, shape, schedule, expect, dtype)
  cases[#cases + 1] = {
    name = name,
    spec = shapes.text(shapes.list[shape], dtype or "float", "'zero'"),
    schedule = schedule,
    expect = expect,
  }
end

refuse("a nonlinear box in registers", "nonlinear3d", "register",
  "method register: one plane in shared memory serves a shape off its column and plane only where partial sums can be kept")
refuse("too large a tile", "star3d1", "tiled tile=128x128x64", "method tiled: it needs 4461600 bytes of shared memory a block")
refuse("a tile along the walk", "star3d1", "register tile=32x8x4",
  "method register: it walks z: set coarsen=z4 instead of a tile along it")
refuse("a tile along an axis that is not there", "star2d1", "naive tile=8x8x8",
  "method naive: a grid of 2 axes has no tile along z")
refuse("coarsening without a walk", "star3d1", "naive coarsen=z4", "method naive: it has no coarsening")
refuse("coarsening along another axis", "star3d1", "coarsened coarsen=y4", "method coarsened: it coarsens along z alone")
refuse("packs in shared memory", "star3d1", "tiled vec=4", "method tiled: it loads single elements")
refuse("a pack of three", "star3d1", "naive vec=3", "method naive: vec=3: packs have a power of two elements")
refuse("a pack of 32 bytes", "star3d1", "naive vec=4", "method naive: vec=4: packs have a power of two elements and at most 16 bytes", "double")
refuse("a tile that packs do not fill", "star2d1", "naive tile=6x4 vec=4", "method naive: tile=6: x must be a multiple of vec=4")
refuse("two steps in one pass", "star2d1", "tiled time=2", "method tiled: it makes one time step a launch, not 2")
refuse("a tile of nothing", "star2d1", "naive tile=0x4", "tile takes whole numbers from 1 to 65536, not '0'")
refuse("a negative tile", "star2d1", "naive tile=-4", "tile takes whole numbers from 1 to 65536, not '-4'")
refuse("a tile with a fraction", "star2d1", "naive tile=4.5x2", "tile takes whole numbers from 1 to 65536, not '4.5'")
refuse("a tile beyond all bounds", "star2d1", "naive tile=99999999999999999999", "tile takes whole numbers from 1 to 65536")
refuse("a tile of too many points", "star3d1", "naive tile=65536x65536x65536", "method naive: a tile has at most 1048576 points")
refuse("weights that are not constant", "nonlinear2d", "constant",
  "method constant: constant memory holds the weights of linear updates, and this one is not linear")
refuse("stages of one update", "star2d1", "chained", "method chained: it makes several stages of a system in one launch, and this is one update")
refuse("sums of an update that is not linear", "nonlinear2d", "bulk", "method bulk: it keeps partial sums, and the update is neither linear nor")
cases[#cases + 1] = {
  name = "maps of too many arrays",
  spec = [[return stencil { name = 'm', boundary = 'periodic',
    fields = { u = 'inout', a = 'in', b = 'in', c = 'in', d = 'in', e = 'in', g = 'in' },
    update = function(f)
      local sum = f.u(0, 0, 0) / 2
      for _, each in ipairs { f.a, f.b, f.c, f.d, f.e, f.g } do
        sum = sum + each(1, 1, 0) / 16
      end
      return sum
    end }]],
  schedule = "bulk tile=32x8 coarsen=z8 vec=4",
  arch = "sm_90",
  expect = "method bulk: it would need 25 maps of arrays beyond periodic sides, and has 24",
}
cases[#cases + 1] = {
  name = "positions in steps that do not know them",
  spec = "return stencil { name = 'p', update = function(u, p, at) return (u(0, 0) + u(1, 0)) / 2 + at.step end }",
  schedule = "temporal time=4",
  expect = "method temporal: its steps do not know positions, for which the update asks (at)",
}
cases[#cases + 1] = {
  name = "rows of a warp's patches",
  spec = "return stencil { name = 'p', dims = 3, dtype = 'double', boundary = 'zero', coefficients = { 1 }, shape = box(3, 0) }",
  schedule = "temporal time=4 tile=16x128 coarsen=z16 lane=2x8",
  expect = "method temporal: lane: the patches of a warp have 33 rows and parts of a row, and at most 32",
}
cases[#cases + 1] = {
  name = "a patch's row of one pack and a half",
  spec = "return stencil { name = 'p', dims = 3, boundary = 'zero', coefficients = { 1 }, shape = box(3, 0) }",
  schedule = "temporal time=2 tile=84x24 coarsen=z16 lane=6x2",
  expect = "method temporal: lane: 6 points along x are no whole packs of 4",
}
for _, method in ipairs { "resident", "overlapped" } do
  cases[#cases + 1] = {
    name = "steps of a field whose values no tap reads in " .. method,
    spec = "return stencil { name = 'p', dims = 2, boundary = 'zero', fields = { u = 'inout', c = 'in' },\n"
      .. "update = function(f) return f.c(0, 0) + f.c(1, 0) end }",
    schedule = method,
    expect = "method " .. method .. ": no field is both read and written, so there are no steps to make",
  }
end
cases[#cases + 1] = {
  name = "weights of many outputs and arrays",
  spec = "return stencil { name = 'm', fields = { f = { use = 'inout', components = 6 } }, update = function(t)\n"
    .. "local s, o = 0, {}\nfor i = 1, 6 do s = s + i * t.f[i](i - 3, 0) end\n"
    .. "for i = 1, 6 do o[i] = i * s + t.f[i](0, 0) end\nreturn { f = o } end }",
  schedule = "constant",
  expect = "method constant: its 6 outputs read their taps of each array in a loop of their own, which makes 36",
}
refuse("packs with constant memory", "star2d1", "constant vec=4", "method constant: it loads single elements; the methods naive, streamed, bulk, chained and temporal have")
refuse("coarsening of a tile without its halo", "star2d1", "cached-halo coarsen=y4", "method cached-halo: it has no coarsening")
local function refuse_filter(name, weights, schedule, expect)
  cases[#cases + 1] = {
    name = name,
    spec = ("return convolution { name = 'filter', weights = %s }"):format(weights),
    schedule = schedule,
    expect = expect,
  }
end
refuse("passes of a stencil", "box2d1", "naive passes=2",
  "method naive: passes=2: it serves convolutions, whose weights may be products of one factor an axis")
refuse_filter("passes that are not there", "{ { 1, 2 }, { 3, 4 } }", "tiled passes=2",
  "method tiled: passes=2: the weights are not products of one factor an axis")
refuse_filter("passes of a line", "{ 1, 2, 1 }", "naive passes=2", "method naive: passes=2: the weights lie along one axis")
refuse_filter("passes with a parameter", "{ { 1, 2 }, { 2, param 'k' } }", "naive passes=2",
  "method naive: passes=2: some weights hold parameters")
refuse_filter("passes of another number", "{ { 1, 2 }, { 2, 4 } }", "naive passes=3",
  "method naive: passes=3: this filter has 2, one an axis")
refuse_filter("no passes at all", "{ { 1, 2 }, { 2, 4 } }", "passes=0", "passes takes whole numbers from 1 to 65536, not '0'")
refuse("an unknown method", "star2d1", "registers", "unknown word 'registers' in a schedule; did you mean 'register'?")
refuse("no method at all", "star2d1", "auto vec=16", "no method serves")
return cases
