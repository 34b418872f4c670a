-- Elastic waves in an isotropic solid, velocities and stresses on a staggered grid, of order 4 in
-- space and 2 in time: J. Virieux, Geophysics 51 (1986) 889; A. R. Levander, Geophysics 53 (1988) 1425.
--   rho dv/dt = ∇·sigma,  dsigma/dt = lambda (∇·v) 1 + mu (∇v + ∇vᵀ)
-- The cell (i, j) holds sxx and syy at (i, j), vx at (i + 1/2, j), vy at (i, j + 1/2) and sxy at
-- (i + 1/2, j + 1/2). Stable for vp dt <= 0.6 h.

-- The derivative along x or y half a cell ahead of a value (side 1) or behind it (side 0).
local function d(u, axis, side)
  local function at(i)
    if axis == "x" then return u(i, 0) end
    return u(0, i)
  end
  return 9 / 8 * (at(side) - at(side - 1)) - 1 / 24 * (at(side + 1) - at(side - 2))
end

return system {
  name       = "elastic",
  dtype      = "double",
  fields     = { vx = "inout", vy = "inout", sxx = "inout", syy = "inout", sxy = "inout" }, -- m/s, Pa
  parameters = { vp = 3000, vs = 1800, rho = 2200, h = 10, dt = 0.001 },         -- m/s, kg/m³, m, s
  boundary   = "zero",
  stages = {
    { update = function(f, p)
        local mu = p.rho * p.vs ^ 2
        local lambda = p.rho * p.vp ^ 2 - 2 * mu
        local exx, eyy = d(f.vx, "x", 0), d(f.vy, "y", 0)
        local r = p.dt / p.h
        return {
          sxx = f.sxx(0, 0) + r * (lambda * (exx + eyy) + 2 * mu * exx),
          syy = f.syy(0, 0) + r * (lambda * (exx + eyy) + 2 * mu * eyy),
          sxy = f.sxy(0, 0) + r * mu * (d(f.vx, "y", 1) + d(f.vy, "x", 1)),
        }
      end },
    { update = function(f, p)
        local r = p.dt / (p.rho * p.h)
        return {
          vx = f.vx(0, 0) + r * (d(f.sxx, "x", 1) + d(f.sxy, "y", 0)),
          vy = f.vy(0, 0) + r * (d(f.sxy, "x", 0) + d(f.syy, "y", 1)),
        }
      end },
  },
}
