-- One explicit step of the 2D heat equation, fourth order in space: a star of radius 2.
local k = 0.1 -- diffusivity * time step / spacing^2
return stencil {
  name         = "heat2d9",
  shape        = star(2, 2),
  coefficients = identity() + k * laplacian { dims = 2, accuracy = 4 },
  dtype        = "float",
  boundary     = "fixed",
}
