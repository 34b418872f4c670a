return stencil { name = "g", update = function(u, p)
  local a, b = u(0, 0, 0), u(1, -1, 1)
  return min(a, b, 2) + max(a, b) + abs(a) + sqrt(b) + exp(a) + log(b) + sin(a) + cos(b) + tanh(a) + pow(a, b) + floor(a) + a ^ 2 + b ^ 3 + a ^ 4 + a ^ b - -a
end }
