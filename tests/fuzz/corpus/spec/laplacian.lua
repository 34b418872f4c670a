return stencil { name = "l", coefficients = identity() + laplacian { dims = 3, accuracy = 6, spacing = { x = 0.1, z = 0.2 } } / 7 }
