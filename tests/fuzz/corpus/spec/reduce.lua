return {
  reduce { name = "a", op = "argmax", dtype = "int64", algorithm = "interleaved" },
  reduce {
    name = "b", inputs = 2, map = function(x, y, p) return p.k * x * y end, parameters = { k = 2 },
    segmented = true, schedule = { threads = 64, items = 8, blocks = 3 },
  },
  reduce { name = "c", op = function(a, b) return max(a, b) end, identity = -math.huge, commutative = true },
}
