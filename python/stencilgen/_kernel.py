"""Kernels: building, loading, looking into them, checking, measuring, explaining; and what their calls share."""

from __future__ import annotations

import os
import weakref
from ctypes import POINTER, byref, c_double, c_int, c_size_t, c_void_p, string_at
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _abi, _arrays
from ._abi import VALUES, lib
from ._arrays import HOST, Library, numpy_order
from ._context import Context, Memory, bytes_of, copy_facts, default_context, text_of
from ._errors import CheckError, DataError, UsageError, error_of
from ._tuning import Tunable

Path = Union[str, "os.PathLike[str]"]
Size = Union[int, Sequence[int]]


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a launch. Axes are NumPy's: z, y, x."""

    name: str  #: "u", "u.prev", "u.next"
    field: str  #: "u"
    written: bool
    dtype: str  #: NumPy's name, "float32"
    reads: int  #: of a written array: the index of the one with the field's current values; -1: none
    previous: int  #: of a written array: the index of the one with the previous time level; -1: none
    low: tuple[int, ...]  #: how far below a point it is read, along each axis
    high: tuple[int, ...]  #: how far above
    updated: bool  #: it is read before it is written, so its content matters
    same_as: int  #: of a written array: the index of one that may be the same memory; -1: none

    @property
    def keyword(self) -> str:
        """Its name in calls, "u_prev"."""
        return self.name.replace(".", "_")


@dataclass(frozen=True)
class ParameterInfo:
    """A number that calls give by its name."""

    name: str
    default: Optional[float]  #: None: every call must give it


@dataclass(frozen=True)
class KernelInfo:
    """Facts of a kernel. -1 is what only a GPU tells."""

    dims: int  #: axes
    points: int  #: of the shape
    radius: int  #: the furthest tap
    steps: int  #: time steps that one launch makes
    textbook_operations: float  #: a point; 0 if the update is not linear
    emitted_operations: float  #: a point, as the source has them
    bytes_per_point: float  #: the fewest that must cross device memory
    threads: int  #: of a block
    shared_bytes: int  #: of a block
    registers: int  #: of a thread
    local_bytes: int  #: of a thread
    blocks_resident: int  #: on a multiprocessor
    occupancy: float  #: resident threads over the most
    compile_seconds: float
    compiler: str  #: "NVRTC 13.0", "g++ 12.2.0"
    found: str  #: how the plan was found: "measured at this size", "by the model", …
    origin: str  #: of the binary: "not compiled", "compiled", "from cache", "from memory", "from file"
    launchable: bool
    size: tuple[int, ...]  #: planned for: (nz, ny, nx); of lists what the family has


@dataclass(frozen=True)
class Check:
    """What a check found."""

    points: int  #: of the grid
    judged: int  #: compared with the reference
    wrong: int  #: beyond the bound, or in a guard cell
    undecidable: int  #: judged, but without a finite bound
    greatest_error: float  #: max |kernel - reference| / max |reference|
    of_bound: float  #: max |kernel - reference| / the rounding bound; at most 1 is right
    seed: int
    first_wrong: str
    steps: int
    size: tuple[int, ...]
    unjudged: tuple[str, ...]  #: sides of conditions that hardly any cell took


@dataclass(frozen=True)
class Speed:
    """How fast a kernel is. Times are seconds."""

    seconds: float  #: median of one launch, or of one run of the steps asked for
    fastest: float
    slowest: float
    points: float  #: updates of a point a second
    bytes: float  #: a second
    copy_bytes: float  #: of a device copy in the same run, a second
    of_copy: float  #: bytes / copy_bytes
    steps: int  #: of a launch, or of a run
    repeats: int
    size: tuple[int, ...]


@dataclass(frozen=True)
class Method:
    """What one method, or algorithm, would do with a spec."""

    method: str
    plan: str  #: "" where it refuses
    refusal: str  #: why; "" otherwise
    chosen: bool
    shared_bytes: int  #: of a block
    threads: int  #: of a block
    registers: int  #: of a thread, estimated
    operations_per_byte: float
    estimated_seconds: float
    bound: str  #: what limits the speed, by the model
    note: str


