"""Fields of several components: one array for calls, the component outermost, against NumPy; and steps in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stencilgen as sg

# Component i moves by i cells along x and mixes with the others and with a field of one component.
TEXT = """return stencil { name = 'mix', dtype = 'double', boundary = 'periodic', parameters = { k = 0.25 },
  fields = { v = { use = 'inout', components = 3 }, w = { use = 'inout', components = 11, levels = 2 }, c = 'in' },
  update = function(f, p)
    local new = {}
    for i = 1, 11 do new[i] = f.w[i](1, 0) - p.k * f.w[i].prev(0, 0) + f.c(0, 0) * i end
    return { v = { f.v[2](1, 0), f.v[3](0, 1) + f.c(0, 0), p.k * f.v[1](-1, 0) + f.w[11](0, 0) }, w = new }
  end,
  monitors = { most = { op = 'max', map = function(f) return f.w[2](0, 0) end } } }"""


def step(v: Any, w: Any, old: Any, c: Any, k: float) -> tuple[Any, Any, Any]:
    at = lambda a, x, y: np.roll(a, (-y, -x), (-2, -1))
    new = at(w, 1, 0) - k * old + c * np.arange(1, 12)[:, None, None]
    return np.stack([at(v[1], 1, 0), at(v[2], 0, 1) + c, k * at(v[0], -1, 0) + w[10]]), new, w


@pytest.fixture(scope="module")
def mix() -> Any:
    return sg.build(text=TEXT, size=(9, 12), device="cpu")


@pytest.fixture
def fields(rng: np.random.Generator) -> Any:
    return [rng.random((n, 9, 12)) for n in (3, 11, 11)] + [rng.random((9, 12))]


def test_against_numpy(mix: Any, fields: Any) -> None:
    names = [(a.name, a.components, a.keyword) for a in mix.arrays if not a.written]
    assert names == [("c", 1, "c"), ("v", 3, "v"), ("w", 11, "w"), ("w.prev", 11, "w_prev")]
    assert [(mix.arrays[a.reads].name, a.field) for a in mix.arrays if a.written] == [("v", "v"), ("w", "w")]
    v, w, old, c = fields
    kept = [a.copy() for a in fields]
    for steps in (1, 2, 5, 6):
        got = mix.run(c, v, w, old, steps=steps, k=0.5)
        want = v, w, old
        for _ in range(steps):
            want = step(*want, c, 0.5)
        assert got._fields == ("v", "w", "w_prev")
        assert all(np.allclose(a, b, atol=1e-12) for a, b in zip(got, want))
        assert all((a == b).all() for a, b in zip(fields, kept))
        state = mix.run({"c": c, "v": v, "w": w, "w.prev": old}, steps=steps, k=0.5)
        assert all((state[k] == a).all() for k, a in zip(("v", "w", "w.prev"), got))
    most = sg.Monitor()
    mix.run(c, v, w, old, steps=6, k=0.5, monitors=dict(most=most), every=6)
    assert most.values.tolist() == [got.w[1].max()]
    mine = [a.copy() for a in fields]
    own = mix.run(mine[3], *mine[:3], steps=6, k=0.5, overwrite=True)
    assert all((a == b).all() for a, b in zip(own, got))
    outs = np.empty_like(v), np.empty_like(w)
    got = mix(c, v, w, old, out=outs)
    want = step(v, w, old, c, 0.25)
    assert got.v is outs[0] and got.w is outs[1] and np.allclose(outs[0], want[0]) and np.allclose(outs[1], want[1])


def test_launches_boxes_and_strides(mix: Any, fields: Any) -> None:
    v, w, old, c = fields
    want = step(v, w, old, c, 0.25)
    nv, nw = np.zeros_like(v), np.zeros_like(w)
    mix.launch(c=c, v=v, w=w, w_prev=old, v_next=nv, w_next=nw, box=np.s_[2:-2, 3:])
    assert np.allclose(nv[:, 2:-2, 3:], want[0][:, 2:-2, 3:]) and not nv[:, :2].any() and not nw[..., :3].any()
    # Padded rows and planes, and components from last to first.
    wide = np.full((11, 11, 20), np.nan)
    wide[:, 1:10, 2:14] = w
    got = mix(c, v, wide[:, 1:10, 2:14], old)
    assert np.allclose(got.w, want[1]) and np.allclose(got.v, want[0])
    got = mix(c, v[::-1].copy()[::-1], w[:, ::-1].copy()[:, ::-1], old)
    assert np.allclose(got.w, want[1]) and np.allclose(got.v, want[0])
    with pytest.raises(sg.DataError, match="contiguous"):
        mix(c, np.moveaxis(np.moveaxis(v, 0, 2).copy(), 2, 0), w, old)
    for wrong, words in [
        (v[0], r"'v' has 2 axes, but 'mix' has 3: \(3, y, x\)"),
        (w, "'v' has 3 components, along its first axis, not 11"),
        (v[:, 1:], "size"),
    ]:
        with pytest.raises(sg.Error, match=words):
            mix(c, wrong, w, old)
    with pytest.raises(sg.DataError, match=r"'c' has 3 axes, but 'mix' has 2: \(y, x\)"):
        mix(v, v, w, old)


def test_ranks(mix: Any, fields: Any) -> None:
    v, w, old, c = fields
    options = dict(text=TEXT, size=(9, 12), method="naive")
    expected = sg.build(**options, device="cpu").run(c, v, w, old, steps=4)

    def work(team: sg.Team) -> None:
        kernel = team.build(**options)
        part = team.part(kernel, c.shape)
        got = team.run(kernel, part, *map(part.cut, (c, v, w, old)), steps=4)
        assert team.collect(part, got.v).tobytes() == expected.v.tobytes()
        assert team.collect(part, got.w_prev).tobytes() == expected.w_prev.tobytes()

    sg.Team.local(3, work, device="cpu")


def test_in_place(specs: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a point alone reads the oldest level, new values lie there: one grid less."""
    made = []
    fresh = sg.Stencil._fresh
    monkeypatch.setattr(sg.Stencil, "_fresh", lambda *given: made.append(1) or fresh(*given))
    wave = sg.build(specs / "wave2d.lua", size=(20, 21), device="cpu")
    assert [wave.arrays[a.same_as].name for a in wave.arrays if a.written] == ["u.prev"]
    c, u, old = (rng.random((20, 21), dtype="float32") / 2 for _ in range(3))
    now = wave(c, u, old)
    for _ in range(8):
        now = wave(c, *now)
    made.clear()
    kept = u.copy(), old.copy()
    got = wave.run(c, u, old, steps=9)
    assert len(made) == 2 and got.u.tobytes() == now.u.tobytes() and got.u_prev.tobytes() == now.u_prev.tobytes()
    assert (u == kept[0]).all() and (old == kept[1]).all()
    box = wave.run(c, u, old, steps=9, box=np.s_[3:-3, 3:-3])
    assert (box.u[0] == u[0]).all()
    made.clear()
    mine = [old.copy(), u.copy()]
    got = wave.run(c, mine[1], mine[0], steps=9, overwrite=True)
    assert not made and got.u.tobytes() == now.u.tobytes()
    assert {id(a) for a in mine} == {id(got.u), id(got.u_prev)}
    # Odd and even numbers of steps, one level, and a step alone.
    for steps in (1, 2, 3, 4):
        mine = [old.copy(), u.copy()]
        got, alone = wave.run(c, mine[1], mine[0], steps=steps, overwrite=True), wave.run(c, u, old, steps=steps)
        assert got.u.tobytes() == alone.u.tobytes() and got.u_prev.tobytes() == alone.u_prev.tobytes()
    fused = sg.build(specs / "wave2d.lua", size=(20, 21), steps=9, method="temporal", time=2, device="cpu")
    assert fused.info.steps == 2
    mine = [old.copy(), u.copy()]
    got = fused.run(c, mine[1], mine[0], steps=9, overwrite=True)
    assert np.allclose(got.u, now.u, atol=1e-5) and np.allclose(got.u_prev, now.u_prev, atol=1e-5)
    assert fused.run(c, u, old, steps=9).u.tobytes() == got.u.tobytes()
    grow = sg.build(
        text="""return stencil { name = 'g', update = function(u) return 2 * u(0, 0) end,
          monitors = { top = { op = 'max', map = function(u) return u(0, 0) end } } }""",
        device="cpu",
    )
    made.clear()
    x, top = np.ones((4, 5), "float32"), sg.Monitor()
    assert (grow.run(x, steps=5) == 32).all() and (x == 1).all() and len(made) == 1
    assert (grow.run(x, steps=5, monitors=dict(top=top), every=1) == 32).all() and (x == 1).all() and len(made) == 2
    assert top.values.tolist() == [2, 4, 8, 16, 32]
    assert grow.run(x, steps=3, overwrite=True) is x and (x == 8).all() and len(made) == 2
    grow.launch(x, x)
    assert (x == 16).all()
