-- Several steps of sg_run, compared with as many steps of the reference: kernels that make one step a launch and
-- kernels that fuse some, on odd grids, on grids smaller than a tile and than the shape, padded, and
-- in a box. Where the number of steps is no multiple of a launch's, shorter launches make the remainder.
-- `plan` is the size that a kernel is planned for: small, so that the larger grids here can fuse steps.
local counts = { 1, 4, 7, 33 }
local large = { { 5000 }, { 331, 75 }, { 99, 41, 29 } }
local places = {
  { { size = large[1] }, { size = large[1], steps = { 3, 11, 33 } }, { size = { 1000 }, steps = counts }, { size = { 257 }, steps = { 5 }, layout = { offset = 3 } },
    { size = { 1 }, steps = counts }, { size = { 3 }, steps = { 7 } },
    { size = { 400 }, first = { 13 }, last = { 390 }, steps = { 6 } } },
  { { size = large[2] }, { size = large[2], steps = { 3, 33 } }, { size = { 61, 43 }, steps = counts }, { size = { 67, 9 }, steps = { 5 }, layout = { pad = { 5, 1 }, vary = true } },
    { size = { 1, 1 }, steps = counts }, { size = { 5, 3 }, steps = { 7 } }, { size = { 1, 40 }, steps = { 5 } },
    { size = { 50, 33 }, first = { 1, 2 }, last = { 47, 33 }, steps = { 6 } },
    { size = { 64, 48 }, steps = { 9 }, layout = { negative = true } } },
  { { size = large[3] }, { size = large[3], steps = { 7 } }, { size = { 23, 17, 13 }, steps = counts }, { size = { 19, 9, 11 }, steps = { 5 }, layout = { pad = { 3, 2 }, vary = true } },
    { size = { 1, 1, 1 }, steps = counts }, { size = { 3, 5, 2 }, steps = { 7 } },
    { size = { 21, 12, 10 }, first = { 1, 2, 3 }, last = { 20, 12, 9 }, steps = { 6 } } },
}

-- These updates keep their values in bounds; others leave nothing to compare after 33 steps.
local updates = {
  { name = "heat1d", dims = 1, text = "shape = star(1, 1), coefficients = { 1/2, 1/4, 1/4 }" },
  { name = "wide1d", dims = 1, text = "shape = star(1, 3), coefficients = { 1/4, 1/8, 1/8, 1/8, 1/8, 1/8, 1/8 }" },
  { name = "heat2d", dims = 2, text = "shape = star(2, 1), coefficients = { 1/2, 1/8, 1/8, 1/16, 3/16 }" },
  { name = "star2d2", dims = 2, text = "shape = star(2, 2), coefficients = { 1/5, 1/10, 1/10, 1/10, 1/10, 1/10, 1/10, 1/10, 1/10 }" },
  { name = "box2d", dims = 2, text = "shape = box(2, 1), coefficients = { 1/16, 2/16, 1/16, 2/16, 4/16, 2/16, 1/16, 2/16, 1/16 }" },
  { name = "given2d", dims = 2, text = "shape = star(2, 1), coefficients = { 1/2, param 'w', 1/8, 1/8, 1/8 }",
    parameters = { w = 0.125 } },
  { name = "heat3d", dims = 3, text = "shape = star(3, 1), coefficients = { 2/5, 1/10, 1/10, 1/10, 1/10, 1/10, 1/10 }" },
  { name = "star3d2", dims = 3, text = "shape = star(3, 2), coefficients = { 1/13, 1/13, 1/13, 1/13, 1/13, 1/13, 1/13, 1/13, 1/13, 1/13, 1/13, 1/13, 1/13 }" },
  { name = "two2d", dims = 2, text = [[fields = { u = "inout", v = "inout", c = "in" }, update = function(f)
      local r = f.u(0,0) * f.v(0,0) * f.v(0,0)
      return { u = f.u(0,0) + (f.u(1,0) + f.u(-1,0) - 2*f.u(0,0)) / 8 - r / 8,
               v = f.v(0,0) + (f.v(0,1) + f.v(0,-1) - 2*f.v(0,0)) / 16 + r / 8 - f.c(0,0) * f.v(0,0) / 16 }
    end]] },
}
for dims, offsets in ipairs { { "1", "-1" }, { "1,0", "0,-1" }, { "1,0,0", "0,0,-1" } } do
  local at = ("0,0,0"):sub(1, 2 * dims - 1)
  updates[#updates + 1] = { name = "placed" .. dims .. "d", dims = dims, text = ([[update = function(u, p, at)
      local far = where(lt(at.x, at.nx / 3), u(%s), u(%s)) / 4
      return u(%s) / 2 + far + (at.x + at.%s + 3 * at.step) / 8192
    end]]):format(offsets[1], offsets[2], at, ("xyz"):sub(dims, dims)) }
end
local boundaries = { "'fixed'", "'zero'", "'periodic'", "constant(0.5)", "'mirror'" }

-- One of the schedules in turn, or all with --full.
local schedules = { "auto", "temporal", "temporal time=4", "resident time=3" }

local cases = {}
for i, update in ipairs(updates) do
  for b, boundary in ipairs(boundaries) do
    for d, dtype in ipairs { "float", "double" } do
      if (i + b + d) % 2 == 0 or b == 1 then -- every boundary with every update, in one dtype or both
        cases[#cases + 1] = {
          name = ("%s, %s, %s"):format(update.name, boundary, dtype),
          spec = ("return stencil { name = 'stepped', dims = %d, dtype = '%s', boundary = %s,\n  %s }"):format(
            update.dims, dtype, boundary, update.text),
          parameters = update.parameters,
          plan_steps = 33,
          plan = large[update.dims],
          schedules = full and schedules or { schedules[(#cases + i) % #schedules + 1] },
          refusals = {
            "cells beyond a boundary must keep their values for several steps",
            "it makes several steps of one field",
            "the halo of 4 steps takes all",
            "it keeps partial sums, which linear updates have",
            "its steps do not know positions",
          },
          places = places[update.dims],
        }
      end
    end
  end
end
return cases
