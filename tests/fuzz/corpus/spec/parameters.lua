return stencil { name = "p", parameters = { k = 0.05, F = true }, shape = star(1, 1),
  coefficients = { param "k", param "F", param "F" * 2 }, boundary = "fixed" }
