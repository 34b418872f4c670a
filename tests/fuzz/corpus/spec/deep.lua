return stencil { name = "d", update = function(u)
  local s = u(0)
  for i = 1, 9 do s = s * u(i % 5 - 2) + s end
  return s
end }
