"""Building, looking into kernels, saving, checking, tuning; errors; contexts; what a call costs."""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import stencilgen as sg
from stencilgen import _abi

TINY = "return stencil { name = 'tiny', shape = star(1, 1), coefficients = { 0.5, 0.25, 0.25 } }"


@pytest.fixture
def own(tmp_path: Path) -> sg.Context:
    return sg.Context("cpu", cache=tmp_path / "cache", database=tmp_path / "results.db")


def test_options_reach_the_library(specs: Path) -> None:
    heat = sg.build(specs / "heat13.lua", size=(20, 30, 40), method="register", tile={"x": 32, "y": 4}, coarsen={"z": 8}, time=1, device="cpu")  # fmt: skip
    assert heat.plan.startswith("register tile=32x4 coarsen=z8")
    assert heat.info.size == (20, 30, 40) and heat.info.dims == 3 and heat.info.points == 13
    same = sg.build(specs / "heat13.lua", size=(20, 30, 40), schedule=heat.plan, device="cpu")
    assert same.plan == heat.plan and same.source == heat.source
    assert (heat.name, heat.family, heat.dtype, heat.boundary) == ("heat13", "stencil", "float32", "fixed")
    assert heat.shape == "3D star of radius 2, 13 points"
    assert "__global__" in heat.source and "heat13" in heat.model and heat.reason
    assert heat.arrays[0].low == (2, 2, 2) and not heat.arrays[0].written and heat.arrays[1].reads == 0
    other = sg.build(specs / "heat13.lua", arch="sm_80", compile=False, device="cpu")
    assert other.arch == "sm_80" and not other.info.launchable and other.info.origin == "not compiled"
    fused = sg.build(specs / "heat2d5.lua", size=(4096, 4096), steps=64, gpu="H100", compile=False)
    assert fused.info.steps > 1


def test_low_and_high_are_in_numpys_order() -> None:
    text = "return stencil { name = 'a', update = function(u) return u(2,0,0) + u(0,-1,0) + u(0,0,0) end }"
    array = sg.build(text=text, compile=False).arrays[0]
    assert (array.low, array.high) == ((0, 1, 0), (0, 0, 2))


def test_several_specs() -> None:
    text = f"return {{ {TINY[7:]}, reduce {{ name = 's', dtype = 'double' }} }}"
    assert sg.count_specs(text=text) == 2
    assert sg.build(text=text, index=1, compile=False).family == "reduce"


