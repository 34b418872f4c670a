return stencil { name = "v", shape = box(2, 2), coefficients = identity(), schedule = { method = "naive", vector = 4, tile = { x = 128 } } }
