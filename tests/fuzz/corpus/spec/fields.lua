return stencil { name = "f", dtype = "double", fields = { u = { use = "inout", levels = 2 }, c = "in", o = "out" },
  update = function(f, p)
    return { u = 2 * f.u(0, 0) - f.u.prev(0, 0) + f.c(0, 0) * apply(laplacian { dims = 2 }, f.u), o = f.c(1, 0) }
  end }
