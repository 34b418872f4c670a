"""Arrays of other libraries: where one lies, which stream its work is on, and how another like it is made.

NumPy, CuPy, PyTorch and JAX are asked in their own words, which is quick. All other arrays come by DLPack, then
`__cuda_array_interface__`, then the buffer protocol. None of these copies anything.
"""

from __future__ import annotations

import ctypes
import importlib
import operator
import reprlib
import sys
from ctypes import POINTER, c_double, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from functools import partial
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from ._abi import lib
from ._errors import DataError, UsageError

HOST = -1  # the place of memory that is not a GPU's

# address; shape; distances of neighbours in elements (None: C order); dtype as specs spell it; HOST or the number of
# the GPU; whether it must not be written; what keeps the memory alive
View = tuple[int, tuple[int, ...], Optional[tuple[int, ...]], str, int, bool, Any]

NUMPY_NAMES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "uint16",
    "int32": "int32",
    "int64": "int64",
    "uint32": "uint32",
}  # NumPy has no bfloat16: its bits are numbers of uint16
WORDS = {np.dtype(name).str: word for word, name in NUMPY_NAMES.items()}
NUMPY_DTYPES = {word: np.dtype(name) for word, name in NUMPY_NAMES.items()}
_DTYPE_WORDS = {dtype: word for word, dtype in NUMPY_DTYPES.items()}


def _word_of(dtype: Any) -> str:
    """A dtype of NumPy's as specs spell it; bfloat16 comes from ml_dtypes, which JAX brings along."""
    word = _DTYPE_WORDS.get(dtype) or str(dtype.name if dtype.isnative else dtype.str)
    if word == "bfloat16":
        _DTYPE_WORDS[dtype] = word
    return word


_first_byte, _address_of = ctypes.c_char.from_buffer, ctypes.addressof


def in_elements(strides: tuple[int, ...], size: int) -> tuple[int, ...]:
    if any(s % size for s in strides):
        raise DataError(f"strides of {strides} bytes are no multiples of an element's {size}: make a copy in C order")
    return tuple(s // size for s in strides)


def to_bfloat16(values: Any) -> Any:
    """Numbers as arrays of bfloat16 hold them: a uint16 array of NumPy's with the upper halves of their floats, rounded to
    nearest even as kernels do."""
    floats = np.asarray(values, np.float32, order="C")
    bits = np.empty(floats.shape, np.uint16)
    lib.sg_to_bfloat16(bits.ctypes.data, floats.ctypes.data, floats.size)
    return bits


def from_bfloat16(bits: Any) -> Any:
    """The numbers, float32, of an array of bfloat16's bits."""
    bits = np.asarray(bits)
    if bits.dtype.name not in ("uint16", "int16", "bfloat16"):  # PyTorch has int16 alone
        raise DataError(f"bits of bfloat16 are uint16, not {bits.dtype.name}")
    bits = np.asarray(bits, bits.dtype.newbyteorder("="), order="C").view(np.uint16)
    floats = np.empty(bits.shape, np.float32)
    lib.sg_from_bfloat16(floats.ctypes.data, bits.ctypes.data, bits.size)
    return floats


def numpy_order(numbers: Iterable[int], dims: int) -> tuple[int, ...]:
    """The numbers of the axes as NumPy has them, z first, from C's, x first."""
    return tuple(reversed(list(numbers)[: max(dims, 1)]))


def x_first(size: Optional[Union[int, Sequence[int]]]) -> list[int]:
    """A size in C's order from one in NumPy's."""
    if size is None:
        return [0, 0, 0]
    extents = list(size) if hasattr(size, "__iter__") else [size]
    if not 1 <= len(extents) <= 3:
        raise UsageError(f"a size has 1 to 3 extents, (nz, ny, nx), not {len(extents)}")
    return [whole_number("an extent", e) for e in reversed(extents)] + [0] * (3 - len(extents))


def ranges_of(box: Any, shape: Sequence[int]) -> list[tuple[int, int]]:
    """The first cell and the one after the last of a box, along each axis of a grid."""
    slices = box if isinstance(box, (tuple, list)) else (box,)
    try:
        if len(slices) == len(shape) and all(isinstance(s, slice) and s.step in (None, 1) for s in slices):
            return [s.indices(n)[:2] for s, n in zip(slices, shape)]
    except TypeError:  # slices of what are no whole numbers
        pass
    axes = f"each of {len(shape)} axes" if len(shape) > 1 else "the axis"
    raise UsageError(f"a box is a slice of whole numbers for {axes}, without steps, as numpy.s_[2:-2, 2:-2] for two")


def counted(number: int, what: str) -> str:
    """ "1 array", "2 arrays"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def no_number(what: str, value: Any) -> UsageError:
    """ctypes would not tell whose value it is."""
    return UsageError(f"{what} is a number, not {reprlib.repr(value)}")


def real_number(what: str, value: Any) -> float:
    """The number as C takes it."""
    try:
        return c_double(value).value
    except (TypeError, OverflowError):
        raise no_number(what, value) from None


def numbers_by_name(what: str, given: Optional[Mapping[str, Any]]) -> Mapping[str, Any]:
    """A dict of numbers, which C will take; None: an empty one."""
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"{what} are a dict of numbers by name, not a {type(given).__name__}")
    return given or {}


def whole_number(what: str, value: Any, bits: int = 64) -> int:
    """The number as C takes it: ctypes would cut one that is too large, and call a fraction a wrong type."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{what} is a whole number, not {value!r}") from None
    if abs(number) >> (bits - 1):
        raise UsageError(f"{what} of {number} is too large")
    return number


