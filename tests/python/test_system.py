"""Systems of equations, dicts of arrays, and specs that ask where a cell lies and which step it is: against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stencilgen as sg

# u(x, y) + 1, 100, 10^4 and so on times everything that an update may ask.
PLACES = (
    "return stencil { name = 'places', dtype = 'double', boundary = 'fixed', shape = box(2, 0), "
    "update = function(u, p, at) return u(0,0) + at.x + 1e2*at.y + 1e4*at.nx + 1e6*at.ny + 1e8*at.step end }"
)


def places(shape: tuple[int, int], begin: int, end: int, origin: Any = (0, 0), whole: Any = None) -> np.ndarray:
    y, x = np.indices(shape)
    ny, nx = whole or shape
    each = x + origin[1] + 1e2 * (y + origin[0]) + 1e4 * nx + 1e6 * ny
    return (end - begin) * each + 1e8 * sum(range(begin, end))


@pytest.fixture(scope="module")
def kernel() -> Any:
    return sg.build(text=PLACES, size=(7, 9), device="cpu")


def test_positions_and_steps(kernel: Any) -> None:
    u = np.zeros((7, 9))
    assert (kernel(u) == places(u.shape, 0, 1)).all()
    for steps in (1, 2, 5, 40):  # a run is made in parts, and its steps are counted on
        assert (kernel.run(u, steps=steps) == places(u.shape, 0, steps)).all()
        assert (kernel.run(u.copy(), steps=steps, overwrite=True) == places(u.shape, 0, steps)).all()
    assert (kernel.run(u, steps=3, step=11) == places(u.shape, 11, 14)).all()
    part = dict(origin=(20, -3), whole=(70, 90))
    assert (kernel.run(u, steps=2, **part) == places(u.shape, 0, 2, *part.values())).all()
    assert (kernel.run(u, step=4, **part) == places(u.shape, 4, 5, *part.values())).all()
    out = np.empty_like(u)
    kernel.launch(u, out, step=6, **part)
    assert (out == places(u.shape, 6, 7, *part.values())).all()
    kernel.launch(u, out)
    assert (out == kernel(u)).all() and (out == places(u.shape, 0, 1)).all(), "a place reached the next call"
    for wrong in (dict(origin=(1,)), dict(whole=(1, 2, 3))):
        with pytest.raises(sg.UsageError, match="for each of 2 axes"):
            kernel.run(u, **wrong)
    with pytest.raises(sg.UsageError, match="step -1"):
        kernel.run(u, step=-1)


def test_positions_of_ranks(kernel: Any) -> None:
    def work(team: sg.Team) -> Any:
        mine = team.build(text=PLACES, size=(17, 9))
        part = team.part(mine, (17, 9))
        u = part.cut(np.zeros((17, 9)))
        return team.collect(part, team.run(mine, part, u, steps=9, step=3))

    for whole in sg.Team.local(3, work, device="cpu"):
        assert (whole == places((17, 9), 3, 12)).all()


def derivative(u: np.ndarray) -> np.ndarray:
    """The Laplacian of eighth order, of a grid that is 0 outside."""
    weights = np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
    padded = np.pad(u, 4)
    out = 2 * weights[0] * u
    ny, nx = u.shape
    for r in range(1, 5):
        for dy, dx in ((r, 0), (-r, 0), (0, r), (0, -r)):
            out = out + weights[r] * padded[4 + dy : 4 + dy + ny, 4 + dx : 4 + dx + nx]
    return out


def test_a_system(specs: Path, rng: np.random.Generator) -> None:
    shape, dt, h = (23, 31), 0.5, 1.5
    wave = sg.build(specs / "acoustic.lua", size=shape, steps=10, device="cpu")
    assert isinstance(wave, sg.Stencil) and [a.keyword for a in wave.arrays] == ["c", "damp", "p", "p_prev", "p_next"]
    c, p, old = (rng.uniform(0.1, 1, shape).astype("float32") for _ in range(3))
    damp = rng.uniform(0.9, 1, shape).astype("float32")
    kept = [a.copy() for a in (c, damp, p, old)]
    now, before = p.astype("float64"), old.astype("float64")
    state = {"c": c, "damp": damp, "p": p, "p.prev": old}
    for steps in range(1, 5):
        after = damp * (2 * now - damp * before + (dt * c) ** 2 * derivative(now) / h**2)
        now, before = after, now
        many = wave.run(c, damp, p, old, steps=steps, dt=dt, h=h)
        assert np.allclose(many.p, now, atol=1e-4) and np.allclose(many.p_prev, before, atol=1e-4)
        state = wave.run(state, steps=1, dt=dt, h=h)
        assert list(state) == ["c", "damp", "p", "p.prev"] and state["c"] is c
        assert (state["p"] == many.p).all() and (state["p.prev"] == many.p_prev).all()
        at_once = wave.run(dict(c=c, damp=damp, p=p, p_prev=old), steps=steps, parameters=dict(dt=dt, h=h))
        assert list(at_once) == ["c", "damp", "p", "p_prev"] and (at_once["p_prev"] == many.p_prev).all()
        assert (wave.run(c, damp, p.copy(), old.copy(), steps=steps, dt=dt, h=h, overwrite=True).p == many.p).all()
    assert all((a == b).all() for a, b in zip((c, damp, p, old), kept))
    assert wave.check(steps=3, size=(33, 34)).wrong == 0
    for wrong, words in [
        ({**state, "q": p}, "no array 'q'; it takes c, damp, p, p.prev"),
        ({"c": c, "damp": damp, "p": p}, "needs its array 'p_prev'"),
        ({**state, "c": c.astype("float64")}, "'c' is float64"),
    ]:
        with pytest.raises(sg.Error, match=words):
            wave.run(wrong, steps=1)
    with pytest.raises(sg.UsageError, match="'p' is given twice"):
        wave.run(state, p=p)


def test_a_dict_of_one_field(kernel: Any) -> None:
    u = np.zeros((7, 9))
    assert (kernel.run({"u": u}, steps=2)["u"] == kernel.run(u, steps=2)).all()
    assert (kernel({"u": u})["u"] == kernel(u)).all()


def test_a_spec_by_its_name() -> None:
    one = "stencil { name = '%s', shape = star(1, 1), coefficients = { %d, 0, 0 } }"
    text = f"return {{ {one % ('one', 1)}, {one % ('two', 2)} }}"
    assert sg.find_spec("two", text=text) == 1
    kernel = sg.build(text=text, name="two", size=(5,), device="cpu")
    assert kernel.name == "two" and (kernel(np.ones(5, "float32"))[1:-1] == 2).all()
    with pytest.raises(sg.UsageError, match="one.*two"):
        sg.build(text=text, name="three", device="cpu")


def test_a_field_by_an_expression() -> None:
    got = sg.evaluate("x + 10*y + 100*z + 1000*nx + hypot(3, 4)*pi", (3, 4, 5), dtype="float64")
    z, y, x = np.indices((3, 4, 5))
    assert got.dtype == "float64" and np.allclose(got, x + 10 * y + 100 * z + 5000 + 5 * np.pi, rtol=1e-15)
    box = np.s_[1:3, 0:0, 2:]
    assert sg.evaluate("x", (3, 4, 5), box=box).shape == (2, 0, 3)
    box = np.s_[1:3, 2:4, 2:]
    part = sg.evaluate("x + 10*y + 100*z", (3, 4, 5), box=box)
    assert part.dtype == "float32" and (part == (x + 10 * y + 100 * z)[box]).all()
    assert (sg.evaluate("2*x", 6, dtype="int32") == 2 * np.arange(6)).all()
    with pytest.raises(sg.SpecError, match="height:1: error: .*'w'"):
        sg.evaluate("w + 1", (4, 4), name="height")
    with pytest.raises(sg.UsageError, match="a slice of whole numbers for each of 2 axes"):
        sg.evaluate("x", (4, 4), box=np.s_[1:2, :, :])


def test_points_and_monitors_of_a_system(rng: np.random.Generator) -> None:
    """One stage and two make the same wave, with the same traces and samples."""
    common = """dtype = 'double', boundary = 'zero', parameters = { r = 0.3 },
      points = { shot = { field = 'u', inject = function(s) return s end }, rec = { field = 'u', sample = true } },
      monitors = { most = { op = 'max', map = function(f) return abs(f.u(0, 0)) end } },"""
    one = f"""return stencil {{ name = 'one', {common} fields = {{ u = {{ use = 'inout', levels = 2 }} }},
      update = function(f, p) return 2*f.u(0,0) - f.u.prev(0,0) + p.r*apply(laplacian {{ dims = 2 }}, f.u) end }}"""
    two = f"""return system {{ name = 'two', {common}
      fields = {{ u = {{ use = 'inout', levels = 2 }}, lap = 'scratch' }},
      stages = {{
        {{ update = function(f, p) return {{ lap = apply(laplacian {{ dims = 2 }}, f.u) }} end }},
        {{ update = function(f, p) return {{ u = 2*f.u(0,0) - f.u.prev(0,0) + p.r*f.lap(0,0) }} end }} }} }}"""
    places, series = rng.random((3, 2)) * 15, rng.random((12, 3))
    told = []
    for text in (one, two):
        kernel = sg.build(text=text, size=(17, 19), device="cpu")
        rec, most = sg.Points(places), sg.Monitor()
        points = {"shot": sg.Points(places, series=series), "rec": rec}
        state = {name: np.zeros((17, 19)) for name in ("u", "u.prev")}
        state = kernel.run(state, steps=12, points=points, monitors={"most": most}, every=3)
        told.append((state["u"], state["u.prev"], rec.traces, most.values))
    assert all(np.allclose(a, b, rtol=1e-12, atol=1e-14) for a, b in zip(*told)) and told[0][2].any()
