"""Kernels of all kinds: looking into them, saving, checking, measuring, explaining; which class is of which kind."""

from __future__ import annotations

import os
from ctypes import POINTER, byref, string_at
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

from . import _abi, _arrays
from ._abi import VALUES, lib
from ._arrays import numbers_by_name, numpy_order, whole_number, x_first
from ._calls import Caller
from ._context import Context, Shared, at_end, bytes_of, copy_facts, text_of, utf8
from ._errors import CheckError, UsageError, error_of
from ._facts import ArrayInfo, ParameterInfo, together
from ._tuning import Tunable

Path = Union[str, "os.PathLike[str]"]
Size = Union[int, Sequence[int]]


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
    memory: str  #: what the arrays of a grid take; "" for lists and matrices
    methods: tuple[Method, ...]

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.shape}, {self.dtype}, for {self.gpu}", self.reason]
        for m in self.methods:
            what = m.plan if m.plan else f"refuses: {m.refusal}"
            lines.append(f"{'*' if m.chosen else ' '} {m.method:12} {what}{'; ' + m.bound if m.bound else ''}")
        return "\n".join(lines)


class Kernel(Caller, Tunable, Shared):
    """A compiled kernel: `stencilgen.build` and `stencilgen.load` make them.

    Its kind decides what it can do: `Stencil` (also of a convolution), `Reduce`, `Scan`, `Merge`, `Product`. Kernels
    do not change, and any thread may use one at any time. Calls release the interpreter's lock.
    """

    def __init__(self, context: Context, handle: int, request: Any) -> None:
        self._handle: int = handle
        # A context keeps kernels that were released for a while, and unloading one waits for its launches.
        at_end(self, lib.sg_release, handle)
        self._request = request
        self.context = context
        info = _abi.sg_kernel_info()
        context.must(lib.sg_kernel_facts(handle, byref(info)))
        names = {VALUES[name]: name[3:].lower().replace("_", " ") for name in _abi.ENUMS["sg_origin"]}
        #: its facts, a KernelInfo
        self.info: KernelInfo = copy_facts(
            KernelInfo, info, origin=names.get(info.origin, ""), size=numpy_order(info.size, info.dims)
        )
        whole, self._parts = together([self._array(i) for i in range(info.arrays)])
        #: the arrays of a launch, in its order
        self.arrays: tuple[ArrayInfo, ...] = whole
        #: the numbers that calls give by name
        self.parameters: tuple[ParameterInfo, ...] = tuple(self._parameter(i) for i in range(info.parameters))
        self._point_sets: int = info.point_sets
        self._monitor_count: int = info.monitors
        self._prepare(handle, info.kind == VALUES["SG_KIND_GRID"], info.dims)

    def _array(self, index: int) -> ArrayInfo:
        info = _abi.sg_array_info()
        self.context.must(lib.sg_kernel_array(self._handle, index, byref(info)))
        dims = self.info.dims
        return copy_facts(
            ArrayInfo, info, components=1, written=info.role == VALUES["SG_WRITE"],
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
        """ "stencil" (also of a convolution), "system", "reduce", "scan", "merge", "spmv"."""
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
        self.context.must(lib.sg_save(self._handle, bytes_of(path), utf8("a device", device)))

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
        options = _abi.sg_check_options(
            parameters=values, seed=whole_number("seed", seed, 65), steps=whole_number("steps", steps),
            most_points=whole_number("most_points", most_points),
        )  # fmt: skip
        options.size[:] = self._extents(size)
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
        options = _abi.sg_speed_options(
            parameters=values, repeats=whole_number("repeats", repeats, 32), steps=whole_number("steps", steps)
        )
        options.size[:] = self._extents(size)
        out = _abi.sg_speed()
        self.context.must(lib.sg_measure(self._handle, byref(options), byref(out)))
        return copy_facts(Speed, out, size=numpy_order(out.size, self._dims))

    def _values(self, parameters: Optional[Mapping[str, float]]) -> Any:
        """All parameters as C takes them; None: the defaults."""
        if not parameters:
            return None
        frame = self._take()
        self._set_parameters(frame, numbers_by_name("parameters", parameters))
        return frame.values

    def _extents(self, size: Optional[Size]) -> list[int]:
        extents = x_first(size)
        if size is not None and self._is_grid and 0 in extents[: self.info.dims]:
            raise UsageError(f"a size of '{self.name}' has {self.info.dims} extents of at least 1, not {size!r}")
        return extents

    def _asked(self, what: str) -> Any:
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


_kinds: dict[int, type[Kernel]] = {}  # by sg_kind; each kind's file adds its own


def kernel_kind(name: str) -> Any:
    """Makes a class the one of kernels of an sg_kind."""

    def add(kind: type[Kernel]) -> type[Kernel]:
        _kinds[VALUES[name]] = kind
        return kind

    return add


def wrap(context: Context, handle: int, request: Any) -> Any:
    info = _abi.sg_kernel_info()
    context.must(lib.sg_kernel_facts(handle, byref(info)))
    return _kinds.get(info.kind, Kernel)(context, handle, request)