class Library:
    """What stencilgen asks of a library of arrays. This one is for arrays of libraries that it does not know."""

    name = "its library"
    dense = "numpy.ascontiguousarray(…)"  # the call that makes a copy in C order
    cast = "numpy.asarray(…, dtype={!r})"  # the call that makes one of another dtype
    cast_to_bfloat16 = "stencilgen.to_bfloat16(…)"  # the one for bfloat16
    held = True  # what a launch uses must be kept until its work is over; else memory is reused in the stream's order

    def view(self, array: Any, stream: int) -> View:
        """The array as it is, ready to be used by work on `stream`."""
        if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
            return _by_dlpack(array, stream)
        facts = getattr(array, "__cuda_array_interface__", None)  # once: others make it anew each time
        if facts is not None:
            return _by_interface(array, facts)
        try:
            memory = np.asarray(memoryview(array))
        except TypeError:
            raise UsageError(
                f"a {type(array).__name__} is no array that can be used as it is: it has neither __dlpack__ nor "
                "__cuda_array_interface__ nor the buffer protocol; numpy.asarray(…) makes an array of it"
            ) from None
        return NUMPY.view(memory, stream)

    def stream(self, array: Any) -> int:
        """The stream on which the caller works with this array now; 0: the default one, or the host's memory."""
        facts = getattr(array, "__cuda_array_interface__", None)
        return 0 if facts is None else int(facts.get("stream") or 0)

    def empty(self, like: Any, place: int, shape: tuple[int, ...], dtype: str, stream: Optional[int]) -> Any:
        """A dense array of the same library and in the same memory as `like`, to be written by work on `stream`; None:
        on the caller's current one."""
        if place != HOST:
            raise UsageError(f"{self.name} is not known, so the result needs an array of yours: give out=…")
        return np.empty(shape, NUMPY_DTYPES[dtype])

    def clear(self, array: Any, place: int, stream: Optional[int]) -> None:
        """Makes an array of a GPU's that `empty` made 0, by work on the stream that `empty` was given."""

    def address(self, array: Any) -> tuple[int, Any]:
        """Where an array that `empty` made lies, and what keeps its memory."""
        view = self.view(array, 0)
        return view[0], view[6]

    def finish(self, array: Any) -> Any:
        """What the caller gets of an array that `empty` made, once the launch that writes it is on the stream."""
        return array

    # What a call needs that is like the one before, in as few steps as the library allows: its `view` takes a microsecond.

    def look(self, array: Any, stream: int, kept: list[Any]) -> tuple[int, Any]:
        """The address, and all else of a view that decides, to be compared with that of an array before (None: only a view
        will do). Adds to `kept` what must live until the launch is over."""
        view = self.view(array, stream)
        kept.append(view[6])
        return view[0], view[1:6]

    def likeness(self, array: Any, view: Optional[View]) -> Any:
        """What `look` tells of arrays like this one, of which there is a view already, or which `empty` made."""
        return view and view[1:6]

    def current(self, array: Any, place: int) -> int:
        """The stream on which the caller works on this GPU now."""
        return self.stream(array)

    def maker(self, like: Any, place: int, shape: tuple[int, ...], dtype: str) -> Callable[[], Any]:
        """A function that makes what `empty` makes, for work on the current stream. It must not keep `like`."""
        return partial(self.empty, None, place, shape, dtype, None)


