return stencil { name = "bom", shape = star(1, 1), coefficients = { 1, 1, 1 } }
