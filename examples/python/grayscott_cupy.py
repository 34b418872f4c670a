"""Gray-Scott on a GPU with CuPy, or with NumPy on the processor: spots that divide, in grayscott.png.

The arrays stay in the GPU's memory; `overwrite=True` lets them and two more hold all steps."""

import sys
from pathlib import Path

import stencilgen as sg
from picture import write_png

try:
    import cupy as xp

    xp.cuda.runtime.getDeviceCount()
    device, n, rounds = "cuda", 1024, 40
except Exception:
    import numpy as xp

    device, n, rounds = "cpu", 128, 10

home = Path(__file__).resolve().parents[2]  # of a checkout, or share/doc/stencilgen
specs = home / "specs" if (home / "specs").exists() else home.parents[1] / "stencilgen" / "specs"
grayscott = sg.build(specs / "grayscott.lua", size=(n, n), steps=200, device=device)

u = xp.ones((n, n), "float32")
v = xp.zeros((n, n), "float32")
middle = slice(n // 2 - 10, n // 2 + 10)
u[middle, middle], v[middle, middle] = 0.5, 0.25
for _ in range(rounds):
    u, v = grayscott.run(u, v, steps=200, overwrite=True, F=0.037, k=0.06)
print(f"{grayscott.plan}; v is between {float(v.min()):.3g} and {float(v.max()):.3g}")
if not 0.1 < float(v.max()) < 1:
    sys.exit("the spots died")
write_png("grayscott.png", v if device == "cpu" else v.get())
