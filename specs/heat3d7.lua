-- One explicit step of the 3D heat equation, second order in space: a star of radius 1.
local k = 0.1 -- diffusivity * time step / spacing^2
return stencil {
  name         = "heat3d7",
  shape        = star(3, 1),
  coefficients = identity() + k * laplacian { dims = 3, accuracy = 2 },
  dtype        = "float",
  boundary     = "fixed",
}
