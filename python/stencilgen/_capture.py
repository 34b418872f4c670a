"""Snapshots of a long run: arrays of a device brought to the host while later work runs."""

from __future__ import annotations

from ctypes import byref, c_void_p
from math import prod
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _arrays
from ._abi import lib
from ._arrays import HOST, NUMPY_DTYPES, WORDS, library_of, whole_number
from ._context import Context, Handle, at_end, default_context
from ._errors import DataError, UsageError


class Capture(Handle):
    """Room on the host for one array of a device at a time, which comes while the next steps run.

        frames = stencilgen.Capture(u.shape, "float32")
        for step in range(10):
            frames.take(u)                   # as the stream's work so far leaves it
            u = heat.run(u, steps=100)       # runs meanwhile
            numpy.save(f"u{step}.npy", frames.wait())

    shape:   of the arrays
    dtype:   of theirs, a name or dtype of NumPy's; "bfloat16" comes as uint16
    device:  as of `build`; or `context`, one of your own

    A GPU needs as much memory again. Where it has not, `take` waits for the array.
    """

    def __init__(
        self, shape: Union[int, Sequence[int]], dtype: Any = "float32", *, device: Optional[str] = None,
        context: Optional[Context] = None,
    ) -> None:  # fmt: skip
        self.context = context or default_context(device)
        extents = shape if hasattr(shape, "__iter__") else (shape,)
        self._shape = tuple(whole_number("an extent", extent) for extent in extents)
        if min(self._shape, default=0) < 0:
            raise UsageError(f"the shape {shape!r} is negative")
        self._word = "bfloat16" if str(dtype) == "bfloat16" else WORDS.get(np.dtype(dtype).str, "")
        if not self._word:
            raise UsageError(f"no kernel has arrays of {np.dtype(dtype).name}: it is {', '.join(WORDS.values())}")
        self._bytes = whole_number("a size in bytes", prod(self._shape) * NUMPY_DTYPES[self._word].itemsize)
        handle, memory = c_void_p(), c_void_p()
        self.context.must(lib.sg_capture_open(self.context.handle, self._bytes, byref(handle), byref(memory)))
        self._handle, self._memory = handle.value, memory.value or 0
        self._taken = False
        at_end(self, lib.sg_capture_close, self._handle)

    def take(self, array: Any, *, stream: Any = None) -> None:
        """Begins to bring an array of this shape and dtype in C order, in the memory of the device. Later work on the stream
        may write to it; nothing is waited for.

        stream: an integer or an object with `__cuda_stream__`; None: the caller's current one of the array's library
        """
        if self._taken:
            raise UsageError("an array was taken already: wait() for it first")
        library, place = library_of(array), self.context.place
        on = 0 if place == HOST else library.stream(array) if stream is None else _arrays.stream_handle(stream)
        pointer, shape, strides, word, where, _, keep = library.view(array, on)
        if tuple(shape) != self._shape or word != self._word:
            have, wanted = (_arrays.NUMPY_NAMES.get(name, name) for name in (word, self._word))
            raise DataError(f"the array is {have} of {tuple(shape)}, but the capture is for {wanted} of {self._shape}")
        if where != place:
            raise UsageError("the array is not in the memory of the capture's device")
        if strides is not None and not _is_dense(shape, strides):
            raise DataError(f"the array is not contiguous: {library.dense} makes a copy")
        self.context.must(lib.sg_capture_take(self._handle, 0, pointer, self._bytes, on))
        self._taken = True
        if place != HOST and (library.held or (stream is not None and on != library.stream(array))):
            self.context.hold(on, keep)

    def wait(self) -> Any:
        """Waits for the array that was taken, and returns it as NumPy's, read-only. Its memory is that of the next one."""
        if not self._taken:
            raise UsageError("no array was taken")
        self.context.must(lib.sg_capture_wait(self._handle))
        self._taken = False
        return _arrays.host_view(self._memory, self._shape, None, self._word, self)


def _is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    step = 1
    for n, s in zip(reversed(shape), reversed(strides)):
        if n > 1 and s != step:
            return False
        step *= n
    return True
