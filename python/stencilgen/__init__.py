"""stencilgen: kernels from short Lua specs, on your arrays.

    import stencilgen as sg

    heat = sg.build("heat13.lua", size=(512, 512, 512), steps=100)   # NumPy's order of axes: (nz, ny, nx)
    u = heat.run(u, steps=100)

    total = sg.build(text='return reduce { name = "s", dtype = "double" }')(x)
    y = sg.build(text='return spmv { name = "p", dtype = "double" }', matrix=A)(x)

A spec describes a stencil, a system of equations, a convolution, a reduction, a scan, a merge, or a product with a
sparse matrix. `build` chooses a schedule, writes a CUDA source for it and compiles it, for the GPU or, without one, for
the processor's cores.

Arrays are those of NumPy, CuPy, PyTorch and JAX, and any others with DLPack, `__cuda_array_interface__` or the buffer
protocol. They are used where they lie: an array in a GPU's memory goes in and one of the same library comes out, and
nothing is copied. Launches go on the caller's current stream and are not waited for. NumPy arrays travel to a GPU and
back. What cannot be used as it is (a wrong dtype, rows that are not contiguous) is an error that names the call
which makes a copy.

    build, load                               make kernels
    Stencil: run, launch, and calls           Reduce, Scan, Merge, Product: calls, launch
    .plan .source .model .info .arrays        look into one
    .check() .measure() .explain() .tune()    whether it is right, how fast it is, why it is so, what is faster
    .save(path)                               to load it where there is neither Lua nor a compiler
    Points, Monitor, evaluate                 sources and receivers; numbers that tell how a run does; a field by an expression
    Capture                                   snapshots that reach the host while later steps run
    Matrix, Context, results, doctor          sparse matrices, devices, tuning results, what this machine offers
    Team                                      one grid on several GPUs, by MPI, torch.distributed, NCCL or threads

Errors are exceptions: `Error`, and below it `SpecError`, `PlanError`, `DataError`, `CompilerError`, … with the text of
the library. `python -m stencilgen` is the command. docs/python.md has more.
"""

from ._arrays import from_bfloat16, to_bfloat16
from ._build import build, count_specs, evaluate, find_spec, load
from ._capture import Capture
from ._context import CacheEntry, CacheInfo, Context, DeviceInfo, Finding, default_context, doctor, version
from ._errors import (
    CheckError,
    CompilerError,
    DataError,
    DeviceError,
    Error,
    FileError,
    OutOfMemoryError,
    PlanError,
    SpecError,
    UsageError,
)
from ._facts import ArrayInfo, ParameterInfo
from ._kernel import Check, Explanation, Kernel, KernelInfo, Method, Speed
from ._lists import Found, Merge, Reduce, Scan
from ._matrix import Conversion, DeviceMatrix, Format, Matrix, MatrixInfo, Product
from ._monitors import Monitor, MonitorInfo
from ._points import Points, PointsInfo
from ._stencil import Stencil
from ._parts import Forecast, Part, forecast
from ._team import Team, TeamInfo
from ._transport import Transport, local_transports
from ._tuning import Candidate, Drift, Evaluation, Progress, Result, Tuning, drifts, results

__version__ = version()

__all__ = [
    "ArrayInfo",
    "CacheEntry",
    "CacheInfo",
    "Candidate",
    "Capture",
    "Check",
    "CheckError",
    "CompilerError",
    "Context",
    "Conversion",
    "DataError",
    "DeviceError",
    "DeviceInfo",
    "DeviceMatrix",
    "Drift",
    "Error",
    "Evaluation",
    "Explanation",
    "FileError",
    "Finding",
    "Forecast",
    "Format",
    "Found",
    "Kernel",
    "KernelInfo",
    "Matrix",
    "MatrixInfo",
    "Merge",
    "Method",
    "Monitor",
    "MonitorInfo",
    "OutOfMemoryError",
    "ParameterInfo",
    "Part",
    "PlanError",
    "Points",
    "PointsInfo",
    "Product",
    "Progress",
    "Reduce",
    "Result",
    "Scan",
    "SpecError",
    "Speed",
    "Stencil",
    "Team",
    "TeamInfo",
    "Transport",
    "Tuning",
    "UsageError",
    "build",
    "count_specs",
    "default_context",
    "doctor",
    "drifts",
    "evaluate",
    "find_spec",
    "forecast",
    "from_bfloat16",
    "load",
    "local_transports",
    "results",
    "to_bfloat16",
    "version",
]