def test_errors_are_exceptions(specs: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.lua"
    bad.write_text("return stencil {\n  nmae = 'x',\n}\n")
    with pytest.raises(sg.SpecError, match=r"bad.lua:\d+: error: .*name") as raised:
        sg.build(bad)
    assert isinstance(raised.value, (sg.Error, ValueError)) and raised.value.status == "SG_ERROR_SPEC"
    with pytest.raises(sg.PlanError, match="method "):
        sg.build(text=TINY, method="bulk", compile=False)
    with pytest.raises(sg.UsageError, match="did you mean 'naive'"):
        sg.build(text=TINY, method="niave")
    with pytest.raises(sg.UsageError, match="one word"):
        sg.build(text=TINY, method="naive tile=8")
    with pytest.raises(sg.UsageError, match="which axis"):
        sg.build(text=TINY, tile=(8, 8))
    with pytest.raises(sg.UsageError, match="path of a spec"):
        sg.build()
    with pytest.raises(sg.UsageError, match="unknown device 'tpu'"):
        sg.build(text=TINY, device="tpu")
    with pytest.raises(sg.Error):
        sg.build(tmp_path / "none.lua")
    with pytest.raises(OSError):
        sg.build(text=TINY, device="cpu").save(tmp_path / "no" / "such" / "folder")


def test_numbers_that_c_would_cut() -> None:
    kernel = sg.build(text=TINY, device="cpu")
    u = np.zeros(8, "float32")
    calls: list[tuple[str, Any]] = [
        ("an extent is a whole number, not 64.5", lambda: sg.build(text=TINY, size=(64.5,))),
        ("an extent of 1180591620717411303424 is too large", lambda: sg.build(text=TINY, size=2**70)),
        ("steps is a whole number, not 1.5", lambda: sg.build(text=TINY, steps=1.5)),
        ("steps of 1180591620717411303424 is too large", lambda: sg.build(text=TINY, steps=2**70)),
        ("index of 4294967296 is too large", lambda: sg.build(text=TINY, index=2**32)),
        ("size 4 along y, but 'tiny' has 1 dimension", lambda: sg.build(text=TINY, size=(4, 4, 4))),
        ("steps is a whole number, not 1.5", lambda: kernel.run(u, steps=1.5)),
        ("steps of 36893488147419103232 is too large", lambda: kernel.run(u, steps=2**65)),
        ("step is a whole number, not 0.5", lambda: kernel.run(u, step=0.5)),
        ("steps is a whole number, not '3'", lambda: kernel.check(steps="3")),
        ("an extent is a whole number, not 'a'", lambda: kernel.measure(size="a")),
        ("repeats of 1099511627776 is too large", lambda: kernel.measure(repeats=2**40)),
        ("seed is a whole number, not 0.5", lambda: kernel.check(seed=0.5)),
        ("evaluations of 4294967296 is too large", lambda: kernel.tune(evaluations=2**32)),
        ("budget is a number, not 'a'", lambda: kernel.tune(budget="a")),
        ("threads of 1099511627776 is too large", lambda: sg.Context("cpu", threads=2**40)),
        ("log is a function, not a str", lambda: sg.Context("cpu", log="note")),
        ("ranks of 4294967298 is too large", lambda: sg.forecast(text=TINY, size=64, gpu="h200", ranks=2**32 + 2)),
        ("ranks of 4294967298 is too large", lambda: sg.forecast(text=TINY, size=64, gpu="h200", ranks=2, grid=2**32 + 2)),
        ("launches of 4294967296 is too large", lambda: sg.forecast(text=TINY, gpu="h200", ranks=2, launches=2**32)),
    ]
    for text, call in calls:
        with pytest.raises(sg.UsageError, match=text.replace("(", "[(]")):
            call()
    plane = sg.build(text='return stencil { name = "p", shape = star(2, 1), coefficients = identity() + laplacian { dims = 2 } }')
    for size in (64, (64,), (0, 64), (64, 64, 64)):
        with pytest.raises(sg.UsageError, match="extents|dimensions"):
            plane.check(size=size)
    with pytest.raises(sg.UsageError, match="size has 1 extent, but 'p' has 2 dimensions"):
        sg.build(text=plane._request.options.text.decode(), size=64)
    assert kernel.check(size=np.int64(33), steps=np.int32(2)).size == (33,)
    assert sg.build(text=TINY, size=np.array([50])).info.size == (50,)


def test_save_and_load(own: sg.Context, tmp_path: Path) -> None:
    kernel = sg.build(text=TINY, context=own)
    kernel.save(tmp_path / "tiny.kernel")
    u = np.arange(10, dtype="float32") ** 2
    again = sg.load(tmp_path / "tiny.kernel", context=own)
    assert isinstance(again, sg.Stencil) and again.info.origin == "from file"
    assert (again(u) == kernel(u)).all()
    with pytest.raises(sg.UsageError, match="kernel from a file"):
        again.explain()
    with pytest.raises(sg.Error):
        again.check()
    (tmp_path / "tiny.kernel").write_bytes(b"not a kernel")
    with pytest.raises(sg.DataError):
        sg.load(tmp_path / "tiny.kernel", context=own)


def test_check_and_measure(own: sg.Context) -> None:
    kernel = sg.build(text=TINY, size=(1000,), context=own)
    check = kernel.check(size=(777,), seed=5)
    assert check.size == (777,) and check.wrong == 0 and check.judged == 777 and check.of_bound <= 1 and check.seed == 5
    speed = kernel.measure(size=1000, repeats=3)
    assert speed.repeats == 3 and 0 < speed.fastest <= speed.seconds <= speed.slowest


def test_explain(own: sg.Context) -> None:
    told = sg.build(text=TINY, context=own, compile=False).explain()
    assert sum(m.chosen for m in told.methods) == 1
    assert {"naive", "tiled"} <= {m.method for m in told.methods}
    assert "naive" in str(told) and told.name == "tiny"


def test_tuning(own: sg.Context, tmp_path: Path) -> None:
    kernel = sg.build(text=TINY, size=(4096,), context=own)
    assert len(kernel.candidates()) > 3
    seen: list[sg.Progress] = []
    tuning = kernel.tune(evaluations=3, progress=seen.append)
    assert tuning.finished and len(tuning.evaluations) == 3 and tuning.wrong == 0 and tuning.size == (4096,)
    assert tuning.best is not None and tuning.best.state == "right" and tuning.database == str(tmp_path / "results.db")
    assert seen and any(p.last is not None for p in seen) and seen[-1].name == "tiny"
    assert sg.build(text=TINY, size=(4096,), context=own).plan == tuning.taken
    results = sg.results("tiny", context=own)
    assert len(results) >= 3 and all(r.timings for r in results if r.state == "right")
    drifts = sg.drifts(results[0].sweep, context=own)
    assert all(d.seconds > 0 and d.plan and d.taken > 0 for d in drifts) and sg.drifts(10**6, context=own) == []
    with pytest.raises(sg.UsageError, match="no search 'lucky'"):
        kernel.tune(search="lucky")


def test_a_sweep_can_be_stopped(own: sg.Context) -> None:
    kernel = sg.build(text=TINY, size=(2048,), context=own)
    stopped = kernel.tune(evaluations=6, progress=lambda p: p.evaluations >= 2)
    assert not stopped.finished and len(stopped.evaluations) < 6

    class Broken(Exception):
        pass

    def fail(_: sg.Progress) -> None:
        raise Broken

    with pytest.raises(Broken):
        kernel.tune(evaluations=6, progress=fail)
    ended = kernel.tune(evaluations=3)
    assert ended.finished and any(e.resumed for e in ended.evaluations)


def test_an_interrupt_ends_a_sweep(own: sg.Context) -> None:
    many = TINY.replace("coefficients", "schedule = { method = 'naive' }, coefficients")
    kernel = sg.build(text=many, size=(8192,), context=own)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel.tune(search="exhaustive")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert kernel.tune(search="exhaustive", evaluations=1).evaluations[0].resumed, "what was measured before was lost"


def test_contexts(own: sg.Context, tmp_path: Path) -> None:
    assert own.info.device == "cpu" and own.info.name.startswith("cpu")
    sg.build(text=TINY, context=own)
    assert own.cache().folder == str(tmp_path / "cache") and own.cache().entries == 1
    assert [e.trouble for e in own.cache_entries(verify=True)] == [""]
    assert own.clear_cache()[0] == 1 and own.cache().entries == 0
    lines: list[tuple[str, str]] = []
    logged = sg.Context("cpu", cache="none", log=lambda level, text: lines.append((level, text)))
    sg.build(text=TINY, context=logged)
    assert any(level == "note" and "tiny" in text for level, text in lines)
    assert sg.default_context("cpu") is sg.default_context("cpu")
    with pytest.raises(sg.DeviceError, match="GPU 77|driver"):
        sg.Context("cuda:77")
    with pytest.raises(sg.UsageError, match="no device 'cpu:1'"):
        sg.Context("cpu:1")
    nothing = sg.Context("none")
    assert nothing.info.device == "none"
    own.synchronize()


def test_kernels_outlive_their_context() -> None:
    context = sg.Context("cpu", cache="none", database="none")
    kernel = sg.build(text=TINY, context=context)
    del context
    gc.collect()
    assert kernel(np.zeros(5, "float32")).shape == (5,)


def test_a_forks_child_begins_anew() -> None:
    code = """
import os, sys
import numpy as np
import stencilgen as sg
text = "return stencil { name = 'tiny', coefficients = { 0.5, 0.25, 0.25 }, shape = star(1, 1) }"
u = np.ones(100_000, "float32")
sg.build(text=text, device="cpu")(u)
child = os.fork()
if child == 0:
    assert (sg.build(text=text, device="cpu")(u) == 1).all()
    sys.exit(7)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120).returncode == 7


def test_doctor() -> None:
    found = {f.what: f for f in sg.doctor()}
    assert {"host compiler", "NCCL", "GPUs of a team"} <= set(found) and found["device"].text
    assert str(found["device"]).startswith(("ok", "no"))


def test_help_is_enough_to_begin() -> None:
    assert sg.__doc__ is not None and "heat.run(u, steps=100)" in sg.__doc__
    for name in sg.__all__:
        thing = getattr(sg, name)
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else []:
            if callable(value) and not member.startswith("_") and not isinstance(value, type):
                assert value.__doc__, f"{name}.{member}"


def test_the_command() -> None:
    command = os.environ.get("STENCILGEN")
    if command is None:
        pytest.skip("STENCILGEN does not name the command")
    told = subprocess.run(
        [sys.executable, "-m", "stencilgen", "--version"], capture_output=True, text=True,
        env={**os.environ, "STENCILGEN_COMMAND": command},
    )  # fmt: skip
    assert told.returncode == 0 and sg.version() in told.stdout
    absent = subprocess.run(
        [sys.executable, "-m", "stencilgen"], capture_output=True, text=True,
        env={**os.environ, "STENCILGEN_COMMAND": "", "PATH": ""},
    )  # fmt: skip
    assert absent.returncode == 1 and "STENCILGEN_COMMAND" in absent.stderr


def test_types() -> None:
    pytest.importorskip("mypy")
    folder = str(Path(sg.__file__).parent)
    told = subprocess.run([sys.executable, "-m", "mypy", "--strict", folder], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout


# ---- what a call costs ------------------------------------------------------------------------------------------


def least_seconds(call: Any) -> float:
    """Of the caller's own thread, so that other processes count less."""
    best = 1.0
    for _ in range(40):
        begin = time.thread_time()
        for _ in range(100):
            call()
        best = min(best, (time.thread_time() - begin) / 100)
    return best


def test_a_call_costs_at_most_10_microseconds_more_than_cs() -> None:
    kernel = sg.build(text=TINY, size=(8,), device="cpu")
    u, v = np.ones(8, "float32"), np.ones(8, "float32")
    grids = (_abi.sg_grid * 2)()
    for grid, array in zip(grids, (u, v)):
        grid.data = array.ctypes.data
        grid.size[:] = [8, 1, 1]
    arguments = _abi.sg_arguments(grid_count=2)
    arguments.grids = grids
    reference, handle = ctypes.byref(arguments), kernel._handle
    c = least_seconds(lambda: _abi.lib.sg_launch(handle, reference, 0))
    costs: dict[str, float] = {}
    for _ in range(3):  # other processes are in the way now and then
        costs = {
            "launch(u, v)": least_seconds(lambda: kernel.launch(u, v)) - c,
            "kernel(u, out=v)": least_seconds(lambda: kernel(u, out=v)) - c,
            "kernel(u)": least_seconds(lambda: kernel(u)) - c,
        }
        if max(costs.values()) < 10e-6:
            return
    raise AssertionError({name: f"{1e6 * seconds:.1f} µs" for name, seconds in costs.items()})


def test_kernels_and_contexts_are_their_own_copies(tmp_path: Path) -> None:
    """A copy that shared the C library's object would outlive it."""
    context = sg.Context("cpu", cache=tmp_path / "cache", database="none")
    kernel = sg.build(text=TINY, context=context)
    assert copy.copy(kernel) is kernel and copy.deepcopy({"k": kernel})["k"] is kernel
    assert copy.copy(context) is context and copy.deepcopy(context) is context
    capture = sg.Capture((3,), context=context)
    for thing in (kernel, context, capture):
        with pytest.raises(TypeError, match="belongs to its process"):
            pickle.dumps(thing)
    with pytest.raises(TypeError, match="a stencilgen.Capture .* neither copied nor pickled"):
        copy.copy(capture)


def test_values_that_are_no_numbers_or_texts() -> None:
    spec = "return stencil { name = 'given', coefficients = identity() + param 'k' * laplacian { dims = 1 } }"
    kernel, u = sg.build(text=spec, device="cpu"), np.zeros(8, "float32")
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("the parameter 'k' is a number, not '0.1'", lambda: kernel(u, k="0.1")),
        ("the parameter 'k' is a number, not array", lambda: kernel(u, k=u)),
        ("the parameter 'k' is a number, not 1000", lambda: kernel(u, k=10**400)),
        ("no array or parameter 'q'; it has u, u_next, k", lambda: kernel(u, q=1)),
        ("no array or parameter 'w'; it has u, u_next, k", lambda: kernel(w=u, k=1)),
        ("the constant 'k' is a number, not '1'", lambda: sg.build(text=spec, constants={"k": "1"})),
        ("the text of a spec is a str, not a bytes", lambda: sg.build(text=spec.encode())),
        ("the text of a spec holds a zero byte", lambda: sg.build(text=spec + "\0")),
        (r"'a.x00b.lua' holds a zero byte", lambda: sg.build("a\0b.lua")),
        ("an expression is a str, not a int", lambda: sg.evaluate(5, 3)),  # type: ignore[arg-type]
        ("a name is a str, not a int", lambda: sg.build(text=spec, name=3)),  # type: ignore[arg-type]
        ("arch is a str, not a float", lambda: sg.build(text=spec, arch=9.0)),  # type: ignore[arg-type]
        ("gpu is a str, not a bytes", lambda: sg.build(text=spec, gpu=b"h200")),  # type: ignore[arg-type]
        ("a schedule is a str, not a list", lambda: sg.build(text=spec, schedule=["naive"])),  # type: ignore[arg-type]
        ("a device is a str, not a int", lambda: sg.build(text=spec, device=1)),  # type: ignore[arg-type]
        ("a path is a str or an os.PathLike, not a float", lambda: sg.build(1.5)),  # type: ignore[arg-type]
        ("constants are a dict of numbers by name, not a list", lambda: sg.build(text=spec, constants=["k"])),  # type: ignore
        ("a constant's name is a str", lambda: sg.build(text=spec, constants={1: 2})),  # type: ignore[dict-item]
        ("parameters are a dict of numbers by name", lambda: kernel(u, parameters=[1])),  # type: ignore[arg-type]
        ("parameters are a dict of numbers by name", lambda: kernel.check(parameters=[1])),  # type: ignore[arg-type]
        ("no array '1'; it takes u", lambda: kernel({1: u}, k=1)),
        ("a number for each of 1 axes, not 1|whole number", lambda: kernel.run(u, origin="a", k=1)),
        ("a number for each of 1 axes, not 2", lambda: kernel.run(u, whole=(1, 2), k=1)),
        ("takes 1 array [(]u[)], not 2", lambda: kernel(u, u, k=1)),
        ("a box is a slice of whole numbers", lambda: kernel.run(u, box=np.s_[0.5:2], k=1)),
        ("a box is a slice of whole numbers", lambda: sg.evaluate("x", 8, box=np.s_[0:8:2])),  # type: ignore[arg-type]
        ("the size -3 is negative", lambda: sg.evaluate("x", -3)),
        ("an extent is a whole number, not 2.5", lambda: sg.Capture((2.5,))),  # type: ignore[arg-type]
        ("the shape -1 is negative", lambda: sg.Capture(-1)),
        ("a size in bytes of .* is too large", lambda: sg.Capture((2**40, 2**40))),
        ("points=… is a dict", lambda: kernel.run(u, points=[1], k=1)),
        ("monitors=… is a dict", lambda: kernel.run(u, monitors=[1], every=1, k=1)),
    ]
    for text, call in calls:
        with pytest.raises(sg.UsageError, match=text):
            call()
    assert sg.evaluate("x", np.int64(3)).tolist() == [0, 1, 2]  # type: ignore[arg-type]
    assert (kernel(u + 1, k=np.float16(0.5)) == kernel(u + 1, k=np.array(0.5))).all()
