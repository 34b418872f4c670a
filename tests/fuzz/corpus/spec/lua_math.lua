local m = math
return stencil { name = "m", shape = star(2, 1), coefficients = { m.abs(-1) + m.ceil(1.5) + m.cos(1) + m.exp(1),
  m.floor(2.5) + m.fmod(7, 3) + m.log(2), m.max(1, 2) + m.min(3, 4), m.sin(m.pi) + m.sqrt(2), m.tan(1) + m.tointeger(3.0) + (m.maxinteger // 2 ~ m.mininteger) % 7 } }
