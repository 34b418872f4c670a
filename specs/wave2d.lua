-- The 2D wave equation by leapfrog, fourth order in space: u keeps its previous time level, and the
-- speed of the wave differs from cell to cell.
local lap = laplacian { dims = 2, accuracy = 4 }
return stencil {
  name       = "wave2d",
  fields     = { u = { use = "inout", levels = 2 }, c = "in" }, -- c: wave speed
  parameters = { r = 0.5 },                                     -- time step / spacing
  dtype      = "float",
  boundary   = "zero",
  update     = function(f, p)
    local courant = p.r * f.c(0, 0)
    return 2 * f.u(0, 0) - f.u.prev(0, 0) + courant ^ 2 * apply(lap, f.u)
  end,
}
