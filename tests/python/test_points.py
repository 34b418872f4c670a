"""Runs with sources and receivers against NumPy, in one piece, in parts and by functions; and what is refused."""

from __future__ import annotations

import itertools
import signal
from typing import Any

import numpy as np
import pytest
import stencilgen as sg

CENTRES = ["0", "0, 0", "0, 0, 0"]
SUMS = [
    "f.u(-1) + f.u(1)",
    "f.u(-1, 0) + f.u(1, 0) + f.u(0, -1) + f.u(0, 1)",
    "f.u(-1, 0, 0) + f.u(1, 0, 0) + f.u(0, -1, 0) + f.u(0, 1, 0) + f.u(0, 0, -1) + f.u(0, 0, 1)",
]


def spec(dims: int, dtype: str) -> str:
    at = CENTRES[dims - 1]
    return f"""return stencil {{
      name = 'scene', dtype = '{dtype}', boundary = 'zero',
      fields = {{ u = {{ use = 'inout', levels = 2 }}, c = 'in' }}, parameters = {{ dt = 0.5 }},
      update = function(f, p) return 2 * f.u({at}) - f.u.prev({at})
        + (p.dt * f.c({at})) ^ 2 * ({SUMS[dims - 1]} - {2 * dims} * f.u({at})) end,
      points = {{ shot = {{ field = 'u', inject = function(s, f, p) return s * p.dt ^ 2 + f.c({at}) end }},
                 rec = {{ field = 'u', sample = true }} }} }}"""


class Scene:
    def __init__(self, dims: int, dtype: str, rng: np.random.Generator, steps: int = 9) -> None:
        self.kind = {"float": "float32", "double": "float64"}[dtype]
        self.kernel = sg.build(text=spec(dims, dtype), size=(9, 8, 11)[-dims:], device="cpu")
        self.shape = (9, 8, 11)[-dims:]
        self.c, self.u, self.old = (rng.uniform(0, 0.5, self.shape).astype(self.kind) for _ in range(3))
        most = np.array(self.shape[::-1]) - 1
        self.shot, self.rec = rng.random((3, dims)) * most, rng.random((5, dims)) * most
        self.rec[0], self.rec[1] = 0, most  # the corners
        self.series = rng.uniform(-1, 1, (steps, 3)).astype(self.kind)

    def cells(self, position: Any) -> Any:
        """(cell, weight) of the cells round a point."""
        low = np.floor(position).astype(int)
        for corner in itertools.product((0, 1), repeat=len(position)):
            weight = np.prod([t if up else 1 - t for up, t in zip(corner, position - low)])
            if weight:
                yield tuple((low + corner)[::-1]), weight

    def reference(self, steps: int, dt: float) -> tuple[np.ndarray, np.ndarray]:
        u, old, c = (a.astype("float64") for a in (self.u, self.old, self.c))
        traces = np.zeros((steps, len(self.rec)))
        for step in range(steps):
            padded, lap = np.pad(u, 1), -2 * u.ndim * u
            for axis in range(u.ndim):
                for shift in (1, -1):
                    lap = lap + np.roll(padded, shift, axis)[(slice(1, -1),) * u.ndim]
            u, old = 2 * u - old + (dt * c) ** 2 * lap, u
            added = np.zeros_like(u)
            for position, sample in zip(self.shot, self.series[step]):
                for cell, weight in self.cells(position):
                    added[cell] += weight * (sample * dt**2 + c[cell])
            u += added
            traces[step] = [sum(w * u[cell] for cell, w in self.cells(position)) for position in self.rec]
        return u, traces


