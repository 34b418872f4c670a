"""Teams: ranks as threads, as processes of MPI and of torch.distributed, and over a transport of the tests' own, compared
with one rank byte for byte; what ranks agree on; and that a failure on one rank is an error on all."""

from __future__ import annotations

import importlib.util
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import pytest
import stencilgen as sg
from conftest import drawn
from stencilgen import _team

BOUNDARIES = ("fixed", "zero", "constant(1.5)", "clamp", "mirror", "periodic")


class Wanted(Exception):
    pass


class Random:
    """A linear stencil with random taps, boundary, dtype and grid, and random data."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.dims = 1 + seed % 3
        boundary = BOUNDARIES[seed % len(BOUNDARIES)]
        self.word = str(rng.choice(["float", "double"]))
        taps = [rng.integers(-2, 3, self.dims) for _ in range(int(rng.integers(2, 7)))]
        sums = " + ".join(f"({rng.uniform(-1, 1)!r})*u({','.join(map(str, t))})" for t in taps)
        self.text = (
            f"return stencil {{ name = 'random', dtype = '{self.word}', "
            f"boundary = {boundary if '(' in boundary else repr(boundary)}, update = function(u) return {sums} end }}"
        )
        self.shape = tuple(int(n) for n in rng.integers(13, 27, self.dims))
        self.u = rng.uniform(-1, 1, self.shape).astype("float32" if self.word == "float" else "float64")


@pytest.mark.parametrize("seed", drawn(12, 3))
def test_ranks_make_the_bytes_of_one(seed: int) -> None:
    spec = Random(seed)
    steps, ranks = 1 + seed % 5, 2 + seed % 3
    method = "naive" if seed % 2 else "tiled"
    one = sg.build(text=spec.text, size=spec.shape, steps=steps, method=method, time=1, device="cpu")
    expected, given = one.run(spec.u, steps=steps), spec.u.copy()

    def work(team: sg.Team) -> Any:
        kernel = team.build(text=spec.text, size=spec.shape, steps=steps, method=method, time=1)
        part = team.part(kernel, spec.shape, launches=1 + seed % 2)
        mine = part.cut(given)
        mine[tuple(slice(0, low) for low in part.low)] = np.nan  # ghost cells are filled
        before = mine[part.own].copy()
        got = team.run(kernel, part, mine, steps=steps)
        assert got.shape == part.shape and (mine[part.own] == before).all(), "own cells of the input were written"
        again = team.run(kernel, part, mine, steps=steps, overwrite=True)
        assert again[part.own].tobytes() == got[part.own].tobytes()
        return team.collect(part, got)

    for whole in sg.Team.local(ranks, work, device="cpu"):
        assert whole.tobytes() == expected.tobytes(), (spec.text, spec.shape, ranks)


def test_fields_levels_and_parameters(specs: Path, rng: np.random.Generator) -> None:
    shape = (23, 31)
    c, u, old = (rng.random(shape, dtype="float32") / 2 for _ in range(3))
    wave = sg.build(specs / "wave2d.lua", size=shape, method="naive", device="cpu").run(c, u, old, steps=7)
    gray = sg.build(specs / "grayscott.lua", size=shape, method="naive", device="cpu").run(
        c, u, steps=6, F=0.03, k=0.055
    )

    def work(team: sg.Team) -> None:
        kernel = team.build(specs / "wave2d.lua", size=shape, method="naive", ranks=(2, 2))
        part = team.part(kernel, shape, ranks=(2, 2))
        assert part.ranks == (2, 2) and part.place == divmod(team.rank, 2)
        got = team.run(kernel, part, steps=7, u=part.cut(u), c=part.cut(c), u_prev=part.cut(old))
        assert team.collect(part, got.u).tobytes() == wave.u.tobytes()
        assert team.collect(part, got.u_prev).tobytes() == wave.u_prev.tobytes()
        kernel = team.build(specs / "grayscott.lua", size=shape, method="naive")
        part = team.part(kernel, shape)
        got = team.run(kernel, part, part.cut(c), part.cut(u), steps=6, parameters={"F": 0.03}, k=0.055)
        assert team.collect(part, got.v).tobytes() == gray.v.tobytes()

    sg.Team.local(4, work, device="cpu")


def test_fused_steps_and_batches(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_team, "_BATCH_SECONDS", 1e-9)  # batches stay as short as the first
    text = "return stencil { name = 'f', shape = star(2, 1), coefficients = {.6,.1,.1,.1,.1}, boundary = 'fixed' }"
    u = rng.random((61, 67), dtype="float32")
    options = dict(text=text, size=u.shape, steps=11, schedule="resident tile=32x16 time=2")
    one = sg.build(**options, device="cpu")
    assert one.info.steps == 2
    expected = one.run(u, steps=11)

    def work(team: sg.Team) -> None:
        kernel = team.build(**options)
        part = team.part(kernel, u.shape)
        assert max(*part.low, *part.high) == 2
        got = team.run(kernel, part, part.cut(u), steps=11)
        assert team.collect(part, got).tobytes() == expected.tobytes()
        assert team.run(kernel, part, got, steps=0) is got

    sg.Team.local(2, work, device="cpu")


def test_parts(shift: Any) -> None:
    def work(team: sg.Team) -> sg.Part:
        with pytest.raises(sg.PlanError, match="ranks.*work"):
            team.part(shift, (40, 5), ranks=(1, 3), launches=9)
        with pytest.raises(sg.UsageError, match="not one of 3 ranks"):
            team.part(shift, (40, 40), ranks=(2, 2))
        part = team.part(shift, (40, 7))
        assert (part.size, part.ranks, part.place) == ((40, 7), (3, 1), (team.rank, 0))
        info = team.info
        assert (info.rank, info.ranks, info.seconds) == (team.rank, 3, 120) and "copies" in info.engine
        assert part.steps == 1 and info.exchange_seconds >= 0
        return part

    covered = np.zeros((40, 7), int)
    for part in sg.Team.local(3, work, device="cpu"):
        covered[part.box] += 1
        assert part.shape == tuple(l + s.stop - s.start + h for l, s, h in zip(part.low, part.box, part.high))
        assert np.zeros(part.shape)[part.own].shape == covered[part.box].shape
    assert (covered == 1).all()


def test_a_forecast() -> None:
    text = "return stencil { name = 'f', shape = star(3, 1), coefficients = {.4,.1,.1,.1,.1,.1,.1} }"
    options = dict(text=text, size=(64, 96, 128), gpu="h200")
    told = sg.forecast(**options, ranks=8, link="network", grid=(4, 2, 1))
    assert told.part.ranks == (4, 2, 1) and told.part.size == (64, 96, 128) and told.link == "network"
    assert [s.stop - s.start for s in told.part.box] == [16, 48, 128]
    assert 0 < told.interior_seconds <= told.seconds < told.interior_seconds + told.exchange_seconds + 1e-9
    assert told.bytes > 0 and told.messages >= 3 and sg.forecast(**options, ranks=1).part.shape == (64, 96, 128)
    with pytest.raises(sg.UsageError, match="no link 'wire'"):
        sg.forecast(**options, ranks=2, link="wire")


def test_what_ranks_agree_on() -> None:
    def work(team: sg.Team) -> None:
        assert team.reduce("sum", 0.5 + team.rank) == 0.5 + 1.5 + 2.5
        assert team.reduce("min", [[team.rank, -team.rank]]).tolist() == [[0, -2]]
        assert team.reduce("max", np.float32(team.rank)) == 2
        assert np.isnan(team.reduce("max", np.nan if team.rank == 1 else 1.0))
        assert team.gather(np.array([team.rank, 7], "int32")).tolist() == [[0, 7], [1, 7], [2, 7]]
        assert team.gather(team.rank).tolist() == [0, 1, 2]
        team.agree()
        with pytest.raises(sg.DataError, match="no such file" if team.rank == 1 else "rank 1: no such file"):
            team.agree("no such file" if team.rank == 1 else None)
        with pytest.raises(sg.SpecError, match="m.lua:1"):
            team.build("m.lua", text="return 7")
        with pytest.raises(sg.UsageError, match="is no stencil"):
            team.build(text='return reduce { name = "s" }')
        with pytest.raises(sg.UsageError, match="different kernels"):
            team.build(
                text="return stencil { name = 'd', shape = star(1, 1), coefficients = { %d, 1, 1 } }" % team.rank
            )
        with pytest.raises(sg.UsageError, match="'mean'"):
            team.reduce("mean", 1)
        with pytest.raises(TypeError, match="'tiles'"):
            team.build(text="", tiles=3)
        team.wait()

    sg.Team.local(3, work, device="cpu", seconds=20)


# ---- failures ---------------------------------------------------------------------------------------------------


def test_an_exception_on_one_rank_ends_the_team(shift: Any) -> None:
    told: dict[int, str] = {}

    def work(team: sg.Team) -> None:
        try:
            team.agree()  # all are there
            if team.rank == 1:
                raise Wanted("the disk is full")
            team.agree()
        except sg.DeviceError as error:
            told[team.rank] = str(error)
            raise

    begin = time.monotonic()
    with pytest.raises(Wanted):
        sg.Team.local(3, work, device="cpu")
    assert set(told) == {0, 2} and all("rank 1: the disk is full" in text for text in told.values())
    assert time.monotonic() - begin < 20


def test_a_wrong_array_on_one_rank_is_an_error_on_all(shift: Any) -> None:
    told: dict[int, str] = {}

    def work(team: sg.Team) -> None:
        part = team.part(shift, (20, 9))
        u = np.zeros(part.shape, "float64" if team.rank == 1 else "float32")
        if team.rank == 1 and wrong == "shape":
            u = np.zeros((3, 3), "float32")
        elif team.rank == 1 and wrong == "read-only":
            u = np.zeros(part.shape, "float32")
            u.flags.writeable = False
        try:
            team.run(shift, part, u, steps=3)
        except sg.Error as error:
            told[team.rank] = str(error)
            with pytest.raises(sg.Error):
                team.agree()
            raise

    for wrong, words in [("dtype", "is float64"), ("shape", "cells along"), ("read-only", "read-only")]:
        told.clear()
        with pytest.raises(sg.Error, match=words):
            sg.Team.local(2, work, device="cpu")
        assert words in told[1] and "rank 1: " in told[0] and words in told[0]


def test_a_rank_that_does_not_answer() -> None:
    def work(team: sg.Team) -> None:
        if team.rank == 1:
            time.sleep(1)
        team.agree()

    with pytest.raises(sg.DeviceError, match="rank 1 did not answer within 0.3 s"):
        sg.Team.local(2, work, device="cpu", seconds=0.3)


def test_an_interrupt_ends_local_ranks() -> None:
    text = "return stencil { name = 'i', shape = star(2, 1), coefficients = {.6,.1,.1,.1,.1} }"

    def work(team: sg.Team) -> None:
        kernel = team.build(text=text, size=(64, 64), method="naive")
        part = team.part(kernel, (64, 64))
        team.run(kernel, part, np.zeros(part.shape, "float32"), steps=10**9)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    begin = time.monotonic()
    try:
        for ranks in (1, 2):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(KeyboardInterrupt):
                sg.Team.local(ranks, work, device="cpu")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - begin < 30


def test_a_rank_without_its_device() -> None:
    with pytest.raises(sg.UsageError, match="no device 'cpu:7'"):
        sg.Team.local(2, lambda team: None, device="cpu:7")
    told: list[Exception] = []
    boxes: Any = [[queue.SimpleQueue() for _ in range(2)] for _ in range(2)]
    left: list[str] = []
    transports = [Queues(rank, boxes, left) for rank in range(2)]

    def one(rank: int) -> None:
        try:
            sg.Team(transports[rank], device=["cpu", "cpu:7"][rank])
        except Exception as error:
            told.insert(rank, error)

    threads = [threading.Thread(target=one, args=(rank,)) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(type(error).__name__ for error in told) == ["DeviceError", "UsageError"]
    assert all("no device 'cpu:7'" in str(error) for error in told) and [t.closed for t in transports] == [1, 1]


def test_what_is_no_team() -> None:
    with pytest.raises(sg.UsageError, match="over a dict"):
        sg.Team({}, device="cpu")
    with pytest.raises(sg.UsageError, match="NCCL needs a GPU"):
        sg.Team(4096, device="cpu")
    with pytest.raises(sg.UsageError, match="128 bytes, not 3"):
        sg.Team(b"abc", rank=0, ranks=1, device="cpu")
    with pytest.raises(sg.UsageError, match="NCCL needs a GPU"):
        sg.Team(bytes(128), rank=0, ranks=1, device="cpu")
    with pytest.raises(sg.UsageError, match="1 to 4096 ranks, not 0"):
        sg.local_transports(0)
    with sg.Team(sg.Transport(), device="cpu") as alone:
        assert alone.reduce("sum", 3) == 3 and "rank 0 of 1" in repr(alone)
    with pytest.raises(sg.UsageError, match="closed"):
        alone.agree()
    alone.close()


# ---- a transport of one's own -----------------------------------------------------------------------------------


class Queues(sg.Transport):
    """Ranks as threads that put bytes into queues."""

    name = "queues"

    def __init__(self, rank: int, boxes: Sequence[Sequence[Any]], left: list[str]) -> None:
        self.rank, self.ranks, self.boxes, self.left, self.closed = rank, len(boxes), boxes, left, 0

    def exchange(self, sends: Sequence[Any], receives: Sequence[Any], seconds: float) -> None:
        for rank, data in sends:
            self.boxes[rank][self.rank].put(bytes(data))
        for rank, data in receives:
            while True:
                if self.left:
                    raise RuntimeError(self.left[0])
                try:
                    data[:] = self.boxes[self.rank][rank].get(timeout=0.05)
                    break
                except queue.Empty:
                    pass

    def abandon(self, text: str) -> None:
        self.left.append(text)

    def close(self) -> None:
        self.closed += 1


def over_queues(ranks: int, work: Any) -> tuple[list[Any], list[Queues]]:
    boxes: Any = [[queue.SimpleQueue() for _ in range(ranks)] for _ in range(ranks)]
    left: list[str] = []
    transports = [Queues(rank, boxes, left) for rank in range(ranks)]
    results: list[Any] = [None] * ranks

    def one(rank: int) -> None:
        try:
            with sg.Team(transports[rank], device="cpu") as team:
                results[rank] = work(team)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, transports


def test_a_transport_of_ones_own(shift: Any, rng: np.random.Generator) -> None:
    u = rng.random((19, 23), dtype="float32") / 8

    def work(team: sg.Team) -> Any:
        assert team.info.engine == "queues"
        part = team.part(shift, u.shape)
        return team.collect(part, team.run(shift, part, part.cut(u), steps=4))

    results, transports = over_queues(3, work)
    assert all(whole.tobytes() == shift.run(u, steps=4).tobytes() for whole in results)
    assert [t.closed for t in transports] == [1, 1, 1]

    def fail(team: sg.Team) -> None:
        team.agree()
        if team.rank == 2:
            raise Wanted("gone")
        team.agree()

    results, transports = over_queues(3, fail)
    assert isinstance(results[2], Wanted) and [t.closed for t in transports] == [1, 1, 1]
    for error in results[:2]:
        assert isinstance(error, sg.DeviceError) and "rank 2: gone" in str(error)
        assert isinstance(error.__cause__, RuntimeError), "the transport's own exception is the cause"


def test_an_interrupt_in_a_transport() -> None:
    """The handler's exception is not lost in a callback, and the exchange counts as failed."""

    class Slow(sg.Transport):
        ranks = 2

        def exchange(self, *_: Any) -> None:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sg.Team(Slow(), device="cpu")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


