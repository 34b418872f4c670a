"""How the ranks of a team reach each other: by the library's own copies between threads, by mpi4py, by torch.distributed,
or by functions of the caller's."""

from __future__ import annotations

import ctypes
import importlib
import sys
import time
from collections import Counter
from ctypes import c_char
from datetime import timedelta
from typing import Any, Optional, Sequence

from . import _abi
from ._abi import lib
from ._errors import UsageError, error_of
from ._interrupts import Interrupts

Message = tuple[int, memoryview]  # the other rank, and bytes in the host's memory


class Transport:
    """A way of your own for ranks to reach each other. Make a subclass, and give an object of it to `Team`.

    rank, ranks: this one's number, from 0, and how many there are
    name:        for people: "sockets"

    Only one thread at a time calls an object's methods.
    """

    name = "messages of Python"
    rank = 0
    ranks = 1

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message], seconds: float) -> None:
        """Sends and receives all of these messages, and returns when all are done. Each is the other rank and a memoryview
        of bytes, which are there during the call only; those of a message to receive are written. Messages between two
        ranks arrive in the order of the lists. Both may be empty. An exception is a failure, on which the team ends: raise
        one if it takes longer than `seconds`, or if a rank has abandoned the team (say then what that rank said)."""
        raise NotImplementedError

    def abandon(self, text: str) -> None:
        """Makes pending and later exchanges of all other ranks fail with this text, as soon as that can be."""

    def close(self) -> None:
        """The team is closed. Other ranks may still use theirs."""


class Bridge(Interrupts):
    """A Transport as C takes it. Exceptions wait here until the C call that met them is over."""

    def __init__(self, transport: Transport) -> None:
        super().__init__()
        self.transport = transport
        self.raised: Optional[BaseException] = None
        self.struct = _abi.sg_transport(
            name=transport.name.encode(), rank=transport.rank, ranks=transport.ranks,
            exchange=_abi.sg_exchange(self.exchange), abandon=_abi.sg_tell(self.abandon),
            close=_abi.sg_end(self.close),
        )  # fmt: skip

    def exchange(
        self, _: Any, sends: Any, send_count: int, receives: Any, receive_count: int, seconds: float, why: Any
    ) -> int:
        try:
            if self.interrupted:
                raise KeyboardInterrupt
            self.transport.exchange(_messages(sends, send_count), _messages(receives, receive_count), seconds)
            return 0
        except BaseException as raised:
            self.raised = raised
            text = (str(raised) or type(raised).__name__).encode()[:255] + b"\0"
            ctypes.memmove(why, text, len(text))
            return 1

    def abandon(self, _: Any, text: bytes) -> None:
        try:
            self.transport.abandon(text.decode(errors="replace"))
        except Exception as raised:
            self.raised = self.raised or raised

    def close(self, _: Any) -> None:
        try:
            self.transport.close()
        except Exception as raised:
            self.raised = self.raised or raised


def _messages(array: Any, count: int) -> list[Message]:
    found = []
    for i in range(count):
        m = array[i]
        bytes_ = (c_char * m.bytes).from_address(m.data) if m.bytes else b""
        found.append((m.rank, memoryview(bytes_).cast("B")))
    return found


def local_transports(ranks: int) -> list[Any]:
    """Ways between threads of this process, one for the `Team` of each rank, by rank. All of them must be used, each by a
    thread of its own, since ranks wait for each other. `Team.local` does all of this."""
    if not 1 <= ranks <= 4096:
        raise UsageError(f"there can be 1 to 4096 ranks, not {ranks}")
    array = (_abi.sg_transport * ranks)()
    status = lib.sg_local_transports(ranks, array)
    if status:
        raise error_of(status, None)
    return list(array)


# ---- mpi4py -----------------------------------------------------------------------------------------------------


