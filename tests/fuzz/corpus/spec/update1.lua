return stencil { name = "u", update = function(u, p) return u(0) + p.k * (u(1) - 2 * u(0) + u(-1)) end }