@dataclass(frozen=True)
class Explanation:
    """What each method would do with a spec, and which one is chosen. `print` shows it."""

    name: str
    shape: str
    dtype: str
    boundary: str
    reason: str
    arch: str
    gpu: str
    tuned: str  #: the measured plan that a build takes; "": that of the chosen method
    found: str
    methods: tuple[Method, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.shape}, {self.dtype}, for {self.gpu}", self.reason]
        for m in self.methods:
            what = m.plan if m.plan else f"refuses: {m.refusal}"
            lines.append(f"{'*' if m.chosen else ' '} {m.method:12} {what}{'; ' + m.bound if m.bound else ''}")
        return "\n".join(lines)


# ---- requests ---------------------------------------------------------------------------------------------------


def x_first(size: Optional[Size]) -> list[int]:
    """A size in C's order from one in NumPy's."""
    if size is None:
        return [0, 0, 0]
    extents = [size] if isinstance(size, int) else list(size)
    if not 1 <= len(extents) <= 3:
        raise UsageError(f"a size has 1 to 3 extents, (nz, ny, nx), not {len(extents)}")
    return [int(e) for e in reversed(extents)] + [0] * (3 - len(extents))


def _sizes_of(key: str, value: Any, factors: bool) -> str:
    """ "32x8", or "z16" of factors, from that or from {"x": 32, "y": 8}."""
    if isinstance(value, Mapping):
        unknown = set(value) - set("xyz")
        if unknown:
            raise UsageError(f"{key} has the axes x, y and z, not {', '.join(map(repr, sorted(unknown)))}")
        if factors:
            return ",".join(f"{axis}{value[axis]}" for axis in "zyx" if axis in value)
        last = max("xyz".index(axis) for axis in value)
        return "x".join(str(value.get(axis, "")) for axis in "xyz"[: last + 1])
    if isinstance(value, (str, int)):
        return str(value)
    raise UsageError(
        f'{key} is a text, x first ("32x8", "z16"), or {{"x": 32, "y": 8}}: a tuple would not say which axis'
    )


class Request:
    """A spec with its options, as sg_build takes them; what it points to lives as long as it does."""

    def __init__(
        self, path: Optional[Path], text: Optional[str], size: Optional[Size], steps: Optional[int], matrix: Any,
        schedule: Optional[str], constants: Optional[Mapping[str, float]], words: Mapping[str, Any],
        **plain: Any,
    ) -> None:  # fmt: skip
        if path is None and text is None:
            raise UsageError("give the path of a spec, or its text=…")
        self.path = bytes_of(path)
        self.matrix = matrix
        line = [schedule] if schedule else []
        for key, (before, kind) in {
            "format": ("", "word"), "method": ("", "word"), "tile": ("tile=", "sizes"),
            "coarsen": ("coarsen=", "factors"), "vector": ("vec=", "number"), "time": ("time=", "number"),
        }.items():  # fmt: skip
            value = words.get(key)
            if value is None:
                continue
            word = _sizes_of(key, value, kind == "factors") if kind in ("sizes", "factors") else str(value)
            if not word or any(c in " \t\n=" for c in word):
                raise UsageError(f"{key}={value!r}: one word is needed")
            line.append(before + word)
        named = list((constants or {}).items())
        self._constants = (_abi.sg_constant * max(len(named), 1))(
            *[_abi.sg_constant(bytes_of(name), value) for name, value in named]
        )
        self.options = _abi.sg_build_options(
            text=None if text is None else text.encode(), schedule=" ".join(line).encode() if line else None,
            steps=steps or 0, constants=self._constants, constant_count=len(named),
            matrix=None if matrix is None else matrix.handle,
            **{key: bytes_of(value) if isinstance(value, str) else value for key, value in plain.items()},
        )  # fmt: skip
        self.options.size[:] = x_first(size)


# ---- calls ------------------------------------------------------------------------------------------------------


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
        self.changed = True  # some of them, since temporary_bytes was asked for
        self.temporary_bytes = 0
        self.has_values = False
        self.has_box = False


