"""Kernels on grids: stencils, systems and convolutions."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Callable, Mapping, Optional, Sequence

from . import _abi
from ._abi import lib
from ._arrays import HOST, library_of, whole_number
from ._calls import Frame, Slot
from ._context import copy_facts
from ._errors import UsageError
from ._kernel import kernel_kind
from ._monitors import Maps, Monitor, MonitorInfo, OpenMonitors, check_monitors
from ._points import OpenPoints, Points, PointsInfo, check_names
from ._steps import Steps
from ._ways import Alone, Together

# Makes steps on slots, and returns them by what they hold then: frame, slots, steps, stream, the stream if the caller gave
# it, the slots that are used, and open points or None.
Make = Callable[..., list[Any]]


@kernel_kind("SG_KIND_GRID")
class Stencil(Steps):
    """The update of a grid, or of several fields on one: of `stencil`, `system` and `convolution` specs.

        heat = stencilgen.build("heat13.lua", size=(512, 512, 512), steps=100)
        u = heat.run(u, steps=100)

    Arrays have the shape (nz, ny, nx), (ny, nx) or (nx,), and the kernel's dtype. Rows must be contiguous; the other
    axes may have any strides, also negative ones. Components of a field come first, (components, nz, ny, nx). `arrays` tells their names and order: fields by their names, and
    of a field with two time levels `u` before `u_prev`. All may be given by these names: `wave(c=c, u=u, u_prev=old)`.

    Parameters of the spec are given by name: `heat.run(u, steps=100, k=0.1)`; those whose names clash with arguments
    in `parameters={…}`. Those that have a default may be left out.

    Where arrays are in a GPU's memory, calls put the work on the stream of the caller (the current one of CuPy and
    PyTorch, the one that JAX waits for, or `stream`) and wait for nothing. NumPy arrays travel to a GPU and back, and
    such a call waits for its result.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._maps = Maps(self.context, self._handle, self._monitor_count)
        #: the monitors that its spec declares
        self.monitors: tuple[MonitorInfo, ...] = self._maps.infos
        #: the sets of points that its spec declares
        self.points: tuple[PointsInfo, ...] = tuple(self._points_of(i) for i in range(self._point_sets))

    def _points_of(self, index: int) -> PointsInfo:
        info = _abi.sg_points_info()
        self.context.must(lib.sg_kernel_points(self._handle, index, byref(info)))
        return copy_facts(PointsInfo, info)

    @property
    def points_source(self) -> str:
        """The CUDA file of its points; "" if there are none."""
        return self._text("SG_TEXT_POINTS")

    def __call__(
        self,
        *arrays: Any,
        out: Any = None,
        box: Any = None,
        points: Optional[Mapping[str, Points]] = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """One step: `run` with steps=1. The arrays given stay as they are.

        out: the array for the result, of the inputs' shape and in their memory; a tuple for several written fields

        Returns the new field, or a named tuple of several.
        """
        make = None
        if points is not None or self.points:
            make = self._watched(points, 0, None, 0, None, self._make)
        elif stream is None and box is None:
            quick = self._one(arrays, out, parameters, named)
            if quick is not None:
                return quick
        return self._run(arrays, 1, out, False, box, stream, parameters, named, None, make)

    def run(
        self,
        *arrays: Any,
        steps: int = 1,
        out: Any = None,
        overwrite: bool = False,
        box: Any = None,
        step: int = 0,
        origin: Optional[Sequence[int]] = None,
        whole: Optional[Sequence[int]] = None,
        points: Optional[Mapping[str, Points]] = None,
        monitors: Optional[Mapping[str, Monitor]] = None,
        every: int = 0,
        until: Optional[Callable[[dict[str, float]], Any]] = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """Any number of steps, each from the one before. The arrays given stay as they are, and nothing is copied.

        steps:      how many; with 0 the arrays come back as they are
        out:        of one step: the array for the result (a tuple for several written fields, or a dict by name)
        overwrite:  the arrays given may be used as memory, and their content is lost; saves one grid a time level
        box:        slices of the cells to update, `numpy.s_[2:-2, 2:-2]`; others keep their values
        step:       the number of the first step, for specs that ask for `at.step`
        origin:     of arrays that are a part of a larger grid: where their first cell is in it, (z, y, x); for specs that
                    ask for `at.x`, …
        whole:      the size of that grid, (nz, ny, nx)
        points:     of specs with points: the `Points` of each set by its name; such a run waits for its traces
        monitors:   of specs with monitors: the `Monitor` of some by its name, sampled after each `every` steps
        until:      a function of a dict of samples, by name: the run ends once it is true. On a GPU eight samples are read
                    together, so up to seven times `every` more steps may be made
        stream:     an integer or an object with `__cuda_stream__`; None: the caller's current one

        Returns the new field, or a named tuple of fields (`u`, `u_prev`): arrays of the first one's library. A dict of
        arrays by name gives a dict of all fields, which the next call takes: `state = wave.run(state, steps=10)`.
        Raises UsageError or DataError for arrays that do not fit, DeviceError where a launch fails. An interrupt
        (KeyboardInterrupt) ends a long run between launches.
        """
        where = None if origin is None and whole is None and not step else (step, origin, whole)
        special = (where, box, stream, points, monitors, until) != (None,) * 6 or overwrite or self.points
        if steps == 1 and not special:
            quick = self._one(arrays, out, parameters, named)
            if quick is not None:
                return quick
        make = None
        if points is not None or self.points or monitors is not None or until is not None:
            make = self._watched(points, step, monitors, every, until, self._make)
        return self._run(arrays, steps, out, overwrite, box, stream, parameters, named, where, make)

    def _run(
        self, arrays: tuple[Any, ...], steps: int, out: Any, overwrite: bool, box: Any, stream: Any,
        parameters: Optional[Mapping[str, float]], named: dict[str, Any], where: Any, make: Any = None,
    ) -> Any:  # fmt: skip
        """A run of arrays that lie at `where`, made by `make`; None: by `_make`."""
        steps = whole_number("steps", steps)
        if steps < 0:
            raise UsageError(f"{steps} steps: there are no negative ones")
        if len(arrays) == 1 and isinstance(arrays[0], dict):
            named = self._named_state(arrays[0], named)
            results = self._run((), steps, out, overwrite, box, stream, parameters, named, where, make)
            return self._new_state(arrays[0], results)
        if make is None:
            make = self._make
            plain = steps == 1 and self._single and stream is None and not overwrite and box is None and where is None
        else:
            plain = False
        found = arrays if not named and len(arrays) == len(self._inputs) else None
        frame = self._take()
        try:
            if found is None:
                split = self._split(arrays, self._inputs, named)
                found = tuple(split[i] for i in self._inputs)
                out = self._named_outputs(split, out)
            self._put_parameters(frame, parameters, named)
            self._put_place(frame, where)
            targets = None if out is None else self._targets(out, steps)
            first = found[0] if found else self._first(targets)
            library = library_of(first)
            on = self._stream(stream, library, first)
            foreign = None if stream is None else on
            slots: list[Any] = [None] * len(self.arrays)
            for i, array in zip(self._inputs, found):
                slots[i] = self._bring(i, array, on, library_of(array))
            if overwrite:
                self._give_up(slots)
            for i in self._written:
                if targets is not None and i in targets:
                    slots[i] = self._bring(i, targets[i], on, library_of(targets[i]), True)
                elif self.arrays[i].reads < 0 and not found:
                    raise UsageError(f"'{self.name}' needs memory for '{self.arrays[i].name}': give out=…")
                elif self.arrays[i].reads < 0:
                    if box is not None:
                        raise UsageError(f"cells of '{self.arrays[i].name}' outside of the box: give out=… with them")
                    like = slots[self._inputs[0]]
                    shape = self._axes(i, self._grid(self._inputs[0], like.shape))
                    slots[i] = self._fresh(i, like, shape, foreign, self._keeps or steps == 0)
                    plain = plain and not self._keeps  # `_again` has no zeros
            inside = True
            if box is not None or frame.has_box:
                one = self._inputs[0] if found else self._written[0]
                inside = self._put_box(frame, box, self._grid(one, slots[one].shape))
            lent = [s for s in slots if s is not None]
            try:
                begun = slots
                if inside:
                    slots = make(frame, slots, steps, on, foreign, lent)
                if plain:
                    self._remember(frame, begun)
                results = []
                for _, i in self._results:
                    slot = slots[i]
                    results.append(self._hand_out(i, slot, on) if slot.ours or slot.memory is not None else slot.array)
            finally:  # also where an interrupt ends the run
                self._keep(on, stream, lent)
        finally:
            self._frames.append(frame)
        return results[0] if self._tuple is None else self._tuple(*results)

    def _watched(
        self, points: Optional[Mapping[str, Points]], first: int, monitors: Optional[Mapping[str, Monitor]], every: int,
        until: Optional[Callable[[dict[str, float]], Any]], steps_by: Make, together: Optional[Together] = None,
    ) -> Make:  # fmt: skip
        """Makes the steps of a run with points or monitors, by `steps_by`; of a rank of a team: `together`."""
        points = check_names(self.name, self.points, points)
        monitors = check_monitors(self.name, self.monitors, monitors, every, until)
        request = self._asked("a monitor") if monitors else None

        def make(
            frame: Frame, slots: list[Any], steps: int, stream: int, foreign: Any, lent: list[Any], _: Any = None
        ) -> Any:
            way = together or Alone(self.context, self._grid(self._given[0], slots[self._given[0]].shape))
            sets = watch = None
            try:
                if points:
                    sets = OpenPoints(way, self._handle, self._dims, self.points, points, self.dtype, first, steps)
                if not monitors:
                    return steps_by(frame, slots, steps, stream, foreign, lent, sets)
                watch = OpenMonitors(way, self._maps, self._handle, monitors, until, self._place == HOST, request)
                for _ in range(steps // every):
                    slots = steps_by(frame, slots, every, stream, foreign, lent, sets)
                    self._make_room(slots, foreign, lent, together is None and not frame.has_box)
                    self._lay_all(frame, slots, stream)
                    if watch.sample(frame.reference, stream):
                        break
                else:
                    if not watch.read():
                        slots = steps_by(frame, slots, steps % every, stream, foreign, lent, sets)
                return slots
            except BaseException as error:
                way.tell(error)  # before what is still under way is waited for
                raise
            finally:
                if watch is not None:
                    watch.close(stream)
                if sets is not None:
                    sets.close()

        return make

    def _one(
        self, arrays: tuple[Any, ...], out: Any, parameters: Optional[Mapping[str, float]], named: dict[str, Any]
    ) -> Any:
        """One step on arrays like those of a call before; None: they are not."""
        if len(arrays) != len(self._inputs) or not self._single:
            return None
        if out is None:
            held = self._again(arrays, self._inputs, self._written, parameters, named)
        elif len(self._written) == 1:
            held = self._again((*arrays, out), self._given, (), parameters, named)
        else:
            return None
        if held is None:
            return None
        if self._tuple is None:
            return held[self._after_step[0]]
        return self._tuple(*[held[i] for i in self._after_step])

    def launch(
        self,
        *arrays: Any,
        box: Any = None,
        step: int = 0,
        origin: Optional[Sequence[int]] = None,
        whole: Optional[Sequence[int]] = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> None:
        """One launch on all of the kernel's arrays, also the written ones, in the order of `arrays` or by name.

            heat.launch(u, u_next, stream=s)

        The lowest call: it makes nothing, returns nothing, and on a GPU waits for nothing. The arrays must be in the
        memory of the kernel's device. It makes `info.steps` steps of the whole grid, or one of the box.

        box:    slices of the cells to update, `numpy.s_[2:-2, 2:-2]`; others are not written
        stream: an integer or an object with `__cuda_stream__`; None: the caller's current one

        `step`, `origin` and `whole` are those of `run`.
        """
        plain = box is None and stream is None and not step and origin is None and whole is None
        if (
            plain
            and len(arrays) == len(self.arrays)
            and self._again(arrays, self._all, (), parameters, named) is not None
        ):
            return
        frame = self._take()
        try:
            given: Sequence[Any] = arrays
            if named or len(arrays) != len(self.arrays):
                given = self._split(arrays, self._all, named)
            self._put_parameters(frame, parameters, named)
            self._put_place(frame, (step, origin, whole))
            library = library_of(given[0])
            on = self._stream(stream, library, given[0])
            slots: list[Slot] = []
            first: tuple[int, ...] = ()
            for i, array in enumerate(given):
                of = library_of(array)
                view = self._see(i, array, of, on, self.arrays[i].written)
                pointer, shape, strides, _, place, _, keep = view
                if place != self._place:
                    raise UsageError(
                        f"'{self.arrays[i].name}' is in the host's memory, but launches use the GPU's: give arrays of "
                        "CuPy, PyTorch or JAX, or use run(…), which copies"
                    )
                self._lay(frame, i, pointer, shape, strides, of)
                if i == 0:
                    first = self._grid(0, shape)
                slots.append(Slot(pointer, shape, strides, array, keep, of))
                slots[i].view = view
            if box is not None or frame.has_box:
                if not self._put_box(frame, box, first):
                    return
            self._put_temporary(frame, on)
            status = lib.sg_launch(self._handle, frame.reference, on)
            if status:
                self._fail(status)
            self._keep(on, stream, slots)
            if plain:
                self._remember(frame, slots)
        finally:
            self._frames.append(frame)
