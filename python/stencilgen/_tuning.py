"""Tuning: sweeps over the schedules of a spec, and the results that are kept."""

from __future__ import annotations

import os
from ctypes import POINTER, byref
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Optional

from . import _abi
from ._abi import VALUES, lib
from ._arrays import numpy_order, real_number, whole_number
from ._context import Context, bytes_of, copy_facts, default_context, utf8
from ._errors import UsageError, error_of
from ._interrupts import Interrupts


@dataclass(frozen=True)
class Evaluation:
    """One schedule's trial. Times are seconds; what is not known is NaN, or -1 for whole numbers."""

    plan: str
    state: str  #: "right", "wrong", "refused", "not compiled", "failed", "hung"
    reason: str  #: for any but right
    seconds: float  #: median of the timings
    spread: float  #: distance of their quartiles over the median
    estimated_seconds: float  #: by the planner's model
    registers: int  #: of a thread
    threads: int  #: of a block
    shared_bytes: int  #: of a block
    local_bytes: int  #: of a thread
    occupancy: float
    resumed: bool  #: made before the sweep was interrupted
    final_seconds: float  #: by the finals; NaN: no finalist


@dataclass(frozen=True)
class Progress:
    """How far a sweep is. Times are seconds."""

    name: str
    candidates: int
    evaluations: int
    most_evaluations: int
    seconds: float
    budget: float
    building: int  #: candidates that are about to be built
    last: Optional[Evaluation]  #: has just ended
    best: str  #: the fastest right plan; ""
    best_seconds: float
    usual_seconds: float  #: of the plan that builds took before
    finalists: int
    round: int
    rounds: int


@dataclass(frozen=True)
class Tuning:
    """A sweep. Times are seconds."""

    name: str
    evaluations: tuple[Evaluation, ...]  #: in the order made
    candidates: int
    best: Optional[Evaluation]  #: the fastest right one
    usual: Optional[Evaluation]  #: of the plan that a build takes by the planner's model
    wrong: int  #: how many computed wrong values: defects of the library
    finished: bool  #: it ended by itself; else it was stopped, and may be resumed
    seconds: float
    database: str  #: where the results are kept; "": nowhere
    taken: str  #: the plan that builds take from now on; "": the sweep is not kept
    drift: float  #: the largest difference of a kernel that was timed again, 0.01 is 1 %
    size: tuple[int, ...]
    steps: int


@dataclass(frozen=True)
class Candidate:
    """A schedule worth trying."""

    plan: str
    estimated_seconds: float  #: a step, by the planner's model; 0: unknown
    threads: int
    shared_bytes: int


@dataclass(frozen=True)
class Result:
    """The result of one plan of a spec at one size on one device. Times are seconds; NaN or -1: not known."""

    name: str
    family: str
    model: str
    key: str
    generator: str
    device: str
    device_name: str
    arch: str
    driver: int
    compiler: str
    size: tuple[int, ...]  #: numbers in the family's order, of grids x first
    steps: int
    plan: str
    state: str
    reason: str
    timings: tuple[float, ...]
    median: float
    spread: float
    estimated_seconds: float
    registers: int
    shared_bytes: int
    local_bytes: int
    occupancy: float
    copy_seconds: float
    sweep: int
    evaluation: int
    taken: int  #: when, in milliseconds since 1970
    final_seconds: float
    settled_seconds: float  #: the time by which builds choose


@dataclass(frozen=True)
class Drift:
    """A kernel that a sweep timed again, to see whether the GPU kept its speed. Times are seconds."""

    plan: str
    evaluation: int  #: it was timed again after so many of the sweep's evaluations
    first_seconds: float
    seconds: float
    clock: float  #: at this time: MHz; NaN: not known
    temperature: float  #: degrees Celsius; NaN
    taken: int  #: when, in milliseconds since 1970


SEARCHES = {"guided": "SG_SEARCH_GUIDED", "exhaustive": "SG_SEARCH_EXHAUSTIVE", "random": "SG_SEARCH_RANDOM"}


class _Watcher(Interrupts):
    """Calls the caller's function from the library's callback, and takes exceptions and interrupts across the C frames."""

    def __init__(self, progress: Optional[Callable[[Progress], Any]]) -> None:
        super().__init__()
        self.progress = progress
        self.raised: Optional[BaseException] = None
        self.callback = _abi.sg_progress(self.call)

    def call(self, _: Any, told: Any) -> int:
        try:
            if self.interrupted:
                return 1
            if self.progress is None:
                return 0
            p = told.contents
            last = copy_facts(Evaluation, p.last.contents) if p.last else None
            return int(bool(self.progress(copy_facts(Progress, p, last=last))))
        except BaseException as raised:
            self.raised = raised
            return 1


