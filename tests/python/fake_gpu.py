"""Stand-ins for what a GPU's users bring: its state, as the stand-in for the driver keeps it, arrays in its memory, which is
the host's, and as much of CuPy and of JAX as stencilgen asks.
Needs: FAKE_CUDA, the path of the stand-in, which the process has opened as its driver."""

from __future__ import annotations

import contextlib
import ctypes
import os
import weakref
from ctypes import c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_void_p
from types import SimpleNamespace
from typing import Any

import numpy as np
import stencilgen as sg


class State(ctypes.Structure):
    """fake_cuda_state of tests/unit/fake/cuda.h, up to the last launch."""

    _fields_ = [
        ("device_count", c_int), ("fail", c_char_p), ("code", c_int), ("good_calls", c_int), ("busy", c_int),
        ("arguments_bytes", c_size_t), ("driver", c_int), ("adopted", c_void_p), ("stack", c_void_p * 16),
        ("depth", c_int), ("not_cooperative", c_int), ("is_h200", c_int), ("homeless", c_int), ("retained", c_int),
        ("modules", c_int), ("events", c_int), ("streams", c_int), ("allocations", c_int), ("copies", c_int),
        ("copies_of_rows", c_int), ("fills", c_int), ("waits", c_int), ("pinned", c_int), ("arriving_to", c_void_p),
        ("arriving_from", c_void_p), ("arriving_bytes", c_size_t), ("pushes", c_int), ("releases", c_int),
        ("marked", c_void_p), ("named", c_int), ("dynamic_shared", c_int), ("carved", c_int),
        ("before_launch", c_int), ("launches", c_int),  # a struct of its own begins with `launches`
        ("entry", c_char_p), ("grid", c_uint * 3), ("block", c_uint * 3), ("shared_bytes", c_uint),
        ("stream", c_void_p), ("arguments", c_ubyte * 256),
    ]  # fmt: skip


_driver = ctypes.CDLL(os.environ["FAKE_CUDA"])
_driver.fake_cuda.restype = ctypes.POINTER(State)
gpu: Any = _driver.fake_cuda().contents
gpu.device_count = 2
gpu.arguments_bytes = 256


class There:
    """An array in the fake GPU's memory, which is the host's, with only the CUDA array interface."""

    def __init__(self, shape: tuple[int, ...], dtype: str = "float32", stream: Any = None) -> None:
        self.memory = np.zeros(shape, dtype)
        self.stream = stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        host = self.memory.__array_interface__
        return {
            **{k: host[k] for k in ("data", "shape", "strides", "typestr")},
            "version": 3,
            "stream": self.stream,
        }


class ByDLPack(There):
    """One that also has DLPack, and notes the stream that it is asked for."""

    asked: Any = None

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, stream: Any = None) -> Any:
        self.asked = stream
        return _relabelled(self.memory)


def _relabelled(memory: np.ndarray) -> Any:
    capsule = memory.__dlpack__()
    address = sg._arrays._pointer_of(capsule, b"dltensor")
    sg._arrays._Tensor.from_address(address).device = 2
    return capsule


class Cupy:
    """As much of CuPy as stencilgen asks: its arrays, the current stream and the current GPU."""

    def __init__(self) -> None:
        library, self.stream, self.device = self, 5, 0

        class ndarray(There):
            __module__ = "cupy"

            def __init__(self, shape: Any, dtype: Any) -> None:
                super().__init__(shape, dtype)
                pointer = self.memory.ctypes.data
                self.data = SimpleNamespace(ptr=pointer, device_id=library.device)
                self.device = SimpleNamespace(id=library.device)
                self.made_on, self.filled = library.stream, ()

            def fill(self, value: int) -> None:
                self.filled = (value, library.device, library.stream)

            shape = property(lambda self: self.memory.shape)
            strides = property(lambda self: self.memory.strides)
            dtype = property(lambda self: self.memory.dtype)
            flags = property(lambda self: self.memory.flags)
            itemsize = property(lambda self: self.memory.itemsize)

        self.ndarray = self.empty = ndarray
        ndarray.__module__ = "cupy"
        self.cuda = SimpleNamespace(
            get_current_stream=lambda device: SimpleNamespace(ptr=self.stream),
            Device=self.on_device,
            Stream=SimpleNamespace(from_external=lambda stream: self.on(*stream.__cuda_stream__()[1:])),
        )

    @contextlib.contextmanager
    def on_device(self, number: int) -> Any:
        before, self.device = self.device, number
        yield
        self.device = before

    @contextlib.contextmanager
    def on(self, stream: int) -> Any:
        before, self.stream = self.stream, stream
        yield
        self.stream = before


class Jax:
    """As much of JAX as stencilgen asks: arrays by DLPack, whose results own what their capsules did."""

    USED = ctypes.c_char_p(b"used_dltensor")

    def __init__(self) -> None:
        place = SimpleNamespace(platform="gpu", get_stream_for_external_ready_events=lambda: 8)
        self.made: list[Any] = []  # weak references to the memory of arrays

        class Array(ByDLPack):
            __module__ = "jax"

            def devices(self) -> list[Any]:
                return [place]

            def __dlpack__(self, stream: Any = None) -> Any:
                assert stream == 8
                return _relabelled(self.memory)

        class Owner:
            """A capsule's content, which is given back when this goes."""

            def __init__(self, capsule: Any) -> None:
                self.at = sg._arrays._pointer_of(capsule, b"dltensor")
                ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), Jax.USED)

            def __del__(self) -> None:
                deleter = c_void_p.from_address(self.at + ctypes.sizeof(sg._arrays._Tensor) + 8)
                ctypes.CFUNCTYPE(None, c_void_p)(deleter.value)(self.at)

        def empty(shape: Any, dtype: Any, device: Any) -> Any:
            assert device is place
            array = Array(shape, dtype)
            self.made.append(weakref.ref(array.memory))
            return array

        def from_dlpack(given: Any) -> Any:
            array = Array.__new__(Array)
            array.memory = SimpleNamespace(dtype=self.made[-1]().dtype, owner=Owner(given.__dlpack__(stream=8)))
            return array

        Array.dtype = property(lambda array: array.memory.dtype)  # type: ignore[attr-defined]
        self.Array, self.numpy, self.dlpack = Array, SimpleNamespace(empty=empty), SimpleNamespace()
        self.dlpack.from_dlpack = from_dlpack
