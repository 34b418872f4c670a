"""`build`: from a spec and options to a kernel."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Union

from ._context import Context, default_context
from ._kernel import Path, Request, Size, build_request
from ._matrix import matrix_of

Sizes = Union[str, int, Mapping[str, int]]


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
    arch, gpu: plan and compile for this architecture ("sm_90"), plan for this board ("H200"); None: the device's own
    compile:   False stops before compiling: the kernel has a source and a plan, and cannot be launched
    device:    "auto", "cuda", "cuda:1", "cpu": the process's context for it; None: auto, a GPU where there is one
    context:   one of your own

    Returns a `Stencil`, `Reduce`, `Scan`, `Merge` or `Product`, by the spec. Raises SpecError (file:line), PlanError
    where the schedule cannot serve the spec, CompilerError with the log, UsageError for options.
    """
    context = context or default_context(device)
    words = {
        "format": format, "method": method, "tile": tile, "coarsen": coarsen, "vector": vector, "time": time,
    }  # fmt: skip
    request = Request(
        path, text, size, steps, matrix_of(matrix, context), schedule, constants, words, index=index, arch=arch, gpu=gpu,
        source_only=int(not compile),
    )  # fmt: skip
    return build_request(context, request)
