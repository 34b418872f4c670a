"""Teams: ranks that run one grid together, each on its own part."""

from __future__ import annotations

import ctypes
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_void_p
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar, Union

import numpy as np

from . import _abi, _arrays
from ._abi import VALUES, lib
from ._arrays import x_first
from ._build import Path, Size, request_of
from ._calls import Frame, Slot
from ._context import Context, Handle, at_end, bytes_of, copy_facts, default_context
from ._errors import DeviceError, Error, UsageError
from ._kernel import wrap
from ._monitors import Monitor
from ._parts import Part, asked_part, part_of
from ._points import OpenPoints, Points
from ._stencil import Stencil
from ._transport import Bridge, TorchTransport, local_transports, transport_of
from ._ways import Together

T = TypeVar("T")

# Runs are made in batches that all ranks wait for together, of about this many seconds, since a team's time limit is for
# waiting alone. On a GPU a run of no more launches than the first batch has is not waited for.
_BATCH_SECONDS = 1.0
_FIRST_BATCH = 256  # launches

COMBINE = {"sum": "SG_COMBINE_SUM", "min": "SG_COMBINE_MIN", "max": "SG_COMBINE_MAX"}


@dataclass(frozen=True)
class TeamInfo:
    """Facts of a team."""

    rank: int
    ranks: int
    engine: str  #: what carries ghost cells: "NCCL 2.28.3", "Open MPI 4.1.4 through host memory"
    seconds: float  #: the time limit
    exchanges: int  #: of ghost cells, by this rank
    bytes: int  #: that this rank sent in them
    exchange_seconds: float  #: in which this rank waited for them; -1: not measured on GPUs' streams
    hidden_seconds: float  #: of exchanges while computing went on; -1: as above


