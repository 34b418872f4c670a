"""What the calls of all kinds of kernels share: C structs that are used again, arrays laid into them, streams, parameters,
temporary memory, and what must live until the work is over."""

from __future__ import annotations

from ctypes import byref, c_double, c_int, c_size_t, c_void_p, memset
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import _abi, _arrays
from ._abi import lib
from ._arrays import HOST, Library, counted, known, no_number, numbers_by_name
from ._context import Context, Memory
from ._facts import ArrayInfo, ParameterInfo
from ._errors import DataError, UsageError, error_of

_launch = lib.sg_launch

# What run takes and a call may be given by mistake.
_OF_RUN = ("steps", "overwrite", "step", "origin", "whole", "points", "monitors", "every", "until")


class Frame:
    """The C structs of one call of a kernel. Calls borrow them, so that none is made twice."""

    def __init__(self, arrays: int, parameters: int) -> None:
        self.grids = (_abi.sg_grid * max(arrays, 1))()
        self.items = [self.grids[i] for i in range(arrays)]
        self.values = (c_double * max(parameters, 1))()
        self.final = (c_int * max(arrays, 1))()
        self.arguments = _abi.sg_arguments(grid_count=arrays)
        self.arguments.grids = self.grids
        self.reference = byref(self.arguments)
        self.laid: list[Any] = [None] * arrays  # shape and strides that an item has
        self.ready = False  # as a call before left it, so a call on arrays like those needs their addresses alone
        self.library: Any = None  # of the arrays of that call
        self.likes: list[Any] = [None] * arrays  # their facts
        self.makers: list[Any] = [None] * arrays  # of new ones like them; None: they were the caller's
        self.changed = True  # some of them, since temporary_bytes was asked for
        self.temporary_bytes = 0
        self.part = 0  # steps of a run that took so little on arrays laid so that as many may be made together
        self.has_values = False
        self.has_box = False
        self.has_place = False


class Slot:
    """Memory that a call gives to one of the kernel's arrays."""

    __slots__ = ("pointer", "shape", "strides", "array", "keep", "library", "memory", "ours", "callers", "view")

    def __init__(
        self, pointer: int, shape: tuple[int, ...], strides: Any, array: Any, keep: Any, library: Library
    ) -> None:
        self.pointer = pointer
        self.shape = shape
        self.strides = strides
        self.array = array
        self.keep = keep  # what keeps its memory
        self.library = library
        self.memory: Optional[Memory] = None  # on the GPU, where the array is the host's
        self.ours = False  # this call may write to it
        self.view: Optional[_arrays.View] = None  # of the caller's array
        self.callers = True  # what it holds is in the caller's array, or is to be put there


