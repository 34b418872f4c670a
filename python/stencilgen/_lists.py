"""Kernels on lists: reductions, scans and merges."""

from __future__ import annotations

from math import prod
from typing import Any, Mapping, NamedTuple, Optional

import numpy as np

from . import _arrays
from ._abi import lib
from ._arrays import library_of, whole_number
from ._calls import Slot
from ._errors import DataError, UsageError
from ._kernel import Kernel, kernel_kind


class Found(NamedTuple):
    """What a reduction by argmin or argmax finds."""

    value: Any
    index: Any  #: the position of the first such element; -1 where there is none


class Lists(Kernel):
    """A kernel whose arrays are lists, each with an extent of its own."""

    def _call(
        self,
        inputs: dict[str, Any],
        outputs: dict[str, tuple[Any, tuple[int, ...]]],
        stream: Any,
        parameters: Optional[Mapping[str, float]],
        named: dict[str, Any],
    ) -> list[Any]:
        """Launches on `inputs`, which may be None where the kernel has no such array, and on `outputs`: given arrays
        or None, and shapes. Returns the outputs that the kernel has."""
        if stream is None:
            quick = self._repeated(inputs, outputs, parameters, named)
            if quick is not None:
                return quick
        frame = self._take()
        try:
            self._put_parameters(frame, parameters, named)
            first = next((array for array in inputs.values() if array is not None), None)
            if first is None:
                raise UsageError(f"'{self.name}' needs its array '{next(iter(inputs))}'")
            library = library_of(first)
            on = self._stream(stream, library, first)
            slots: dict[int, Slot] = {}
            for name, array in inputs.items():
                i = self._find(name, array)
                if i is not None:
                    slots[i] = self._bring(i, array, on, library_of(array))
            like = next(iter(slots.values()))
            written = []
            for name, (array, shape) in outputs.items():
                i = self._array_index.get(name)
                if i is None:
                    if array is not None:
                        raise UsageError(f"'{self.name}' has no array '{name}'")
                    continue
                if array is not None:
                    slots[i] = self._bring(i, array, on, library_of(array), True)
                else:
                    slots[i] = self._fresh(i, like, shape, None if stream is None else on)
                written.append(i)
            for i, slot in slots.items():
                self._lay(frame, i, slot.pointer, slot.shape, slot.strides, slot.library)
            self._put_temporary(frame, on)
            status = lib.sg_launch(self._handle, frame.reference, on)
            if status:
                self._fail(status)
            results = [self._hand_out(i, slots[i], on) for i in written]
            self._keep(on, stream, slots.values())
            if stream is None:
                self._remember(frame, [slots[i] for i in range(len(slots))])
        finally:
            self._frames.append(frame)
        return results

    def _repeated(
        self,
        inputs: dict[str, Any],
        outputs: dict[str, tuple[Any, tuple[int, ...]]],
        parameters: Optional[Mapping[str, float]],
        named: dict[str, Any],
    ) -> Optional[list[Any]]:
        """A call on lists like those of one before; None: they are not."""
        index = self._array_index
        given = [(name, array) for name, array in inputs.items() if array is not None]
        given += [(name, array) for name, (array, _) in outputs.items() if array is not None]
        written = [index[name] for name in outputs if name in index]
        fresh = [index[name] for name, (array, _) in outputs.items() if array is None and name in index]
        if len(given) + len(fresh) != len(index) or any(name not in index for name, _ in given):
            return None
        held = self._again([a for _, a in given], [index[name] for name, _ in given], fresh, parameters, named)
        return None if held is None else [held[i] for i in written]

    def _find(self, name: str, array: Any) -> Optional[int]:
        i = self._array_index.get(name)
        if i is None and array is not None:
            raise UsageError(f"'{self.name}' has no array '{name}': its spec does not say so")
        if i is not None and array is None:
            raise UsageError(f"'{self.name}' needs its array '{name}'")
        return i

    def launch(
        self, *arrays: Any, stream: Any = None, parameters: Optional[Mapping[str, float]] = None, **named: Any
    ) -> None:
        """One launch on all of the kernel's arrays, also the written ones, in the order of `arrays` or by name. The
        arrays must be in the memory of the kernel's device; on a GPU nothing is waited for."""
        given = self._split(arrays, range(len(self.arrays)), named)
        read = {a.keyword: g for a, g in zip(self.arrays, given) if not a.written}
        written: dict[str, tuple[Any, tuple[int, ...]]] = {
            a.keyword: (g, ()) for a, g in zip(self.arrays, given) if a.written
        }
        if self._place != _arrays.HOST:
            for a, g in zip(self.arrays, given):
                if library_of(g).view(g, 0)[4] == _arrays.HOST:
                    raise UsageError(f"'{a.name}' is in the host's memory, but launches use the GPU's")
        self._call(read, written, stream, parameters, named)


