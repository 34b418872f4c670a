return stencil { name = "v", shape = box(3, 2), coefficients = identity(), schedule = { vector = 3, tile = { x = 128 } } }