class Caller:
    """The part of a kernel that takes arrays."""

    context: Context
    arrays: tuple[ArrayInfo, ...]
    _parts: list[list[int]]  # the library's arrays of each
    parameters: tuple[ParameterInfo, ...]

    @property
    def name(self) -> str:
        """The spec's name."""
        raise NotImplementedError

    def _prepare(self, handle: int, is_grid: bool, dims: int) -> None:
        self._handle = handle
        self._pointer = c_void_p(handle)  # the same, for calls where its making would count
        self._parameter_index = {p.name: i for i, p in enumerate(self.parameters)}
        self._array_index = {a.keyword: i for i, a in enumerate(self.arrays)}
        self._dtypes = [np.dtype(a.dtype) for a in self.arrays]
        self._words = [_arrays.WORDS[dtype.str] for dtype in self._dtypes]
        self._place = self.context.place
        self._is_grid = is_grid
        self._dims = dims
        self._frames: list[Frame] = []
        self._count = sum(map(len, self._parts))
        self._plain = self._count == len(self.arrays)

    def _take(self) -> Frame:
        try:
            frame = self._frames.pop()
        except IndexError:
            return Frame(self._count, len(self.parameters))
        frame.ready = False
        return frame

    def _split(self, arrays: Sequence[Any], first: Sequence[int], named: dict[str, Any]) -> list[Any]:
        """Arrays of a call, those at the indexes `first` by position; takes them out of `named`."""
        if len(arrays) > len(first):
            wanted = ", ".join(self.arrays[i].keyword for i in first)
            raise UsageError(f"'{self.name}' takes {counted(len(first), 'array')} ({wanted}), not {len(arrays)}")
        found: list[Any] = [None] * len(self.arrays)
        for i, array in zip(first, arrays):
            found[i] = array
        for key in [key for key in named if key in self._array_index and key not in self._parameter_index]:
            i = self._array_index[key]
            if found[i] is not None:
                raise UsageError(f"'{key}' is given twice")
            found[i] = named.pop(key)
        for i in first:
            if found[i] is None:
                self._know(named)  # a name that is misspelled is what the caller should see
                raise UsageError(f"'{self.name}' needs its array '{self.arrays[i].keyword}'")
        return found

    def _know(self, given: Iterable[str]) -> None:
        """Names that are left are those of parameters."""
        for key in given:
            if key not in self._parameter_index:
                have = ", ".join([a.keyword for a in self.arrays] + [p.name for p in self.parameters])
                taken = f"; {key}= is for run(…)" if key in _OF_RUN and hasattr(self, "run") else ""
                raise UsageError(f"'{self.name}' has no array or parameter '{key}'; it has {have}{taken}")

    def _set_parameters(self, frame: Frame, given: Mapping[str, float]) -> None:
        self._know(given)
        for i, p in enumerate(self.parameters):
            value = given.get(p.name, p.default)
            if value is None:
                raise UsageError(f"'{self.name}' needs a value for its parameter '{p.name}'")
            try:
                frame.values[i] = value
            except (TypeError, OverflowError):
                raise no_number(f"the parameter '{p.name}'", value) from None
        frame.arguments.parameters = frame.values
        frame.arguments.parameter_count = len(self.parameters)
        frame.has_values = True

    def _put_parameters(self, frame: Frame, parameters: Optional[Mapping[str, float]], named: dict[str, Any]) -> None:
        if parameters:
            named = {**numbers_by_name("parameters", parameters), **named}
        if named:
            self._set_parameters(frame, named)
        elif frame.has_values:
            frame.arguments.parameters = None
            frame.arguments.parameter_count = 0
            frame.has_values = False

    def _stream(self, stream: Any, library: Library, array: Any) -> int:
        """The stream of a call: the given one, else the caller's current one of the array's library."""
        if self._place == HOST:
            return 0
        if stream is not None:
            return _arrays.stream_handle(stream)
        return library.stream(array)

    def _see(self, index: int, array: Any, library: Library, stream: int, written: bool) -> _arrays.View:
        """An array of the caller's for the kernel's array `index`, if it can be used as it is."""
        view = library.view(array, stream)
        if view[3] != self._words[index]:
            info = self.arrays[index]
            have, word = _arrays.NUMPY_NAMES.get(view[3], view[3]), self._words[index]
            cast = library.cast_to_bfloat16 if word == "bfloat16" else library.cast.format(info.dtype)
            wanted = "bfloat16, in NumPy as uint16" if word == "bfloat16" else info.dtype
            raise DataError(f"'{info.name}' is {have}, but '{self.name}' takes {wanted}: {cast} makes a copy")
        if written and view[5]:
            raise DataError(f"'{self.arrays[index].name}' is written, but its array is read-only")
        if self._is_grid:
            self._see_axes(self.arrays[index], view[1])
        if view[4] != self._place and view[4] != HOST:
            here = "cpu device" if self._place == HOST else f"GPU {self._place}"
            raise DataError(
                f"'{self.arrays[index].name}' is in the memory of GPU {view[4]}, but '{self.name}' was built for the "
                f"{here}: build it with device='cuda:{view[4]}'"
            )
        return view

    def _see_axes(self, info: ArrayInfo, shape: tuple[int, ...]) -> None:
        axes, several = list("zyx"[3 - self._dims :]), info.components > 1
        if len(shape) != self._dims + several:
            first = [str(info.components)] if several else []
            found = f"{len(shape)} {'axis' if len(shape) == 1 else 'axes'}"
            raise DataError(
                f"'{info.name}' has {found}, but '{self.name}' has {self._dims + several}: "
                f"({', '.join(first + axes)})"
            )
        if several and shape[0] != info.components:
            raise DataError(f"'{info.name}' has {info.components} components, along its first axis, not {shape[0]}")

    def _lay(
        self, frame: Frame, index: int, pointer: int, shape: tuple[int, ...], strides: Any, library: Library
    ) -> None:
        of = self._parts[index]
        laid = (shape, strides)
        if len(of) > 1:
            step = (_count(shape[1:]) if strides is None else strides[0]) * int(self._dtypes[index].itemsize)
            for number, i in enumerate(of):
                frame.items[i].data = pointer + number * step
            shape, strides = shape[1:], None if strides is None else strides[1:]
        else:
            frame.items[of[0]].data = pointer
        if frame.laid[index] == laid:
            return
        frame.laid[index] = None
        frame.changed = True
        size, stride = [1, 1, 1], [0, 0, 0]
        if self._is_grid:
            size[: len(shape)] = shape[::-1]
            if strides is not None:
                stride[: len(shape)] = self._strides(index, shape, strides, library)
        else:
            size[0] = self._elements(index, shape, strides, library)
        for i in of:
            frame.items[i].size[:] = size
            frame.items[i].stride[:] = stride
        frame.laid[index] = laid

    def _strides(self, index: int, shape: tuple[int, ...], strides: tuple[int, ...], library: Library) -> list[int]:
        """Strides x first, where 0 stands for an axis along which there is nothing to step over."""
        name = self.arrays[index].name
        out = [0 if n <= 1 else s for n, s in zip(reversed(shape), reversed(strides))]
        for n, s in zip(reversed(shape), out):
            if n > 1 and s == 0:
                raise DataError(f"cells of '{name}' share memory (a stride is 0): {library.dense} makes a copy")
        if out[0] not in (0, 1):
            raise DataError(
                f"'{name}' is {out[0]} elements from neighbour to neighbour along its last axis, which must be "
                f"contiguous: {library.dense} makes a copy"
            )
        return out

    def _elements(
        self, index: int, shape: tuple[int, ...], strides: Optional[tuple[int, ...]], library: Library
    ) -> int:
        count = _count(shape)
        if strides is not None:
            step = 1
            for n, s in zip(reversed(shape), reversed(strides)):
                if n > 1 and s != step and count > 0:
                    raise DataError(f"'{self.arrays[index].name}' is not contiguous: {library.dense} makes a copy")
                step *= n
        return count

    def _bring(self, index: int, array: Any, stream: int, library: Library, written: bool = False) -> Slot:
        """A caller's array where the kernel can use it: as it is, or, of the host's for a GPU, a copy there."""
        view = self._see(index, array, library, stream, written)
        pointer, shape, strides, _, place, _, keep = view
        slot = Slot(pointer, shape, strides, array, keep, library)
        slot.view = view
        slot.ours = written
        if place != self._place:
            dense = np.ascontiguousarray(_arrays.host_view(pointer, shape, strides, self._words[index], keep))
            slot.memory = Memory(self.context, dense.nbytes)
            slot.pointer, slot.strides, slot.ours, slot.callers = slot.memory.pointer, None, True, written
            self.context.must(lib.sg_upload(self.context.handle, slot.pointer, dense.ctypes.data, dense.nbytes))
        return slot

    def _fresh(
        self, index: int, like: Slot, shape: tuple[int, ...], stream: Optional[int], zeros: bool = False
    ) -> Slot:
        """New memory for the kernel's array `index`, of the library of another array of the call, for work on a stream
        that the caller gave, or None."""
        word = self._words[index]
        if like.memory is not None:
            memory = Memory(self.context, _bytes(shape, word))
            slot = Slot(memory.pointer, shape, None, like.array, None, like.library)
            slot.memory = memory
            if zeros:
                zero = np.zeros(memory.size, np.uint8)
                self.context.must(lib.sg_upload(self.context.handle, memory.pointer, zero.ctypes.data, memory.size))
        else:
            array = like.library.empty(like.array, self._place, shape, word, stream)
            pointer, keep = like.library.address(array)
            slot = Slot(pointer, shape, None, array, keep, like.library)
            if zeros and self._place == HOST:
                memset(pointer, 0, _bytes(shape, word))
            elif zeros:
                like.library.clear(array, self._place, stream)
        slot.ours = True
        slot.callers = False
        return slot

    def _hand_out(self, index: int, slot: Slot, stream: int) -> Any:
        """The array that the caller gets of a slot that was written."""
        if slot.memory is None:
            return slot.array if slot.callers else slot.library.finish(slot.array)
        if stream != 0:
            self.context.synchronize(stream)
        word = self._words[index]
        there = slot.memory.pointer
        if not slot.callers:  # then slot.array is one that the result is to be like
            slot.array = slot.library.empty(slot.array, HOST, slot.shape, word, None)
        pointer, shape, strides, _, _, _, keep = slot.library.view(slot.array, 0)
        dense = np.empty(shape, _arrays.NUMPY_DTYPES[word]) if strides is not None else None
        to = pointer if dense is None else dense.ctypes.data
        self.context.must(lib.sg_download(self.context.handle, to, there, _bytes(shape, word)))
        if dense is not None:
            _arrays.host_view(pointer, shape, strides, word, keep, writable=True)[...] = dense
        return slot.array if slot.callers else slot.library.finish(slot.array)

    def _put_temporary(self, frame: Frame, stream: int) -> None:
        if frame.changed:
            size = c_size_t()
            self.context.must(lib.sg_temporary_bytes(self._handle, frame.reference, byref(size)))
            frame.temporary_bytes = size.value
            frame.changed, frame.part = False, 0
            if not size.value:
                frame.arguments.temporary = None
                frame.arguments.temporary_bytes = 0
        if frame.temporary_bytes:
            frame.arguments.temporary = self.context.scratch(stream, frame.temporary_bytes)
            frame.arguments.temporary_bytes = frame.temporary_bytes

    # ---- calls like the one before ----

    def _remember(self, frame: Frame, slots: Sequence[Any]) -> None:
        """Notes what the arrays of a launch are like, so that `_again` knows others like them."""
        first = slots[0]
        if not self._plain or any(
            slot is None or slot.memory is not None or slot.library is not first.library for slot in slots
        ):
            return
        frame.library = library = first.library
        for i, slot in enumerate(slots):
            frame.likes[i] = library.likeness(slot.array, slot.view)
            ours = not slot.callers and slot.strides is None
            if frame.likes[i] is None and not ours:
                return
            frame.makers[i] = library.maker(first.array, self._place, slot.shape, self._words[i]) if ours else None
        frame.arguments.step = 0
        frame.ready = True

    def _again(
        self, arrays: Sequence[Any], indexes: Sequence[int], fresh: Sequence[int],
        parameters: Optional[Mapping[str, float]], named: dict[str, Any],
    ) -> Any:  # fmt: skip
        """A launch on the caller's current stream, on arrays like those of a call before and on new ones for `fresh`, in a
        fifth of the time. Returns all arrays of the launch; None: they are not like those, and nothing has been done."""
        if not arrays or (named and not self._array_index.keys().isdisjoint(named)):
            return None
        try:
            frame = self._frames.pop()
        except IndexError:
            return None
        try:
            if not frame.ready:
                return None
            library: Any = known.get(type(arrays[0]))
            if library is not frame.library:
                return None
            on = 0 if self._place == HOST else library.current(arrays[0], self._place)
            look, items, likes = library.look, frame.items, frame.likes
            held: list[Any] = [None] * len(items)
            kept: list[Any] = []
            for i, array in zip(indexes, arrays):
                of: Any = known.get(type(array))
                if of is not library:
                    return None
                items[i].data, facts = look(array, on, kept)
                if facts != likes[i]:
                    return None
                held[i] = array
            for i in fresh:
                make = frame.makers[i]
                if make is None:
                    return None
                held[i] = array = make()
                items[i].data, _ = library.address(array)
            if parameters or named or frame.has_values:
                self._put_parameters(frame, parameters, named)
            if frame.temporary_bytes:
                frame.arguments.temporary = self.context.scratch(on, frame.temporary_bytes)
            status = _launch(self._pointer, frame.reference, on)
            if status:
                self._fail(status)
            if kept and self._place != HOST:
                self.context.hold(on, (self, kept))
            return held
        finally:
            self._frames.append(frame)

    def _keep(self, stream: int, given: Any, slots: Iterable[Slot]) -> None:
        """Keeps what a launch uses until it is over, where its library does not do so by the stream's order. `given` is
        the stream of the caller's, or None."""
        if self._place == HOST:
            return
        kept = [
            (s.keep, s.memory)
            for s in slots
            if s.library.held or (given is not None and stream != s.library.stream(s.array))
        ]
        if kept:
            self.context.hold(stream, (self, kept))

    def _fail(self, status: int) -> None:
        raise error_of(status, self.context.handle)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _bytes(shape: tuple[int, ...], word: str) -> int:
    return int(_arrays.NUMPY_DTYPES[word].itemsize) * _count(shape)
