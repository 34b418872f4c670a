"""Parts of a grid that the ranks of a team have, and what a team would take, by a model."""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence

import numpy as np

from . import _abi
from ._abi import VALUES, lib
from ._arrays import numpy_order, whole_number, x_first
from ._build import Path, request_of
from ._context import Context, copy_facts, default_context
from ._errors import UsageError


@dataclass(frozen=True)
class Part:
    """A rank's part of a grid. Axes are NumPy's: (z, y, x). `u[part.own] = whole[part.box]` fills an array."""

    shape: tuple[int, ...]  #: of this rank's arrays: its own cells, and ghost cells round them where other parts begin
    own: tuple[slice, ...]  #: its own cells in these arrays
    box: tuple[slice, ...]  #: the same cells in the whole grid
    size: tuple[int, ...]  #: of the whole grid
    ranks: tuple[int, ...]  #: the process grid
    place: tuple[int, ...]  #: of this rank in it
    low: tuple[int, ...]  #: ghost cells before its own, along each axis
    high: tuple[int, ...]  #: ghost cells behind them
    launches: int  #: between two exchanges of ghost cells
    steps: int  #: that a launch makes: fewer than the kernel can, where parts are too thin
    _struct: Any = field(repr=False, compare=False, default=None)

    def cut(self, whole: Any) -> Any:
        """A NumPy array of `shape` with this rank's own cells of a whole grid (a NumPy array, also a memory-mapped one);
        its ghost cells are 0, and `Team.run` fills them. Components of a field come first, as in the whole grid."""
        out = np.zeros((*whole.shape[: whole.ndim - len(self.shape)], *self.shape), whole.dtype)
        own: Any = (..., *self.own)
        out[own] = whole[(..., *self.box)]
        return out


@dataclass(frozen=True)
class Forecast:
    """What a team would take, by the model of docs/scaling.md, for a part with as many neighbours as one can have. Seconds
    are a step's; bytes and messages an exchange's, of which there is one in part.steps * part.launches steps."""

    part: Part
    link: str
    latency: float  #: of the link, in seconds
    rate: float  #: of the link, bytes a second
    bytes: int  #: that the rank sends in an exchange
    messages: int
    alone_seconds: float  #: of the whole grid on one rank
    interior_seconds: float  #: without exchanges
    exchange_seconds: float  #: of exchanges, hidden or not
    seconds: float  #: of all
    hidden: bool  #: exchanges are hidden behind the interior, as far as it is longer


LINKS = {"stores": "SG_LINK_STORES", "nccl": "SG_LINK_NCCL", "network": "SG_LINK_NETWORK", "host": "SG_LINK_HOST"}


def asked_part(ranks: Optional[Sequence[int]], launches: int) -> Any:
    """A part that is asked for; `ranks` is a process grid (z, y, x), or None."""
    part = _abi.sg_team_part(launches=whole_number("launches", launches, 32))
    if ranks is not None:
        part.ranks[:] = [whole_number("ranks", n or 1, 32) for n in x_first(ranks)]
    return part


def part_of(part: Any, dims: int) -> Part:
    """The part that a struct holds."""
    low, begin, end = (numpy_order(numbers, dims) for numbers in (part.low, part.begin, part.end))
    return Part(
        shape=numpy_order(part.size, dims), size=numpy_order(getattr(part, "global"), dims),
        own=tuple(slice(at, at + e - b) for at, b, e in zip(low, begin, end)),
        box=tuple(slice(b, e) for b, e in zip(begin, end)),
        ranks=numpy_order(part.ranks, dims), place=numpy_order(part.place, dims), low=low,
        high=numpy_order(part.high, dims), launches=part.launches, steps=part.steps, _struct=part,
    )  # fmt: skip


def forecast(
    path: Optional[Path] = None,
    *,
    ranks: int,
    link: str = "nccl",
    grid: Optional[Sequence[int]] = None,
    launches: int = 0,
    context: Optional[Context] = None,
    **options: Any,
) -> Forecast:
    """What a team of so many ranks would do with a grid, without such a team; nothing is compiled.

        told = stencilgen.forecast("heat13.lua", size=(512, 512, 512), gpu="h200", ranks=8)
        print(told.alone_seconds / told.seconds / 8)      # the efficiency

    ranks:    how many
    link:     "stores" into each other's memory over NVLink, "nccl" over NVLink, "network": NCCL over 400 Gb/s a GPU, "host":
              MPI through host memory
    grid:     the process grid, (z, y, x) as sizes; None: chosen
    launches: between two exchanges; 0: chosen
    options:  those of `build`; `size` is the whole grid's
    """
    if link not in LINKS:
        raise UsageError(f"there is no link '{link}': it is {', '.join(LINKS)}")
    context = context or default_context()
    request = request_of(context, path, **options)
    part, out = asked_part(grid, launches), _abi.sg_team_forecast()
    context.must(
        lib.sg_team_estimate(
            context.handle, request.path, byref(request.options), whole_number("ranks", ranks, 32),
            VALUES[LINKS[link]], byref(part), byref(out),
        )  # fmt: skip
    )
    dims = max(len([n for n in request.options.size if n]), 1)
    return copy_facts(Forecast, out, part=part_of(part, dims), link=link)
