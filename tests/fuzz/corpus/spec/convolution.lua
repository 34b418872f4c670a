return convolution { name = "c", weights = { { 1, 2, 1 }, { 2, 4, param "k" } }, dtype = "double", boundary = { x = "periodic" } }
