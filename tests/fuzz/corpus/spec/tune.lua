return {
  stencil { name = "a", shape = star(2, 1), coefficients = { 1, 2, 3, 4, 5 }, schedule = { vector = 1 },
    tune = { method = { "tiled", "temporal" }, tile = { { x = 32, y = 8 }, { x = 64 } }, coarsen = { y = { 1, 4 } },
      time = { 1, 4 }, lane = { x = 6 }, stages = { 2 }, passes = { 1 }, vector = { 1, 4 } } },
  reduce { name = "b", tune = { algorithm = { "one-pass" }, threads = { 128, 256 }, items = { 8 } } },
  spmv { name = "c", tune = { format = { "csr", "sell" }, lanes = { 2, 4 } } },
}
