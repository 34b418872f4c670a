return stencil { name = "r", shape = star(1, 8), coefficients = derivative { axis = "x", order = 16, accuracy = 2 }, boundary = "mirror" }
