-- The lattice Boltzmann method, D2Q9 with one relaxation time, a force, and walls that bounce back.
-- Y. H. Qian, D. d'Humières, P. Lallemand, Europhys. Lett. 17 (1992) 479; the force after Z. Guo,
-- C. Zheng, B. Shi, Phys. Rev. E 65 (2002) 046308. In units of the lattice: viscosity (tau - 1/2)/3.
-- A wall lies halfway between a cell of fluid and a cell that is solid.
local c = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 }, { 1, 1 }, { -1, 1 }, { -1, -1 }, { 1, -1 } }
local w = { 4/9, 1/9, 1/9, 1/9, 1/9, 1/36, 1/36, 1/36, 1/36 }
local back = { 1, 4, 5, 2, 3, 8, 9, 6, 7 } -- which of them goes the opposite way

return stencil {
  name       = "d2q9",
  dtype      = "double",
  fields     = {
    f = { use = "inout", components = 9, range = { 0.01, 0.5 } },
    solid = { use = "in", values = { 0, 1 } },
    ux = "out", uy = "out",
  },
  parameters = { tau = 0.6, gx = 1e-5, u0 = 0 }, -- gx: along x, by mass; u0: the speed at the beginning
  boundary   = "periodic",
  update     = function(f, p, at)
    local function equilibrium(i, rho, ux, uy)
      local eu = c[i][1] * ux + c[i][2] * uy
      return w[i] * rho * (1 + 3 * eu + 4.5 * eu ^ 2 - 1.5 * (ux ^ 2 + uy ^ 2))
    end
    -- What arrives at this cell: from each neighbour, or back from the wall.
    local n, rho, jx, jy = {}, 0, 0, 0
    for i, e in ipairs(c) do
      n[i] = where(eq(f.solid(-e[1], -e[2]), 1), f.f[back[i]](0, 0), f.f[i](-e[1], -e[2]))
      n[i] = where(eq(at.step, 0), equilibrium(i, 1, p.u0, 0), n[i])
      rho, jx, jy = rho + n[i], jx + e[1] * n[i], jy + e[2] * n[i]
    end
    local ux, uy = (jx + p.gx / 2) / rho, jy / rho
    -- Collision: towards the equilibrium, with the force.
    local new = {}
    for i, e in ipairs(c) do
      local eu = e[1] * ux + e[2] * uy
      local force = w[i] * (1 - 1 / (2 * p.tau)) * (3 * (e[1] - ux) + 9 * eu * e[1]) * p.gx
      new[i] = n[i] + (equilibrium(i, rho, ux, uy) - n[i]) / p.tau + force
    end
    local solid = eq(f.solid(0, 0), 1)
    return { f = new, ux = where(solid, 0, ux), uy = where(solid, 0, uy) }
  end,
}
