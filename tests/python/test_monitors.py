"""Monitors of runs against NumPy, with until, in parts and along with points; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stencilgen as sg

TEXT = """return stencil {
  name = 'relax', dtype = 'double', boundary = 'periodic', parameters = { k = 0.2 },
  fields = { u = { use = 'inout', levels = 2 } },
  update = function(f, p) return f.u(0, 0) + p.k * apply(laplacian { dims = 2 }, f.u) end,
  monitors = {
    change = { op = 'max', map = function(f) return abs(f.u(0, 0) - f.u.prev(0, 0)) end },
    total = { op = 'sum', map = function(f, p, at) return p.k * f.u(0, 0) * at.x + at.step end },
  },
  POINTS
}"""


@pytest.fixture(scope="module")
def relax() -> Any:
    return sg.build(text=TEXT.replace("POINTS", ""), size=(9, 11), device="cpu")


def step(u: np.ndarray, k: float) -> np.ndarray:
    return u + k * (sum(np.roll(u, s, axis) for axis in (0, 1) for s in (1, -1)) - 4 * u)


def test_against_numpy(relax: Any, rng: np.random.Generator) -> None:
    assert relax.monitors == (sg.MonitorInfo("change", "max"), sg.MonitorInfo("total", "sum"))
    u, x = rng.random((9, 11)), np.arange(11)
    kept, k = u.copy(), 0.15
    for steps, every in [(10, 3), (6, 2), (3, 5), (200, 1), (0, 1)]:
        change, total = sg.Monitor(), sg.Monitor()
        got = relax.run(u, u, steps=steps, k=k, monitors=dict(total=total, change=change), every=every, step=100)
        assert (got.u == relax.run(u, u, steps=steps, k=k).u).all() and (u == kept).all()
        now, at, changes, totals = u, [], [], []
        for i in range(1, steps + 1):
            now, before = step(now, k), now
            if i % every == 0:
                at.append(100 + i)
                changes.append(np.abs(now - before).max())
                totals.append((k * now * x + 100 + i).sum())
        assert change.steps.tolist() == at == total.steps.tolist()
        assert np.allclose(change.values, changes, rtol=1e-12, atol=1e-15) and np.allclose(
            total.values, totals, rtol=1e-12
        )
        assert change.values.dtype == "float64" and np.allclose(got.u, now)


def test_until(relax: Any, rng: np.random.Generator) -> None:
    u = rng.random((9, 11))
    change, looked = sg.Monitor(), []

    def settled(samples: dict[str, float]) -> bool:
        looked.append(samples)
        return samples["change"] < 1e-3

    state = {"u": u, "u.prev": u}
    state = relax.run(state, steps=100_000, monitors=dict(change=change), every=7, until=settled)
    assert 1 < len(change.values) < 100 and change.values[-1] < 1e-3 <= change.values[-2]
    assert [s["change"] for s in looked] == change.values.tolist()
    made = int(change.steps[-1])
    assert (state["u"] == relax.run(u, u, steps=made).u).all()
    state = relax.run(state, steps=14, step=made, monitors=dict(change=change), every=7)
    assert change.steps[-2:].tolist() == [made + 7, made + 14], "a monitor collects the samples of several runs"

    class Wanted(Exception):
        pass

    def fail(_: Any) -> bool:
        raise Wanted

    with pytest.raises(Wanted):
        relax.run(u, u, steps=10, monitors=dict(change=sg.Monitor()), every=2, until=fail)
    with pytest.raises(sg.UsageError, match="-5 steps"):
        relax.run(u, u, steps=-5, monitors=dict(change=sg.Monitor()), every=2)


def test_beside_points(rng: np.random.Generator) -> None:
    points = "points = { shot = { field = 'u', inject = function(s) return s end } }"
    kernel = sg.build(text=TEXT.replace("POINTS", points), size=(9, 11), device="cpu")
    u, total = np.zeros((9, 11)), sg.Monitor()
    shot = sg.Points([[4, 5]], series=np.arange(1.0, 7))
    got = kernel.run(u, u.copy(), steps=6, k=0.1, points=dict(shot=shot), monitors=dict(total=total), every=2)
    expected = [
        0.1 * 4 * s * (s + 1) / 2 + 99 * s for s in (2, 4, 6)
    ]  # far from the edges what is spread keeps its mean x
    assert np.allclose(total.values[:2], expected[:2]) and total.steps.tolist() == [2, 4, 6]
    assert np.isclose(got.u.sum(), 21)


def test_what_is_refused(relax: Any, shift: Any, tmp_path: Any) -> None:
    u = np.zeros((9, 11))
    for arguments, words in [
        (dict(monitors=dict(best=sg.Monitor()), every=1), "no monitor 'best'; it has change, total"),
        (dict(monitors=dict(change=[]), every=1), "not a list"),
        (dict(monitors=dict(change=sg.Monitor())), "every=… steps, not 0"),
        (dict(until=bool), "give monitors="),
    ]:
        with pytest.raises(sg.UsageError, match=words):
            relax.run(u, u, steps=3, **arguments)
    with pytest.raises(sg.UsageError, match="'shift' has no monitor 'change'; it has none"):
        shift.run(u.astype("float32"), monitors=dict(change=sg.Monitor()), every=1)
    assert "0 samples" in repr(sg.Monitor())
