-- The Gray-Scott reaction and diffusion of two substances, both updated in one pass.
local lap = laplacian { dims = 2 }
return stencil {
  name       = "grayscott",
  fields     = { u = "inout", v = "inout" },
  parameters = { F = 0.037, k = 0.06, Du = 0.2, Dv = 0.1 },
  dtype      = "float",
  boundary   = "periodic",
  update     = function(f, p)
    local u, v = f.u(0, 0), f.v(0, 0)
    local reaction = u * v ^ 2
    return {
      u = u + p.Du * apply(lap, f.u) - reaction + p.F * (1 - u),
      v = v + p.Dv * apply(lap, f.v) + reaction - (p.F + p.k) * v,
    }
  end,
}
