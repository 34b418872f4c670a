-- The lid-driven cavity: the Navier-Stokes equations of an incompressible fluid in a square box whose
-- lid moves at speed 1. Velocities and pressure are on a staggered grid (F. H. Harlow, J. E. Welch,
-- Phys. Fluids 8 (1965) 2182). The pressure follows from an artificial compressibility (A. J. Chorin,
-- J. Comput. Phys. 2 (1967) 12), which no longer matters when the flow is steady.
--   du/dt + ∇·(u u) = -∇p + Δu/Re,  dp/dt = -beta ∇·u
-- The cell (i, j) holds p at its centre, u at its left face and v at its lower one. Outside of the grid
-- u and v are 0: the right wall and the lid lie there. Stable for dt <= 2/Re, h²Re/4, h/2.

return system {
  name       = "cavity",
  dtype      = "double",
  fields     = { u = "inout", v = "inout", p = "inout" }, -- of the lid's speed, and its square times density
  parameters = { Re = 100, beta = 1, h = true, dt = true },  -- h and dt: of the box, and of box/speed
  boundary   = "zero",
  monitors   = { -- 0 when the flow is steady
    divergence = { op = "max", map = function(f, p)
      return abs(f.u(1, 0) - f.u(0, 0) + f.v(0, 1) - f.v(0, 0)) / p.h
    end },
  },
  stages = {
    { update = function(f, p, at)
        -- A wall along a row of u, half a cell away from it, moves at a speed: the cell behind mirrors it.
        local function u(x, y)
          if y == 1 then return where(eq(at.y, at.ny - 1), 2 - f.u(x, 0), f.u(x, 1)) end
          if y == -1 then return where(eq(at.y, 0), -f.u(x, 0), f.u(x, -1)) end
          return f.u(x, y)
        end
        local function v(x, y)
          if x == 1 then return where(eq(at.x, at.nx - 1), -f.v(0, y), f.v(1, y)) end
          if x == -1 then return where(eq(at.x, 0), -f.v(0, y), f.v(-1, y)) end
          return f.v(x, y)
        end
        local function lap(q) return q(1, 0) + q(-1, 0) + q(0, 1) + q(0, -1) - 4 * q(0, 0) end
        local function square(a, b) return (a + b) ^ 2 / 4 end
        local function product(a, b, c, d) return (a + b) * (c + d) / 4 end

        local uu = square(u(0, 0), u(1, 0)) - square(u(0, 0), u(-1, 0))
        local uv = product(u(0, 0), u(0, 1), v(0, 1), v(-1, 1)) - product(u(0, 0), u(0, -1), v(0, 0), v(-1, 0))
        local vv = square(v(0, 0), v(0, 1)) - square(v(0, 0), v(0, -1))
        local vu = product(v(0, 0), v(1, 0), u(1, 0), u(1, -1)) - product(v(0, 0), v(-1, 0), u(0, 0), u(0, -1))
        local r, nu = p.dt / p.h, p.dt / (p.Re * p.h ^ 2)
        return {
          u = where(eq(at.x, 0), 0, u(0, 0) - r * (uu + uv + f.p(0, 0) - f.p(-1, 0)) + nu * lap(u)),
          v = where(eq(at.y, 0), 0, v(0, 0) - r * (vv + vu + f.p(0, 0) - f.p(0, -1)) + nu * lap(v)),
        }
      end },
    { update = function(f, p)
        local divergence = f.u(1, 0) - f.u(0, 0) + f.v(0, 1) - f.v(0, 0)
        return { p = f.p(0, 0) - p.beta * p.dt / p.h * divergence }
      end },
  },
}
