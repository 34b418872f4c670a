return {
  scan { name = "a", op = "sum", dtype = "int64", kind = "exclusive", init = param "b" },
  scan { name = "own", op = function(a, b) return where(eq(b, 0), a, b) end, identity = 0,
    map = function(x, p) return p.k * x end, deterministic = true, algorithm = "brent-kung" },
  scan { name = "c", op = "max", dtype = "uint32", schedule = { threads = 64, items = 5 } },
}
