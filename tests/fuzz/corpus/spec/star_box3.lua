return { stencil { name = "s", shape = star(3, 1), coefficients = { 1, 2, 3, 4, 5, 6, 7 }, boundary = "periodic" },
  stencil { name = "b", shape = box(3, 1), coefficients = identity() } }
