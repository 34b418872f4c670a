-- One explicit step of the 1D heat equation, fourth order in space: a star of radius 2.
local k = 0.2 -- diffusivity * time step / spacing^2
return stencil {
  name         = "heat1d5",
  shape        = star(1, 2),
  coefficients = identity() + k * laplacian { dims = 1, accuracy = 4 },
  dtype        = "float",
  boundary     = "fixed",
}
