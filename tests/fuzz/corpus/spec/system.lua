return system {
  name = "a", boundary = { x = "periodic", y = "clamp" }, parameters = { k = 0.5 },
  fields = { u = { use = "inout", levels = 2 }, c = { use = "in", range = { 1, 2 } }, s = "scratch", e = "out" },
  stages = {
    { update = function(f, p) return { s = f.u(1, 0) - f.u(-1, 0) * p.k } end },
    { boundary = "periodic", update = function(f, p) return { u = f.s(1, 0) + f.u.prev(0, 0), e = f.s(0, 0) } end },
    { boundary = "fixed", times = 3, schedule = { method = "naive" },
      update = function(f, p, at) return { u = apply(laplacian { dims = 2 }, f.u) * f.c(0, 0) } end },
  },
}
