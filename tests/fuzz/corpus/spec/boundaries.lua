return stencil { name = "b", shape = star(3, 2), coefficients = identity(),
  boundary = { x = "periodic", y = { "mirror", constant(1.5) }, z = { "zero", "clamp" } } }
