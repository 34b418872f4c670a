"""Points of a run: sources that add samples to a field between its cells, and receivers that record it."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_double, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from . import _abi
from ._errors import DataError, Error, UsageError
from ._interrupts import Interrupts


@dataclass(frozen=True)
class PointsInfo:
    """A set of points that a spec declares."""

    name: str
    field: str
    injects: bool  #: it adds to the field; else it records the field


class Points:
    """Points between the cells of a grid, for `run(…, points={"shot": shot, "rec": rec})`.

        shot = stencilgen.Points([[50.5, 20.0]], series=wavelet)       # injects: (steps, n) samples
        rec = stencilgen.Points(positions)                             # records: rec.traces is (steps, n) after the run

    positions: (n, dims) numbers in cells, x first: from 0 to nx - 1, ny - 1, nz - 1. Values between cells are multilinear
    series:    of a set that injects: an array in the host's memory with a row for each step of the run, from step 0 on, and
               a column for each point, which becomes one of the kernel's dtype; or a function series(first, steps) that
               returns these rows of it
    traces:    of a set that records: such an array to be written, of the kernel's dtype and contiguous; None: `run` makes
               one, with a row for each step up to its last; or a function traces(first, samples) that takes the rows from
               step `first` on and must copy what it keeps

    The rows of a run with `step` begin at this number, so a run may be made in parts. In a team every rank gives all points,
    with positions in the whole grid, and all series; traces end at rank 0, and stay None elsewhere.
    """

    def __init__(
        self,
        positions: Any,
        *,
        series: Any = None,
        traces: Any = None,
    ) -> None:
        self.positions = positions
        self.series = series
        #: after a run: what was recorded, (steps, n)
        self.traces = traces
        self._made = traces is None

    @property
    def positions(self) -> Any:
        """(n, dims), float64, x first"""
        return self._positions

    @positions.setter
    def positions(self, positions: Any) -> None:
        self._positions = np.ascontiguousarray(positions, np.float64)  # C reads so many doubles
        if self._positions.ndim != 2:
            raise DataError(f"positions have the shape (points, dims), not {self._positions.shape}")

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"<stencilgen.Points: {len(self)}, {'silent' if self.series is None else 'with a series'}>"

    def _rows(self, series: Any, dtype: Any, least: int) -> Any:
        """Samples as C takes them."""
        rows = np.asarray(series)
        if not np.can_cast(rows.dtype, dtype, "same_kind"):
            raise DataError(f"a series of {rows.dtype.name} has no samples of {np.dtype(dtype).name}")
        rows = np.ascontiguousarray(rows, dtype)
        if rows.ndim == 1 and len(self) == 1:
            rows = rows.reshape(-1, 1)
        if rows.ndim != 2 or rows.shape[1] != len(self) or rows.shape[0] < least:
            raise DataError(f"a series has the shape {rows.shape}, but {least} steps of {len(self)} points are needed")
        return rows

    def _room(self, dtype: Any, least: int) -> Any:
        """Memory for traces up to a step."""
        if self._made and (self.traces is None or len(self.traces) < least or self.traces.dtype != dtype):
            made = np.zeros((least, len(self)), dtype)
            if self.traces is not None:
                made[: len(self.traces)] = self.traces
            self.traces = made
        t = self.traces
        if not isinstance(t, np.ndarray) or t.dtype != dtype or not t.flags.c_contiguous or not t.flags.writeable:
            raise DataError(f"traces are a writable, contiguous NumPy array of {np.dtype(dtype).name}")
        if t.ndim != 2 or t.shape[1] != len(self) or t.shape[0] < least:
            raise DataError(f"traces have the shape {t.shape}, but {least} steps of {len(self)} points are recorded")
        return t


class OpenPoints(Interrupts):
    """The sets of a run on the device. What functions of the caller's raise waits here until the C call is over."""

    def __init__(
        self, way: Any, kernel: Any, dims: int, infos: Sequence[PointsInfo], given: Mapping[str, Points], dtype: Any,
        first: int, steps: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.raised: Optional[BaseException] = None
        self.way = way
        self.handle = c_void_p()
        self._keep: list[Any] = []
        sets = (_abi.sg_points * max(len(infos), 1))()
        for item, info in zip(sets, infos):
            self._fill(item, info, given[info.name], dims, np.dtype(dtype), first + steps)
        way.must(lambda: way.open_points(kernel, sets, len(infos), self.handle))

    def _fill(self, item: Any, info: PointsInfo, points: Points, dims: int, dtype: Any, least: int) -> None:
        if points.positions.shape[1] != dims:
            raise DataError(
                f"points '{info.name}' have positions of {points.positions.shape[1]} numbers, but the grid has {dims} axes"
            )
        item.struct_size = ctypes.sizeof(item)
        name = info.name.encode()
        item.name, item.count = name, len(points)
        item.positions = points.positions.ctypes.data_as(POINTER(c_double))
        self._keep += [name, points]
        if info.injects and points.series is None:
            raise UsageError(f"points '{info.name}' inject: give them a series=…")
        if not info.injects and points.series is not None:
            raise UsageError(f"points '{info.name}' record, and take no series")
        if info.injects and callable(points.series):
            item.read = _abi.sg_points_read(self._reader(points, dtype))
        elif info.injects:
            rows = points._rows(points.series, dtype, least)
            self._keep.append(rows)
            item.series = rows.ctypes.data
        elif not self.way.records:
            pass
        elif callable(points.traces):
            item.write = _abi.sg_points_write(self._writer(points, dtype))
        else:
            item.traces = points._room(dtype, least).ctypes.data
        self._keep += [item.read, item.write]

    def _guarded(self, work: Callable[[int, int, int], None]) -> Callable[..., int]:
        def call(_: Any, first: int, steps: int, samples: int) -> int:
            try:
                if self.interrupted:
                    raise KeyboardInterrupt
                work(first, steps, samples)
                return 0
            except BaseException as raised:
                self.raised = raised
                return 1

        return call

    def _reader(self, points: Points, dtype: Any) -> Callable[..., int]:
        def read(first: int, steps: int, samples: int) -> None:
            rows = points._rows(points.series(first, steps), dtype, steps)
            ctypes.memmove(samples, rows.ctypes.data, steps * len(points) * dtype.itemsize)

        return self._guarded(read)

    def _writer(self, points: Points, dtype: Any) -> Callable[..., int]:
        def write(first: int, steps: int, samples: int) -> None:
            memory = (ctypes.c_char * (steps * len(points) * dtype.itemsize)).from_address(samples)
            points.traces(first, np.frombuffer(memory, dtype).reshape(steps, len(points)))

        return self._guarded(write)

    def run(self, arguments: Any, steps: int, stream: int, final: Any) -> None:
        """Makes steps. Raises what a function of the caller's raised, or what the library said."""
        failure = None
        with self:
            try:
                self.way.must(lambda: self.way.run_points(self.handle, arguments, steps, stream, final))
            except Error as error:
                failure = error
        raised, self.raised = self.raised, None
        if raised is not None:
            raise raised
        if failure is not None:
            raise failure

    def close(self) -> None:
        self.way.close_points(self.handle)


def check_names(name: str, infos: Sequence[PointsInfo], given: Optional[Mapping[str, Points]]) -> Mapping[str, Points]:
    """The points of a run, each set of the kernel's once."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise UsageError(f"points=… is a dict of stencilgen.Points by name, not a {type(given).__name__}")
    declared = [info.name for info in infos]
    for key, points in given.items():
        if key not in declared:
            raise UsageError(f"'{name}' has no points '{key}'; it has {', '.join(declared) or 'none'}")
        if not isinstance(points, Points):
            raise UsageError(f"points '{key}' are a stencilgen.Points, not a {type(points).__name__}")
    for key in declared:
        if key not in given:
            raise UsageError(f"'{name}' has points '{key}': give points={{'{key}': stencilgen.Points(…)}}")
    return given
