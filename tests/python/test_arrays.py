"""Arrays of other libraries: which way they come in, what comes out, and that nothing is copied."""

from __future__ import annotations

import array
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
import stencilgen as sg
from conftest import shifted
from stencilgen import _arrays


class OnlyDLPack:
    """An array that has nothing but DLPack."""

    def __init__(self, memory: np.ndarray) -> None:
        self.memory = memory
        self.asked = 0

    def __dlpack__(self, **options: Any) -> Any:
        self.asked += 1
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.memory.__dlpack_device__()


class Everything(OnlyDLPack):
    """DLPack comes first."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise AssertionError("DLPack was there")


def test_dlpack(shift: Any, rng: np.random.Generator) -> None:
    u = rng.random((9, 11), dtype="float32")
    expected = shift(u)
    for kind in (OnlyDLPack, Everything):
        given = kind(u)
        got = shift(given)
        assert isinstance(got, np.ndarray) and (got == expected).all() and given.asked == 1
    out = np.zeros_like(u)
    target = OnlyDLPack(out)
    assert shift(OnlyDLPack(u), out=target) is target
    assert (out == expected).all(), "the result went to a copy"
    assert (shift(OnlyDLPack(u[::-1])) == shift(u[::-1])).all()
    with pytest.raises(sg.DataError, match="float64"):
        shift(OnlyDLPack(u.astype("float64")))
    with pytest.raises(sg.DataError, match="DLPack's type 0 of 16 bits"):
        shift(OnlyDLPack(u.astype("int16")))


def test_buffers(rng: np.random.Generator) -> None:
    total = sg.build(text='return reduce { name = "s", dtype = "double" }', device="cpu")
    values = array.array("d", rng.random(50))
    assert np.isclose(total(values), sum(values))
    assert np.isclose(total(memoryview(values)), sum(values))
    assert np.isclose(total(memoryview(bytes(values)).cast("d")), sum(values))
    scan = sg.build(text='return scan { name = "i", dtype = "double" }', device="cpu")
    out = array.array("d", [0] * 50)
    assert scan(values, out=out) is out
    assert np.allclose(out, np.cumsum(values))
    with pytest.raises(sg.DataError, match="read-only"):
        scan(values, out=memoryview(bytes(values)).cast("d"))


def test_arrays_in_a_gpus_memory_are_refused_on_the_cpu(shift: Any) -> None:
    class There:
        __cuda_array_interface__ = {
            "data": (4096, False), "shape": (4, 4), "strides": None, "typestr": "<f4", "version": 3,
        }  # fmt: skip

    with pytest.raises(sg.DataError, match="in the memory of GPU 0, but 'shift' was built for the cpu device.*cuda:0"):
        shift(There())


def test_nothing_is_kept(shift: Any) -> None:
    """The memory that a call used is the caller's alone when the call is over."""
    u = np.zeros((40, 40), "float32")

    class Array(np.ndarray):
        pass

    mine = u.view(Array)
    gone = weakref.ref(mine)
    shift(mine)
    shift.run(mine, steps=3)
    del mine
    gc.collect()
    assert gone() is None
    before = sys.getrefcount(u)
    shift.run(OnlyDLPack(u), steps=2)
    gc.collect()
    assert sys.getrefcount(u) == before


def test_results_outlive_everything(rng: np.random.Generator) -> None:
    u = rng.random((9, 11), dtype="float32")
    context = sg.Context("cpu", cache="none", database="none")
    text = "return stencil { name = 'shift', boundary = 'zero', update = function(u) return 2*u(1,0) - u(0,-1) end }"
    kernel = sg.build(text=text, context=context)
    got = kernel.run(u.copy(), steps=1)
    del kernel, context
    gc.collect()
    assert np.allclose(got, shifted(u), atol=1e-6)


def test_streams() -> None:
    class Torch:
        cuda_stream = 7

    class CuPy:
        ptr = 8

    class Method:
        cuda_stream = 7

        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 9

    class Property:
        __cuda_stream__ = (0, 10)

    assert [_arrays.stream_handle(s) for s in (3, Torch(), CuPy(), Method(), Property())] == [3, 7, 8, 9, 10]
    with pytest.raises(sg.UsageError, match="a str is no stream"):
        _arrays.stream_handle("default")


# ---- the libraries that are here --------------------------------------------------------------------------------


def test_torch_on_the_host(shift: Any, rng: np.random.Generator) -> None:
    torch = pytest.importorskip("torch")
    u = rng.random((9, 11), dtype="float32")
    t = torch.from_numpy(u)
    got = shift(t)
    assert isinstance(got, torch.Tensor) and got.dtype == torch.float32
    assert (got.numpy() == shift(u)).all()
    assert (shift.run(t, steps=3).numpy() == shift.run(u, steps=3)).all()
    out = torch.zeros(9, 11)
    for factor in (1, 2, -4):
        assert shift(t, out=out) is out and (out == got).all()
        again = shift(factor * t)
        assert again.is_contiguous() and again.shape == (9, 11) and (again == factor * got).all()
    assert (shift(t.flip(0)).numpy() == shift(u[::-1])).all()
    with pytest.raises(sg.DataError, match=r"contiguous\(\)"):
        shift(t.T)
    with pytest.raises(sg.DataError, match=r"\.to\(torch.float32\)"):
        shift(t.double())
    with pytest.raises(sg.UsageError, match="detach"):
        shift(t.clone().requires_grad_())
    with torch.no_grad():
        assert (shift(t.clone().requires_grad_()) == got).all()
    padded = torch.zeros(9, 20)
    padded[:, :11] = t
    for _ in range(2):  # the second one is like the call before
        assert (shift(padded[:, :11]) == got).all() and (shift(padded[:, :11]) == got).all()
        assert (shift(t) == got).all()
        for other in (t.to_sparse(), t.to_sparse_csr(), torch._neg_view(t)):
            with pytest.raises(sg.DataError, match="to_dense"):
                shift(other)
    total = sg.build(text='return reduce { name = "s", dtype = "float" }', device="cpu")(t)
    assert isinstance(total, torch.Tensor) and total.shape == () and np.isclose(total.item(), u.sum())


def test_jax_on_the_host(shift: Any, rng: np.random.Generator) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_platforms", "cpu")
    u = rng.random((9, 11), dtype="float32")
    j = jax.numpy.asarray(u)
    got = shift(j)
    assert isinstance(got, jax.Array) and (np.asarray(got) == shift(u)).all()
    assert (np.asarray(shift.run(j, steps=4)) == shift.run(u, steps=4)).all()
    assert (np.asarray(j) == u).all()
    assert (np.asarray(got + 1) == shift(u) + 1).all()
    with pytest.raises(sg.UsageError, match="read-only"):
        shift.run(j, steps=2, overwrite=True)
    total = sg.build(text='return reduce { name = "s", dtype = "float" }', device="cpu")(j)
    assert isinstance(total, jax.Array) and total.shape == () and np.isclose(float(total), u.sum())
