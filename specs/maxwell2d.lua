-- specs/maxwell2d.lua: electromagnetic waves in 2D (the field ez along z, hx and hy in the plane) by the
-- finite differences of Yee: h lives between the points of e, in space and in time. eps is the relative permittivity.
-- The edges conduct perfectly: ez keeps its 0 in the first row and column, and is 0 beyond the last.
-- K. Yee, IEEE Trans. Antennas Propagat. 14, 302 (1966).
return system {
  name       = "maxwell2d",
  dtype      = "float",
  fields     = { ez = "inout", hx = "inout", hy = "inout", eps = { use = "in", range = { 1, 4 } } },
  parameters = { courant = 0.5 },                     -- c dt / h, below 1 / sqrt(2)
  stages = {
    { boundary = "zero",
      update = function(f, p)
        return {
          hx = f.hx(0, 0) - p.courant * (f.ez(0, 1) - f.ez(0, 0)),
          hy = f.hy(0, 0) + p.courant * (f.ez(1, 0) - f.ez(0, 0)),
        }
      end },
    { boundary = "fixed",
      update = function(f, p)
        local curl = f.hy(0, 0) - f.hy(-1, 0) - f.hx(0, 0) + f.hx(0, -1)
        return { ez = f.ez(0, 0) + p.courant / f.eps(0, 0) * curl }
      end },
  },
}
