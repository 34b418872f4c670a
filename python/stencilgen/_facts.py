"""Facts of the arrays and parameters of kernels."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Optional, Sequence


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a launch. Axes are NumPy's: z, y, x."""

    name: str  #: "u", "u.prev", "u.next"
    field: str  #: "u"
    written: bool
    dtype: str  #: NumPy's name, "float32"
    reads: int  #: of a written array: the index of the one with the field's current values; -1: none
    previous: int  #: of a written array: the index of the one with the previous time level; -1: none
    low: tuple[int, ...]  #: how far below a point it is read, along each axis
    high: tuple[int, ...]  #: how far above
    updated: bool  #: it is read before it is written, so its content matters
    same_as: int  #: of a written array: the index of one that may be the same memory; -1: none
    components: int = 1  #: more than 1: numbers a point, by the array's first axis, (components, nz, ny, nx)

    @property
    def keyword(self) -> str:
        """Its name in calls, "u_prev"."""
        return self.name.replace(".", "_")


def together(infos: Sequence[ArrayInfo]) -> tuple[tuple[ArrayInfo, ...], list[list[int]]]:
    """The arrays of calls, and the library's arrays that each consists of: it has one for each component of a field, "f[1]",
    "f[2]", …, and calls have one array of all."""
    names: dict[str, dict[int, int]] = {}  # by components, from 1
    for i, info in enumerate(infos):
        found = re.fullmatch(r"(\w+)\[(\d+)\](.*)", info.name)
        name, component = (found[1] + found[3], int(found[2])) if found else (info.name, 1)
        names.setdefault(name, {})[component] = i
    parts = [[of[k] for k in sorted(of)] for of in names.values()]
    place = {i: whole for whole, of in enumerate(parts) for i in of}
    place[-1] = -1
    made = []
    for name, of in zip(names, parts):
        each = [infos[i] for i in of]
        first = each[0]
        shared = {place[info.same_as] for info in each}
        made.append(
            replace(
                first,
                name=name,
                field=re.sub(r"\[\d+\]$", "", first.field),
                components=len(of),
                reads=place[first.reads],
                previous=place[first.previous],
                updated=any(info.updated for info in each),
                same_as=shared.pop() if len(shared) == 1 else -1,
                low=tuple(map(max, zip(*(info.low for info in each)))),
                high=tuple(map(max, zip(*(info.high for info in each)))),
            )  # fmt: skip
        )
    return tuple(made), parts


@dataclass(frozen=True)
class ParameterInfo:
    """A number that calls give by its name."""

    name: str
    default: Optional[float]  #: None: every call must give it
