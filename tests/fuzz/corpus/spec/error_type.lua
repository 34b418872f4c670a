return stencil { name = 5, shape = "star" }
