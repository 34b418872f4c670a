"""Stencils and convolutions: against NumPy, on arrays of any layout, for any number of steps."""

from __future__ import annotations

import itertools
import pickle
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stencilgen as sg
from conftest import drawn, shifted

DTYPES = {"float": "float32", "double": "float64"}


# ---- random stencils against NumPy ------------------------------------------------------------------------------


class RandomStencil:
    """A linear stencil with random taps, boundary, dtype and schedule."""

    boundaries = ("fixed", "zero", "constant(1.5)", "clamp", "mirror", "periodic")

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.dims = int(rng.integers(1, 4))
        self.radius = int(rng.integers(1, 3))
        self.boundary = str(rng.choice(self.boundaries))
        self.word = str(rng.choice(list(DTYPES)))
        offsets = list(itertools.product(range(-self.radius, self.radius + 1), repeat=self.dims))
        count = int(rng.integers(1, min(9, len(offsets)) + 1))
        self.taps = {offsets[i]: float(rng.uniform(-1, 1)) for i in rng.choice(len(offsets), count, replace=False)}
        self.shape = tuple(int(n) for n in rng.integers(5, 20, self.dims))
        self.u = rng.uniform(-1, 1, self.shape).astype(DTYPES[self.word])

    @property
    def text(self) -> str:
        # Offsets are z, y, x here, and x first in specs.
        sums = " + ".join(f"({w!r})*u({','.join(map(str, reversed(o)))})" for o, w in self.taps.items())
        boundary = self.boundary if "(" in self.boundary else f"'{self.boundary}'"
        return (
            f"return stencil {{ name = 'random', dtype = '{self.word}', boundary = {boundary}, "
            f"update = function(u) return {sums} end }}"
        )

    def step(self, u: np.ndarray) -> np.ndarray:
        """One step in double precision."""
        r = self.radius
        modes: dict[str, Any] = {
            "fixed": dict(mode="constant"), "zero": dict(mode="constant"),
            "constant(1.5)": dict(mode="constant", constant_values=1.5), "clamp": dict(mode="edge"),
            "mirror": dict(mode="reflect"), "periodic": dict(mode="wrap"),
        }  # fmt: skip
        padded = np.pad(u.astype("float64"), r, **modes[self.boundary])
        out = np.zeros(u.shape)
        for offset, weight in self.taps.items():
            out += weight * padded[tuple(slice(r + o, r + o + n) for o, n in zip(offset, u.shape))]
        if self.boundary == "fixed":  # cells whose shape reaches over the edge keep their values
            low = [max(0, -min(o[a] for o in self.taps)) for a in range(self.dims)]
            high = [max(0, max(o[a] for o in self.taps)) for a in range(self.dims)]
            inside = tuple(slice(lo, max(lo, n - hi)) for lo, hi, n in zip(low, high, u.shape))
            kept = u.astype("float64")
            kept[inside] = out[inside]
            return kept
        return out


@pytest.mark.parametrize("seed", drawn(24, 4))
def test_random_stencils(seed: int) -> None:
    spec = RandomStencil(seed)
    kernel = sg.build(text=spec.text, size=spec.shape, steps=3, device="cpu")
    assert kernel.dtype == DTYPES[spec.word]
    before = spec.u.copy()
    expected = spec.u.astype("float64")
    tolerance = 1e-5 if spec.word == "float" else 1e-13
    for steps in range(1, 4):
        expected = spec.step(expected)
        got = kernel.run(spec.u, steps=steps)
        assert got.dtype == spec.u.dtype and got.shape == spec.shape
        assert np.abs(got - expected).max() <= tolerance * max(1, np.abs(expected).max()), (spec.text, steps)
    assert (spec.u == before).all(), "the input was written to"


