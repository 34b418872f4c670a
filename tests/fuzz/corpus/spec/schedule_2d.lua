return stencil { name = "v", shape = box(2, 1), coefficients = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, schedule = { method = "coarsened", coarsen = { y = 4 }, tile = { x = 64 } } }
