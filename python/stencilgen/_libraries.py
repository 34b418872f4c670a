"""The libraries of arrays in GPUs' memory that are asked in their own words. Loaded where an array of one is seen."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from typing import Any, Callable, Optional

import numpy as np

from ._arrays import (
    HOST,
    NUMPY,
    NUMPY_DTYPES,
    NUMPY_NAMES,
    WORDS,
    Library,
    Quick,
    View,
    aligned_empty,
    dlpack_stream,
    in_elements,
    read_capsule,
)
from ._errors import DataError, UsageError


class _Stream:
    """A stream by its handle, as other libraries take it."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


class CuPy(Quick):
    name = "CuPy"
    dense = "cupy.ascontiguousarray(…)"
    cast = "….astype({!r})"
    held = False

    def __init__(self) -> None:
        self.cupy: Any = sys.modules["cupy"]
        self.current_stream = self.cupy.cuda.get_current_stream
        self.from_external = getattr(self.cupy.cuda.Stream, "from_external", None)

    def view(self, array: Any, stream: int) -> View:
        text = array.dtype.str
        strides = None if array.flags.c_contiguous else in_elements(array.strides, array.itemsize)
        return array.data.ptr, array.shape, strides, WORDS.get(text, text), array.device.id, False, array

    def stream(self, array: Any) -> int:
        return int(self.current_stream(array.device.id).ptr)

    def empty(self, like: Any, place: int, shape: tuple[int, ...], dtype: str, stream: Optional[int]) -> Any:
        cupy = self.cupy
        with cupy.cuda.Device(place):
            if stream is None:
                return cupy.empty(shape, NUMPY_DTYPES[dtype])
            with self._on(stream):  # the order of the stream decides when the memory is reused
                return cupy.empty(shape, NUMPY_DTYPES[dtype])

    def _on(self, stream: int) -> Any:
        return self.from_external(_Stream(stream)) if self.from_external else self.cupy.cuda.ExternalStream(stream)

    def clear(self, array: Any, place: int, stream: Optional[int]) -> None:
        with self.cupy.cuda.Device(place):
            if stream is None:
                array.fill(0)
            else:
                with self._on(stream):
                    array.fill(0)

    def address(self, array: Any) -> tuple[int, Any]:
        return array.data.ptr, array

    def look(self, array: Any, stream: int, kept: list[Any]) -> tuple[int, Any]:
        data = array.data
        return data.ptr, (array.shape, array.strides, array.dtype, data.device_id)

    def current(self, array: Any, place: int) -> int:
        return int(self.current_stream(place).ptr)

    def maker(self, like: Any, place: int, shape: tuple[int, ...], dtype: str) -> Callable[[], Any]:
        make = partial(self.cupy.ndarray, shape, NUMPY_DTYPES[dtype])

        def there() -> Any:
            made = make()  # on the current device, which is seldom another one
            return made if made.data.device_id == place else self.empty(None, place, shape, dtype, None)

        return there


