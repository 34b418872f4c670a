-- A 5x5 blur with the binomial weights 1 4 6 4 1 along each axis; the edge is repeated outwards.
local line, weights = { 1, 4, 6, 4, 1 }, {}
for j, row in ipairs(line) do
  weights[j] = {}
  for i, column in ipairs(line) do
    weights[j][i] = row * column / 256
  end
end
return convolution {
  name     = "blur",
  weights  = weights,
  dtype    = "float",
  boundary = "clamp",
}
