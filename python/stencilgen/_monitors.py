"""Monitors of a run: reductions over the grid while steps are made."""

from __future__ import annotations

from ctypes import byref, c_double, c_int, c_int64, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from . import _abi
from ._abi import lib
from ._arrays import whole_number
from ._context import Context, at_end, copy_facts
from ._errors import UsageError

_MOST = 64  # SG_MONITOR_SAMPLES
_TOGETHER = 8  # samples that are read together on a GPU, which is not stopped for each


@dataclass(frozen=True)
class MonitorInfo:
    """A monitor that a spec declares."""

    name: str
    op: str  #: "max"


class Monitor:
    """The samples of a monitor, for `run(…, monitors={"residual": residual}, every=100)`.

    residual = stencilgen.Monitor()
    u = heat.run(u, steps=100_000, monitors={"residual": residual}, every=100, until=lambda m: m["residual"] < 1e-8)
    print(residual.steps, residual.values)

    Each run adds its samples to those before. In a team every rank has a Monitor of its own, and all get the same samples.
    """

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._values: list[float] = []

    @property
    def steps(self) -> Any:
        """After how many steps each sample was taken, counted from the run's `step`: an int64 array of NumPy's."""
        return np.array(self._steps, np.int64)

    @property
    def values(self) -> Any:
        """The samples, as a float64 array of NumPy's."""
        return np.array(self._values, np.float64)

    def __repr__(self) -> str:
        last = f", the last {self._values[-1]:g} at step {self._steps[-1]}" if self._values else ""
        return f"<stencilgen.Monitor: {len(self._values)} samples{last}>"


class Maps:
    """The kernels that monitors of a kernel map by, built when they are first asked for."""

    def __init__(self, context: Context, kernel: int, count: int) -> None:
        self.context = context
        self.infos = tuple(self._info(kernel, i) for i in range(count))
        self._built: dict[str, int] = {}

    def _info(self, kernel: int, index: int) -> MonitorInfo:
        info = _abi.sg_monitor_info()
        self.context.must(lib.sg_kernel_monitor(kernel, index, byref(info)))
        return copy_facts(MonitorInfo, info)

    def of(self, name: str, request: Any) -> int:
        """The map of a monitor, built from the kernel's own request but for the schedule, which is the update's."""
        if name not in self._built:
            how = _abi.sg_build_options.from_buffer_copy(request.options)
            how.monitor, how.schedule, how.steps = name.encode(), None, 0
            out = c_void_p()
            self.context.must(lib.sg_build(self.context.handle, request.path, byref(how), byref(out)))
            self._built[name] = out.value or 0
            at_end(self, lib.sg_release, self._built[name])
        return self._built[name]


class OpenMonitors:
    """The monitors of a run on the device."""

    def __init__(
        self, way: Any, maps: Maps, kernel: int, given: Mapping[str, Monitor],
        until: Optional[Callable[[dict[str, float]], Any]], on_host: bool, request: Any,
    ) -> None:  # fmt: skip
        self.context, self.way = maps.context, way
        self.given, self.until = given, until
        self.together = 1 if on_host else _TOGETHER if until is not None else _MOST
        self.waiting = 0
        self.handles: dict[str, c_void_p] = {}
        try:
            for name in given:
                handle, map = c_void_p(), maps.of(name, request)
                way.must(lambda: way.open_monitor(kernel, map, handle))
                self.handles[name] = handle
        except BaseException:
            self.close(0)
            raise

    def sample(self, arguments: Any, stream: int) -> bool:
        """Takes samples of the fields of these arguments. Whether the run is to end."""
        for handle in self.handles.values():
            self.way.must(lambda: self.way.sample(handle, arguments, stream))
        self.waiting += 1
        return self.waiting == self.together and self.read()

    def read(self) -> bool:
        """Reads what was sampled. Whether `until` was so of one of them; those after it are kept, too."""
        if not self.waiting:
            return False
        steps, values, count = (c_int64 * _MOST)(), (c_double * _MOST)(), c_int()
        taken: list[dict[str, float]] = [{} for _ in range(self.waiting)]
        for name, handle in self.handles.items():
            self.way.must(lambda: self.way.read(handle, steps, values, self.waiting, byref(count)))
            self.given[name]._steps += steps[: count.value]
            self.given[name]._values += values[: count.value]
            for sample, value in zip(taken, values):
                sample[name] = value
        self.waiting = 0
        return self.until is not None and bool(self.way.agreed(any([self.until(sample) for sample in taken])))

    def close(self, stream: int) -> None:
        if self.waiting:  # an error has come between: samples must be over before their memory goes
            self.way.settle(stream)
        for handle in self.handles.values():
            self.way.close_monitor(handle)


def check_monitors(
    name: str, infos: Sequence[MonitorInfo], given: Optional[Mapping[str, Monitor]], every: int, until: Any
) -> Mapping[str, Monitor]:
    """The monitors of a run."""
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise UsageError(f"monitors=… is a dict of stencilgen.Monitor by name, not a {type(given).__name__}")
    declared = [info.name for info in infos]
    for key, monitor in given.items():
        if key not in declared:
            raise UsageError(f"'{name}' has no monitor '{key}'; it has {', '.join(declared) or 'none'}")
        if not isinstance(monitor, Monitor):
            raise UsageError(f"the samples of '{key}' go into a stencilgen.Monitor, not a {type(monitor).__name__}")
    if given and whole_number("every", every) < 1:
        raise UsageError(f"monitors are sampled after every=… steps, not {every}")
    if until is not None and not given:
        raise UsageError("until=… looks at samples: give monitors=…")
    return given
