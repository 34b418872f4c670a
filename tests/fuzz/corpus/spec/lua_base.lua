local t = {}
table.insert(t, tostring(1.5) .. type(t) .. select("#", 1, 2) .. tostring(nil))
table.insert(t, tonumber("0x10"))
assert(#t == 2, "two")
for k, v in pairs { 3, 2, a = 1, [2.5] = true } do t[#t + 1] = tostring(v) end
return stencil { name = "n" .. t[2], shape = star(1, 1), coefficients = { #t, #table.concat(t, "-"), 0 } }
