-- Maxwell's equations in a cavity of perfectly conducting walls, the electric field along z, by
-- K. S. Yee's scheme, IEEE Trans. Antennas Propag. 14 (1966) 302.
--   mu dH/dt = -∇×E,  eps dE/dt = ∇×H
-- The cell (i, j) holds ez at (i, j), hx at (i, j + 1/2) and hy at (i + 1/2, j). The walls are at
-- the lines i = 0, j = 0, i = nx and j = ny. h is in units of e: H sqrt(mu/eps). Stable for courant < 0.7.
return system {
  name       = "maxwell",
  dtype = "double",
  fields     = { ez = "inout", hx = "inout", hy = "inout" }, -- V/m
  parameters = { courant = 0.5 },                            -- c dt/dx
  boundary   = "zero",
  stages = {
    { update = function(f, p)
        return {
          hx = f.hx(0, 0) - p.courant * (f.ez(0, 1) - f.ez(0, 0)),
          hy = f.hy(0, 0) + p.courant * (f.ez(1, 0) - f.ez(0, 0)),
        }
      end },
    { update = function(f, p, at)
        local curl = f.hy(0, 0) - f.hy(-1, 0) - f.hx(0, 0) + f.hx(0, -1)
        return { ez = where(any(eq(at.x, 0), eq(at.y, 0)), 0, f.ez(0, 0) + p.courant * curl) }
      end },
  },
}
