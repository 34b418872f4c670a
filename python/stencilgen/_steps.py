"""Steps on a grid: what a call's arrays, outputs, box and place are to the kernel, and the launches, in parts so that an
interrupt is seen between them."""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache
from time import perf_counter
from typing import Any, Optional

from ._abi import lib
from ._arrays import HOST, counted, ranges_of, whole_number, x_first
from ._calls import Frame, Slot
from ._errors import UsageError
from ._kernel import Kernel
from ._points import OpenPoints

# A run is made in parts, so that an interrupt is seen between them: on the cpu device of about this many seconds.
# On a GPU the parts are long enough to lose nothing.
_PART_SECONDS = 0.1
_GPU_LAUNCHES = 4096


@lru_cache(maxsize=None)
def _fields(names: tuple[str, ...]) -> Any:
    """The class of the results of a run that has several."""
    made = namedtuple("Fields", names, rename=True)  # type: ignore[misc]
    setattr(made, "__reduce__", lambda self: (_fields_of, (names, *self)))  # pickle would not find the class
    return made


def _fields_of(names: tuple[str, ...], *results: Any) -> Any:
    return _fields(names)(*results)


class Steps(Kernel):
    """The part of a stencil that prepares and makes steps."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._inputs = [i for i, a in enumerate(self.arrays) if not a.written]
        self._written = [i for i, a in enumerate(self.arrays) if a.written]
        # Arrays that swap roles after each launch: the written one, the current one, the previous one.
        self._rotating = [(i, a.reads, a.previous) for i, a in enumerate(self.arrays) if a.written and a.reads >= 0]
        self._all = range(len(self.arrays))
        self._given = (*self._inputs, *self._written)  # of a call with out=…
        self._single = self.info.steps == 1
        # Cells of an array that is only written may keep what they hold: then new arrays begin as zeros.
        self._keeps = any(a.written and a.reads < 0 for a in self.arrays) and "fixed" in self._text("SG_TEXT_MODEL")
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
        self._after_step = [self._moved[i] for _, i in self._results]  # the arrays that hold the results of one step
        self._tuple: Any = None
        if len(self._results) > 1:
            self._tuple = _fields(tuple(name for name, _ in self._results))

    def _grid(self, index: int, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of the grid, from that of an array."""
        return shape if self.arrays[index].components == 1 else shape[1:]

    def _axes(self, index: int, grid: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an array."""
        components = self.arrays[index].components
        return grid if components == 1 else (components, *grid)

    def _places(self, frame: Frame) -> list[int]:
        """Where the content of each array is after a run."""
        final: list[int] = frame.final[:]
        if self._plain:
            return final
        place = {i: whole for whole, of in enumerate(self._parts) for i in of}
        return [place[final[of[0]]] for of in self._parts]

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
                raise UsageError(f"'{self.name}' writes {counted(len(fields), 'field')} ({', '.join(fields)}), not {len(listed)}")
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

    def _named_state(self, state: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
        """The arrays of a dict, whose keys are names as specs have them ("p.prev") or as calls do ("p_prev")."""
        by_keyword = {str(key).replace(".", "_"): array for key, array in state.items()}
        for key in by_keyword:
            if key not in self._array_index:
                have = ", ".join(a.name for a in self.arrays if not a.written)
                raise UsageError(f"'{self.name}' has no array '{key}'; it takes {have}")
            if key in named:
                raise UsageError(f"'{key}' is given twice")
        return {**named, **by_keyword}

    def _new_state(self, state: dict[str, Any], results: Any) -> dict[str, Any]:
        keys = {str(key).replace(".", "_"): key for key in state}
        listed = (results,) if self._tuple is None else results
        after = dict(state)
        for (name, _), array in zip(self._results, listed):
            after[keys.get(name, name)] = array
        return after

    def _put_place(self, frame: Frame, where: Any) -> None:
        """Where the arrays lie in a larger grid, and the number of the first step; None: nowhere else, and 0."""
        first, origin, whole = where or (0, None, None)
        frame.arguments.step = first if first == 0 else whole_number("step", first)
        if origin is not None or whole is not None or frame.has_place:
            for given in (origin, whole):
                count = self._dims if given is None else len(given) if hasattr(given, "__len__") else 1
                if count != self._dims:
                    raise UsageError(f"origin and whole have a number for each of {self._dims} axes, not {count}")
            frame.arguments.origin[:] = x_first(origin)
            getattr(frame.arguments, "global")[:] = x_first(whole)
            frame.has_place = origin is not None or whole is not None

    def _put_box(self, frame: Frame, box: Any, shape: tuple[int, ...]) -> bool:
        """False: the box is empty."""
        begin, end = frame.arguments.begin, frame.arguments.end
        if box is None:
            if frame.has_box:
                begin[:] = end[:] = [0, 0, 0]
                frame.has_box, frame.changed = False, True
            return True
        ranges = ranges_of(box, shape)[::-1]
        begin[:] = [b for b, _ in ranges] + [0] * (3 - len(ranges))
        end[:] = [e for _, e in ranges] + [1] * (3 - len(ranges))
        frame.has_box, frame.changed = True, True
        return all(e > b for b, e in ranges)

    def _make_room(self, slots: list[Any], foreign: Any, lent: list[Any], in_place: bool = False) -> bool:
        """New memory in place of the caller's arrays, where a step is to write. Whether all that steps write is ours.
        `in_place`: steps may write where the oldest level lies, if they can."""
        own = True
        for w, current, previous in self._rotating:
            oldest = previous if previous >= 0 else current
            if slots[w] is not None and slots[w].ours:
                pass
            elif in_place and self.arrays[w].same_as == oldest and slots[oldest].ours:
                slots[w] = slots[oldest]
            else:
                like: Slot = slots[current]
                slots[w] = self._fresh(w, like, like.shape, foreign)
                lent.append(slots[w])
            own = own and slots[current].ours and (previous < 0 or slots[previous].ours)
        return own

    def _lay_all(self, frame: Frame, slots: list[Any], stream: int) -> None:
        for i, slot in enumerate(slots):
            self._lay(frame, i, slot.pointer, slot.shape, slot.strides, slot.library)
        self._put_temporary(frame, stream)

    def _make(
        self, frame: Frame, slots: list[Any], steps: int, stream: int, foreign: Any, lent: list[Any],
        points: Optional[OpenPoints] = None,
    ) -> list[Any]:  # fmt: skip
        """Makes the steps. Returns the slots by what they hold then, and adds those that are new to `lent`."""
        if steps < 0:
            raise UsageError(f"{steps} steps cannot be run")
        while steps > 0:
            own = self._make_room(slots, foreign, lent, not frame.has_box)
            self._lay_all(frame, slots, stream)
            part = max(frame.part, self._part)
            # A single step may read one array of the caller's as two: u = u_prev, a wave that begins at rest.
            now = min(steps, part) if own else 1
            begin = perf_counter()
            if points is not None:
                points.run(frame.reference, now, stream, frame.final)
            else:
                status = lib.sg_run(self._handle, frame.reference, now, stream, frame.final)
                if status:
                    self._fail(status)
            if now == part and perf_counter() - begin < _PART_SECONDS:
                frame.part = 2 * part
            steps -= now
            frame.arguments.step += now
            final = self._places(frame)
            if final != self._unmoved:
                slots = [slots[i] for i in final]
        return slots
