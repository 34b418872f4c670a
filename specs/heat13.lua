-- One explicit step of the 3D heat equation, fourth order in space: a star of radius 2.
local k = 0.05 -- diffusivity * time step / spacing^2
return stencil {
  name         = "heat13",
  shape        = star(3, 2), -- dimensions, radius: 13 points
  coefficients = identity() + k * laplacian { dims = 3, accuracy = 4 },
  dtype        = "float",
  boundary     = "fixed",
  -- schedule  = { method = "register", tile = { x = 32, y = 8 }, coarsen = { z = 16 } },   -- what is left out is chosen
}