class Tunable:
    """The part of a kernel that tunes."""

    context: Context

    def _asked(self, what: str) -> Any:
        raise NotImplementedError

    def _values(self, parameters: Optional[Mapping[str, float]]) -> Any:
        raise NotImplementedError

    def tune(
        self,
        *,
        budget: float = 0.0,
        evaluations: int = 0,
        search: str = "guided",
        seed: int = 0,
        afresh: bool = False,
        parameters: Optional[Mapping[str, float]] = None,
        progress: Optional[Callable[[Progress], Any]] = None,
        worker: str | os.PathLike[str] | None = None,
        limit: float = 0.0,
    ) -> Tuning:
        """Measures the schedules of this kernel's spec at its size and steps. Later builds take the fastest: build again.

        budget:      seconds, after which no trial begins; 0: none
        evaluations: at most; 0: 40, or all with a budget or an exhaustive search
        search:      "guided" by the planner's model and the measurements so far, "exhaustive", or "random" by `seed`
        afresh:      do not resume a sweep that was interrupted
        parameters:  values for the trials, by name
        progress:    called before and after every trial with a Progress; a true result ends the sweep, which may be resumed
        worker:      a program that makes the trials (the command `stencilgen`), so that one that crashes is only a result
        limit:       seconds that a trial may take in the worker; 0: 120

        An interrupt (KeyboardInterrupt) ends the sweep after the trial, and what was measured is kept. Raises CheckError
        if a candidate was wrong; its `result` is the Tuning.
        """
        if search not in SEARCHES:
            raise UsageError(f"there is no search '{search}': it is {', '.join(SEARCHES)}")
        request = self._asked("tune")
        watcher = _Watcher(progress)
        options = _abi.sg_tune_options(
            search=VALUES[SEARCHES[search]], seed=whole_number("seed", seed, 65), budget=real_number("budget", budget),
            evaluations=whole_number("evaluations", evaluations, 32), afresh=int(afresh),
            parameters=self._values(parameters), progress=watcher.callback, worker=bytes_of(worker),
            limit=real_number("limit", limit),
        )  # fmt: skip
        options.build = POINTER(_abi.sg_build_options)(request.options)
        out = POINTER(_abi.sg_tuning)()
        try:
            with watcher:
                status = lib.sg_tune(self.context.handle, request.path, byref(options), byref(out))
            if watcher.raised is not None:
                raise watcher.raised
            if status and not out:
                raise error_of(status, self.context.handle)
            tuning = _copy_tuning(out.contents)
            if status:
                error = error_of(status, self.context.handle)
                error.result = tuning  # type: ignore[attr-defined]
                raise error
            return tuning
        finally:
            lib.sg_tuning_free(out)

    def candidates(self) -> list[Candidate]:
        """The schedules that `tune` would try, for this kernel's size, steps and architecture. Nothing is compiled."""
        request = self._asked("candidates")
        out = POINTER(_abi.sg_space)()
        self.context.must(lib.sg_candidates(self.context.handle, request.path, byref(request.options), byref(out)))
        try:
            return [copy_facts(Candidate, out.contents.candidates[i]) for i in range(out.contents.candidate_count)]
        finally:
            lib.sg_space_free(out)


def _copy_tuning(t: Any) -> Tuning:
    made = tuple(copy_facts(Evaluation, t.evaluations[i]) for i in range(t.evaluation_count))
    return copy_facts(
        Tuning, t, evaluations=made, candidates=t.candidate_count, best=made[t.best] if t.best >= 0 else None,
        usual=made[t.usual] if t.usual >= 0 else None, size=numpy_order(t.size, t.dims),
    )  # fmt: skip


def results(name: Optional[str] = None, *, context: Optional[Context] = None) -> list[Result]:
    """Every tuning result in the database, or those of the specs of a name. Raises FileError if it cannot be read."""
    context = context or default_context()
    found: list[Result] = []

    def add(_: Any, result: Any) -> None:
        r = result.contents
        timings = tuple(r.seconds[i] for i in range(r.repeats)) if r.seconds else ()
        found.append(copy_facts(Result, r, size=tuple(r.size[: r.size_count]), timings=timings))

    callback = _abi.result_callback(add)
    context.must(lib.sg_results(context.handle, utf8("a name", name), callback, None))
    return found


def drifts(sweep: int, *, context: Optional[Context] = None) -> list[Drift]:
    """Every kernel that was timed again in a sweep, by the `sweep` of a Result."""
    context = context or default_context()
    found: list[Drift] = []
    callback = _abi.drift_callback(lambda _, drift: found.append(copy_facts(Drift, drift.contents)))
    context.must(lib.sg_drifts(context.handle, whole_number("sweep", sweep), callback, None))
    return found