# ---- processes --------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
import stencilgen as sg
BEGIN
text = "return stencil { name = 'p', boundary = 'periodic', update = function(u) return u(2,0)/3 - u(0,-1)/2 + u(1,1)/5 end }"
u = np.random.default_rng(3).random((29, 31))
u[0, 0] = 1 / 3
options = dict(text=text.replace("'p'", "'p', dtype = 'double'"), size=u.shape, method="naive")
expected = sg.build(**options, device="cpu").run(u, steps=5)
with sg.Team(over, device="cpu", seconds=60) as team:
    kernel = team.build(**options)
    part = team.part(kernel, u.shape)
    got = team.collect(part, team.run(kernel, part, part.cut(u), steps=5))
    assert got.tobytes() == expected.tobytes()
    assert team.reduce("sum", team.rank) == sum(range(team.ranks))
    engine = team.info.engine
try:
    with sg.Team(over, device="cpu", seconds=60) as team:
        if team.rank == team.ranks - 1:
            raise KeyError("the disk is full")
        while True:
            team.agree()
except KeyError:
    pass
except sg.DeviceError as error:
    assert f"rank {team.ranks - 1}: " in str(error) and "the disk is full" in str(error), error
sys.stdout.write(f"rank {team.rank} of {team.ranks}, {engine}: right\\n")
END
"""


def with_path() -> dict[str, str]:
    """The environment, with the folders in which this process finds modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in sys.path if p)}


