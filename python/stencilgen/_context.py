"""Contexts: a device with its cache and its tuning results; the default ones of a process; the doctor."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from ctypes import byref, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass, fields
from typing import Any, Callable, Optional, TypeVar

from . import _abi, _arrays
from ._abi import lib
from ._errors import UsageError, error_of

LogFunction = Callable[[str, str], None]
T = TypeVar("T")


def text_of(value: Optional[bytes]) -> str:
    return "" if value is None else value.decode()


def bytes_of(value: Any) -> Optional[bytes]:
    """A path for C; None stays None."""
    try:
        return None if value is None else _whole(repr(value), os.fsencode(value))
    except TypeError:
        raise UsageError(f"a path is a str or an os.PathLike, not a {type(value).__name__}") from None


def utf8(what: str, value: Optional[str]) -> Optional[bytes]:
    """A text for C; None stays None."""
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{what} is a str, not a {type(value).__name__}")
    return None if value is None else _whole(what, value.encode())


def _whole(what: str, encoded: bytes) -> bytes:
    """C would take what comes before a zero byte alone."""
    if b"\0" in encoded:
        raise UsageError(f"{what} holds a zero byte")
    return encoded


class Handle:
    """What holds something of the C library's, which goes with this object: a second one must not outlive it."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a stencilgen.{type(self).__name__} belongs to its process and is neither copied nor pickled")


class Shared(Handle):
    """One that does not change: it is its own copy."""

    def __copy__(self: T) -> T:
        return self

    def __deepcopy__(self: T, memo: Any) -> T:
        return self


def copy_facts(kind: type[T], struct: Any, **more: Any) -> T:
    """A dataclass filled from the members of a struct that have the names of its fields, and from `more`."""
    values = dict(more)
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in values:
            value = getattr(struct, field.name)
            if isinstance(value, bytes) or (value is None and field.type == "str"):
                value = text_of(value)
            values[field.name] = bool(value) if field.type == "bool" else value
    return kind(**values)