class Slot:
    """Memory that a call gives to one of the kernel's arrays."""

    __slots__ = ("pointer", "shape", "strides", "array", "keep", "library", "memory", "ours", "callers")

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
        self.callers = True  # what it holds is in the caller's array, or is to be put there


class Kernel(Tunable):
    """A compiled kernel: `stencilgen.build` and `stencilgen.load` make them.

    Its kind decides what it can do: `Stencil` (also of a convolution), `Reduce`, `Scan`, `Merge`, `Product`. Kernels
    do not change, and any thread may use one at any time. Calls release the interpreter's lock.
    """

    def __init__(self, context: Context, handle: int, request: Optional[Request]) -> None:
        self._handle = handle
        # A context keeps kernels that were released for a while, and unloading one waits for its launches.
        self._release = weakref.finalize(self, lib.sg_release, handle)
        self._request = request
        self.context = context
        info = _abi.sg_kernel_info()
        context.must(lib.sg_kernel_facts(handle, byref(info)))
        names = {VALUES[name]: name[3:].lower().replace("_", " ") for name in _abi.ENUMS["sg_origin"]}
        #: its facts, a KernelInfo
        self.info: KernelInfo = copy_facts(
            KernelInfo, info, origin=names.get(info.origin, ""), size=numpy_order(info.size, info.dims)
        )
        #: the arrays of a launch, in its order
        self.arrays: tuple[ArrayInfo, ...] = tuple(self._array(i) for i in range(info.arrays))
        #: the numbers that calls give by name
        self.parameters: tuple[ParameterInfo, ...] = tuple(self._parameter(i) for i in range(info.parameters))
        self._parameter_index = {p.name: i for i, p in enumerate(self.parameters)}
        self._array_index = {a.keyword: i for i, a in enumerate(self.arrays)}
        self._words = [_arrays.WORDS[np.dtype(a.dtype).str] for a in self.arrays]
        self._place = context.place
        self._is_grid = info.kind == VALUES["SG_KIND_GRID"]
        self._dims = info.dims
        self._frames: list[Frame] = []

    def _array(self, index: int) -> ArrayInfo:
        info = _abi.sg_array_info()
        self.context.must(lib.sg_kernel_array(self._handle, index, byref(info)))
        dims = self.info.dims
        return copy_facts(
            ArrayInfo, info, written=info.role == VALUES["SG_WRITE"],
            dtype=_arrays.NUMPY_NAMES.get(text_of(info.dtype), text_of(info.dtype)),
            low=numpy_order(info.low, dims), high=numpy_order(info.high, dims),
        )  # fmt: skip

    def _parameter(self, index: int) -> ParameterInfo:
        info = _abi.sg_parameter_info()
        self.context.must(lib.sg_kernel_parameter(self._handle, index, byref(info)))
        return ParameterInfo(text_of(info.name), info.value if info.has_default else None)

    # ---- texts ----

    def _text(self, which: str) -> str:
        return text_of(lib.sg_kernel_text(self._handle, VALUES[which]))

    @property
    def name(self) -> str:
        """The spec's name."""
        return self._text("SG_TEXT_NAME")

    @property
    def family(self) -> str:
        """ "stencil" (also of a convolution), "reduce", "scan", "merge", "spmv"."""
        return self._text("SG_TEXT_FAMILY")

    @property
    def shape(self) -> str:
        """ "3D star of radius 2, 13 points"."""
        return self._text("SG_TEXT_SHAPE")

    @property
    def model(self) -> str:
        """What is computed, in canonical form, one fact in each line."""
        return self._text("SG_TEXT_MODEL")

    @property
    def plan(self) -> str:
        """The schedule as a line, which `schedule=` takes again: "register tile=32x8 coarsen=z16 vec=1 time=1"."""
        return self._text("SG_TEXT_PLAN")

    @property
    def reason(self) -> str:
        """Why this plan."""
        return self._text("SG_TEXT_REASON")

    @property
    def source(self) -> str:
        """The CUDA file, which compiles as it stands."""
        return self._text("SG_TEXT_SOURCE")

    @property
    def dtype(self) -> str:
        """NumPy's name of the dtype, "float32"."""
        word = self._text("SG_TEXT_DTYPE")
        return _arrays.NUMPY_NAMES.get(word, word)

    @property
    def boundary(self) -> str:
        """ "fixed", or a word for each axis and side."""
        return self._text("SG_TEXT_BOUNDARY")

    @property
    def arch(self) -> str:
        """The architecture that it was planned for, "sm_90"."""
        return self._text("SG_TEXT_ARCH")

    def __repr__(self) -> str:
        return f"<stencilgen.{type(self).__name__} {self.name}: {self.shape}; {self.plan}>"

    def _binary(self, kind: str) -> bytes:
        binary = _abi.sg_binary()
        self.context.must(lib.sg_kernel_binary(self._handle, VALUES[kind], byref(binary)))
        return string_at(binary.data, binary.size)

    def ptx(self) -> str:
        """Its PTX, by NVRTC. Raises CompilerError without NVRTC."""
        return self._binary("SG_BINARY_PTX").decode()

    def cubin(self) -> bytes:
        """Its cubin, by NVRTC. Raises CompilerError without NVRTC."""
        return self._binary("SG_BINARY_CUBIN")

    def save(self, path: Path, device: Optional[str] = None) -> None:
        """Writes the kernel to a file, which `stencilgen.load` loads without Lua, NVRTC or a compiler.

        device: "cuda" compiles for its architecture, "cpu" for this machine's processor; None: the context's.
        """
        self.context.must(lib.sg_save(self._handle, bytes_of(path), bytes_of(device)))

    # ---- checking, measuring, explaining ----

    def check(
        self,
        *,
        size: Optional[Size] = None,
        steps: int = 0,
        seed: int = 0,
        most_points: int = 0,
        parameters: Optional[Mapping[str, float]] = None,
    ) -> Check:
        """Compares the kernel with a float64 evaluation of its spec on random data.

        size:  of the grid, (nz, ny, nx); None: the one planned for, or less
        steps: check the result of so many steps of `run`; 0: of one launch
        seed:  of the data; 0: a fresh one

        Raises CheckError if the kernel is wrong; its `result` is the Check. Kernels that were loaded have no spec to be
        compared with: UsageError.
        """
        values = self._values(parameters)
        options = _abi.sg_check_options(parameters=values, seed=seed, most_points=most_points, steps=steps)
        options.size[:] = x_first(size)
        out = _abi.sg_check_result()
        status = lib.sg_check(self._handle, byref(options), byref(out))
        if status not in (VALUES["SG_OK"], VALUES["SG_ERROR_CHECK"]):
            raise error_of(status, self.context.handle)
        sides = [out.unjudged[i] for i in range(out.unjudged_count)]
        words = tuple(f"{text_of(s.condition)} is {'true' if s.side else 'false'}: {s.taken} of {s.of}" for s in sides)
        result = copy_facts(Check, out, size=numpy_order(out.size, self._dims), unjudged=words)
        if status:
            error = error_of(status, self.context.handle)
            if isinstance(error, CheckError):
                error.result = result
            raise error
        return result

    def measure(
        self,
        *,
        size: Optional[Size] = None,
        steps: int = 0,
        repeats: int = 0,
        parameters: Optional[Mapping[str, float]] = None,
    ) -> Speed:
        """Times launches, or runs of `steps` steps, and a plain copy, on random data. Times are seconds."""
        values = self._values(parameters)
        options = _abi.sg_speed_options(parameters=values, repeats=repeats, steps=steps)
        options.size[:] = x_first(size)
        out = _abi.sg_speed()
        self.context.must(lib.sg_measure(self._handle, byref(options), byref(out)))
        return copy_facts(Speed, out, size=numpy_order(out.size, self._dims))

    def _values(self, parameters: Optional[Mapping[str, float]]) -> Any:
        """All parameters as C takes them; None: the defaults."""
        if not parameters:
            return None
        frame = self._take()
        self._set_parameters(frame, parameters)
        return frame.values

    def _asked(self, what: str) -> Request:
        if self._request is None:
            raise UsageError(f"{what} needs the kernel's spec, which a kernel from a file does not have")
        return self._request

    def explain(self) -> Explanation:
        """What each method would do with this spec, and why one was chosen."""
        request = self._asked("explain")
        out = POINTER(_abi.sg_explanation)()
        self.context.must(lib.sg_explain(self.context.handle, request.path, byref(request.options), byref(out)))
        try:
            e = out.contents
            rows = tuple(copy_facts(Method, e.rows[i]) for i in range(e.row_count))
            return copy_facts(Explanation, e, methods=rows)
        finally:
            lib.sg_explanation_free(out)

    # ---- what the calls of all kinds share ----

    def _take(self) -> Frame:
        try:
            return self._frames.pop()
        except IndexError:
            return Frame(len(self.arrays), len(self.parameters))

    def _split(self, arrays: Sequence[Any], first: Sequence[int], named: dict[str, Any]) -> list[Any]:
        """Arrays of a call, those at the indexes `first` by position; takes them out of `named`."""
        if len(arrays) > len(first):
            wanted = ", ".join(self.arrays[i].keyword for i in first)
            raise UsageError(f"'{self.name}' takes {len(first)} arrays ({wanted}), not {len(arrays)}")
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
                raise UsageError(f"'{self.name}' needs its array '{self.arrays[i].keyword}'")
        return found

    def _set_parameters(self, frame: Frame, given: Mapping[str, float]) -> None:
        for i, p in enumerate(self.parameters):
            value = given.get(p.name, p.default)
            if value is None:
                raise UsageError(f"'{self.name}' needs a value for its parameter '{p.name}'")
            frame.values[i] = value
        unknown = [key for key in given if key not in self._parameter_index]
        if unknown:
            have = ", ".join([a.keyword for a in self.arrays] + [p.name for p in self.parameters])
            raise UsageError(f"'{self.name}' has no array or parameter '{unknown[0]}'; it has {have}")
        frame.arguments.parameters = frame.values
        frame.arguments.parameter_count = len(self.parameters)
        frame.has_values = True

    def _put_parameters(self, frame: Frame, parameters: Optional[Mapping[str, float]], named: dict[str, Any]) -> None:
        if parameters:
            named = {**parameters, **named}
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
            have = _arrays.NUMPY_NAMES.get(view[3], view[3])
            raise DataError(
                f"'{info.name}' is {have}, but '{self.name}' takes {info.dtype}: "
                f"{library.cast.format(info.dtype).replace('torch.' + repr(info.dtype), 'torch.' + info.dtype)} "
                "makes a copy"
            )
        if written and view[5]:
            raise DataError(f"'{self.arrays[index].name}' is written, but its array is read-only")
        if self._is_grid and len(view[1]) != self._dims:
            raise DataError(
                f"'{self.arrays[index].name}' has {len(view[1])} axes, but '{self.name}' has {self._dims}: "
                f"({', '.join('zyx'[3 - self._dims :])})"
            )
        if view[4] != self._place and view[4] != HOST:
            here = "cpu device" if self._place == HOST else f"GPU {self._place}"
            raise DataError(
                f"'{self.arrays[index].name}' is in the memory of GPU {view[4]}, but '{self.name}' was built for the "
                f"{here}: build it with device='cuda:{view[4]}'"
            )
        return view

    def _lay(
        self, frame: Frame, index: int, pointer: int, shape: tuple[int, ...], strides: Any, library: Library
    ) -> None:
        item = frame.items[index]
        item.data = pointer
        laid = (shape, strides)
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
            size[0] = self._count(index, shape, strides, library)
        item.size[:] = size
        item.stride[:] = stride
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

    def _count(self, index: int, shape: tuple[int, ...], strides: Optional[tuple[int, ...]], library: Library) -> int:
        count = 1
        for n in shape:
            count *= n
        if strides is not None:
            step = 1
            for n, s in zip(reversed(shape), reversed(strides)):
                if n > 1 and s != step and count > 0:
                    raise DataError(f"'{self.arrays[index].name}' is not contiguous: {library.dense} makes a copy")
                step *= n
        return count

    def _bring(self, index: int, array: Any, stream: int, library: Library, written: bool = False) -> Slot:
        """A caller's array where the kernel can use it: as it is, or, of the host's for a GPU, a copy there."""
        pointer, shape, strides, _, place, _, keep = self._see(index, array, library, stream, written)
        slot = Slot(pointer, shape, strides, array, keep, library)
        slot.ours = written
        if place != self._place:
            dense = np.ascontiguousarray(_arrays.host_view(pointer, shape, strides, self._words[index], keep))
            slot.memory = Memory(self.context, dense.nbytes)
            slot.pointer, slot.strides, slot.ours, slot.callers = slot.memory.pointer, None, True, written
            self.context.must(lib.sg_upload(self.context.handle, slot.pointer, dense.ctypes.data, dense.nbytes))
        return slot

    def _fresh(self, index: int, like: Slot, shape: tuple[int, ...], stream: Optional[int]) -> Slot:
        """New memory for the kernel's array `index`, of the library of another array of the call, for work on a stream
        that the caller gave, or None."""
        word = self._words[index]
        if like.memory is not None:
            memory = Memory(self.context, _bytes(shape, word))
            slot = Slot(memory.pointer, shape, None, like.array, None, like.library)
            slot.memory = memory
        else:
            array = like.library.empty(like.array, self._place, shape, word, stream)
            pointer, keep = like.library.address(array)
            slot = Slot(pointer, shape, None, array, keep, like.library)
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
            frame.changed = False
            if not size.value:
                frame.arguments.temporary = None
                frame.arguments.temporary_bytes = 0
        if frame.temporary_bytes:
            frame.arguments.temporary = self.context.scratch(stream, frame.temporary_bytes)
            frame.arguments.temporary_bytes = frame.temporary_bytes

    def _keep(self, stream: int, library: Library, array: Any, given: Any, slots: Iterable[Any]) -> None:
        """Keeps what a launch uses until it is over, where the library does not do so by the stream's order."""
        if self._place != HOST and (library.held or (given is not None and stream != library.stream(array))):
            self.context.hold(stream, (self, list(slots)))

    def _fail(self, status: int) -> None:
        raise error_of(status, self.context.handle)


