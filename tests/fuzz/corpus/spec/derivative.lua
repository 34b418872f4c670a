local a = derivative { axis = "y", order = 3, accuracy = 4, spacing = 0.5 }
return stencil { name = "d", dims = 2, coefficients = identity() - 0.5 * a + param "k" * derivative { axis = "x" } }