class Torch(Quick):
    name = "PyTorch"
    dense = "….contiguous()"
    cast = "….to(torch.{})"
    cast_to_bfloat16 = "….to(torch.bfloat16)"
    held = False

    def __init__(self) -> None:
        torch = sys.modules["torch"]
        self.torch: Any = torch
        own = {**NUMPY_NAMES, "bfloat16": "bfloat16"}
        names = {word: name for word, name in own.items() if hasattr(torch, name)}
        self.dtypes = {word: getattr(torch, name) for word, name in names.items()}
        self.words = {dtype: word for word, dtype in self.dtypes.items()}
        self.places: dict[Any, int] = {}
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # makes no object for it

    def view(self, array: Any, stream: int) -> View:
        if array.requires_grad and self.torch.is_grad_enabled():
            raise UsageError(
                "the tensor requires a gradient, which stencilgen does not record: give ….detach(), or launch in a "
                "torch.autograd.Function"
            )
        device = array.device
        place = self.places.get(device)
        if place is None:
            place = self.places[device] = self._place(device)
        if array.layout is not self.torch.strided or array.is_neg():
            raise DataError("the tensor is not one of numbers in memory: ….to_dense() or ….resolve_neg() makes a copy")
        strides = None if array.is_contiguous() else tuple(array.stride())
        word = self.words.get(array.dtype, str(array.dtype))
        return array.data_ptr(), array.shape, strides, word, place, False, array

    def _place(self, device: Any) -> int:
        if device.type == "cuda":
            return int(device.index)
        if device.type != "cpu":
            raise DataError(f"the tensor is in memory of {device}: stencilgen uses the host's and CUDA's")
        return HOST

    def stream(self, array: Any) -> int:
        if not array.is_cuda:
            return 0
        return self.current(array, array.device.index)

    def empty(self, like: Any, place: int, shape: tuple[int, ...], dtype: str, stream: Optional[int]) -> Any:
        torch = self.torch
        if place == HOST or stream is None:
            return self.maker(like, place, shape, dtype)()
        with torch.cuda.stream(torch.cuda.ExternalStream(stream, like.device)):
            return torch.empty(shape, dtype=self.dtypes[dtype], device=like.device)

    def clear(self, array: Any, place: int, stream: Optional[int]) -> None:
        cuda = self.torch.cuda
        with cuda.stream(None if stream is None else cuda.ExternalStream(stream, array.device)):
            array.zero_()

    def address(self, array: Any) -> tuple[int, Any]:
        return array.data_ptr(), array

    def look(self, array: Any, stream: int, kept: list[Any]) -> tuple[int, Any]:
        if array.requires_grad and self.torch.is_grad_enabled():
            return 0, None
        try:
            pointer = array.data_ptr()  # only strided tensors have one
        except RuntimeError:
            return 0, None
        strides = array.is_contiguous() or array.stride()  # the first is quicker
        return pointer, (array.shape, strides, array.dtype, array.device, array.is_neg())

    def current(self, array: Any, place: int) -> int:
        if self.raw_stream is not None:
            return int(self.raw_stream(place))
        return int(self.torch.cuda.current_stream(place).cuda_stream)

    def maker(self, like: Any, place: int, shape: tuple[int, ...], dtype: str) -> Callable[[], Any]:
        strides = [1] * len(shape)
        for axis in range(len(shape) - 1, 0, -1):
            strides[axis - 1] = strides[axis] * max(shape[axis], 1)
        make = self.torch.empty_strided  # `empty` takes a microsecond more
        return partial(make, tuple(shape), tuple(strides), dtype=self.dtypes[dtype], device=like.device)


class _JaxOutput:
    """Memory of a new JAX array while a launch writes it; then `jax.dlpack.from_dlpack` takes it from here.

    The caller may drop the result before the launch is over. JAX would give its memory to the next computation, which
    waits for JAX's own stream and not for the launch's. So the array of which the result is a view is kept with what the
    launch uses."""

    def __init__(self, array: Any, stream: int) -> None:
        self.array = array
        self.device = array.__dlpack_device__()
        self.devices = array.devices
        self.capsule = array.__dlpack__(stream=dlpack_stream(stream))

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return int(self.device[0]), int(self.device[1])


class Jax(Library):
    """JAX has no current stream. Launches go on the one on which JAX waits for the work of others."""

    name = "JAX"
    dense = "jax.numpy.array(…, copy=True)"
    cast = "….astype({!r})"
    cast_to_bfloat16 = "….astype('bfloat16')"

    def view(self, array: Any, stream: int) -> View:
        if isinstance(array, _JaxOutput):
            return (*read_capsule(array.capsule, False)[:-1], array.array)
        if isinstance(array, np.ndarray):
            return NUMPY.view(array, stream)
        if len(array.devices()) != 1:
            raise DataError("the array is spread over several devices: give one of its addressable_shards")
        if next(iter(array.devices())).platform == "cpu":
            array.block_until_ready()
            return read_capsule(array.__dlpack__(), True)
        return read_capsule(array.__dlpack__(stream=dlpack_stream(stream)), True)

    def likeness(self, array: Any, view: Optional[View]) -> Any:
        return None  # a new array of JAX takes ten times as long as the rest

    def stream(self, array: Any) -> int:
        device = next(iter(array.devices()))
        return 0 if device.platform == "cpu" else int(device.get_stream_for_external_ready_events())

    def empty(self, like: Any, place: int, shape: tuple[int, ...], dtype: str, stream: Optional[int]) -> Any:
        if place == HOST:
            return aligned_empty(shape, NUMPY_DTYPES[dtype])
        jax = sys.modules["jax"]
        own = self.stream(like)
        if stream is not None and stream != own:
            raise UsageError(
                "JAX has no streams to choose from: leave `stream` out, and the launch goes where JAX waits for it"
            )
        device = next(iter(like.devices()))
        return _JaxOutput(jax.numpy.empty(shape, NUMPY_DTYPES[dtype], device=device), own)

    def clear(self, array: Any, place: int, stream: Optional[int]) -> None:
        """JAX has no memory without values: `empty` makes zeros."""

    def finish(self, array: Any) -> Any:
        made = importlib.import_module("jax.dlpack").from_dlpack(array)
        return made.view("bfloat16") if made.dtype == "uint16" else made  # no spec has uint16 itself


MAKERS: dict[str, Any] = {"cupy": CuPy, "torch": Torch, "jax": Jax, "jaxlib": Jax}
