"""`build` and `load`: from a spec and options, or from a file, to a kernel."""

from __future__ import annotations

import os
from ctypes import POINTER, byref, c_double, c_int, c_int64, c_void_p
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _abi
from ._abi import lib
from ._arrays import numbers_by_name, numpy_order, ranges_of, real_number, whole_number, x_first
from ._context import Context, bytes_of, default_context, utf8
from ._errors import UsageError
from ._kernel import wrap
from ._matrix import matrix_of

Path = Union[str, "os.PathLike[str]"]
Size = Union[int, Sequence[int]]
Sizes = Union[str, int, Mapping[str, int]]


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


# The words of a schedule: what stands before a value in its line, and what the value is.
_WORDS = {
    "format": ("", "word"), "method": ("", "word"), "tile": ("tile=", "sizes"), "coarsen": ("coarsen=", "factors"),
    "vector": ("vec=", "number"), "time": ("time=", "number"),
}  # fmt: skip


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
        utf8("a schedule", schedule)
        line = [schedule] if schedule else []
        for key, (before, kind) in _WORDS.items():
            value = words.get(key)
            if value is None:
                continue
            word = _sizes_of(key, value, kind == "factors") if kind in ("sizes", "factors") else str(value)
            if not word or any(c in " \t\n=" for c in word):
                raise UsageError(f"{key}={value!r}: one word is needed")
            line.append(before + word)
        named = list(numbers_by_name("constants", constants).items())
        self._constants = (_abi.sg_constant * max(len(named), 1))(
            *[
                _abi.sg_constant(utf8("a constant's name", name), real_number(f"the constant '{name}'", value))
                for name, value in named
            ]
        )
        self.options = _abi.sg_build_options(
            text=utf8("the text of a spec", text), schedule=" ".join(line).encode() if line else None,
            steps=whole_number("steps", steps or 0), constants=self._constants, constant_count=len(named),
            matrix=None if matrix is None else matrix.handle,
            **plain,
        )  # fmt: skip
        self.options.size[:] = x_first(size)
        self.axes = 0 if size is None else len(size) if hasattr(size, "__len__") else 1


def request_of(
    context: Context, path: Optional[Path], *, text: Optional[str] = None, size: Optional[Size] = None,
    steps: Optional[int] = None, matrix: Any = None, constants: Optional[Mapping[str, float]] = None,
    schedule: Optional[str] = None, compile: bool = True, index: int = 0, name: Optional[str] = None,
    arch: Optional[str] = None, gpu: Optional[str] = None, **words: Any,
) -> Request:  # fmt: skip
    """The options of `build`; `words` are those of the schedule."""
    unknown = [word for word in words if word not in _WORDS]
    if unknown:
        raise TypeError(f"there is no option '{unknown[0]}' of a build")
    return Request(
        path, text, size, steps, matrix_of(matrix, context), schedule, constants, words, name=utf8("a name", name),
        arch=utf8("arch", arch), gpu=utf8("gpu", gpu), index=whole_number("index", index, 32), source_only=int(not compile),
    )  # fmt: skip


def build(
    path: Optional[Path] = None,
    *,
    text: Optional[str] = None,
    size: Optional[Size] = None,
    steps: Optional[int] = None,
    matrix: Any = None,
    constants: Optional[Mapping[str, float]] = None,
    method: Optional[str] = None,
    tile: Optional[Sizes] = None,
    coarsen: Optional[Sizes] = None,
    vector: Optional[int] = None,
    time: Optional[int] = None,
    format: Optional[str] = None,
    schedule: Optional[str] = None,
    index: int = 0,
    name: Optional[str] = None,
    arch: Optional[str] = None,
    gpu: Optional[str] = None,
    compile: bool = True,
    device: Optional[str] = None,
    context: Optional[Context] = None,
) -> Any:
    """Builds the kernel of a spec: loads it, plans, writes the source, compiles, loads.

        heat = stencilgen.build("heat13.lua", size=(512, 512, 512), steps=100)

    A repeated call is quick: the context remembers its kernels, and the cache on disk has what any process compiled.

    path:      of the spec, a Lua file; with `text`, what messages call it
    text:      the spec itself
    size:      what to plan for, in NumPy's order: (nz, ny, nx), or the number of elements of a list. It guides the
               choice of the schedule: a kernel runs on arrays of every size
    steps:     of a stencil: how many `run` will make at a time; with more than one, a launch may fuse several
    matrix:    of an spmv: a matrix of scipy.sparse, the path of a .mtx file, or a `Matrix`; `auto` chooses the format
               for it, and calls multiply with it
    constants: parameters of the spec that become numbers in the source, {"k": 0.1}; calls do not give them any more
    method:    of a stencil ("register"), or algorithm of a list or product ("kogge-stone"); `explain` lists them
    tile:      points that a block computes at once, x first: "32x8" or {"x": 32, "y": 8}
    coarsen:   times a block repeats its tile: "z16" or {"z": 16}
    vector:    points along x that a thread loads at once
    time:      time steps fused into one launch
    format:    of an spmv: "csr", "sell", …; "auto"
    schedule:  all of these as one line, as `plan` shows it: "register tile=32x8 coarsen=z16"
    index:     which of the specs that the file returns, from 0
    name:      the one of this name
    arch, gpu: plan and compile for this architecture ("sm_90"), plan for this board ("H200"); None: the device's own
    compile:   False stops before compiling: the kernel has a source and a plan, and cannot be launched
    device:    "auto", "cuda", "cuda:1", "cpu": the process's context for it; None: auto, a GPU where there is one
    context:   one of your own

    Returns a `Stencil`, `Reduce`, `Scan`, `Merge` or `Product`, by the spec. Raises SpecError (file:line), PlanError
    where the schedule cannot serve the spec, CompilerError with the log, UsageError for options.
    """
    context = context or default_context(device)
    request = request_of(
        context, path, text=text, size=size, steps=steps, matrix=matrix, constants=constants, method=method, tile=tile,
        coarsen=coarsen, vector=vector, time=time, format=format, schedule=schedule, index=index, name=name, arch=arch,
        gpu=gpu, compile=compile,
    )  # fmt: skip
    handle = c_void_p()
    context.must(lib.sg_build(context.handle, request.path, byref(request.options), byref(handle)))
    kernel = wrap(context, handle.value or 0, request)
    if kernel._is_grid and request.axes not in (0, kernel.info.dims):
        extents = f"{request.axes} extent{'s' if request.axes != 1 else ''}"
        raise UsageError(f"size has {extents}, but '{kernel.name}' has {kernel.info.dims} dimensions")
    return kernel


