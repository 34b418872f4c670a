"""Which functions of the library open, make and close the points and monitors of a run: of one rank, or of a team."""

from __future__ import annotations

from ctypes import byref, c_int64
from typing import Any, Callable, Sequence

from ._abi import lib
from ._context import Context


class Alone:
    """One rank, whose arrays are the whole grid of this shape."""

    records = True  # traces end here
    run_points = lib.sg_run_points
    close_points = lib.sg_points_close
    sample = lib.sg_monitor_sample
    read = lib.sg_monitor_read
    close_monitor = lib.sg_monitor_close

    def __init__(self, context: Context, shape: Sequence[int]) -> None:
        self.context = context
        self.size = (c_int64 * 3)(*reversed(shape), *[1] * (3 - len(shape)))

    def must(self, call: Callable[[], int]) -> None:
        """Makes a call of the library. Raises what it said."""
        self.context.must(call())

    def open_points(self, kernel: int, sets: Any, count: int, out: Any) -> int:
        return int(lib.sg_points_open(kernel, self.size, sets, count, byref(out)))

    def open_monitor(self, kernel: int, map: int, out: Any) -> int:
        return int(lib.sg_monitor_open(kernel, map, self.size, byref(out)))

    def agreed(self, ended: bool) -> bool:
        """Whether a rank says so."""
        return ended

    def tell(self, error: BaseException) -> None:
        """Tells the other ranks why this one goes."""

    def settle(self, stream: int) -> None:
        """Waits for what is under way after an error, whatever becomes of it."""
        lib.sg_synchronize(self.context.handle, stream)


class Together:
    """A rank of a team, on its part of the grid."""

    run_points = lib.sg_team_run_points
    close_points = lib.sg_team_points_close
    sample = lib.sg_team_monitor_sample
    read = lib.sg_team_monitor_read
    close_monitor = lib.sg_team_monitor_close

    def __init__(self, team: Any, part: Any) -> None:
        self.records = team.rank == 0
        self.team, self.part = team, part
        self.must = team._must
        self.tell = team._tell

    def open_points(self, kernel: int, sets: Any, count: int, out: Any) -> int:
        return int(lib.sg_team_points_open(self.team._open(), kernel, byref(self.part), sets, count, byref(out)))

    def open_monitor(self, kernel: int, map: int, out: Any) -> int:
        return int(lib.sg_team_monitor_open(self.team._open(), kernel, map, byref(self.part), byref(out)))

    def agreed(self, ended: bool) -> bool:
        return bool(self.team.reduce("max", ended) > 0)

    def settle(self, stream: int) -> None:
        """No longer than the team's time limit, since others may never send what is waited for."""
        lib.sg_team_wait(self.team._open(), stream)
