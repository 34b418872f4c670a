"""On a real GPU with CuPy, PyTorch and JAX: results, streams, graphs, lifetimes, costs. Skipped without a GPU.

`python3 tests/python/test_gpu.py` runs it without pytest, and prints a line for each test. With the package of the target
`wheel-lib` it needs nothing else: PYTHONPATH=build/wheel-lib python3 tests/python/test_gpu.py
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np
import stencilgen as sg
from stencilgen import _abi

ROOT = Path(__file__).resolve().parents[2]
SHIFT = "return stencil { name = 'shift', boundary = 'zero', update = function(u) return 2*u(1,0) - u(0,-1) end }"
HEAT = (
    "return stencil { name = 'heat', shape = star(2, 1), coefficients = { .6, .1, .1, .1, .1 }, boundary = 'periodic' }"
)
BIG = 8192  # a step moves half a gigabyte


def _gpu() -> bool:
    try:
        return sg.Context("cuda", cache="none").info.device == "cuda"
    except sg.Error:
        return False


GPU = _gpu()


def _library(name: str) -> Any:
    try:
        module = __import__(name)
        if name == "torch" and not module.cuda.is_available():
            raise unittest.SkipTest("PyTorch has no GPU")
        if name == "jax" and module.default_backend() != "gpu":
            raise unittest.SkipTest("JAX has no GPU")
        return module
    except ImportError:
        raise unittest.SkipTest(f"there is no {name}") from None


def _shift(u: Any) -> np.ndarray:
    padded = np.pad(np.asarray(u), 1)
    return 2 * padded[1:-1, 2:] - padded[:-2, 1:-1]


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).random(shape, dtype="float32")


def _build(text: str, **options: Any) -> Any:
    return sg.build(text=text, device="cuda", **options)


def _heat_steps(u: np.ndarray, steps: int) -> np.ndarray:
    u = u.astype("float64")
    for _ in range(steps):
        u = 0.6 * u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))
    return u


def _microseconds(calls: dict[str, Any], finish: Any) -> dict[str, float]:
    """Of calls, each while the queue of the stream is not full; in turns, so that what slows the machine slows all."""
    best = dict.fromkeys(calls, 1e9)
    for _ in range(30):
        for name, call in calls.items():
            finish()
            begin = time.perf_counter()
            for _ in range(50):
                call()
            best[name] = min(best[name], (time.perf_counter() - begin) / 50 * 1e6)
    finish()
    return best


def _c_call(kernel: Any, u: int, v: int, n: int) -> Any:
    grids = (_abi.sg_grid * 2)()
    for grid, pointer in zip(grids, (u, v)):
        grid.data = pointer
        grid.size[:] = [n, n, 1]
    arguments = _abi.sg_arguments(grid_count=2)
    arguments.grids = grids
    reference = ctypes.byref(arguments)
    return lambda: _abi.lib.sg_launch(kernel._handle, reference, 0)


if not GPU and __name__ != "__main__":
    raise unittest.SkipTest("there is no GPU")


@unittest.skipUnless(GPU, "there is no GPU")
class Gpu(unittest.TestCase):
    # ---- NumPy ----

    def test_numpy_travels(self) -> None:
        u = _random(300, 301)
        assert np.allclose(_build(SHIFT)(u), _shift(u), atol=1e-6)
        heat = _build(HEAT, size=(300, 301), steps=50)
        assert np.allclose(heat.run(u, steps=50), _heat_steps(u, 50), atol=1e-4)
        assert np.allclose(heat.run(u[::-1], steps=3), _heat_steps(u[::-1], 3), atol=1e-5)
        total = _build('return reduce { name = "s", dtype = "double" }')
        x = np.random.default_rng(1).random(100_000)
        assert np.isclose(total(x), x.sum())

    # ---- CuPy ----

    def test_cupy(self) -> None:
        cupy = _library("cupy")
        shift = _build(SHIFT)
        u = cupy.asarray(_random(300, 301))
        got = shift(u)
        assert isinstance(got, cupy.ndarray) and np.allclose(got.get(), _shift(u.get()), atol=1e-6)
        out = cupy.zeros_like(u)
        pointer = out.data.ptr
        assert shift(u, out=out) is out and out.data.ptr == pointer and (out == got).all()
        assert np.allclose(shift(u[::-1]).get(), _shift(u.get()[::-1]), atol=1e-6)
        padded = cupy.zeros((300, 320), "float32")
        padded[:, :301] = u
        assert (shift(padded[:, :301]) == got).all()
        with self.assertRaisesRegex(sg.DataError, "cupy.ascontiguousarray"):
            shift(u.T)
        with self.assertRaisesRegex(sg.UsageError, "host's memory"):
            shift.launch(u.get(), out)
        with self.assertRaisesRegex(sg.DataError, "cpu device"):
            sg.build(text=SHIFT, device="cpu")(u)
        kept = u.copy()
        heat = _build(HEAT, size=(300, 301), steps=50)
        assert np.allclose(heat.run(u, steps=50).get(), _heat_steps(u.get(), 50), atol=1e-4)
        assert (u == kept).all()

    def test_cupy_current_stream_and_graph(self) -> None:
        cupy = _library("cupy")
        shift = _build(SHIFT)
        u, v = cupy.asarray(_random(64, 64)), cupy.zeros((64, 64), "float32")
        shift.launch(u, v)  # loads what a capture cannot load
        v[...] = 0
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()  # a launch elsewhere, or one that waits, fails
            shift.launch(u, v)
            graph = stream.end_capture()
        cupy.cuda.Device().synchronize()
        assert not v.any()
        graph.launch(stream)
        stream.synchronize()
        assert np.allclose(v.get(), _shift(u.get()), atol=1e-6)

    def test_cupy_given_stream_and_lifetimes(self) -> None:
        cupy = _library("cupy")
        shift = _build(SHIFT)
        u = _random(1024, 1024)
        expected = _shift(u)
        stream = cupy.cuda.Stream(non_blocking=True)
        there = cupy.asarray(u)
        cupy.cuda.Device().synchronize()
        for given in (stream, stream.ptr):
            results = []
            for _ in range(20):
                mine = there.copy()
                cupy.cuda.get_current_stream().synchronize()
                with warnings.catch_warnings():  # such as those of ways that CuPy is to lose
                    warnings.simplefilter("error", DeprecationWarning)
                    results.append(shift(mine, stream=given))
                del mine
                cupy.full((1024, 1024), np.nan, "float32")  # takes the memory, if it was given back too early
            stream.synchronize()
            assert all(np.allclose(r.get(), expected, atol=1e-6) for r in results)

    def test_cupy_sparse(self) -> None:
        cupy = _library("cupy")
        try:
            import cupyx.scipy.sparse as sparse
        except ImportError:
            raise unittest.SkipTest("there is no cupyx.scipy.sparse") from None
        a = sparse.random(2000, 1500, density=0.01, format="csr", dtype="float64")
        a.sort_indices()
        product = _build('return spmv { name = "p", dtype = "double" }', matrix=a)
        x = cupy.random.random(1500)
        y = product(x)
        assert isinstance(y, cupy.ndarray) and cupy.allclose(y, a @ x)
        product(x, y, alpha=2, beta=1)
        assert cupy.allclose(y, 3 * (a @ x))

    def test_cupy_lists(self) -> None:
        cupy = _library("cupy")
        x = cupy.asarray(np.random.default_rng(1).random(1 << 20))
        total = _build('return reduce { name = "s", dtype = "double" }')(x)
        assert isinstance(total, cupy.ndarray) and total.shape == () and np.isclose(float(total), float(x.sum()))
        scan = _build('return scan { name = "i", dtype = "double" }')
        assert cupy.allclose(scan(x), cupy.cumsum(x))
        merged = _build('return merge { name = "m", keys = "double" }')(cupy.sort(x), cupy.sort(x))
        assert (merged == cupy.sort(cupy.concatenate([x, x]))).all()

    # ---- PyTorch ----

    def test_torch(self) -> None:
        torch = _library("torch")
        shift = _build(SHIFT)
        u = torch.from_numpy(_random(300, 301)).cuda()
        got = shift(u)
        assert got.is_cuda and np.allclose(got.cpu().numpy(), _shift(u.cpu().numpy()), atol=1e-6)
        out = torch.zeros_like(u)
        pointer = out.data_ptr()
        assert shift(u, out=out) is out and out.data_ptr() == pointer and torch.equal(out, got)
        heat = _build(HEAT, size=(300, 301), steps=50)
        assert np.allclose(heat.run(u, steps=50).cpu().numpy(), _heat_steps(u.cpu().numpy(), 50), atol=1e-4)
        total = _build('return reduce { name = "s", dtype = "float" }')(u)
        assert total.is_cuda and total.shape == () and np.isclose(total.item(), u.sum().item(), rtol=1e-4)

    def test_torch_current_stream_and_graph(self) -> None:
        torch = _library("torch")
        shift = _build(SHIFT)
        u = torch.from_numpy(_random(64, 64)).cuda()
        v = torch.zeros_like(u)
        shift.launch(u, v)
        v.zero_()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            shift.launch(u, v)
        torch.cuda.synchronize()
        assert not v.any()
        graph.replay()
        torch.cuda.synchronize()
        assert np.allclose(v.cpu().numpy(), _shift(u.cpu().numpy()), atol=1e-6)

    def test_torch_streams_and_lifetimes(self) -> None:
        torch = _library("torch")
        shift = _build(SHIFT)
        u = torch.from_numpy(_random(1024, 1024)).cuda()
        expected = torch.from_numpy(_shift(u.cpu().numpy())).cuda()
        side = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):  # the current stream: work before and after it is in order
            for _ in range(50):
                got = shift(u * 2) / 2
                assert torch.allclose(got, expected, atol=1e-5)
        torch.cuda.synchronize()
        results = []
        for _ in range(20):
            mine = u.clone()
            torch.cuda.current_stream().synchronize()
            results.append(shift(mine, stream=side))
            del mine
            torch.full((1024, 1024), float("nan"), device="cuda")
        side.synchronize()
        assert all(torch.allclose(r, expected, atol=1e-5) for r in results)

    def test_torch_sparse(self) -> None:
        torch = _library("torch")
        dense = torch.rand(500, 400, dtype=torch.float64, device="cuda")
        dense[dense < 0.95] = 0
        a = dense.to_sparse_csr()
        x = torch.rand(400, dtype=torch.float64, device="cuda")
        y = _build('return spmv { name = "p", dtype = "double" }', matrix=a)(x)
        assert y.is_cuda and torch.allclose(y, dense @ x)

    # ---- JAX ----

    def test_jax(self) -> None:
        jax = _library("jax")
        shift = _build(SHIFT)
        u = _random(300, 301)
        j = jax.numpy.asarray(u)
        got = shift(j)
        assert isinstance(got, jax.Array) and next(iter(got.devices())).platform == "gpu"
        assert np.allclose(np.asarray(got), _shift(u), atol=1e-6)
        heat = _build(HEAT, size=(300, 301), steps=50)
        assert np.allclose(np.asarray(heat.run(j, steps=50)), _heat_steps(u, 50), atol=1e-4)
        assert np.array_equal(np.asarray(j), u)
        with self.assertRaisesRegex(sg.UsageError, "read-only"):
            shift.run(j, steps=2, overwrite=True)

    def test_jax_order_and_lifetimes(self) -> None:
        """Work of JAX before and after a launch is in order with it, and arrays that are dropped live long enough."""
        jax = _library("jax")
        shift = _build(SHIFT)
        u = _random(2048, 2048)
        expected = _shift(u)
        j = jax.numpy.asarray(u)
        double, half = jax.jit(lambda a: a * 2), jax.jit(lambda a: a / 2)
        fill = jax.jit(lambda s: jax.numpy.full((2048, 2048), s))
        results = []
        for _ in range(30):
            results.append(half(shift(double(j))))
            fill(float("nan"))
        for r in results:
            assert np.allclose(np.asarray(r), expected, atol=1e-5)

    # ---- what calls cost ----

    def test_calls_do_not_wait(self) -> None:
        torch = _library("torch")
        heat = _build(HEAT, size=(BIG, BIG))
        u = torch.rand(BIG, BIG, device="cuda")
        heat.run(u, steps=3)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        heat.run(u, steps=400)
        called = time.perf_counter() - begin
        torch.cuda.synchronize()
        done = time.perf_counter() - begin
        print(f"    400 steps: the call took {1e3 * called:.1f} ms, the work {1e3 * done:.1f} ms")
        assert called < done / 3

    def test_costs(self) -> None:
        """At most 10 µs above the C call, and of a new array above what its library takes for one."""
        above = {}
        n = 64
        for name in ("cupy", "torch"):
            try:
                module = _library(name)
            except unittest.SkipTest:
                continue
            shift = _build(SHIFT)
            if name == "cupy":
                u, v = module.zeros((n, n), "float32"), module.zeros((n, n), "float32")
                finish, pointers = module.cuda.Device().synchronize, (u.data.ptr, v.data.ptr)
            else:
                u, v = module.zeros(n, n, device="cuda"), module.zeros(n, n, device="cuda")
                finish, pointers = module.cuda.synchronize, (u.data_ptr(), v.data_ptr())
            told = _microseconds(
                {
                    "C": _c_call(shift, *pointers, n),
                    "launch(u, v)": lambda: shift.launch(u, v),
                    "kernel(u, out=v)": lambda: shift(u, out=v),
                    "kernel(u)": lambda: shift(u),
                    "an array": lambda: module.empty_like(u),
                },
                finish,
            )
            print(f"    {name}: " + ", ".join(f"{key} {value:.1f} µs" for key, value in told.items()))
            told["kernel(u)"] -= told.pop("an array")  # a caller in C makes one too
            above.update({f"{name} {key}": value - told["C"] for key, value in told.items()})
        assert all(cost < 10 for cost in above.values()), above

    # ---- the rest ----

    def test_memory_is_given_back(self) -> None:
        torch = _library("torch")
        heat = _build(HEAT, size=(1024, 1024))
        u = torch.rand(1024, 1024, device="cuda")
        heat.run(u, steps=5)
        gc.collect()
        before = torch.cuda.memory_allocated()
        for _ in range(100):
            heat.run(u, steps=5)
        gc.collect()
        assert torch.cuda.memory_allocated() == before

    def test_points_and_monitors(self) -> None:
        """As on the cpu device, apart from rounding."""
        text = """return stencil { name = 'p', dtype = 'double', boundary = 'zero', coefficients = identity() + 0.1 * laplacian { dims = 2 },
          points = { shot = { field = 'u', inject = function(s) return s end }, rec = { field = 'u', sample = true } },
          monitors = { total = { op = 'sum', map = function(u) return u(0, 0) end } } }"""
        places, series = np.random.default_rng(1).random((7, 2)) * 60, np.random.default_rng(2).random((30, 7))
        told: list[tuple[Any, ...]] = []
        for device in ("cuda", "cpu"):
            kernel = sg.build(text=text, size=(64, 70), device=device)
            rec, total = sg.Points(places), sg.Monitor()
            u = kernel.run(
                np.zeros((64, 70)), steps=30, points={"shot": sg.Points(places, series=series), "rec": rec},
                monitors={"total": total}, every=4,
            )  # fmt: skip
            told.append((u, rec.traces, total.values, total.steps))
        assert all(np.allclose(a, b, rtol=1e-9) for a, b in zip(*told)) and told[0][3].tolist() == list(range(4, 29, 4))

    def test_captures(self) -> None:
        torch = _library("torch")
        u = torch.rand(2048, 2048, device="cuda")
        expected, frames = u.cpu().numpy(), sg.Capture(u.shape, device="cuda")
        side = torch.cuda.Stream()
        torch.cuda.synchronize()
        for stream in (None, side):
            frames.take(u, stream=stream)
            with torch.cuda.stream(stream):
                u.zero_()
            assert np.array_equal(frames.wait(), expected)
            u.copy_(torch.from_numpy(expected))
            torch.cuda.synchronize()

    def test_a_team(self) -> None:
        try:
            sg.Context("cuda:1", cache="none")
        except sg.Error:
            raise unittest.SkipTest("there is one GPU alone") from None
        u = _random(600, 500)
        expected = _build(HEAT, size=u.shape, method="naive").run(u, steps=20)

        def work(team: sg.Team) -> Any:
            kernel = team.build(text=HEAT, size=u.shape, method="naive")
            part = team.part(kernel, u.shape)
            print(f"    rank {team.rank} on {team.context.info.name}, by {team.info.engine}")
            return team.collect(part, team.run(kernel, part, part.cut(u), steps=20))

        assert all(np.array_equal(whole, expected) for whole in sg.Team.local(2, work))

    def test_check_and_save(self) -> None:
        heat = _build(HEAT, size=(512, 512))
        assert heat.check().wrong == 0
        with tempfile.TemporaryDirectory() as folder:
            heat.save(f"{folder}/heat.kernel")
            again = sg.load(f"{folder}/heat.kernel", device="cuda")
            u = _random(100, 101)
            assert np.array_equal(again(u), heat(u))

    def test_examples(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        for name in ("heat.py", "wave_torch.py", "grayscott_cupy.py", "cg_scipy.py"):
            with tempfile.TemporaryDirectory() as folder:
                path = str(ROOT / "examples" / "python" / name)
                told = subprocess.run(
                    [sys.executable, path], cwd=folder, capture_output=True, text=True, env=environment
                )
                missing = "ModuleNotFoundError" in told.stderr
                print(f"    {name}: {(told.stdout.strip() or told.stderr.strip()).splitlines()[-1]}")
                assert told.returncode == 0 or missing, told.stdout + told.stderr


if __name__ == "__main__":
    if GPU:
        print(sg.Context("cuda", cache="none").info)
    unittest.main(verbosity=2)