class Quick(Library):
    """One whose `look` takes less than a view."""

    def likeness(self, array: Any, view: Optional[View]) -> Any:
        return self.look(array, 0, [])[1]


class _NumPy(Quick):
    name = "NumPy"

    def stream(self, array: Any) -> int:
        return 0

    def view(self, array: Any, stream: int) -> View:
        flags = array.flags
        word = _DTYPE_WORDS.get(array.dtype) or _word_of(array.dtype)
        strides = None if flags.c_contiguous else in_elements(array.strides, array.itemsize)
        return self.pointer(array), array.shape, strides, word, HOST, not flags.writeable, array

    def empty(self, like: Any, place: int, shape: tuple[int, ...], dtype: str, stream: Optional[int]) -> Any:
        return self.maker(like, place, shape, dtype)()

    def address(self, array: Any) -> tuple[int, Any]:
        return self.pointer(array), array

    def look(self, array: Any, stream: int, kept: list[Any]) -> tuple[int, Any]:
        return self.pointer(array), (array.shape, array.strides, array.dtype, array.flags.writeable)

    def pointer(self, array: Any) -> int:
        try:
            return _address_of(_first_byte(array))
        except (TypeError, ValueError, BufferError):  # read-only, empty or strided: this takes 1 µs
            return int(array.__array_interface__["data"][0])

    def maker(self, like: Any, place: int, shape: tuple[int, ...], dtype: str) -> Callable[[], Any]:
        own = dtype == "bfloat16" and like.dtype.name == "bfloat16"
        return partial(np.empty, shape, like.dtype if own else NUMPY_DTYPES[dtype])


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """A NumPy array at a multiple of 256 bytes."""
    dtype = np.dtype(dtype)
    count = 1
    for extent in shape:
        count *= extent
    memory = np.empty(count * dtype.itemsize + 256, np.uint8)
    begin = -memory.ctypes.data % 256
    return memory[begin : begin + count * dtype.itemsize].view(dtype).reshape(shape)


class _Holder:
    __array_interface__: dict[str, Any]
    keep: Any


def host_view(address: int, shape: tuple[int, ...], strides: Any, dtype: str, keep: Any, writable: bool = False) -> Any:
    """A NumPy array over memory of the host; strides count elements."""
    kind = NUMPY_DTYPES[dtype]
    steps = None if strides is None else tuple(s * kind.itemsize for s in strides)
    holder = _Holder()
    holder.keep = keep
    facts = {"data": (address, not writable), "shape": shape, "strides": steps, "typestr": kind.str, "version": 3}
    holder.__array_interface__ = facts
    return np.asarray(holder)


