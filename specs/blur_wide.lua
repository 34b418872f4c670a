-- A 15x15 Gaussian blur, three cells wide. Its weights are products of a column and a row, so two
-- passes of 15 weights can do the work of one pass of 225.
local width, radius = 3, 7
local line, sum = {}, 0
for i = 1, 2 * radius + 1 do
  line[i] = math.exp(-(i - 1 - radius) ^ 2 / (2 * width ^ 2))
  sum = sum + line[i]
end
local weights = {}
for j, row in ipairs(line) do
  weights[j] = {}
  for i, column in ipairs(line) do
    weights[j][i] = row * column / sum ^ 2
  end
end
return convolution {
  name     = "blur_wide",
  weights  = weights,
  dtype    = "float",
  boundary = "clamp",
}
