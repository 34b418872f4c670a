return stencil { name = "v", shape = box(3, 1), coefficients = identity(), dtype = "double", schedule = { method = "register", coarsen = { z = 16 } } }
