-- specs/shallow.lua: waves of shallow water of height h over a flat bottom, with the momenta mu and mv along x and y, on
-- a periodic sea; Richtmyer's two steps of Lax and Wendroff: half a step at the cells' corners, then a whole one.
local g = 9.81

-- The flux of (h, mu, mv) along x; along y it is that of (h, mv, mu), turned.
local function flux(h, along, across)
  local speed = along * (1 / h)                       -- the one division of a corner, also of both fluxes
  return along, along * speed + g / 2 * h * h, across * speed
end

-- A whole or half step: from the mean of four cells, and the fluxes on the sides of a square of width 1.
local function step(h, mu, mv, x, y, ratio)
  local fluxes_x, fluxes_y = {}, {}
  for i = 1, 4 do                                     -- the corners, x first: (0,0), (1,0), (0,1), (1,1)
    local dx, dy = x + (i - 1) % 2, y + (i > 2 and 1 or 0)
    local a, b, c = h(dx, dy), mu(dx, dy), mv(dx, dy)
    local fh, fu, fv = flux(a, b, c)
    local gh, gv, gu = flux(a, c, b)
    fluxes_x[i], fluxes_y[i] = { fh, fu, fv }, { gh, gu, gv }
  end
  local change = {}
  for k = 1, 3 do
    local east = fluxes_x[2][k] + fluxes_x[4][k] - fluxes_x[1][k] - fluxes_x[3][k]
    local north = fluxes_y[3][k] + fluxes_y[4][k] - fluxes_y[1][k] - fluxes_y[2][k]
    change[k] = -ratio / 2 * (east + north)
  end
  return change
end

local function mean(u)
  return 0.25 * (u(0, 0) + u(1, 0) + u(0, 1) + u(1, 1))
end

return system {
  name       = "shallow",
  dtype      = "float",
  boundary   = "periodic",
  fields     = {
    h  = { use = "inout", range = { 1, 1.5 } }, mu = { use = "inout", range = { -0.5, 0.5 } },
    mv = { use = "inout", range = { -0.5, 0.5 } },
    hh = "scratch", uu = "scratch", vv = "scratch",   -- at the corners above and right of the cells
  },
  parameters = { ratio = 0.1 },                       -- dt / dx
  stages = {
    { update = function(f, p)
        local change = step(f.h, f.mu, f.mv, 0, 0, p.ratio / 2)
        return { hh = mean(f.h) + change[1], uu = mean(f.mu) + change[2], vv = mean(f.mv) + change[3] }
      end },
    { update = function(f, p)
        local change = step(f.hh, f.uu, f.vv, -1, -1, p.ratio)
        return { h = f.h(0, 0) + change[1], mu = f.mu(0, 0) + change[2], mv = f.mv(0, 0) + change[3] }
      end },
  },
}
