"""Heat in a plate with three hot spots: ten lines of NumPy, and a picture in heat.png."""

import numpy as np
import stencilgen as sg
from picture import write_png

SPEC = """
return stencil {
  name = "plate", boundary = "clamp",                -- no heat leaves the plate
  coefficients = identity() + param "k" * laplacian { dims = 2 },
}
"""

heat = sg.build(text=SPEC, size=(256, 256), steps=500)
u = np.zeros((256, 256), "float32")
for y, x in [(60, 60), (200, 90), (120, 190)]:
    u[y - 10 : y + 10, x - 10 : x + 10] = 100
total = u.sum(dtype="float64")
u = heat.run(u, steps=500, k=0.2)
print(f"{heat.plan}; the heat is {u.sum(dtype='float64') / total:.6f} of what it was")
write_png("heat.png", u)
