-- Burgers' equations in 2D: a velocity (u, v) carries itself along and diffuses.
--   du/dt + u du/dx + v du/dy = nu Δu, and the same for v.
-- Centred differences in space, forward Euler in time: J. C. Tannehill, D. A. Anderson, R. H. Pletcher,
-- Computational Fluid Mechanics and Heat Transfer, section 4.5. Stable for dt <= h²/(4 nu), dt <= nu/(u² + v²).
local ddx, ddy = derivative { axis = "x" }, derivative { axis = "y" }
local lap = laplacian { dims = 2 }

return stencil {
  name       = "burgers",
  dtype      = "double",
  fields     = { u = "inout", v = "inout" },          -- m/s
  parameters = { nu = 0.01, h = true, dt = true },    -- m²/s, m, s
  boundary   = "periodic",
  update     = function(f, p)
    local function rate(q)
      local carried = f.u(0, 0) * apply(ddx, q) + f.v(0, 0) * apply(ddy, q)
      return p.nu / p.h ^ 2 * apply(lap, q) - carried / p.h
    end
    return { u = f.u(0, 0) + p.dt * rate(f.u), v = f.v(0, 0) + p.dt * rate(f.v) }
  end,
}
