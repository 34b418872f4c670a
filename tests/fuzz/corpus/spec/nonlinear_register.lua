return stencil { name = "n", schedule = { method = "register" }, update = function(u, p)
  return u(0, 0, 0) * (u(0, 0, 1) - u(0, 0, -1)) + u(1, 1, 0) end }
