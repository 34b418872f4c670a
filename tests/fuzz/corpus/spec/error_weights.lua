return convolution { name = "c", weights = { { 1, 2 }, { 3 } }, boundary = "fixed" }
