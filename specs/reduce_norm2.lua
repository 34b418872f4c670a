-- The sum of squares of a list, whose root is its Euclidean norm.
return reduce {
  name  = "reduce_norm2",
  dtype = "double",
  map   = function(x) return x * x end,
}
