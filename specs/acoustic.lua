-- specs/acoustic.lua: acoustic waves of pressure p in a medium of speed c, in 2D; second order in time, eighth in
-- space. damp is 1 inside and less in a layer along the edges, where it absorbs the waves.
return system {
  name       = "acoustic",
  dtype      = "float",
  boundary   = "zero",
  fields     = {
    p    = { use = "inout", levels = 2 },
    c    = { use = "in", range = { 1500, 4500 } },
    damp = { use = "in", range = { 0.9, 1 } },
    lap  = "scratch",
  },
  parameters = { dt = 0.001, h = 10 },
  stages = {
    { update = function(f, p)
        return { lap = apply(laplacian { dims = 2, accuracy = 8 }, f.p) / p.h ^ 2 }
      end },
    { update = function(f, p)
        local damp, now = f.damp(0, 0), f.p(0, 0)
        return { p = damp * (2 * now - damp * f.p.prev(0, 0) + (p.dt * f.c(0, 0)) ^ 2 * f.lap(0, 0)) }
      end },
  },
}
