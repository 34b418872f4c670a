local fields = {}
for i = 1, 16 do fields["f" .. i] = "inout" end
return stencil { name = "s", fields = fields, update = function(f)
  local out = {}
  for k in pairs(fields) do out[k] = f[k](1) - f[k](-1) end
  return out
end }
