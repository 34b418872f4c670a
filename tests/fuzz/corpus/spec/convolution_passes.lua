local w = {}
for z = 1, 2 do w[z] = {} for y = 1, 3 do w[z][y] = {} for x = 1, 4 do w[z][y][x] = x * y * z end end end
return convolution { name = "c", weights = w, boundary = constant(2), schedule = { method = "tiled" } }
