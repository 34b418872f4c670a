local w = { 1, 2, 1, 2, 4, 2, 1, 2, 1 }
for i, v in ipairs(w) do w[i] = v / 16 end
return stencil { name = "blur", shape = box(2, 1), coefficients = w, boundary = "clamp" }
