"""Kernels on grids: stencils and convolutions."""

from __future__ import annotations

from collections import namedtuple
from time import perf_counter
from typing import Any, Mapping, Optional, Sequence

from ._abi import lib
from ._arrays import HOST, library_of
from ._calls import Frame, Slot
from ._errors import UsageError
from ._kernel import Kernel, kernel_kind

# A run is made in parts, so that an interrupt is seen between them: on the cpu device of about this many seconds.
# On a GPU the parts are long enough to lose nothing.
_PART_SECONDS = 0.1
_GPU_LAUNCHES = 4096


@kernel_kind("SG_KIND_GRID")
class Stencil(Kernel):
    """The update of a grid, or of several fields on one: of `stencil` and `convolution` specs.

        heat = stencilgen.build("heat13.lua", size=(512, 512, 512), steps=100)
        u = heat.run(u, steps=100)

    Arrays have the shape (nz, ny, nx), (ny, nx) or (nx,), and the kernel's dtype. Rows must be contiguous; the other
    axes may have any strides, also negative ones. `arrays` tells their names and order: fields by their names, and
    of a field with two time levels `u` before `u_prev`. All may be given by these names: `wave(c=c, u=u, u_prev=old)`.

    Parameters of the spec are given by name: `heat.run(u, steps=100, k=0.1)`; those whose names clash with arguments
    in `parameters={…}`. Those that have a default may be left out.

    Where arrays are in a GPU's memory, calls put the work on the stream of the caller (the current one of CuPy and
    PyTorch, the one that JAX waits for, or `stream`) and wait for nothing. NumPy arrays travel to a GPU and back, and
    such a call waits for its result.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._inputs = [i for i, a in enumerate(self.arrays) if not a.written]
        self._written = [i for i, a in enumerate(self.arrays) if a.written]
        # Arrays that swap roles after each launch: the written one, the current one, the previous one.
        self._rotating = [(i, a.reads, a.previous) for i, a in enumerate(self.arrays) if a.written and a.reads >= 0]
        self._all = range(len(self.arrays))
        self._single = self.info.steps == 1
        self._part = self.info.steps if self._place == HOST else self.info.steps * _GPU_LAUNCHES
        self._unmoved = list(self._all)
        self._moved = list(self._all)  # where each array's content is after a step
        for w, current, previous in self._rotating:
            oldest = previous if previous >= 0 else current
            self._moved[w], self._moved[oldest] = oldest, current
            self._moved[current] = w
        self._results: list[tuple[str, int]] = []  # names of what a run returns, and whose place it has then
        for i in self._written:
            a = self.arrays[i]
            self._results.append((a.field, a.reads if a.reads >= 0 else i))
            if a.previous >= 0:
                self._results.append((a.field + "_prev", a.previous))
        self._tuple: Any = None
        if len(self._results) > 1:
            self._tuple = namedtuple("Fields", [name for name, _ in self._results], rename=True)  # type: ignore[misc]

    def __call__(
        self,
        *arrays: Any,
        out: Any = None,
        box: Any = None,
        stream: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """One step: `run` with steps=1. The arrays given stay as they are.

        out: the array for the result, of the inputs' shape and in their memory; a tuple for several written fields

        Returns the new field, or a named tuple of several.
        """
        return self.run(*arrays, out=out, box=box, stream=stream, parameters=parameters, **named)

    def run(
        self,
        *arrays: Any,
        steps: int = 1,
        out: Any = None,
        overwrite: bool = False,
        box: Any = None,
        stream: Any = None,
        step: int = 0,
        origin: Any = None,
        whole: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> Any:
        """Any number of steps, each from the one before. The arrays given stay as they are, and nothing is copied.

        steps:     how many; with 0 the arrays come back as they are
        out:       of one step: the array for the result (a tuple for several written fields, or a dict by name)
        overwrite: the arrays given may be used as memory, and their content is lost; saves one grid a time level
        box:       slices of the cells to update, `numpy.s_[2:-2, 2:-2]`; others keep their values
        stream:    an integer or an object with `__cuda_stream__`; None: the caller's current one
        step:      the number of the first step, where the spec asks for `at.step`
        origin:    where the arrays' first cell lies in the whole grid, of the shape `whole` (positions in specs);
                   None: the arrays are the whole grid

        Returns the new field, or a named tuple of fields (`u`, `u_prev`): arrays of the first one's library.
        Raises UsageError or DataError for arrays that do not fit, DeviceError where a launch fails. An interrupt
        (KeyboardInterrupt) ends a long run between launches.
        """
        found = arrays if not named and len(arrays) == len(self._inputs) else None
        frame = self._take()
        try:
            if found is None:
                split = self._split(arrays, self._inputs, named)
                found = tuple(split[i] for i in self._inputs)
                out = self._named_outputs(split, out)
            self._put_parameters(frame, parameters, named)
            self._put_place(frame, step, origin, whole)
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
                    slots[i] = self._fresh(i, slots[self._inputs[0]], slots[self._inputs[0]].shape, foreign)
            inside = True
            if box is not None or frame.has_box:
                inside = self._put_box(frame, box, slots[self._inputs[0] if found else self._written[0]].shape)
            lent = [s for s in slots if s is not None]
            try:
                if inside:
                    slots = self._make(frame, slots, steps, on, foreign, lent)
                results = []
                for _, i in self._results:
                    slot = slots[i]
                    results.append(self._hand_out(i, slot, on) if slot.ours or slot.memory is not None else slot.array)
            finally:  # also where an interrupt ends the run
                self._keep(on, stream, lent)
        finally:
            self._frames.append(frame)
        return results[0] if self._tuple is None else self._tuple(*results)

    def launch(
        self,
        *arrays: Any,
        box: Any = None,
        stream: Any = None,
        step: int = 0,
        origin: Any = None,
        whole: Any = None,
        parameters: Optional[Mapping[str, float]] = None,
        **named: Any,
    ) -> None:
        """One launch on all of the kernel's arrays, also the written ones, in the order of `arrays` or by name.

            heat.launch(u, u_next, stream=s)

        The lowest call: it makes nothing, returns nothing, and on a GPU waits for nothing. The arrays must be in the
        memory of the kernel's device. It makes `info.steps` steps of the whole grid, or one of the box.

        box:    slices of the cells to update, `numpy.s_[2:-2, 2:-2]`; others are not written
        stream: an integer or an object with `__cuda_stream__`; None: the caller's current one
        step, origin, whole: as in `run`
        """
        frame = self._take()
        try:
            given: Sequence[Any] = arrays
            if named or len(arrays) != len(self.arrays):
                given = self._split(arrays, self._all, named)
            self._put_parameters(frame, parameters, named)
            self._put_place(frame, step, origin, whole)
            library = library_of(given[0])
            on = self._stream(stream, library, given[0])
            slots: list[Slot] = []
            first: tuple[int, ...] = ()
            for i, array in enumerate(given):
                of = library_of(array)
                pointer, shape, strides, _, place, _, keep = self._see(i, array, of, on, self.arrays[i].written)
                if place != self._place:
                    raise UsageError(
                        f"'{self.arrays[i].name}' is in the host's memory, but launches use the GPU's: give arrays of "
                        "CuPy, PyTorch or JAX, or use run(…), which copies"
                    )
                self._lay(frame, i, pointer, shape, strides, of)
                if i == 0:
                    first = shape
                if place != HOST:
                    slots.append(Slot(pointer, shape, strides, array, keep, of))
            if box is not None or frame.has_box:
                if not self._put_box(frame, box, first):
                    return
            self._put_temporary(frame, on)
            status = lib.sg_launch(self._handle, frame.reference, on)
            if status:
                self._fail(status)
            self._keep(on, stream, slots)
        finally:
            self._frames.append(frame)

    # ---- parts of a run ----

    def _first(self, targets: Optional[dict[int, Any]]) -> Any:
        if not targets:
            raise UsageError(f"'{self.name}' reads no arrays, so the result needs one of yours: give out=…")
        return next(iter(targets.values()))

    def _named_outputs(self, split: list[Any], out: Any) -> Any:
        """Written arrays that were given by their own names, `u_next=…`, are outputs too."""
        named = {self.arrays[i].field: split[i] for i in self._written if split[i] is not None}
        if named and out is not None:
            raise UsageError("outputs are given by name or as out=…, not both")
        return named or out

    def _targets(self, out: Any, steps: int) -> dict[int, Any]:
        """The arrays of `out` by the kernel's arrays."""
        if len(self._written) == 1 and not isinstance(out, (dict, tuple, list)):
            targets = {self._written[0]: out}
            return self._for_steps(targets, steps)
        fields = [self.arrays[i].field for i in self._written]
        if isinstance(out, dict):
            unknown = [name for name in out if name not in fields]
            if unknown:
                raise UsageError(f"'{self.name}' writes {', '.join(fields)}, not '{unknown[0]}'")
            targets = {i: out[f] for i, f in zip(self._written, fields) if f in out}
        else:
            listed = out if isinstance(out, (tuple, list)) else (out,)
            if len(listed) != len(fields):
                raise UsageError(f"'{self.name}' writes {len(fields)} fields ({', '.join(fields)}), not {len(listed)}")
            targets = {i: array for i, array in zip(self._written, listed) if array is not None}
        return self._for_steps(targets, steps)

    def _for_steps(self, targets: dict[int, Any], steps: int) -> dict[int, Any]:
        if steps != 1 and any(self.arrays[i].reads >= 0 for i in targets):
            raise UsageError(
                "out=… is for one step: with more, arrays swap roles after each; overwrite=True saves the memory"
            )
        return targets

    def _give_up(self, slots: list[Any]) -> None:
        """The caller's arrays may be written to."""
        for _, current, previous in self._rotating:
            for i in (current, previous):
                if i >= 0:
                    slot = slots[i]
                    if slot.library.view(slot.array, 0)[5]:
                        raise UsageError(f"'{self.arrays[i].name}' is read-only: it cannot be overwritten")
                    slot.ours = True

    def _put_place(self, frame: Frame, step: int, origin: Any, whole: Any) -> None:
        arguments = frame.arguments
        arguments.step = step
        for field, given in (("origin", origin), ("global", whole)):
            cells = (0, 0, 0) if given is None else tuple(given)
            if given is not None and len(cells) != self._dims:
                raise UsageError(f"origin and whole have a number for each of {self._dims} axes, not {len(cells)}")
            getattr(arguments, field)[:] = [*reversed(cells), 0, 0][:3]

    def _put_box(self, frame: Frame, box: Any, shape: tuple[int, ...]) -> bool:
        """False: the box is empty."""
        begin, end = frame.arguments.begin, frame.arguments.end
        if box is None:
            if frame.has_box:
                begin[:] = end[:] = [0, 0, 0]
                frame.has_box, frame.changed = False, True
            return True
        slices = box if isinstance(box, tuple) else (box,)
        if len(slices) != len(shape) or not all(isinstance(s, slice) and s.step in (None, 1) for s in slices):
            raise UsageError(f"a box is a slice for each of {len(shape)} axes, without steps: numpy.s_[2:-2, 2:-2]")
        ranges = [s.indices(n)[:2] for s, n in zip(reversed(slices), reversed(shape))]
        begin[:] = [b for b, _ in ranges] + [0] * (3 - len(ranges))
        end[:] = [e for _, e in ranges] + [1] * (3 - len(ranges))
        frame.has_box, frame.changed = True, True
        return all(e > b for b, e in ranges)

    def _make(
        self, frame: Frame, slots: list[Any], steps: int, stream: int, foreign: Any, lent: list[Any]
    ) -> list[Any]:
        """Makes the steps. Returns the slots by what they hold then, and adds those that are new to `lent`."""
        if steps < 0:
            raise UsageError(f"{steps} steps cannot be run")
        part = self._part
        while steps > 0:
            own = True
            for w, current, previous in self._rotating:
                if slots[w] is None or not slots[w].ours:  # the caller's, in whose place there comes new memory
                    like: Slot = slots[current]
                    slots[w] = self._fresh(w, like, like.shape, foreign)
                    lent.append(slots[w])
                own = own and slots[current].ours and (previous < 0 or slots[previous].ours)
            for i, slot in enumerate(slots):
                self._lay(frame, i, slot.pointer, slot.shape, slot.strides, slot.library)
            self._put_temporary(frame, stream)
            if not own and self._single and not frame.has_box:
                # Arrays of the caller's that are only read may be one: u = u_prev, a wave that begins at rest.
                status = lib.sg_launch(self._handle, frame.reference, stream)
                if status:
                    self._fail(status)
                steps -= 1
                frame.arguments.step += 1
                slots = [slots[i] for i in self._moved]
                continue
            now = min(steps, part) if own else 1
            begin = perf_counter()
            status = lib.sg_run(self._handle, frame.reference, now, stream, frame.final)
            if status:
                self._fail(status)
            if perf_counter() - begin < _PART_SECONDS:
                part *= 2
            steps -= now
            frame.arguments.step += now
            final = frame.final[:]
            if final != self._unmoved:
                slots = [slots[i] for i in final]
        return slots