def _shape(array: Any) -> tuple[int, ...]:
    shape = getattr(array, "shape", None)
    if shape is not None:
        return tuple(shape)
    return (len(array),) if hasattr(array, "__len__") else ()


def _offsets(given: Any) -> Any:
    """The offsets of segments; those in a list or a tuple as an array."""
    if isinstance(given, (list, tuple)):
        given = np.array([whole_number("an offset", offset) for offset in given], np.int64)
    if given is not None and len(_shape(given)) != 1:
        raise DataError(f"offsets have one axis, not {len(_shape(given))}")
    return given


@kernel_kind("SG_KIND_REDUCE")
class Reduce(Lists):
    """The reduction of a list to one element, or of each of its segments: of `reduce` specs.

    total = stencilgen.build(text='return reduce { name = "s", dtype = "double" }')(x)
    """

    def __call__(
        self,
        input: Any,
        second: Any = None,
        *,
        offsets: Any = None,
        out: Any = None,
        index: Any = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """Reduces a contiguous array of any shape, as one list in C order.

        second:  another one of the same size, where the spec's map takes two
        offsets: of a segmented spec: int64, segment s is input[offsets[s]:offsets[s + 1]]; in the input's memory
        out:     an array for the result, of one element or one a segment
        index:   of argmin and argmax: an int64 array for the positions
        stream:  an integer or an object with `__cuda_stream__`; None: the caller's current one

        Returns a number of NumPy's for an array of NumPy's, and an array of no axes of the input's library otherwise;
        one element a segment for a segmented spec; for argmin and argmax a `Found` of value and index.
        """
        offsets = _offsets(offsets)
        shape: tuple[int, ...] = () if offsets is None else (max(_shape(offsets)[0] - 1, 0),)
        results = self._call(
            {"input": input, "second": second, "offsets": offsets},
            {"result": (out, shape), "index": (index, shape)}, stream, parameters, named,
        )  # fmt: skip
        if shape == () and isinstance(results[0], np.ndarray) and out is None:
            results = [r[()] if r.shape == () else r for r in results]
        return Found(*results) if len(results) == 2 else results[0]


@kernel_kind("SG_KIND_SCAN")
class Scan(Lists):
    """All prefixes of a list, inclusive or exclusive: of `scan` specs."""

    def __call__(
        self,
        input: Any,
        *,
        out: Any = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """Scans a contiguous array of any shape, as one list in C order.

        out:    an array of the same size for the result, which may be the input itself
        stream: an integer or an object with `__cuda_stream__`; None: the caller's current one

        Returns an array of the input's shape and library.
        """
        return self._call({"input": input}, {"output": (out, _shape(input))}, stream, parameters, named)[0]


@kernel_kind("SG_KIND_MERGE")
class Merge(Lists):
    """Two sorted lists merged into one, with or without values: of `merge` specs."""

    def __call__(
        self,
        a: Any,
        b: Any,
        a_values: Any = None,
        b_values: Any = None,
        *,
        out: Any = None,
        out_values: Any = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """Merges two lists that are sorted by the spec's order, which nothing checks. Of equal keys those of a come first.

        a_values, b_values: one for each key, where the spec has values
        out, out_values:    arrays of len(a) + len(b) for the result
        stream:             an integer or an object with `__cuda_stream__`; None: the caller's current one

        Returns the merged keys, or a pair of keys and values, as arrays of the library of a.
        """
        shape = (prod(_shape(a)) + prod(_shape(b)),)
        results = self._call(
            {"a": a, "b": b, "a_values": a_values, "b_values": b_values},
            {"output": (out, shape), "output_values": (out_values, shape)}, stream, parameters, named,
        )  # fmt: skip
        return tuple(results) if len(results) == 2 else results[0]