def test_mpi(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("there is no mpirun")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("BEGIN", "from mpi4py import MPI\nover = MPI.COMM_WORLD").replace("END", ""))
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    told = subprocess.run(
        [mpirun, "--oversubscribe", "-n", "3", sys.executable, str(program)], capture_output=True, text=True, timeout=120,
        env={**with_path(), **as_root},
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    for rank in range(3):
        assert re.search(f"rank {rank} of 3, [^\n]*MPI[^\n]*: right", told.stdout), told.stdout


def test_torch_distributed(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("there is no torch")
    begin = f"""
import os
import torch.distributed as dist  # takes long: once, before the ranks part
rank, children = 0, []
for other in (1, 2):
    children.append(os.fork())
    if children[-1] == 0:
        rank, children = other, []
        break
dist.init_process_group("gloo", init_method="file://{tmp_path}/meet", rank=rank, world_size=3)
over = dist.group.WORLD
"""
    end = "dist.destroy_process_group()\nsys.exit(any(os.waitpid(child, 0)[1] for child in children))"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("BEGIN", begin).replace("END", end))
    told = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, env=with_path())
    assert told.returncode == 0, told.stdout + told.stderr
    for rank in range(3):
        assert f"rank {rank} of 3, torch.distributed by gloo: right" in told.stdout
