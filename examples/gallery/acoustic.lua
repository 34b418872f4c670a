-- A seismic shot: the acoustic wave equation in a medium of speed c, of order 8 in space and 2 in time.
--   d²p/dt² + 2 s dp/dt = c² (Δp + f)
-- f is the source; s is 0 but in a sponge along the edges, where it rises as the square of the depth.
-- C. Cerjan, D. Kosloff, R. Kosloff, M. Reshef, Geophysics 50 (1985) 705; M. A. Dablain, Geophysics 51
-- (1986) 54. Stable for c dt <= 0.6 h.
local lap = laplacian { dims = 2, accuracy = 8 }
local width = 40 -- cells of the sponge

return stencil {
  name       = "acoustic",
  dtype      = "double",
  fields     = { p = { use = "inout", levels = 2 },           -- Pa
                 c = { use = "in", range = { 1500, 4500 } } },  -- m/s
  parameters = { h = 10, dt = 0.001, damping = 60 },            -- m, s, 1/s at the outer edge
  boundary   = "zero",
  points     = {
    shot   = { field = "p", inject = function(s, f, p) return s * (p.dt * f.c(0, 0) / p.h) ^ 2 end },
    traces = { field = "p", sample = true },
  },
  update     = function(f, p, at)
    local x, y = max(width - at.x, at.x - at.nx + 1 + width), max(width - at.y, at.y - at.ny + 1 + width)
    local depth = max(x, y) / width
    local s = where(gt(depth, 0), p.damping * p.dt * depth ^ 2, 0)
    local wave = (p.dt * f.c(0, 0) / p.h) ^ 2 * apply(lap, f.p)
    return (2 * f.p(0, 0) - (1 - s) * f.p.prev(0, 0) + wave) / (1 + s)
  end,
}
