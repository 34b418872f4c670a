return {
  spmv { name = "a", dtype = "double", matrix = "float", index = "int64", vectors = 3 },
  spmv { name = "b", format = "bcsr", algorithm = "warp", schedule = { rows = 3, columns = 5, threads = 64 } },
  spmv { name = "c", schedule = { slice = 7, sigma = 21 } },
  spmv { name = "d", format = "pkt", schedule = { packet = 100, items = 3 } },
}
