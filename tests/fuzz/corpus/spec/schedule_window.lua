return stencil { name = "v", shape = star(1, 2), coefficients = { 1, 2, 3, 4, 5 }, schedule = { method = "register", coarsen = { x = 4 } } }
