return stencil { name = "v", shape = star(1, 4), coefficients = identity(), schedule = { method = "coarsened", coarsen = { x = 8 } } }
