-- One explicit step of the 2D heat equation, second order in space: a star of radius 1.
local k = 0.2 -- diffusivity * time step / spacing^2
return stencil {
  name         = "heat2d5",
  shape        = star(2, 1),
  coefficients = identity() + k * laplacian { dims = 2, accuracy = 2 },
  dtype        = "float",
  boundary     = "fixed",
}
