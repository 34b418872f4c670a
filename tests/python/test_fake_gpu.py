"""What calls do on a GPU, over the stand-ins for the driver and for NVRTC that the unit tests have: on which stream a
launch goes, that nothing is waited for, what is kept until work is over, and what travels. Kernels compute nothing there.
Needs: FAKE_CUDA, FAKE_NVRTC and FAKE_NCCL, the paths of the stand-ins."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import time
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

FAKE_CUDA, FAKE_NVRTC, FAKE_NCCL = (os.environ.get(name) for name in ("FAKE_CUDA", "FAKE_NVRTC", "FAKE_NCCL"))
if os.environ.get("STENCILGEN_FAKE_GPU") != "inside":

    @pytest.mark.skipif(not (FAKE_CUDA and FAKE_NVRTC and FAKE_NCCL), reason="FAKE_… do not name the stand-ins")
    def test_in_a_process_of_its_own() -> None:
        # The process keeps the driver that it opened first.
        environment = {**os.environ, "STENCILGEN_FAKE_GPU": "inside", "SG_CUDA_DRIVER": str(FAKE_CUDA)}
        environment["SG_NVRTC"] = str(FAKE_NVRTC)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
        told = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert told.returncode == 0, told.stdout + told.stderr

    __test__ = True
else:
    import stencilgen as sg
    from fake_gpu import ByDLPack, Cupy, Jax, There, gpu

    @pytest.fixture(scope="module")
    def heat() -> Any:
        text = "return stencil { name = 'heat', shape = star(2, 1), coefficients = { .6, .1, .1, .1, .1 } }"
        return sg.build(text=text, size=(16, 16), device="cuda")

    @pytest.fixture(autouse=True)
    def settled() -> Any:
        gpu.busy = 0
        before = gpu.waits
        yield
        gpu.busy = 0
        assert gpu.homeless == 0
        if gpu.waits != before:
            raise AssertionError("a call waited")

    def test_where_a_launch_goes(heat: Any) -> None:
        assert heat.context.info.name == "Fake GPU" and heat.context.place == 0
        u, v = There((16, 16)), There((16, 16))
        for stream, expected in [(None, None), (7, 7), (0, None)]:
            count = gpu.launches
            heat.launch(u, v, stream=stream)
            assert gpu.launches == count + 1 and gpu.stream == expected
        producer = There((16, 16), stream=9)
        heat.launch(producer, v)
        assert gpu.stream == 9

    def test_dlpack_is_told_the_stream(heat: Any) -> None:
        u, v = ByDLPack((16, 16)), ByDLPack((16, 16))
        heat.launch(u, v, stream=7)
        assert (u.asked, v.asked, gpu.stream) == (7, 7, 7)
        heat.launch(u, v)
        assert (u.asked, gpu.stream) == (1, None), "DLPack calls the default stream 1"

    def test_the_pointers_are_the_arrays_own(heat: Any) -> None:
        u, v = There((16, 16)), There((16, 16))
        heat.launch(u, v)
        arguments = bytes(gpu.arguments)
        for array in (u, v):
            assert array.memory.ctypes.data.to_bytes(8, "little") in arguments

    def test_what_a_launch_uses_is_kept_until_it_is_over(heat: Any) -> None:
        events = gpu.events
        gpu.busy = 1
        u, v = There((16, 16)), There((16, 16))
        gone = [weakref.ref(u), weakref.ref(v)]
        heat.launch(u, v, stream=11)
        assert gpu.marked == 11
        del u, v
        gc.collect()
        assert all(g() is not None for g in gone), "memory was given back while the GPU uses it"
        for _ in range(3):
            heat.launch(There((16, 16)), There((16, 16)), stream=11)
        assert all(g() is not None for g in gone) and gpu.events == events + 4
        gpu.busy = 0
        heat.launch(There((16, 16)), There((16, 16)), stream=11)
        gc.collect()
        assert all(g() is None for g in gone), "memory is kept though the work is over"
        assert gpu.events == events

    def test_results_of_unknown_libraries_need_an_array(heat: Any) -> None:
        u, v = There((16, 16)), There((16, 16))
        with pytest.raises(sg.UsageError, match="give out="):
            heat(u)
        assert heat(u, out=v) is v

    @pytest.fixture
    def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
        library = Cupy()
        monkeypatch.setitem(sys.modules, "cupy", library)
        monkeypatch.setattr(sg._arrays, "_made", {})
        return library

    def test_calls_like_the_one_before(heat: Any, cupy: Any) -> None:
        """New arrays for the results, on the current stream, in the kernel's GPU also where another one is current; and
        what is not like the arrays before is looked at again."""

        def pointers(*arrays: Any) -> bool:
            return all(a.data.ptr.to_bytes(8, "little") in bytes(gpu.arguments) for a in arrays)

        u, out = cupy.ndarray((16, 16), "float32"), cupy.ndarray((16, 16), "float32")
        for stream in (5, 5, 6, 0):
            cupy.stream = stream
            got = heat(u)
            assert type(got) is cupy.ndarray and got.shape == (16, 16) and pointers(u, got)
            assert gpu.stream == (stream or None)
            assert heat(u, out=out) is out and pointers(u, out) and gpu.stream == (stream or None)
            heat.launch(out, u)
            assert pointers(u, out) and gpu.stream == (stream or None)
            heat.launch(u, out, stream=9)
            assert gpu.stream == 9
        cupy.device = 1
        got = heat(u)
        assert got.data.device_id == 0 and pointers(u, got)
        elsewhere = cupy.ndarray((16, 16), "float32")
        with pytest.raises(sg.DataError, match="GPU 1"):
            heat(elsewhere)
        cupy.device = 0
        with pytest.raises(sg.DataError, match="is float64"):
            heat(cupy.ndarray((16, 16), "float64"))
        longer = cupy.ndarray((16, 17), "float32")
        assert heat(longer).shape == (16, 17) and heat(u).shape == (16, 16)
        gpu.fail, gpu.code = b"cuLaunchKernelEx", 999
        try:
            with pytest.raises(sg.DeviceError, match="launching 'heat' failed"):
                heat(u)
        finally:
            gpu.fail = None
        assert pointers(u, heat(u))
        gone = weakref.ref(u)
        del u, got
        gc.collect()
        assert gone() is None, "an array is kept"

    def test_new_arrays_of_a_given_stream(heat: Any, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """CuPy reuses their memory in the order of that stream."""
        u = cupy.ndarray((16, 16), "float32")
        assert heat(u, stream=9).made_on == 9 and cupy.stream == 5 and gpu.stream == 9
        # CuPy before 14
        monkeypatch.setattr(cupy, "cuda", SimpleNamespace(**vars(cupy.cuda), ExternalStream=cupy.on))
        monkeypatch.setattr(cupy.cuda, "Stream", SimpleNamespace())
        monkeypatch.setattr(sg._arrays, "_made", {})
        monkeypatch.setattr(sg._arrays, "known", {})
        assert heat(u, stream=9).made_on == 9 and cupy.stream == 5 and gpu.stream == 9

    def test_new_arrays_of_which_cells_are_kept(heat: Any, cupy: Any) -> None:
        """They begin as zeros, by work on the stream of the launch, in each call."""
        text = "return stencil { name = 'w', fields = { u = 'in', w = 'out' }, update = function(f) return f.u(1, 0) end }"
        kernel, u = sg.build(text=text, size=(16, 16), device="cuda"), cupy.ndarray((16, 16), "float32")
        for _ in range(3):
            assert kernel(u).filled == (0, 0, 5) and kernel(u, stream=9).filled == (0, 0, 9)
        out = cupy.ndarray((16, 16), "float32")
        assert kernel(u, out=out) is out and out.filled == () and heat(u).filled == ()
        on_host = kernel(np.ones((16, 16), "float32"))
        assert not on_host.any(), "the fake GPU computes nothing"

    def test_what_a_call_like_the_one_before_uses_is_kept(heat: Any) -> None:
        for kind in (There, ByDLPack):
            for _ in range(3):
                heat.launch(kind((16, 16)), kind((16, 16)))
            gpu.busy = 1
            u, v = kind((16, 16)), kind((16, 16))
            gone = weakref.ref(u.memory)
            heat.launch(u, v)
            del u, v
            gc.collect()
            assert gone() is not None, "memory was given back while the GPU uses it"
            gpu.busy = 0
            heat.launch(kind((16, 16)), kind((16, 16)))
            gc.collect()
            assert gone() is None, "memory is kept though the work is over"

    @pytest.mark.skipif(not os.environ.get("TIMES"), reason="it measures times: TIMES=1, on an idle machine")
    def test_what_calls_cost(heat: Any, cupy: Any) -> None:
        """Of the caller's own thread, above a call of the C library in the same turn."""
        u, v = cupy.ndarray((16, 16), "float32"), cupy.ndarray((16, 16), "float32")
        x, y, a, b = There((16, 16)), There((16, 16)), ByDLPack((16, 16)), ByDLPack((16, 16))
        heat.launch(u, v)
        frame = heat._frames[-1]
        calls: dict[str, Any] = {
            "C": lambda: sg._abi.lib.sg_launch(heat._handle, frame.reference, 0),
            "launch(u, v)": lambda: heat.launch(u, v),
            "kernel(u, out=v)": lambda: heat(u, out=v),
            "kernel(u)": lambda: heat(u),
            "launch by the interface": lambda: heat.launch(x, y),
            "launch by DLPack": lambda: heat.launch(a, b),
            "an interface": lambda: x.__cuda_array_interface__,
            "a capsule": lambda: a.__dlpack__(stream=1),
            "an array of the library": lambda: cupy.ndarray((16, 16), "float32"),
        }
        best = dict.fromkeys(calls, 1e9)
        for turn in range(200):
            for name, call in calls.items():
                begin = time.thread_time()
                for _ in range(50):
                    call()
                best[name] = min(best[name], (time.thread_time() - begin) / 50 * 1e6)
            # What the stand-ins take themselves counts for nothing: a new array, and what NumPy makes anew.
            interface, capsule = best["an interface"], best["a capsule"]
            above = {
                "launch(u, v)": best["launch(u, v)"],
                "kernel(u, out=v)": best["kernel(u, out=v)"],
                "kernel(u)": best["kernel(u)"] - best["an array of the library"],
                "launch by the interface": best["launch by the interface"] - 3 * interface,
                "launch by DLPack": best["launch by DLPack"] - interface - 2 * capsule,
            }
            above = {name: cost - best["C"] for name, cost in above.items()}
            if turn > 20 and max(above.values()) < 10:
                return
        raise AssertionError({name: f"{cost:.1f} µs" for name, cost in above.items()})

    def test_a_result_of_jax_that_is_dropped_at_once(heat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its memory stays until the launch is over: JAX's next computation does not wait for that."""
        jax = Jax()
        monkeypatch.setitem(sys.modules, "jax", jax)
        monkeypatch.setitem(sys.modules, "jax.dlpack", jax.dlpack)
        monkeypatch.setattr(sg._arrays, "_made", {})
        u = jax.Array((16, 16), "float32")
        gpu.busy = 1
        result = heat(u)
        assert type(result) is jax.Array and gpu.stream == 8
        del result
        gc.collect()
        assert jax.made[0]() is not None, "memory was given back while the GPU uses it"
        gpu.busy = 0
        result = heat(u)
        gc.collect()
        assert jax.made[0]() is None, "memory is kept though the work is over"
        assert jax.made[1]() is not None
        heat.launch(There((16, 16)), There((16, 16)), stream=8)
        gc.collect()
        assert jax.made[1]() is not None, "the result owns its memory"
        del result
        gc.collect()
        assert jax.made[1]() is None

    @pytest.fixture
    def lonely(settled: Any) -> Any:
        """A team of one rank over the stand-in for NCCL, and how many communicators were aborted."""
        nccl = ctypes.CDLL(str(FAKE_NCCL))
        before = nccl.fake_nccl_stops()
        with sg.Team(bytes(128), rank=0, ranks=1, device="cuda", nccl=str(FAKE_NCCL), seconds=0.3) as team:
            assert team.info.engine == "NCCL 2.28.3"
            yield team, lambda: nccl.fake_nccl_stops() - before

    PLAIN = "return stencil { name = 'plain', boundary = 'zero', shape = star(2, 1), coefficients = { .6, .1, .1, .1, .1 }, "
    RECORDED = PLAIN + "points = { rec = { field = 'u', sample = true } } }"
    WATCHED = PLAIN + "monitors = { total = { op = 'sum', map = function(u) return u(0, 0) end } } }"

    @pytest.mark.parametrize("what", ["wait", "points", "monitors"])
    def test_a_team_waits_no_longer_than_its_limit(lonely: Any, cupy: Any, what: str) -> None:
        """Not for traces and samples either; `settled` sees that no call waits for the stream alone."""
        team, stops = lonely
        kernel = team.build(text=RECORDED if what == "points" else WATCHED, size=(16, 16))
        part = team.part(kernel, (16, 16))
        u = cupy.ndarray((16, 16), "float32")
        gpu.busy = 1
        begin = time.monotonic()
        with pytest.raises(sg.DeviceError, match="not done within 0.3 s"):
            if what == "wait":
                team.wait()
            elif what == "points":
                team.run(kernel, part, u, points=dict(rec=sg.Points([[3, 4]])))
            else:
                total = sg.Monitor()
                team.run(kernel, part, u, monitors=dict(total=total), every=1)
        assert time.monotonic() - begin < 10
        assert stops() == 1, "what others may never send is still waited for"
        with pytest.raises(sg.DeviceError, match="the team has failed before: .*not done within 0.3 s"):
            team.wait()

    def test_a_team_hears_of_an_error_before_its_end_is_waited_for(
        lonely: Any, cupy: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        team, stops = lonely
        kernel = team.build(text=WATCHED, size=(16, 16))
        part = team.part(kernel, (16, 16))
        told: list[Any] = []
        monkeypatch.setattr(team, "_tell", lambda error: told.append((str(error), stops())))
        monkeypatch.setattr(sg._ways.Together, "read", lambda *_: 1 / 0)
        gpu.busy = 1
        with pytest.raises(ZeroDivisionError):
            team.run(kernel, part, cupy.ndarray((16, 16), "float32"), monitors=dict(total=sg.Monitor()), every=1)
        assert told[0] == ("division by zero", 0) and stops() == 1

    def test_other_gpus_and_the_host(heat: Any) -> None:
        class Elsewhere(There):
            class device:
                id = 1

        with pytest.raises(sg.DataError, match="GPU 1, but 'heat' was built for the GPU 0"):
            heat.launch(Elsewhere((16, 16)), There((16, 16)))
        with pytest.raises(sg.UsageError, match="in the host's memory, but launches use the GPU's"):
            heat.launch(np.zeros((16, 16), "float32"), There((16, 16)))

    def test_numpy_travels(heat: Any) -> None:
        """Kernels compute nothing here, so what comes back is what memory held; the memory is given back."""
        allocations, count = gpu.allocations, gpu.launches
        u = np.arange(256, dtype="float32").reshape(16, 16)
        for array in (u, u[::-1], u.T):
            got = heat.run(array, steps=3)
            assert isinstance(got, np.ndarray) and got.shape == (16, 16) and got is not array
        out = np.zeros((16, 32), "float32")[:, ::2]
        assert heat(u, out=out) is out
        assert gpu.launches > count
        gc.collect()
        assert gpu.allocations == allocations
        assert (u == np.arange(256).reshape(16, 16)).all()

    def test_torch_and_jax_of_the_host_travel(heat: Any) -> None:
        torch = pytest.importorskip("torch")
        got = heat(torch.zeros(16, 16))
        assert isinstance(got, torch.Tensor) and got.device.type == "cpu"

    def test_a_reduction_works_in_scratch_memory_of_its_stream(heat: Any) -> None:
        total = sg.build(text='return reduce { name = "s", dtype = "double" }', device="cuda")
        x, out = There((100_000,), "float64"), There((1,), "float64")
        total(x, out=out, stream=5)
        allocations = gpu.allocations
        for _ in range(3):
            total(x, out=out, stream=5)
        assert gpu.allocations == allocations, "a call allocated"
        total(x, out=out, stream=6)
        assert gpu.allocations == allocations + 1, "two streams work in the same memory"

    def test_failures(heat: Any) -> None:
        gpu.code, gpu.fail = 999, b"cuLaunchKernelEx"
        try:
            with pytest.raises(sg.DeviceError, match="launching 'heat' failed"):
                heat.launch(There((16, 16)), There((16, 16)))
        finally:
            gpu.fail = None
