return stencil { name = "t", shape = star(2, 1), coefficients = identity(), schedule = { method = "tiled", coarsen = { x = 2 } } }
