-- A 3x3 blur with the binomial weights 1 2 1 along each axis; the edge is repeated outwards.
local weights = { 1, 2, 1, 2, 4, 2, 1, 2, 1 }
for i, w in ipairs(weights) do
  weights[i] = w / 16
end
return stencil {
  name         = "blur2d",
  shape        = box(2, 1),
  coefficients = weights,
  dtype        = "float",
  boundary     = "clamp",
}