def load(path: Path, *, device: Optional[str] = None, context: Optional[Context] = None) -> Any:
    """Loads a kernel that `Kernel.save` wrote, without Lua, NVRTC or a compiler.

    The file holds code that will run: load only files that you trust. Raises DataError if it is damaged, of another
    version of the library, or compiled for another device.
    """
    context = context or default_context(device)
    handle = c_void_p()
    context.must(lib.sg_load(context.handle, bytes_of(path), byref(handle)))
    return wrap(context, handle.value or 0, None)


def count_specs(path: Optional[Path] = None, *, text: Optional[str] = None, context: Optional[Context] = None) -> int:
    """How many specs a file or a text returns; `build(…, index=i)` builds one of them."""
    context = context or default_context()
    count = c_int()
    encoded = utf8("the text of a spec", text)
    context.must(lib.sg_count_specs(context.handle, bytes_of(path), encoded, byref(count)))
    return count.value


def find_spec(
    name: str, path: Optional[Path] = None, *, text: Optional[str] = None, context: Optional[Context] = None
) -> int:
    """The index of the spec of a name in a file or a text, as `build(…, index=i)` takes it. Raises UsageError, with the
    names that there are."""
    context = context or default_context()
    index = c_int()
    encoded = utf8("the text of a spec", text)
    context.must(lib.sg_find_spec(context.handle, bytes_of(path), encoded, utf8("a name", name), byref(index)))
    return index.value


def evaluate(
    expression: str,
    size: Size,
    *,
    dtype: Any = "float32",
    box: Optional[Sequence[slice]] = None,
    name: Optional[str] = None,
    context: Optional[Context] = None,
) -> Any:
    """The values of a field by an expression, as a NumPy array: what a run may begin with.

        u = stencilgen.evaluate("where(lt(hypot(x - nx/2, y - ny/2), 8), 0.25, 0)", (256, 256))

    expression: one of Lua, with the functions of specs, hypot and pi; x, y and z are the indices of the cell, from 0, and
                nx, ny and nz the extents of the grid
    size:       of the grid, (nz, ny, nx)
    dtype:      of the array; the expression is evaluated in float64
    box:        slices of the grid, such as `part.box` of a rank: only these cells
    name:       what errors call the expression

    Raises SpecError: "expression:1: error: unknown name 'w'; …".
    """
    context = context or default_context()
    whole = x_first(size)
    if min(whole) < 0:
        raise UsageError(f"the size {size!r} is negative")
    extents = numpy_order(whole, len(size) if hasattr(size, "__len__") else 1)
    ranges = [(0, n) for n in extents] if box is None else ranges_of(box, extents)
    shape = tuple(max(end - begin, 0) for begin, end in ranges)
    values = np.empty(shape, np.float64)
    if values.size == 0:
        return values.astype(dtype)
    begin = [b for b, _ in reversed(ranges)] + [0] * (3 - len(ranges))
    end = [e for _, e in reversed(ranges)] + [1] * (3 - len(ranges))
    triples = [(c_int64 * 3)(*three) for three in ([n or 1 for n in whole], begin, end)]
    out = values.ctypes.data_as(POINTER(c_double))
    context.must(lib.sg_evaluate_field(context.handle, bytes_of(name), utf8("an expression", expression), *triples, out))
    return values.astype(dtype, copy=False)
