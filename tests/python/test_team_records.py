"""Points and monitors of teams: fields, traces and samples have the bytes of one rank, also where points lie between parts;
`until` ends the run on all ranks, and so does what a function of the caller's raises on one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stencilgen as sg
from conftest import drawn


class Scene:
    """A wave with a source, receivers and two monitors, in a grid of 1 to 3 axes."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        dims = self.dims = 1 + seed % 3
        self.word = ("double", "float")[seed // 3 % 2]
        self.kind = {"float": "float32", "double": "float64"}[self.word]
        self.shape = tuple(int(n) for n in rng.integers(12, 20, dims))
        at = ", ".join("0" * dims)
        boundary = rng.choice(["zero", "clamp", "mirror", "periodic"])
        self.text = f"""return stencil {{
          name = 'scene', dtype = '{self.word}', boundary = '{boundary}',
          fields = {{ u = {{ use = 'inout', levels = 2 }}, c = 'in' }}, parameters = {{ dt = 0.5 }},
          update = function(f, p)
            return 2 * f.u({at}) - f.u.prev({at}) + (p.dt * f.c({at})) ^ 2 * apply(laplacian {{ dims = {dims} }}, f.u) end,
          points = {{ shot = {{ field = 'u', inject = function(s, f, p) return s * p.dt ^ 2 + f.c({at}) end }},
                     rec = {{ field = 'u', sample = true }} }},
          monitors = {{ most = {{ op = 'max', map = function(f) return abs(f.u({at}) - f.u({"1" + ", 0" * (dims - 1)})) end }},
                       total = {{ op = 'sum', map = function(f) return f.u({at}) end }} }} }}"""
        self.c, self.u, self.old = (rng.uniform(0, 0.5, self.shape).astype(self.kind) for _ in range(3))
        most = np.array(self.shape[::-1]) - 1
        self.shot, self.rec = rng.random((4, dims)) * most, rng.random((30, dims)) * most
        self.rec[0], self.rec[1] = 0, most  # the corners
        self.series = rng.uniform(-1, 1, (9, 4)).astype(self.kind)
        self.options = dict(text=self.text, size=self.shape, method="naive")

    def one(self, **options: Any) -> tuple[Any, np.ndarray]:
        rec = sg.Points(self.rec)
        points = dict(shot=sg.Points(self.shot, series=self.series), rec=rec)
        kernel = sg.build(**self.options, device="cpu")
        return kernel.run(self.c, self.u, self.old, steps=9, dt=0.25, points=points, **options), rec.traces


@pytest.mark.parametrize("seed", drawn(6, 3))
def test_the_bytes_of_one_rank(seed: int) -> None:
    s = Scene(seed)
    alone = dict(most=sg.Monitor(), total=sg.Monitor())
    expected, traces = s.one(monitors=alone, every=2)

    def work(team: sg.Team) -> None:
        kernel = team.build(**s.options)
        part = team.part(kernel, s.shape)
        rec, watched = sg.Points(s.rec), dict(most=sg.Monitor(), total=sg.Monitor())
        shot = sg.Points(s.shot, series=s.series if team.rank else lambda first, steps: s.series[first : first + steps])
        state: Any = {"c": part.cut(s.c), "u": part.cut(s.u), "u.prev": part.cut(s.old)}
        for first, steps in ((0, 4), (4, 5)):
            state = team.run(
                kernel, part, state, steps=steps, step=first, dt=0.25, points=dict(shot=shot, rec=rec),
                monitors=watched, every=2,
            )  # fmt: skip
        for name in ("u", "u.prev"):
            whole = team.collect(part, state[name])
            assert whole.tobytes() == getattr(expected, name.replace(".", "_")).tobytes(), s.text
        if team.rank == 0:
            assert rec.traces.tobytes() == traces.tobytes()
        else:
            assert rec.traces is None
        assert watched["most"].steps.tolist() == alone["most"].steps.tolist() == [2, 4, 6, 8]
        assert watched["most"].values.tolist() == alone["most"].values.tolist()
        assert np.allclose(watched["total"].values, alone["total"].values, rtol=1e-5, atol=1e-5)
        assert (team.gather(watched["total"].values) == watched["total"].values).all(), "ranks have other bits"

    sg.Team.local(2 + seed % 2, work, device="cpu")


def test_traces_by_a_function() -> None:
    s = Scene(1)
    _, traces = s.one()
    rows: dict[tuple[int, int], np.ndarray] = {}

    def work(team: sg.Team) -> None:
        kernel = team.build(**s.options)
        part = team.part(kernel, s.shape)

        def take(first: int, samples: np.ndarray) -> None:
            rows.update({(team.rank, first + i): row.copy() for i, row in enumerate(samples)})

        points = dict(shot=sg.Points(s.shot, series=s.series), rec=sg.Points(s.rec, traces=take))
        team.run(kernel, part, *map(part.cut, (s.c, s.u, s.old)), steps=9, dt=0.25, points=points)

    sg.Team.local(2, work, device="cpu")
    assert sorted(rows) == [(0, i) for i in range(9)] and all((rows[0, i] == traces[i]).all() for i in range(9))


def test_until_ends_all_ranks(specs: Path) -> None:
    text = """return stencil { name = 'relax', boundary = 'zero', coefficients = identity() + 0.2 * laplacian { dims = 2 },
      monitors = { highest = { op = 'max', map = function(u) return u(0, 0) end } } }"""
    u = np.random.default_rng(3).random((31, 17), dtype="float32")
    options = dict(text=text, size=u.shape, method="naive")
    alone = sg.Monitor()
    expected = sg.build(**options, device="cpu").run(
        u, steps=1000, monitors=dict(highest=alone), every=5, until=lambda m: m["highest"] < 0.4
    )
    assert 5 < alone.steps[-1] < 900

    def work(team: sg.Team) -> None:
        kernel = team.build(**options)
        part, highest = team.part(kernel, u.shape), sg.Monitor()
        # One rank alone looks at the samples.
        got = team.run(
            kernel, part, part.cut(u), steps=1000, monitors=dict(highest=highest), every=5,
            until=lambda m: team.rank == 1 and m["highest"] < 0.4,
        )  # fmt: skip
        assert team.collect(part, got).tobytes() == expected.tobytes()
        assert highest.values.tolist() == alone.values.tolist() and highest.steps.tolist() == alone.steps.tolist()

    sg.Team.local(3, work, device="cpu")


def test_what_is_refused() -> None:
    s = Scene(1)

    class Wanted(Exception):
        pass

    def run(change: Any, **options: Any) -> Any:
        def work(team: sg.Team) -> None:
            kernel = team.build(**s.options)
            part = team.part(kernel, s.shape)
            points = dict(shot=sg.Points(s.shot, series=s.series), rec=sg.Points(s.rec))
            points = change(team.rank, points) or points
            team.run(kernel, part, *map(part.cut, (s.c, s.u, s.old)), steps=9, dt=0.25, points=points, **options)

        return sg.Team.local(2, work, device="cpu", seconds=20)

    def fail(*_: Any) -> Any:
        raise Wanted

    changes: list[tuple[Any, Any, str]] = [
        (lambda rank, p: dict(shot=p["shot"]), sg.UsageError, "has points 'rec'"),
        (lambda rank, p: {**p, "rec": sg.Points(s.rec + 50)}, sg.DataError, "outside|point 0"),
        (lambda rank, p: {**p, "shot": sg.Points(s.shot, series=s.series[:5])}, sg.DataError, "but 9 steps of 4"),
    ]
    for rank in (0, 1):
        broken = lambda mine, p, rank=rank: {**p, "shot": sg.Points(s.shot, series=fail)} if mine == rank else None
        changes.append((broken, Wanted, None))
    for change, kind, words in changes:
        with pytest.raises(kind, match=words):
            run(change)
    with pytest.raises(Wanted):
        run(lambda rank, p: None, monitors=dict(most=sg.Monitor()), every=3, until=fail)
    with pytest.raises(sg.UsageError, match="no monitor 'least'; it has most, total"):
        run(lambda rank, p: None, monitors=dict(least=sg.Monitor()), every=3)