def _bytes(shape: tuple[int, ...], word: str) -> int:
    size = int(_arrays.NUMPY_DTYPES[word].itemsize)
    for extent in shape:
        size *= extent
    return size


# ---- building ---------------------------------------------------------------------------------------------------

_kinds: dict[int, type[Kernel]] = {}  # by sg_kind; each kind's file adds its own


def kernel_kind(name: str) -> Any:
    """Makes a class the one of kernels of an sg_kind."""

    def add(kind: type[Kernel]) -> type[Kernel]:
        _kinds[VALUES[name]] = kind
        return kind

    return add


def _wrap(context: Context, handle: int, request: Optional[Request]) -> Any:
    info = _abi.sg_kernel_info()
    context.must(lib.sg_kernel_facts(handle, byref(info)))
    return _kinds.get(info.kind, Kernel)(context, handle, request)


def build_request(context: Context, request: Request) -> Any:
    handle = c_void_p()
    context.must(lib.sg_build(context.handle, request.path, byref(request.options), byref(handle)))
    return _wrap(context, handle.value or 0, request)


def load(path: Path, *, device: Optional[str] = None, context: Optional[Context] = None) -> Any:
    """Loads a kernel that `Kernel.save` wrote, without Lua, NVRTC or a compiler.

    The file holds code that will run: load only files that you trust. Raises DataError if it is damaged, of another
    version of the library, or compiled for another device.
    """
    context = context or default_context(device)
    handle = c_void_p()
    context.must(lib.sg_load(context.handle, bytes_of(path), byref(handle)))
    return _wrap(context, handle.value or 0, None)


def count_specs(path: Optional[Path] = None, *, text: Optional[str] = None, context: Optional[Context] = None) -> int:
    """How many specs a file or a text returns; `build(…, index=i)` builds one of them."""
    context = context or default_context()
    count = c_int()
    encoded = None if text is None else text.encode()
    context.must(lib.sg_count_specs(context.handle, bytes_of(path), encoded, byref(count)))
    return count.value