class MpiTransport(Transport):
    """The processes of a communicator of mpi4py. Collective. MPI is reached through mpi4py alone, which knows its own."""

    DATA, NOTICE = 1, 2
    PIECE = 1 << 30  # MPI counts in int

    def __init__(self, comm: Any) -> None:
        self.MPI: Any = sys.modules["mpi4py.MPI"]
        self.comm = comm.Dup()  # so that no message of the application is mistaken for one of ours
        self.rank, self.ranks = self.comm.Get_rank(), self.comm.Get_size()
        self.name = self.MPI.Get_library_version().split(",")[0].split("\n")[0].strip("\0")
        self.notices: list[Any] = []  # that MPI may still send

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message], seconds: float) -> None:
        begun = []
        for function, messages in ((self.comm.Irecv, receives), (self.comm.Isend, sends)):
            for rank, data in messages:
                for at in range(0, len(data), self.PIECE):
                    begun.append((rank, function([data[at : at + self.PIECE], self.MPI.BYTE], rank, self.DATA)))
        requests = [request for _, request in begun]
        start, turns = time.monotonic(), 0
        while True:
            if requests and self.MPI.Request.Testall(requests):
                return
            trouble = self._hear() if turns % 64 == 0 else None
            if not requests and trouble is None:
                return
            waited = time.monotonic() - start
            if trouble is None and waited > seconds:
                late = next(rank for rank, request in begun if not request.Test())
                trouble = f"rank {late} did not answer rank {self.rank} within {seconds:g} s"
            if trouble is not None:
                self._take_back(requests)
                raise TimeoutError(trouble)
            turns += 1
            if waited > 0.001:  # other processes may want the core
                time.sleep(50e-6)

    def _take_back(self, requests: list[Any]) -> None:
        for request in requests:
            if request != self.MPI.REQUEST_NULL:
                request.Cancel()
                request.Free()

    def _hear(self) -> Optional[str]:
        """What a rank said that has abandoned the team."""
        about = self.MPI.Status()
        if not self.comm.Iprobe(self.MPI.ANY_SOURCE, self.NOTICE, about):
            return None
        text = bytearray(about.Get_count(self.MPI.BYTE))
        self.comm.Recv([text, self.MPI.BYTE], about.Get_source(), self.NOTICE)
        return text.decode(errors="replace")

    def abandon(self, text: str) -> None:
        if not self.notices:
            others = [i for i in range(self.ranks) if i != self.rank]
            said = text.encode()  # short: sent without waiting for the receiver
            self.notices = [self.comm.Isend([said, self.MPI.BYTE], i, self.NOTICE) for i in others]
            _said.append((said, self.notices))

    def close(self) -> None:
        """Leaves the duplicate of the communicator to MPI_Finalize: freeing it would wait for all ranks."""


_said: list[Any] = []  # notices of this process, for MPI to send


# ---- torch.distributed ------------------------------------------------------------------------------------------


class TorchTransport(Transport):
    """The processes of a process group of torch.distributed, through a gloo group of the team's own. Collective."""

    def __init__(self, group: Any, seconds: float) -> None:
        self.torch: Any = sys.modules["torch"]
        self.dist: Any = importlib.import_module("torch.distributed")
        members = self.dist.get_process_group_ranks(group)
        self.group: Any = self.dist.new_group(
            members, timeout=timedelta(seconds=seconds), backend="gloo", use_local_synchronization=True
        )
        self.members = members
        self.rank, self.ranks = self.dist.get_rank(self.group), len(members)
        self.name = "torch.distributed by gloo"
        self.store = self.dist.distributed_c10d._get_default_store()
        self.key = f"stencilgen/{self.dist.distributed_c10d._get_process_group_name(self.group)}"

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message], seconds: float) -> None:
        if self.group is None or not (sends or receives):
            said = self._hear()
            if said or self.group is None:
                raise RuntimeError(said or "the team has been abandoned")
            return
        limit, rank = timedelta(seconds=seconds), -1
        try:
            begun = [
                (other, function(self.torch.frombuffer(data, dtype=self.torch.uint8), group=self.group, tag=tag, **to))
                for function, messages, word in (
                    (self.dist.irecv, receives, "src"),
                    (self.dist.isend, sends, "dst"),
                )
                for other, data, tag in _tagged(messages)
                for to in [{word: self.members[other]}]
            ]
            for rank, work in begun:
                work.wait(limit)
        except RuntimeError as error:  # one that leaves closes its connections
            late = f"rank {rank} did not answer rank {self.rank} within {seconds:g} s, or has left"
            raise RuntimeError(self._hear() or f"{late}: {error}") from None

    def _hear(self) -> str:
        """What the first rank said that abandoned the team; "": none has."""
        return self.store.get(self.key).decode() if self.store.check([self.key]) else ""

    def abandon(self, text: str) -> None:
        if self.group is None:
            return
        self.store.compare_set(self.key, "", text)
        self.close()

    def close(self) -> None:
        """Closes the group's connections, so that nobody waits for this rank."""
        group, self.group = self.group, None
        if group is not None and self.dist.is_initialized():
            self.dist.destroy_process_group(group)


def _tagged(messages: Sequence[Message]) -> list[tuple[int, memoryview, int]]:
    """Messages that are not empty, numbered for each of the other ranks."""
    seen: Counter[int] = Counter()
    found = []
    for rank, data in messages:
        if len(data):
            found.append((rank, data, seen[rank]))
            seen[rank] += 1
    return found


# ---- whatever it is ---------------------------------------------------------------------------------------------


def transport_of(over: Any, seconds: float) -> Optional[Transport]:
    """The transport over a communicator or process group; None: it is neither."""
    if isinstance(over, Transport):
        return over
    mpi, torch = sys.modules.get("mpi4py.MPI"), sys.modules.get("torch.distributed")
    if mpi is not None and isinstance(over, mpi.Comm):
        return MpiTransport(over)
    if torch is not None and isinstance(over, getattr(torch, "ProcessGroup", ())):
        return TorchTransport(over, seconds)
    return None
