-- The shallow water equations in conserved form: depth h, and momentum (mx, my) = h (u, v).
-- Finite volumes of first order. The flux through a face is that of Harten, Lax and van Leer:
-- A. Harten, P. D. Lax, B. van Leer, SIAM Review 25 (1983) 35; speeds of waves after S. F. Davis.
-- E. F. Toro, Shock-Capturing Methods for Free-Surface Flows, Wiley 2001, chapter 10.
-- Stable for dt (|u| + sqrt(g h)) <= dx/2 in 2D, dx in 1D.

-- The flux of (depth, momentum across the face, momentum along it) from the cell a to the cell b.
local function hll(g, a, b)
  local ua, ub = a.across / a.h, b.across / b.h
  local ca, cb = sqrt(g * a.h), sqrt(g * b.h)
  local left, right = min(0, ua - ca, ub - cb), max(0, ua + ca, ub + cb)
  local function mean(fa, fb, qa, qb)
    return (right * fa - left * fb + left * right * (qb - qa)) / (right - left)
  end
  return mean(a.across, b.across, a.h, b.h),
         mean(a.across * ua + g / 2 * a.h ^ 2, b.across * ub + g / 2 * b.h ^ 2, a.across, b.across),
         mean(a.along * ua, b.along * ub, a.along, b.along)
end

return stencil {
  name       = "dam_break",
  dtype      = "double",
  fields     = { h = { use = "inout", range = { 0.5, 2 } }, mx = "inout", my = "inout" }, -- m, m²/s, m²/s
  parameters = { g = 9.81, r = true },                                                   -- m/s²; dt/dx, s/m
  boundary   = "clamp",
  update     = function(f, p)
    local function x(dx, dy) return { h = f.h(dx, dy), across = f.mx(dx, dy), along = f.my(dx, dy) } end
    local function y(dx, dy) return { h = f.h(dx, dy), across = f.my(dx, dy), along = f.mx(dx, dy) } end
    local wh, wx, wy = hll(p.g, x(-1, 0), x(0, 0)) -- west, east, south, north
    local eh, ex, ey = hll(p.g, x(0, 0), x(1, 0))
    local sh, sy, sx = hll(p.g, y(0, -1), y(0, 0))
    local nh, ny, nx = hll(p.g, y(0, 0), y(0, 1))
    return {
      h  = f.h(0, 0) + p.r * ((wh - eh) + (sh - nh)),
      mx = f.mx(0, 0) + p.r * ((wx - ex) + (sx - nx)),
      my = f.my(0, 0) + p.r * ((wy - ey) + (sy - ny)),
    }
  end,
}
