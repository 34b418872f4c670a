return stencil { name = "p", shape = points { {0, 0}, {1, 0}, {-1, 2} }, coefficients = { 1, param "a", -param "a" / 3 } }
