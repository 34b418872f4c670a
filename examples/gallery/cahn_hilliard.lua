-- The Cahn-Hilliard equation: an alloy, quenched, separates into two phases c = -1 and c = 1.
--   dc/dt = M Δmu,  mu = c³ - c - kappa Δc
-- mu is the chemical potential of the free energy ∫ (c² - 1)²/4 + kappa |∇c|²/2, which can only fall.
-- J. W. Cahn, J. E. Hilliard, J. Chem. Phys. 28 (1958) 258; J. W. Cahn, Acta Metall. 9 (1961) 795.
-- Centred differences, forward Euler; stable for dt <= h⁴/(32 M kappa).
return stencil {
  name       = "cahn_hilliard",
  dtype      = "double",
  fields     = { c = "inout" },                                  -- 1: the difference of concentrations
  parameters = { M = 1, kappa = 1, h = 1, dt = 0.02 },           -- 1, m², m, m²
  boundary   = "periodic",
  monitors   = {
    mass   = { op = "sum", map = function(f) return f.c(0, 0) end },
    energy = { op = "sum", map = function(f, p)
      local slope2 = ((f.c(1, 0) - f.c(0, 0)) ^ 2 + (f.c(0, 1) - f.c(0, 0)) ^ 2) / p.h ^ 2
      return (f.c(0, 0) ^ 2 - 1) ^ 2 / 4 + p.kappa / 2 * slope2
    end },
  },
  update     = function(f, p)
    local function mu(x, y)
      local around = f.c(x + 1, y) + f.c(x - 1, y) + f.c(x, y + 1) + f.c(x, y - 1)
      return f.c(x, y) ^ 3 - f.c(x, y) - p.kappa / p.h ^ 2 * (around - 4 * f.c(x, y))
    end
    local lap = mu(1, 0) + mu(-1, 0) + mu(0, 1) + mu(0, -1) - 4 * mu(0, 0)
    return f.c(0, 0) + p.dt * p.M / p.h ^ 2 * lap
  end,
}