@pytest.mark.parametrize("dims,dtype", [(1, "double"), (2, "float"), (3, "double")])
def test_against_numpy(dims: int, dtype: str, rng: np.random.Generator) -> None:
    s = Scene(dims, dtype, rng)
    assert s.kernel.points == (sg.PointsInfo("rec", "u", False), sg.PointsInfo("shot", "u", True))
    assert "__global__" in s.kernel.points_source
    u, traces = s.reference(9, 0.25)
    tolerance = 1e-4 if dtype == "float" else 1e-11
    points = dict(shot=sg.Points(s.shot, series=s.series), rec=sg.Points(s.rec))
    kept = [a.copy() for a in (s.c, s.u, s.old)]
    got = s.kernel.run(c=s.c, u=s.u, u_prev=s.old, steps=9, dt=0.25, points=points)
    assert np.allclose(got.u, u, atol=tolerance)
    assert points["rec"].traces.shape == (9, 5) and points["rec"].traces.dtype == s.kind
    assert np.allclose(points["rec"].traces, traces, atol=tolerance)
    assert all((a == b).all() for a, b in zip(kept, (s.c, s.u, s.old)))

    # In parts, of a dict, with more rows than are asked for, into traces of the caller's with strange content.
    own = np.full((12, 5), 77, s.kind)
    parts = dict(shot=sg.Points(s.shot, series=np.vstack([s.series] * 2)), rec=sg.Points(s.rec, traces=own))
    state: Any = {"c": s.c, "u": s.u, "u.prev": s.old}
    for first, steps in ((0, 1), (1, 5), (6, 3)):
        state = s.kernel.run(state, steps=steps, step=first, dt=0.25, points=parts)
    assert (state["u"] == got.u).all() and (state["u.prev"] == got.u_prev).all()
    assert parts["rec"].traces is own and (own[:9] == points["rec"].traces).all() and (own[9:] == 77).all()
    grown = sg.Points(s.rec)
    state = s.kernel({"c": s.c, "u": s.u, "u.prev": s.old}, dt=0.25, points={**parts, "rec": grown})
    assert grown.traces.shape == (1, 5)
    s.kernel.run(state, steps=8, step=1, dt=0.25, points={**parts, "rec": grown})
    assert (grown.traces == points["rec"].traces).all()

    # By functions.
    rows: dict[int, np.ndarray] = {}

    def take(first: int, samples: np.ndarray) -> None:
        rows.update({first + i: row.copy() for i, row in enumerate(samples)})

    called = dict(
        shot=sg.Points(s.shot, series=lambda first, steps: s.series[first : first + steps]),
        rec=sg.Points(s.rec, traces=take),
    )
    assert (s.kernel.run(s.c, s.u, s.old, steps=9, dt=0.25, points=called).u == got.u).all()
    assert (np.array([rows[i] for i in range(9)]) == points["rec"].traces).all() and len(rows) == 9


def test_a_wave_at_rest(rng: np.random.Generator) -> None:
    """Both levels are one array, which the first step only reads."""
    s = Scene(2, "float", rng)
    kept = s.u.copy()
    for steps in (1, 2, 3, 9):
        told = []
        for old in (s.u, s.u.copy()):
            points = dict(shot=sg.Points(s.shot, series=s.series), rec=sg.Points(s.rec))
            told.append((s.kernel.run(s.c, s.u, old, steps=steps, points=points), points["rec"].traces))
        (one, traces), (two, others) = told
        assert (one.u == two.u).all() and (one.u_prev == two.u_prev).all() and (traces == others).all()
        assert (s.u == kept).all()
    with pytest.raises(sg.UsageError, match="is written and overlaps"):
        points = dict(shot=sg.Points(s.shot, series=s.series), rec=sg.Points(s.rec))
        s.kernel.run(s.c, s.u, s.u, steps=9, points=points, overwrite=True)


def test_a_series_of_one_point_and_none(rng: np.random.Generator) -> None:
    s = Scene(2, "float", rng)
    nobody = sg.Points(np.empty((0, 2)), series=np.empty((4, 0)))
    silent = s.kernel.run(s.c, s.u, s.old, steps=4, points=dict(shot=nobody, rec=sg.Points(s.rec)))
    one = sg.Points([[3, 4]], series=np.zeros(4))
    got = s.kernel.run(s.c, s.u, s.old, steps=4, points=dict(shot=one, rec=sg.Points(s.rec)))
    assert got.u[4, 3] != silent.u[4, 3], "x comes first"
    assert s.kernel.run(s.c, s.u, s.old, steps=0, points=dict(shot=one, rec=sg.Points(s.rec))).u is s.u