@pytest.mark.parametrize("method", ["naive", "tiled", "streamed", "register"])
def test_methods_and_tiles(method: str, rng: np.random.Generator) -> None:
    text = "return stencil { name = 'm', shape = star(3, 1), coefficients = {0.4,.1,.1,.1,.1,.1,.1} }"
    kernel = sg.build(text=text, size=(12, 13, 14), method=method, device="cpu")
    assert kernel.plan.split()[0] == method
    u = rng.random((12, 13, 14), dtype="float32")
    expected = u.copy()
    c = u[1:-1, 1:-1, 1:-1]
    sides = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
    expected[1:-1, 1:-1, 1:-1] = 0.4 * c + 0.1 * (sides + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])
    assert np.allclose(kernel(u), expected, atol=1e-6)


# ---- arrays of any layout ---------------------------------------------------------------------------------------


def layouts(u: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers, laid out in other ways."""
    ny, nx = u.shape
    padded = np.zeros((ny, nx + 5), u.dtype)
    padded[:, :nx] = u
    twice = np.zeros((2 * ny, nx), u.dtype)
    twice[::2] = u
    upside = u[::-1].copy()
    inner = np.zeros((ny + 2, nx + 2), u.dtype)
    inner[1:-1, 1:-1] = u
    return {
        "padded": padded[:, :nx],
        "every other": twice[::2],
        "upside down": upside[::-1],
        "inner": inner[1:-1, 1:-1],
    }


@pytest.mark.parametrize("layout", ["padded", "every other", "upside down", "inner"])
def test_strides(shift: Any, rng: np.random.Generator, layout: str) -> None:
    u = rng.random((9, 11), dtype="float32")
    strided = layouts(u)[layout]
    assert strided.strides != u.strides
    assert (shift(strided) == shift(u)).all()
    out = layouts(np.full_like(u, -7))[layout]
    base = out.base
    outside = base.size - out.size
    assert shift(u, out=out) is out
    assert np.allclose(out, shifted(u), atol=1e-6)
    assert np.isin(base, [0, -7]).sum() >= outside, "cells outside of the array were written"


def test_what_needs_a_copy_says_so(shift: Any) -> None:
    u = np.zeros((8, 8), "float32")
    for bad, words in [
        (u.T[::1, ::2], "contiguous"),
        (np.zeros((8, 16), "float32")[:, ::2], "2 elements"),
        (u[:, ::-1], "-1 elements"),
        (np.broadcast_to(np.float32(1), (8, 8)), "stride is 0"),
    ]:
        with pytest.raises(sg.DataError, match=words) as raised:
            shift(bad)
        assert "numpy.ascontiguousarray" in str(raised.value)
        assert (shift(np.ascontiguousarray(bad)) == shift(bad.copy())).all()
    with pytest.raises(sg.DataError, match=r"float64.*takes float32.*dtype='float32'"):
        shift(u.astype("float64"))
    for dtype, word in [(">f4", ">f4"), ("c8", "complex64"), ("O", "object"), ("?", "bool")]:
        with pytest.raises(sg.DataError, match=f"is {word}, but"):
            shift(u.astype(dtype))
    with pytest.raises(sg.DataError, match="mask would be passed over: ….filled"):
        shift(np.ma.masked_array(u, u == 0))
    with pytest.raises(sg.DataError, match="has 3 axes, but 'shift' has 2: \\(y, x\\)"):
        shift(np.zeros((4, 4, 4), "float32"))
    with pytest.raises(sg.UsageError, match="numpy.asarray"):
        shift([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(sg.UsageError, match=r"no array or parameter 'steps'; it has u, u_next; steps= is for run\(…\)"):
        shift(u, steps=3)
    with pytest.raises(sg.UsageError, match="has size 7 along x"):
        shift(u, out=np.zeros((8, 7), "float32"))
    readonly = np.zeros((8, 8), "float32")
    readonly.flags.writeable = False
    assert (shift(readonly) == 0).all()
    with pytest.raises(sg.DataError, match="read-only"):
        shift(u, out=readonly)
    with pytest.raises(sg.UsageError, match="read-only"):
        shift.run(readonly, steps=2, overwrite=True)
    with pytest.raises(sg.UsageError, match="overlaps"):
        shift(u, out=u)


def test_small_and_empty_grids(shift: Any) -> None:
    for shape in [(1, 1), (1, 7), (7, 1), (0, 5)]:
        u = np.arange(np.prod(shape), dtype="float32").reshape(shape)
        assert np.allclose(shift(u), shifted(u))


# ---- steps ------------------------------------------------------------------------------------------------------


def test_run_keeps_or_overwrites(shift: Any, rng: np.random.Generator) -> None:
    u = (rng.random((9, 11)) / 8).astype("float32")
    kept = u.copy()
    expected = u
    for steps in range(0, 6):
        got = shift.run(u, steps=steps)
        assert np.allclose(got, expected, rtol=1e-5)
        assert (u == kept).all()
        given = u.copy()
        assert (shift.run(given, steps=steps, overwrite=True) == got).all()
        expected = shifted(expected)
    assert shift.run(u, steps=0) is u
    with pytest.raises(sg.UsageError, match="-1 steps"):
        shift.run(u, steps=-1)
    with pytest.raises(sg.UsageError, match="one step"):
        shift.run(u, steps=2, out=np.empty_like(u))


def test_two_time_levels(specs: Path, rng: np.random.Generator) -> None:
    wave = sg.build(specs / "wave2d.lua", size=(16, 17), device="cpu")
    assert [a.keyword for a in wave.arrays] == ["c", "u", "u_prev", "u_next"]
    c, u, p = (rng.random((16, 17), dtype="float32") / 2 for _ in range(3))
    kept = [a.copy() for a in (c, u, p)]
    now, before = u, p
    for steps in range(1, 7):
        step = wave(c, now, before)
        assert step._fields == ("u", "u_prev")
        assert (step.u_prev == now).all()
        now, before = step.u.copy(), now.copy()
        many = wave.run(c=c, u=u, u_prev=p, steps=steps)
        assert np.allclose(many.u, now, atol=1e-5) and np.allclose(many.u_prev, before, atol=1e-5)
        assert all((a == b).all() for a, b in zip((c, u, p), kept)), steps
        lost = wave.run(c, u.copy(), p.copy(), steps=steps, overwrite=True)
        assert (lost.u == many.u).all() and (lost.u_prev == many.u_prev).all()
    assert (c == kept[0]).all()
    for steps in range(1, 5):  # at rest: both levels are one array
        rest = wave.run(c, u, u, steps=steps)
        assert (rest.u == wave.run(c, u, u.copy(), steps=steps).u).all() and (u == kept[1]).all()
        inner = wave.run(c, u, u, steps=steps, box=np.s_[2:5, 2:6])
        assert (inner.u == wave.run(c, u, u.copy(), steps=steps, box=np.s_[2:5, 2:6]).u).all() and (u == kept[1]).all()


def test_results_can_be_pickled(specs: Path) -> None:
    wave, u = sg.build(specs / "wave2d.lua", size=(8, 8), device="cpu"), np.ones((8, 8), "float32")
    state = wave.run(c=u, u=u, u_prev=u)
    again = pickle.loads(pickle.dumps(state))
    assert type(again) is type(state) and (again.u == state.u).all() and (again.u_prev == state.u_prev).all()


def test_several_fields_and_parameters(specs: Path, rng: np.random.Generator) -> None:
    gray = sg.build(specs / "grayscott.lua", size=(20, 21), device="cpu")
    assert {p.name: p.default for p in gray.parameters} == {"F": 0.037, "k": 0.06, "Du": 0.2, "Dv": 0.1}
    u, v = (rng.random((20, 21), dtype="float32") for _ in range(2))

    def lap(a: np.ndarray) -> np.ndarray:
        return sum(np.roll(a, s, axis) for axis in (0, 1) for s in (1, -1)) - 4 * a

    F, k = 0.03, 0.055
    got = gray.run(u, v, steps=1, F=F, k=k)
    assert np.allclose(got.u, u + 0.2 * lap(u) - u * v**2 + F * (1 - u), atol=1e-5)
    assert np.allclose(got.v, v + 0.1 * lap(v) + u * v**2 - (F + k) * v, atol=1e-5)
    assert (gray.run(v=v, u=u, parameters={"F": F, "k": k}).u == got.u).all()
    a, b = np.empty_like(u), np.empty_like(v)
    assert gray(u, v, F=F, k=k, out=(a, b)).v is b and (a == got.u).all()
    assert (gray(u, v).u != got.u).any(), "parameters of one call reached the next"
    for wrong, words in [
        (dict(z=u), "no array or parameter 'z'; it has u, u_next, v, v_next, Du, Dv, F, k"),
        (dict(u=u), "'u' is given twice"),
        (dict(F="much"), "the parameter 'F' is a number, not 'much'"),
    ]:
        with pytest.raises(sg.UsageError, match=words):
            gray(u, v, **wrong)
    with pytest.raises(sg.UsageError, match="needs its array 'v'"):
        gray(u)
    with pytest.raises(sg.UsageError, match="takes 2 arrays"):
        gray(u, v, u)


def test_a_parameter_without_default() -> None:
    text = "return stencil { name = 'p', coefficients = identity() + param 'k' * laplacian { dims = 1 }, boundary = 'periodic' }"
    kernel = sg.build(text=text, size=(16,), device="cpu")
    u = np.zeros(16, "float32")
    u[3] = 1
    with pytest.raises(sg.UsageError, match="'k'"):
        kernel(u)
    assert kernel(u, k=0.25)[3] == 0.5
    constant = sg.build(text=text, size=(16,), constants={"k": 0.25}, device="cpu")
    assert constant.parameters == () and (constant(u) == kernel(u, k=0.25)).all()


def test_boxes(shift: Any, rng: np.random.Generator) -> None:
    u = rng.random((9, 11), dtype="float32")
    box = np.s_[2:-1, 3:8]
    expected = u.copy()
    expected[box] = shifted(u)[box]
    assert np.allclose(shift(u, box=box), expected, atol=1e-6)
    assert np.allclose(shift(u), shifted(u), atol=1e-6), "the box of one call reached the next"
    out = np.full_like(u, -7)
    shift.launch(u, out, box=box)
    assert np.allclose(out[box], expected[box], atol=1e-6) and (np.delete(out, np.s_[2:8], 0) == -7).all()
    twice = expected.copy()
    twice[box] = shifted(expected)[box]
    assert np.allclose(shift.run(u, steps=2, box=box), twice, atol=1e-5)
    assert (shift(u, box=np.s_[3:3, :]) == u).all()
    for bad in (np.s_[2:3], np.s_[::2, :], (1, 2)):
        with pytest.raises(sg.UsageError, match="a box is a slice"):
            shift(u, box=bad)


def test_positions() -> None:
    text = (
        "return stencil { name = 'p', dtype = 'double', boundary = 'clamp', update = function(u, p, at)\n"
        "return u(0, 0) + 0 * u(1, 0) + at.x + 10 * at.y + 100 * at.step + 1000 * at.nx end }"
    )
    kernel = sg.build(text=text, size=(3, 4), device="cpu")
    u = np.zeros((3, 4))
    y, x = np.mgrid[:3, :4]
    assert (kernel.run(u, steps=3, step=2) == 3 * (x + 10 * y + 4000) + 900).all()
    assert (kernel.run(u, origin=(5, 7), whole=(20, 30)) == x + 7 + 10 * (y + 5) + 30000).all()
    assert (kernel(u) == x + 10 * y + 4000).all(), "the place of one call reached the next"
    out = np.empty_like(u)
    kernel.launch(u, out, step=9, origin=(1, 2), whole=(9, 9))
    assert (out == x + 2 + 10 * (y + 1) + 900 + 9000).all()
    with pytest.raises(sg.UsageError, match="a number for each of 2 axes"):
        kernel.run(u, origin=(1, 2, 3))


def test_launch_takes_all_arrays(shift: Any, rng: np.random.Generator) -> None:
    u = rng.random((9, 11), dtype="float32")
    out = np.empty_like(u)
    assert shift.launch(u, out) is None
    assert np.allclose(out, shifted(u), atol=1e-6)
    shift.launch(u_next=u, u=out)
    assert np.allclose(u, shifted(out), atol=1e-6)
    with pytest.raises(sg.UsageError, match="needs its array 'u_next'"):
        shift.launch(u)


def test_boundaries_of_fields_and_of_launches() -> None:
    text = """return stencil { name = 'sides', boundary = constant(param 'U'),
      fields = { u = { use = 'inout', boundary = 'clamp' }, v = { use = 'inout', boundary = constant(3) }, w = 'inout' },
      update = function(f) return { u = f.u(1), v = f.v(1), w = f.w(1) } end }"""
    kernel = sg.build(text=text, device="cpu")
    assert [p.name for p in kernel.parameters] == ["U"]
    x = np.arange(4, dtype="float32")
    for end in (7, -2.5):
        got = kernel(x, x, x, U=end)
        assert [a.tolist() for a in got] == [[1, 2, 3, 3], [1, 2, 3, 3], [1, 2, 3, end]]
        assert kernel.run(x, x, x, steps=2, U=end).w.tolist() == [2, 3, end, end]
    with pytest.raises(sg.UsageError, match="needs a value for its parameter 'U'"):
        kernel(x, x, x)


def test_a_convolution(specs: Path, rng: np.random.Generator) -> None:
    blur = sg.build(specs / "blur.lua", size=(30, 31), device="cpu")
    image = rng.random((30, 31), dtype="float32")
    line = np.array([1, 4, 6, 4, 1]) / 16
    padded = np.pad(image.astype("float64"), 2, mode="edge")
    expected = sum(line[j] * line[i] * padded[j : j + 30, i : i + 31] for j in range(5) for i in range(5))
    assert np.allclose(blur(image), expected, atol=1e-6)
    out = np.zeros_like(image)
    assert blur(image, out=out) is out and (out == blur(image)).all()


def test_a_call_like_the_one_before(specs: Path, rng: np.random.Generator) -> None:
    """Calls whose arrays are laid out as before take a shorter way: with the same results, and the same refusals."""
    text = "return stencil { name = 'q', coefficients = identity() + param 'k' * laplacian { dims = 2 }, boundary = 'periodic' }"
    kernel = sg.build(text=text, size=(9, 11), device="cpu")

    def step(u: np.ndarray, k: float) -> np.ndarray:
        return u + k * (sum(np.roll(u, s, axis) for axis in (0, 1) for s in (1, -1)) - 4 * u)

    shapes = [(9, 11), (9, 11), (11, 9), (9, 11), (9, 11)]
    for i, shape in enumerate(shapes * 2):
        u, out = rng.random(shape, dtype="float32"), np.empty(shape, "float32")
        k = 0.05 + 0.01 * i
        got = kernel(u, k=k)
        assert got.shape == shape and np.allclose(got, step(u, k), atol=1e-6)
        assert kernel(u, out=out, parameters={"k": k}) is out and (out == got).all()
        assert (kernel.run(u, k=k) == got).all() and (kernel(u=u, k=k) == got).all()
        assert (kernel(u[::-1], k=k) == kernel(u[::-1].copy(), k=k)).all()
    kernel(u, k=0.1)
    kernel(u, out=out, k=0.1)
    readonly = np.zeros_like(u)
    readonly.flags.writeable = False
    assert (kernel(readonly, k=0.1) == 0).all()
    for call, words in [
        (lambda: kernel(u), "needs a value for its parameter 'k'"),
        (lambda: kernel(u, k=0.1, j=1), "no array or parameter 'j'"),
        (lambda: kernel(u.astype("float64"), k=0.1), "is float64"),
        (lambda: kernel(u[0], k=0.1), "has 1 axis,"),
        (lambda: kernel(u.T[:, ::-1], k=0.1), "contiguous"),
        (lambda: kernel(u, out=readonly, k=0.1), "read-only"),
        (lambda: kernel(u, out=out[1:], k=0.1), "has size"),
        (lambda: kernel(u, out=u, k=0.1), "overlaps"),
        (lambda: kernel(u, out=out, u_next=out, k=0.1), "not both"),
        (lambda: kernel(u.tolist(), k=0.1), "numpy.asarray"),
    ]:
        with pytest.raises(sg.Error, match=words):
            call()
        assert np.allclose(kernel(u, k=0.1), step(u, 0.1), atol=1e-6)
    wave = sg.build(specs / "wave2d.lua", size=(9, 11), device="cpu")
    c, u, p = (rng.random((9, 11), dtype="float32") / 2 for _ in range(3))
    first = wave(c, u, p)
    again = wave(c, u, p)
    assert again.u_prev is u and again.u is not first.u and (again.u == first.u).all()
    rest = wave(c, u, u)
    assert (rest.u == wave(c, u, u.copy()).u).all() and rest.u_prev is u


# ---- threads and interrupts -------------------------------------------------------------------------------------


def test_many_threads(shift: Any, rng: np.random.Generator) -> None:
    inputs = [rng.random((n, n + 3), dtype="float32") for n in range(5, 13)]
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(30):
            if not np.allclose(shift(inputs[i]), shifted(inputs[i]), atol=1e-6):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_other_threads_run_during_a_call(specs: Path) -> None:
    """A single call of the library, which holds back every other thread if it keeps the interpreter's lock."""
    heat = sg.build(specs / "heat3d7.lua", size=(64, 64, 64), device="cpu")

    def turns_and_seconds(repeats: int) -> tuple[int, float]:
        worker, turns = threading.Thread(target=heat.measure, kwargs={"steps": 100, "repeats": repeats}), 0
        begin = time.monotonic()
        worker.start()
        while worker.is_alive():
            turns += 1
            time.sleep(0.002)
        return turns, time.monotonic() - begin

    for repeats in (1, 10, 100, 1000):  # until the call is long enough to tell, on any machine
        turns, seconds = turns_and_seconds(repeats)
        if seconds > 0.05:
            break
    assert seconds > 0.05, "the call is too short to tell"
    assert turns > 5


def test_an_interrupt_ends_a_run(specs: Path) -> None:
    heat = sg.build(specs / "heat3d7.lua", size=(64, 64, 64), device="cpu")
    u = np.ones((64, 64, 64), "float32")
    for _ in range(50):  # which say that two steps take little
        heat.run(u, steps=3)
    assert heat._frames[-1].part < 1000

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    begin = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            heat.run(u, steps=10**7)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - begin < 30
    assert (u == 1).all()
    assert np.allclose(heat.run(u, steps=3), 1, atol=1e-5), "the kernel is as good as before"


def test_new_arrays_of_which_cells_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed edge of a field that is only written holds zeros, as in the command."""
    monkeypatch.setattr(np, "empty", lambda shape, dtype=float: np.full(shape, 7, dtype))
    text = "return stencil { name = 'w', %s fields = { u = 'in', w = 'out' }, update = function(f) return f.u(1, 0) end }"
    u = np.ones((3, 5), "float32")
    want = np.ones((3, 5))
    want[:, -1] = 0
    kernel = sg.build(text=text % "", size=u.shape, device="cpu")
    for _ in range(3):
        assert (kernel(u) == want).all()
    assert (kernel.run(u, steps=4) == want).all()
    w = np.full((3, 5), 3, "float32")
    kernel(u, out=w)
    assert (w[:, -1] == 3).all() and (kernel(u) == want).all()
    filter = sg.build(text="return convolution { name = 'f', weights = { 1, 2 } }", device="cpu")
    assert (filter.run(u[0], steps=0) == 0).all() and (filter.run(u[0], steps=1) != 7).all()
