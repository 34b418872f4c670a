-- One explicit step of the 1D heat equation, sixth order in space: a star of radius 3.
local k = 0.15 -- diffusivity * time step / spacing^2
return stencil {
  name         = "heat1d7",
  shape        = star(1, 3),
  coefficients = identity() + k * laplacian { dims = 1, accuracy = 6 },
  dtype        = "float",
  boundary     = "fixed",
}
