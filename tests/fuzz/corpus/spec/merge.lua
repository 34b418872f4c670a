return {
  merge { name = "a", keys = "int32", values = "double", order = "descending" },
  merge { name = "own", keys = "float", order = function(a, b, p) return lt(abs(a), p.k * b) end,
    algorithm = "circular", schedule = { rounds = 3 } },
}