def at_end(owner: Any, function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Calls the function when nobody holds the owner any more, or the process ends, or what is returned is called; once,
    and not in a fork's child, which must leave alone what its parent opened."""
    return weakref.finalize(owner, _in_process, os.getpid(), function, arguments)


def _in_process(process: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    if os.getpid() == process:
        function(*arguments)


@dataclass(frozen=True)
class DeviceInfo:
    """What a context runs on. 0 and "" are what is not known."""

    device: str  #: "cuda", "cpu" or "none"
    name: str  #: "NVIDIA H100 80GB HBM3"
    arch: str  #: "sm_90", "cpu"
    multiprocessors: int  #: or cores used
    memory: int  #: bytes
    l2_cache: int  #: bytes
    driver: int  #: CUDA version of the driver, 13000 for 13.0
    clock: float  #: Hz, boosted
    memory_rate: float  #: peak bytes a second


@dataclass(frozen=True)
class CacheInfo:
    """The cache of compiled kernels on disk."""

    folder: str  #: "": there is none
    trouble: str  #: why the cache is not used or not written to; "": it is
    entries: int
    bytes: int
    most_bytes: int


@dataclass(frozen=True)
class CacheEntry:
    """A compiled kernel in the cache."""

    file: str
    text: str  #: "heat13, cubin for sm_90, NVRTC 13.0"
    bytes: int
    used: int  #: the last use, in seconds since 1970
    trouble: str  #: why it will not be used; "": it will


@dataclass(frozen=True)
class Finding:
    """What the doctor says of one thing: whether it is usable, and where it was found and why, or the cure."""

    what: str
    usable: bool
    text: str

    def __str__(self) -> str:
        return f"{'ok' if self.usable else 'no':3} {self.what}: {self.text}"


class Memory(Handle):
    """Memory of a context's device, from sg_alloc; freed with the object."""

    def __init__(self, context: Context, size: int) -> None:
        pointer = c_void_p()
        context.must(lib.sg_alloc(context.handle, size, byref(pointer)))
        self.pointer = pointer.value or 0
        self.size = size
        at_end(self, _free, context, self.pointer)


def _free(context: Context, pointer: int) -> None:
    lib.sg_free(context.handle, pointer)


def _close(handle: int, held: deque[tuple[int, Any]], scratch: dict[int, list[tuple[int, int]]]) -> None:
    for mark, _ in held:
        lib.sg_mark_free(mark)
    for known in scratch.values():
        for pointer, _ in known:
            lib.sg_free(handle, pointer)
    lib.sg_close(handle)


def split_device(device: Optional[str]) -> tuple[Optional[str], int]:
    """ "cuda:1" is the GPU that the driver counts as 1, from 0."""
    utf8("a device", device)
    kind, colon, number = (device or "auto").partition(":")
    if colon and not (kind == "cuda" and number.isdigit()):
        raise UsageError(f"there is no device '{device}': it is auto, cpu, none, cuda, or cuda:1 for the GPU 1")
    return kind, int(number or 0)


class Context(Shared):
    """A device, with the cache and the tuning results that builds for it use.

    Most programs need none: `stencilgen.build(…)` opens one for the process. All of a context's methods may be called
    from any thread. It stays open as long as its kernels live.

    device:       "auto" (cuda where there is a GPU, else cpu), "cuda", "cuda:1", "cpu", or "none" (builds, runs nothing)
    nvrtc:        path of NVRTC's library; None: SG_NVRTC, else searched for, also among the installed Python packages
    threads:      of the cpu device and of checks; 0: one for each core
    cuda_context: the CUcontext to work in, as an integer; None: the primary one, which CuPy, PyTorch and JAX use
    cache:        folder of compiled kernels, or "none"; None: SG_CACHE, else the user's
    cache_bytes:  the cache stays below this; 0: 512 MiB
    database:     file of tuning results, or "none"; None: SG_DATABASE, else the user's
    log:          called with "note" or "warning" and a line of text, from several threads; it must not use stencilgen

    Raises DeviceError where there is no such device.
    """

    def __init__(
        self,
        device: str = "auto",
        *,
        nvrtc: str | os.PathLike[str] | None = None,
        threads: int = 0,
        cuda_context: int | None = None,
        cache: str | os.PathLike[str] | None = None,
        cache_bytes: int = 0,
        database: str | os.PathLike[str] | None = None,
        log: LogFunction | None = None,
    ) -> None:
        kind, index = split_device(device)
        options = _abi.sg_options(
            device=bytes_of(kind), device_index=index, nvrtc=bytes_of(nvrtc),
            threads=_arrays.whole_number("threads", threads, 32), cuda_context=cuda_context, cache=bytes_of(cache),
            cache_bytes=_arrays.whole_number("cache_bytes", cache_bytes), database=bytes_of(database),
        )  # fmt: skip
        callback = None
        if log is not None and not callable(log):
            raise UsageError(f"log is a function, not a {type(log).__name__}")
        if log is not None:
            callback = _log_callback(log)
            options.log = callback
        handle = c_void_p()
        status = lib.sg_open(byref(handle), byref(options))
        if status:
            error = error_of(status, handle.value)
            lib.sg_close(handle)
            raise error
        self.handle: int = handle.value or 0
        # The C library calls the log as long as kernels live, so this function lives as long as the process.
        if callback is not None:
            _kept_callbacks.append(callback)
        self._held: deque[tuple[int, Any]] = deque()  # marks, and what they keep
        self._scratch: dict[int, list[tuple[int, int]]] = {}  # by stream: addresses and sizes, the largest last
        self._thread = threading.local()
        self._lock = threading.Lock()
        at_end(self, _close, self.handle, self._held, self._scratch)
        self.info: DeviceInfo = self._ask_device()
        #: HOST, or the number of the GPU whose memory kernels work in
        self.place: int = index if self.info.device == "cuda" else _arrays.HOST

    def _ask_device(self) -> DeviceInfo:
        info = _abi.sg_device_info()
        self.must(lib.sg_device(self.handle, byref(info)))
        return copy_facts(DeviceInfo, info)

    def __repr__(self) -> str:
        return f"<stencilgen.Context: {self.info.name}>"

    def must(self, status: int) -> None:
        """Raises what a failed call of the C library said."""
        if status:
            raise error_of(status, self.handle)

    def synchronize(self, stream: Any = 0) -> None:
        """Waits for all work on a stream, and raises DeviceError where a launch went wrong."""
        self.must(lib.sg_synchronize(self.handle, _arrays.stream_handle(stream)))

    # ---- the cache ----

    def cache(self) -> CacheInfo:
        """Where compiled kernels are kept, and how many there are."""
        info = _abi.sg_cache_info()
        self.must(lib.sg_cache_facts(self.handle, byref(info)))
        return copy_facts(CacheInfo, info)

    def cache_entries(self, *, verify: bool = False) -> list[CacheEntry]:
        """The compiled kernels on disk, the most recently used first. `verify` compares them with their checksums."""
        found: list[CacheEntry] = []
        callback = _abi.cache_entry_callback(lambda _, entry: found.append(copy_facts(CacheEntry, entry.contents)))
        self.must(lib.sg_cache_list(self.handle, int(verify), callback, None))
        return found

    def clear_cache(self) -> tuple[int, int]:
        """Removes every compiled kernel from the disk; how many there were, and how many bytes."""
        entries, size = c_int64(), c_int64()
        self.must(lib.sg_cache_clear(self.handle, byref(entries), byref(size)))
        return entries.value, size.value

    # ---- what launches need ----

    def hold(self, stream: int, things: Any) -> None:
        """Keeps things alive until the work that is on the stream now is over, without waiting for it."""
        mark = c_void_p()
        self.must(lib.sg_mark_stream(self.handle, stream, byref(mark)))
        over = []  # is let go without the lock: what runs then may be anybody's
        with self._lock:
            self._held.append((mark.value or 0, things))
            passed = c_int(1)
            while self._held:
                first, _ = self._held[0]
                # Work that failed is over too; its error is told by a later call.
                if lib.sg_mark_passed(first, byref(passed)) == 0 and not passed.value:
                    break
                lib.sg_mark_free(first)
                over.append(self._held.popleft())

    def scratch(self, stream: int, size: int) -> int:
        """The address of memory for one launch after the other on a stream to work in."""
        if size == 0:
            return 0
        if self.place == _arrays.HOST:  # launches are over when they return
            memory, address = getattr(self._thread, "memory", (None, 0))
            if memory is None or memory.nbytes < size:
                memory = _arrays.aligned_empty((size,), "u1")
                address = int(memory.ctypes.data)
                self._thread.memory = memory, address
            return address
        with self._lock:
            known = self._scratch.setdefault(stream, [])  # smaller ones stay: CUDA graphs may hold on to them
            if not known or known[-1][1] < size:
                pointer = c_void_p()
                self.must(lib.sg_alloc(self.handle, size, byref(pointer)))
                known.append((pointer.value or 0, size))
            return known[-1][0]


_kept_callbacks: list[Any] = []


def _log_callback(log: LogFunction) -> Any:
    levels = {_abi.VALUES["SG_LOG_NOTE"]: "note", _abi.VALUES["SG_LOG_WARNING"]: "warning"}
    return _abi.sg_log(lambda _, level, text: log(levels.get(level, "note"), text_of(text)))


_defaults: dict[tuple[int, str, int], Context] = {}
_defaults_lock = threading.Lock()


def default_context(device: str | None = None) -> Context:
    """The process's context for a device, opened by the first call: "auto" (also None), "cuda", "cuda:1", "cpu"."""
    kind, index = split_device(device)
    key = (os.getpid(), kind or "auto", index)  # a fork's child must not use its parent's
    with _defaults_lock:
        if key not in _defaults:
            opened = Context(device or "auto")
            if kind == "auto":  # one context a device, however it was asked for
                opened = _defaults.setdefault((key[0], opened.info.device, 0), opened)
            _defaults[key] = opened
        return _defaults[key]


def doctor(device: str | None = None, *, nvrtc: str | os.PathLike[str] | None = None) -> list[Finding]:
    """Which driver, NVRTC, compiler, cache and database are used, and NCCL and the reach of GPUs for teams, and why, or
    what to do where one is missing.

    `print(*stencilgen.doctor(), sep="\\n")` shows it.
    """
    kind, index = split_device(device)
    options = _abi.sg_options(device=bytes_of(kind), device_index=index, nvrtc=bytes_of(nvrtc))
    found: list[Finding] = []
    callback = _abi.sg_finding(
        lambda _, what, usable, text: found.append(Finding(text_of(what), bool(usable), text_of(text)))
    )
    for ask in (lib.sg_doctor, lib.sg_team_doctor):
        status = ask(byref(options), callback, None)
        if status:
            raise error_of(status, None)
    return found


def version() -> str:
    """The version of the C library."""
    return text_of(lib.sg_version())


def temporary_bytes(context: Context, kernel: int, arguments: Any) -> int:
    size = c_size_t()
    context.must(lib.sg_temporary_bytes(kernel, arguments, byref(size)))
    return size.value


__all__ = [
    "CacheEntry", "CacheInfo", "Context", "DeviceInfo", "Finding", "Memory", "bytes_of", "copy_facts",
    "default_context", "doctor", "error_of", "temporary_bytes", "text_of", "version",
]  # fmt: skip