class Team(Handle):
    """Ranks that run one grid together: processes or threads, each with a GPU, or on the cpu device.

        from mpi4py import MPI
        with stencilgen.Team(MPI.COMM_WORLD) as team:
            heat = team.build("heat13.lua", size=(nz, ny, nx), steps=100)   # of the whole grid
            part = team.part(heat, (nz, ny, nx))
            u = part.cut(whole)                                             # this rank's cells, and room for ghost cells
            u = team.run(heat, part, u, steps=100)
            total = team.reduce("sum", u[part.own].sum())

    The result is that of one rank, byte for byte, under the same schedule.

    over: how the ranks reach each other:
          - a communicator of mpi4py
          - a process group of torch.distributed (`torch.distributed.group.WORLD`), of any backend: the team makes a gloo
            group of the same processes for what does not go from GPU to GPU
          - an ncclComm_t as an integer (`communicator.comm` of CuPy's), which outlives the team
          - the 128 bytes of an ncclUniqueId, with `rank` and `ranks`
          - a `Transport` of your own, or one of `local_transports`
    device:  "auto", "cuda" (the GPU that the launcher gives this rank; with torch.distributed PyTorch's current one),
             "cuda:1", "cpu"; or `context`, one of your own
    nccl:    path of NCCL's library; "none": ghost cells go by the transport; None: SG_NCCL, else searched for
    seconds: the time limit: how long a rank waits for another; 0: 120

    All methods but `info` and `close` are collective: all ranks call them in the same order, with the same arguments but
    for arrays. If one fails on one rank, it fails on all, within the time limit, with the rank and its cause in the text.
    Leave the team by `with`: an exception inside it ends the team on all ranks. One thread at a time may use a team.

    Raises UsageError where ranks differ in version or device, DeviceError where a rank does not answer.
    """

    def __init__(
        self,
        over: Any,
        *,
        rank: int = 0,
        ranks: int = 0,
        device: Optional[str] = None,
        context: Optional[Context] = None,
        nccl: Union[Path, None] = None,
        seconds: float = 0.0,
    ) -> None:
        options = _abi.sg_team_options(nccl=bytes_of(nccl), seconds=seconds)
        self._bridge: Optional[Bridge] = None
        self._struct: Any = None  # the transport
        self._interrupted = False  # on another thread
        local = -1
        if isinstance(over, _abi.sg_transport):
            self._struct, local = over, over.rank
        elif isinstance(over, int):
            options.nccl_comm = over
        elif isinstance(over, bytes):
            if len(over) != 128:
                raise UsageError(f"an ncclUniqueId has 128 bytes, not {len(over)}")
            options.nccl_unique_id = ctypes.cast(c_char_p(over), c_void_p)
            options.rank, options.ranks = rank, ranks
        else:
            transport = transport_of(over, seconds or 120.0)
            if transport is None:
                raise UsageError(
                    f"no team can be made over a {type(over).__name__}: give a communicator of mpi4py, a process group "
                    "of torch.distributed, an ncclComm_t as an integer, or a Transport"
                )
            if isinstance(transport, TorchTransport) and transport.torch.cuda.is_available():
                local = transport.torch.cuda.current_device()
            self._bridge = Bridge(transport)
            self._struct = self._bridge.struct
        try:
            self.context: Context = context or default_context(_device(device, local))
        except BaseException as error:
            self._tell(error)
            if self._struct is not None:
                self._struct.close(self._struct.user)
            raise
        if self._struct is not None:
            options.transport = POINTER(_abi.sg_transport)(self._struct)
        handle = c_void_p()
        self._handle = 0
        self._must(lambda: lib.sg_team_open(self.context.handle, byref(options), byref(handle)))
        self._handle = handle.value or 0
        # What C calls and reads lives until the team is closed.
        self._close = at_end(self, _close, self._handle, (self._bridge, self._struct, over, self.context))
        info = self.info
        #: this one's number, from 0
        self.rank: int = info.rank
        #: how many there are
        self.ranks: int = info.ranks

    @staticmethod
    def local(
        ranks: int,
        work: Callable[[Team], T],
        *,
        device: Optional[str] = None,
        nccl: Union[Path, None] = None,
        seconds: float = 0.0,
    ) -> list[T]:
        """Calls work(team) on a thread for each of `ranks` ranks of this process, which take its GPUs in turns. Waits for
        all, and returns what they return, by rank.

            totals = stencilgen.Team.local(4, simulate)

        Raises what the first rank to fail raised; the others' calls fail, too. On the cpu device ranks share the cores:
        that tests a program, and makes nothing faster.
        """
        transports = local_transports(ranks)
        results: list[Any] = [None] * ranks
        failures: list[BaseException] = []
        teams: list[Team] = []  # that are open
        lock = threading.Lock()

        def one(rank: int) -> None:
            try:
                with Team(transports[rank], device=device, nccl=nccl, seconds=seconds) as team:
                    with lock:
                        teams.append(team)
                    try:
                        results[rank] = work(team)
                    except BaseException as raised:  # before the others hear of it
                        failures.append(raised)
                        raise
                    finally:
                        with lock:
                            teams.remove(team)
            except BaseException as raised:
                failures.append(raised)

        threads = [threading.Thread(target=one, args=(rank,), daemon=True) for rank in range(ranks)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException as raised:  # an interrupt
            failures.insert(0, raised)
            with lock:
                for team in teams:
                    team._interrupted = True
                    team._tell(raised)
            for thread in threads:
                thread.join()
        if failures:  # other ranks hear of a failure by a DeviceError, some before the rank that failed is here
            raise next((f for f in failures if not isinstance(f, DeviceError)), failures[0])
        return results

    # ---- the end ----

    def close(self) -> None:
        """Leaves the team; `with` does so. Ranks do not wait for each other."""
        self._handle = 0
        self._close()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, _: Any, error: Optional[BaseException], __: Any) -> None:
        if error is not None and self._handle:
            self._tell(error)
        self.close()

    def __repr__(self) -> str:
        return f"<stencilgen.Team: rank {self.rank} of {self.ranks}{'' if self._handle else ', closed'}>"

    def _tell(self, error: BaseException) -> None:
        """Tells the other ranks why this one goes."""
        if self._struct is not None:
            text = f"rank {self._struct.rank}: {error or type(error).__name__}"
            self._struct.abandon(self._struct.user, text.encode()[:255])

    def _must(self, call: Callable[[], int]) -> None:
        """Makes a call of the C library. Raises what it said, or what a callback met."""
        bridge = self._bridge
        if bridge is None:
            self.context.must(call())
            return
        with bridge:
            status = call()
        raised, bridge.raised = bridge.raised, None
        if status and isinstance(raised, Exception):
            try:
                self.context.must(status)
            except Error as error:
                raise error from raised
        if raised is not None and not isinstance(raised, (Exception, KeyboardInterrupt)):
            raise raised
        self.context.must(status)

    def _open(self) -> int:
        if not self._handle:
            raise UsageError("the team is closed")
        return self._handle

    # ---- what ranks do together ----

    @property
    def info(self) -> TeamInfo:
        """Its facts."""
        out = _abi.sg_team_info()
        self.context.must(lib.sg_team_facts(self._open(), byref(out)))
        return copy_facts(TeamInfo, out)

    def build(self, path: Optional[Path] = None, *, ranks: Optional[Sequence[int]] = None, **options: Any) -> Stencil:
        """Builds the kernel of a stencil or convolution for each rank's share of a grid: as `stencilgen.build`, whose
        options it takes, apart from `device` and `context`.

        size:  of the whole grid, (nz, ny, nx); None: the default size on each rank
        ranks: the process grid, (z, y, x) as sizes; None: chosen

        The kernel is the same on all ranks. Raises UsageError where specs, options or versions differ.
        """
        handle, out = self._open(), c_void_p()
        request = request_of(self.context, path, **options)
        grid = None if ranks is None else asked_part(ranks, 0).ranks
        self._must(lambda: lib.sg_team_build(handle, request.path, byref(request.options), grid, byref(out)))
        kernel: Stencil = wrap(self.context, out.value or 0, request)
        return kernel

    def part(self, kernel: Stencil, size: Size, *, ranks: Optional[Sequence[int]] = None, launches: int = 0) -> Part:
        """Divides a grid for a kernel that `build` made.

        size:     of the whole grid, (nz, ny, nx)
        ranks:    the process grid, (z, y, x) as sizes; None: the one of the least surface
        launches: between two exchanges of ghost cells, which are as much wider; 0: chosen

        Parts differ by at most one cell along an axis. Raises PlanError where a part would be thinner than its neighbour's
        ghost cells; the text names a process grid that works.
        """
        handle = self._open()
        part = asked_part(ranks, launches)
        getattr(part, "global")[:] = x_first(size)
        self._must(lambda: lib.sg_team_arrange(handle, kernel._handle, byref(part)))
        return part_of(part, kernel.info.dims)

    def run(
        self,
        kernel: Stencil,
        part: Part,
        *arrays: Any,
        steps: int = 1,
        out: Any = None,
        overwrite: bool = False,
        step: int = 0,
        points: Optional[Mapping[str, Points]] = None,
        monitors: Optional[Mapping[str, Monitor]] = None,
        every: int = 0,
        until: Optional[Callable[[dict[str, float]], Any]] = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """`Stencil.run` of the whole grid, on this rank's part of it. Returns this rank's part of the new field, or a named
        tuple of fields.

        arrays:   of the shape part.shape. The caller fills this rank's own cells, `u[part.own]`; ghost cells are filled here
                  and hold anything afterwards, in the arrays given too: these must be writable
        steps:    the same on all ranks
        points:   every rank gives all points, with positions in the whole grid, and all series; traces are rank 0's alone
        monitors: of the whole grid; every rank has a `Monitor` of its own, and all get the same samples

        The other arguments are those of `Stencil.run`. In a GPU's memory a short run is not waited for: `wait` does so. A
        run of more than a second is made in batches, at whose ends ranks wait for each other. After a failure ranks may be
        at different steps: the team cannot be used any more, and all ranks hear why.
        """
        self._open()

        def make(
            frame: Frame, slots: list[Any], left: int, on: int, foreign: Any, lent: list[Slot],
            sets: Optional[OpenPoints] = None,
        ) -> list[Any]:  # fmt: skip
            for i in kernel._inputs:
                if slots[i].library.view(slots[i].array, 0)[5] and slots[i].memory is None:
                    raise UsageError(f"'{kernel.arrays[i].name}' is read-only, but its ghost cells are to be filled")
            batch = part.steps * (1 if kernel._place == _arrays.HOST else _FIRST_BATCH)
            while left > 0:
                if self._interrupted:
                    raise KeyboardInterrupt
                own = kernel._make_room(slots, foreign, lent)
                kernel._lay_all(frame, slots, on)
                count = min(left, batch) if own else 1
                begun = perf_counter()
                if sets is None:
                    self._send(kernel, part, frame, count, on)
                else:
                    sets.run(frame.reference, count, on, frame.final)
                left -= count
                frame.arguments.step += count
                slots = [slots[i] for i in kernel._places(frame)]
                if left > 0 and own:
                    self.wait(on)
                    took = self.reduce("max", perf_counter() - begun)  # the same on all ranks
                    batch *= 2 if took < _BATCH_SECONDS / 2 else 1
            if any(slot.memory is not None for slot in lent):  # before the results travel: other ranks may have failed
                self.wait(on)
            return slots

        try:
            where, by = (step, None, None), make
            if points is not None or kernel.points or monitors is not None or until is not None:
                by = kernel._watched(points, step, monitors, every, until, make, Together(self, part._struct))
            return kernel._run(arrays, steps, out, overwrite, None, stream, parameters, named, where, by)
        except BaseException as error:
            self._tell(error)
            raise

    def _send(self, kernel: Stencil, part: Part, frame: Frame, steps: int, on: int) -> None:
        self._must(
            lambda: lib.sg_team_run(
                self._open(), kernel._handle, byref(part._struct), frame.reference, steps, on, frame.final
            )
        )

    def wait(self, stream: Any = 0) -> None:
        """Waits for all work on a stream. Raises DeviceError if it is not done within the time limit, or if another rank has
        failed."""
        handle, on = self._open(), _arrays.stream_handle(stream)
        self._must(lambda: lib.sg_team_wait(handle, on))

    def reduce(self, op: str, value: Any) -> Any:
        """Combines a number of each rank, or an array of numbers place by place, in float64 and in the order of the ranks.

        op:    "sum", "min" or "max"
        value: a number, or an array in the host's memory, of the same shape on all ranks

        Returns a float, or a float64 array of NumPy's: the same bits on all ranks.
        """
        if op not in COMBINE:
            raise UsageError(f"there is no '{op}' of ranks: it is {', '.join(COMBINE)}")
        handle, mine = self._open(), np.ascontiguousarray(value, np.float64)
        out = np.empty_like(mine)
        pointers = [a.ctypes.data_as(POINTER(c_double)) for a in (mine, out)]
        self._must(lambda: lib.sg_team_reduce(handle, VALUES[COMBINE[op]], pointers[0], mine.size, pointers[1]))
        return float(out[0]) if np.ndim(value) == 0 else out

    def gather(self, value: Any) -> Any:
        """An array of each rank, of the same shape and dtype on all, stacked by rank into a NumPy array on every rank."""
        handle, mine = self._open(), np.ascontiguousarray(value)
        out = np.empty((self.ranks, *np.shape(value)), mine.dtype)
        self._must(lambda: lib.sg_team_gather(handle, mine.ctypes.data, mine.nbytes, out.ctypes.data))
        return out

    def collect(self, part: Part, array: Any) -> Any:
        """The whole grid as a NumPy array on every rank, from each rank's part of it in the host's memory; of all components
        of a field, if the array has them along its first axis."""
        array = np.asarray(array)
        mine = array[(..., *part.own)]
        cuts = self.gather(np.array([[s.start, s.stop] for s in part.box], np.int64))
        most = int(self.reduce("max", mine.size))
        padded = np.zeros(most, mine.dtype)
        padded[: mine.size] = mine.reshape(-1)
        whole = np.empty((*array.shape[: array.ndim - len(part.size)], *part.size), mine.dtype)
        for cut, cells in zip(cuts, self.gather(padded)):
            place: Any = (..., *(slice(begin, end) for begin, end in cut))
            target = whole[place]
            target[...] = cells[: target.size].reshape(target.shape)
        return whole

    def agree(self, trouble: Optional[str] = None) -> None:
        """Agreement on what each rank did by itself: raises DataError on all ranks if one of them gives a text, which names
        its trouble. Also a barrier."""
        handle = self._open()
        self._must(lambda: lib.sg_team_agree(handle, None if trouble is None else trouble.encode()))


def _device(device: Optional[str], local: int) -> Optional[str]:
    """The device of the rank that is the `local`th of its machine; -1: as its launcher says."""
    if device not in (None, "auto", "cuda"):
        return device
    index = lib.sg_team_device(local)
    return f"cuda:{index}" if index > 0 else device


def _close(handle: int, _: Any) -> None:
    lib.sg_team_close(handle)
