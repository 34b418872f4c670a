return stencil { name = "t", shape = points { {3, 0, -8}, {-5, 8, 1} }, coefficients = { 1, 1 }, boundary = "periodic",
  schedule = { method = "tiled", tile = { x = 7, y = 3, z = 2 } } }
