-- One explicit step of the 1D heat equation, second order in space: a star of radius 1.
local k = 0.25 -- diffusivity * time step / spacing^2
return stencil {
  name         = "heat1d3",
  shape        = star(1, 1),
  coefficients = identity() + k * laplacian { dims = 1, accuracy = 2 },
  dtype        = "float",
  boundary     = "fixed",
}
