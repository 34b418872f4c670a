"""A shot in a layered medium: a source and receivers between the cells, and layers along the edges that absorb the waves.
The source and a receiver may change places, and the traces of both ways agree to rounding: a test of the update, of the
edges and of how points share cells. shot.png has the medium with the wave, and the traces of all receivers below."""

import sys

import numpy as np
import stencilgen as sg
from picture import write_png

SPEC = """
return stencil {
  name   = "shot", dtype = "double", boundary = "zero",
  fields = { p = { use = "inout", levels = 2 }, c = "in", damp = { use = "in", range = { 0.9, 1 } } },
  parameters = { dt = true, h = true },
  update = function(f, p)
    local lap = apply(laplacian { dims = 2, accuracy = 8 }, f.p) / p.h ^ 2
    return f.damp(0, 0) * (2 * f.p(0, 0) - f.damp(0, 0) * f.p.prev(0, 0) + (p.dt * f.c(0, 0)) ^ 2 * lap)
  end,
  points = {
    shot = { field = "p", inject = function(s, f, p) return s * f.damp(0, 0) * (p.dt * f.c(0, 0)) ^ 2 end },
    rec  = { field = "p", sample = true },
  },
}"""

NY, NX, STEPS = 160, 240, 600
DT, H = 0.0015, 10.0  # seconds, metres
EDGE, FREQUENCY = 24, 12.0  # cells, hertz


def medium():
    """The speed, faster below an inclined layer, and what is left of a wave in each step."""
    y, x = np.mgrid[:NY, :NX]
    c = np.where(y > 70 + 0.15 * x, 2500.0, 1500.0)
    depth = np.minimum.reduce([y, x, NY - 1 - y, NX - 1 - x])
    damp = np.exp(-((0.012 * np.clip(EDGE - depth, 0, None)) ** 2))
    return c, damp


def ricker(frequency):
    """A wavelet."""
    t = (np.pi * frequency * (np.arange(STEPS) * DT - 1.2 / frequency)) ** 2
    return (1 - 2 * t) * np.exp(-t)


def shoot(kernel, c, damp, at, receivers, steps=STEPS):
    """The wave after the steps, and the traces: one row a step, one column a receiver. Positions are x first."""
    shot, rec = sg.Points([at], series=ricker(FREQUENCY)), sg.Points(receivers)
    rest = {"p": np.zeros((NY, NX)), "p.prev": np.zeros((NY, NX))}
    state = kernel.run({"c": c, "damp": damp, **rest}, steps=steps, dt=DT, h=H, points={"shot": shot, "rec": rec})
    return state["p"], rec.traces


def main():
    c, damp = medium()
    kernel = sg.build(text=SPEC, size=(NY, NX), steps=STEPS)
    source = (110.3, 32.7)
    receivers = np.stack(
        [np.linspace(30.5, NX - 30.5, NX), np.full(NX, 30.25)], axis=1
    )  # one for each column of pixels
    _, traces = shoot(kernel, c, damp, source, receivers)

    # Where the wave comes straight along the upper layer, it needs distance / speed, and is fullest after the wavelet.
    k = 60
    straight = np.hypot(*(receivers[k] - source)) * H / 1500 + 1.2 / FREQUENCY
    seen = np.argmax(np.abs(traces[: int(straight / DT) + 40, k])) * DT
    print(
        f"the wave reaches receiver {k} after {1e3 * seen:.0f} ms; along a ray it would after {1e3 * straight:.0f} ms"
    )

    error = 0.0
    for k in (3, 100, 222):
        _, back = shoot(kernel, c, damp, receivers[k], [source])
        error = max(error, np.abs(back[:, 0] - traces[:, k]).max() / np.abs(traces[:, k]).max())
    print(f"sources and receivers change places: the traces differ by {error:.1e}")
    if not (error < 1e-9 and abs(seen - straight) < 0.03):
        sys.exit("the waves are wrong")

    p, _ = shoot(kernel, c, damp, source, receivers, steps=330)
    wave = p / np.abs(p).max() + 0.1 * (c > 2000)
    write_png("shot.png", np.vstack([wave, 3 * traces[::2] / np.abs(traces).max()]), -0.4, 0.4)


if __name__ == "__main__":
    main()
