return stencil { name = "s", shape = star(3, 1), coefficients = { 1, 2, 2, 2, 2, 2, 2 }, boundary = "zero",
  schedule = { method = "tiled", tile = { x = 32, y = 4 }, time = 1 } }
