-- The dot product of two lists.
return reduce {
  name   = "reduce_dot",
  dtype  = "double",
  inputs = 2,
  map    = function(x, y) return x * y end,
}