# ---- DLPack and the CUDA array interface ------------------------------------------------------------------------

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_KINDS = {
    (2, 32): "float",
    (2, 64): "double",
    (2, 16): "half",
    (4, 16): "bfloat16",
    (1, 16): "bfloat16",
    (0, 32): "int32",
    (0, 64): "int64",
    (1, 32): "uint32",
}


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack, at the beginning of a DLManagedTensor."""

    _fields_ = [
        ("data", c_void_p), ("device", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
        ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]  # fmt: skip


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


def dlpack_stream(stream: int) -> int:
    return 1 if stream == 0 else stream  # DLPack calls the default stream 1


def _by_dlpack(array: Any, stream: int) -> View:
    kind, number = array.__dlpack_device__()
    if int(kind) in (_CPU, _CUDA_HOST):
        return read_capsule(array.__dlpack__(), False)
    if int(kind) in (_CUDA, _CUDA_MANAGED):
        return read_capsule(array.__dlpack__(stream=dlpack_stream(stream)), False)
    raise DataError(
        f"the array is on a device of DLPack's kind {int(kind)}: stencilgen uses the host's memory and CUDA's"
    )


def read_capsule(capsule: Any, readonly: bool) -> View:
    """The capsule owns the memory until it is freed, since nobody takes its content out."""
    t = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))
    n = t.ndim
    shape = tuple(t.shape[:n])
    strides = tuple(t.strides[:n]) if t.strides else None
    word = _KINDS.get((t.code, t.bits)) if t.lanes == 1 else None
    if word is None:
        word = f"of DLPack's type {t.code} of {t.bits} bits"
    place = HOST if t.device in (_CPU, _CUDA_HOST) else int(t.device_id)
    return (t.data or 0) + t.byte_offset, shape, strides, word, place, readonly, capsule


def _by_interface(array: Any, facts: dict[str, Any]) -> View:
    text = facts["typestr"]
    address, readonly = facts["data"]
    strides = facts.get("strides")
    if strides is not None:
        strides = in_elements(tuple(strides), np.dtype(text).itemsize)
    device = getattr(array, "device", None)  # the interface itself does not say which GPU
    number = getattr(device, "id", 0)
    place = number if isinstance(number, int) else 0
    return address or 0, tuple(facts["shape"]), strides, WORDS.get(text, text), place, bool(readonly), array


# ---- which library, which stream --------------------------------------------------------------------------------

class _Masked(_NumPy):
    def view(self, array: Any, stream: int) -> View:
        raise DataError("a masked array's mask would be passed over: ….filled(value) makes an array without one")


NUMPY = _NumPy()
_others = Library()
known: dict[type, Any] = {np.ndarray: NUMPY}  # the libraries of types that were seen
_KINDS_OF = {
    "cupy": ("cupy", "ndarray"),
    "torch": ("torch", "Tensor"),
    "jax": ("jax", "Array"),
    "jaxlib": ("jax", "Array"),
}
_made: dict[str, Library] = {}


def library_of(array: Any) -> Library:
    """The library that an array is from."""
    seen: Optional[Library] = known.get(type(array))
    if seen is not None:
        return seen
    found = NUMPY if isinstance(array, np.ndarray) else _others
    if isinstance(array, np.ma.MaskedArray):
        found = _Masked()
    for base in type(array).__mro__:
        root = base.__module__.split(".", 1)[0]
        if root in _KINDS_OF and _is_array(root, array):
            found = _made.setdefault(root, importlib.import_module("._libraries", __package__).MAKERS[root]())
            break
    known[type(array)] = found
    return found


def _is_array(root: str, array: Any) -> bool:
    module, kind = _KINDS_OF[root]
    return module in sys.modules and isinstance(array, getattr(sys.modules[module], kind, ()))


def stream_handle(stream: Any) -> int:
    """The handle of a stream: an integer, or an object with `__cuda_stream__` (or, before that, with the handle of a
    PyTorch stream in `cuda_stream`, of a CuPy stream in `ptr`)."""
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        version_and_handle = protocol() if callable(protocol) else protocol
        return int(version_and_handle[1])
    for name in ("cuda_stream", "ptr"):
        handle = getattr(stream, name, None)
        if handle is not None:
            return int(handle)
    raise UsageError(f"a {type(stream).__name__} is no stream: give an integer or an object with __cuda_stream__")