def test_what_is_refused(rng: np.random.Generator, shift: Any) -> None:
    s = Scene(2, "float", rng)
    shot, rec = sg.Points(s.shot, series=s.series), sg.Points(s.rec)

    class Wanted(Exception):
        pass

    def fail(*_: Any) -> Any:
        raise Wanted

    readonly = np.zeros((9, 5), "float32")
    readonly.flags.writeable = False
    wrong: list[tuple[Any, Any, str]] = [
        (None, sg.UsageError, "'scene' has points 'rec': give points="),
        (dict(shot=shot), sg.UsageError, "has points 'rec'"),
        (dict(shot=shot, rec=rec, more=rec), sg.UsageError, "no points 'more'; it has rec, shot"),
        (dict(shot=shot, rec=s.rec), sg.UsageError, "are a stencilgen.Points, not a ndarray"),
        (dict(shot=sg.Points(s.shot), rec=rec), sg.UsageError, "'shot' inject: give them a series"),
        (dict(shot=shot, rec=shot), sg.UsageError, "'rec' record, and take no series"),
        (
            dict(shot=sg.Points(s.shot, series=s.series[:8]), rec=rec),
            sg.DataError,
            "shape \\(8, 3\\), but 9 steps of 3",
        ),
        (dict(shot=sg.Points(s.shot[:, :1], series=s.series), rec=rec), sg.DataError, "the grid has 2 axes"),
        (dict(shot=shot, rec=sg.Points(s.rec + 50)), sg.DataError, "point 0|outside"),
        (dict(shot=shot, rec=sg.Points(s.rec, traces=np.zeros((8, 5), "float32"))), sg.DataError, "but 9 steps"),
        (dict(shot=shot, rec=sg.Points(s.rec, traces=np.zeros((9, 5)))), sg.DataError, "array of float32"),
        (dict(shot=shot, rec=sg.Points(s.rec, traces=readonly)), sg.DataError, "writeable|writable"),
        (dict(shot=sg.Points(s.shot, series=fail), rec=rec), Wanted, None),
        (dict(shot=shot, rec=sg.Points(s.rec, traces=fail)), Wanted, None),
        (
            dict(shot=sg.Points(s.shot, series=lambda *_: s.series[:, :2]), rec=rec),
            sg.DataError,
            "a series has the shape",
        ),
    ]
    for points, kind, words in wrong:
        with pytest.raises(kind, match=words):
            s.kernel.run(s.c, s.u, s.old, steps=9, points=points)
    with pytest.raises(sg.UsageError, match="has points"):
        s.kernel(s.c, s.u, s.old)
    with pytest.raises(sg.UsageError, match="'shift' has no points 'rec'; it has none"):
        shift(s.u, points=dict(rec=rec))
    with pytest.raises(sg.UsageError, match="without a box"):
        s.kernel.run(s.c, s.u, s.old, points=dict(shot=shot, rec=rec), box=np.s_[1:3, 1:3])
    with pytest.raises(sg.DataError, match="shape \\(points, dims\\)"):
        sg.Points([1.0, 2.0])
    for series, word in [(s.series * 1j, "complex"), (np.full(s.series.shape, None), "object")]:
        with pytest.raises(sg.DataError, match=f"a series of {word}.* has no samples of float32"):
            s.kernel.run(s.c, s.u, s.old, steps=9, points=dict(shot=sg.Points(s.shot, series=series), rec=rec))


def test_positions_are_doubles_however_they_come(rng: np.random.Generator) -> None:
    s = Scene(2, "float", rng)
    shot, rec, other = sg.Points(s.shot, series=s.series), sg.Points(s.rec), sg.Points(s.rec[:1])
    s.kernel.run(s.c, s.u, s.old, steps=9, points=dict(shot=shot, rec=rec))
    other.positions = s.rec.tolist()
    s.kernel.run(s.c, s.u, s.old, steps=9, points=dict(shot=shot, rec=other))
    assert other.positions.dtype == "float64" and (other.traces == rec.traces).all()
    with pytest.raises(sg.DataError, match="have the shape"):
        other.positions = [1.0, 2.0]


def test_an_interrupt_that_a_series_raises(rng: np.random.Generator) -> None:
    s = Scene(2, "float", rng)

    def series(first: int, steps: int) -> Any:
        raise KeyboardInterrupt  # not the handler of SIGINT

    with pytest.raises(KeyboardInterrupt):
        points = dict(shot=sg.Points(s.shot, series=series), rec=sg.Points(s.rec))
        s.kernel.run(s.c, s.u, s.old, steps=9, points=points)


def test_an_interrupt_in_a_series(rng: np.random.Generator) -> None:
    s = Scene(2, "float", rng)

    def series(first: int, steps: int) -> Any:
        signal.raise_signal(signal.SIGINT)
        return np.zeros((steps, 3))

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            points = dict(shot=sg.Points(s.shot, series=series), rec=sg.Points(s.rec))
            s.kernel.run(s.c, s.u, s.old, steps=9, points=points)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
