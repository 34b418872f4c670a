"""What arrays of 16 bits do to an answer: steps of three equations on small grids, each storage compared with double.
Takes: the package (PYTHONPATH=python) and NumPy. Prints the rows of docs/precision.md."""

import numpy as np
import stencilgen as sg

N = 64
MARKS = (100, 1000, 10000)
WORDS = {"float": "float32", "half": "float16", "bfloat16": "uint16"}

SPECS = {
    "heat": """return stencil { name = "heat", boundary = "periodic", HOW,
        coefficients = identity() + 0.1 * laplacian { dims = 2 } }""",
    "wave": """return stencil { name = "wave", boundary = "periodic", HOW,
        fields = { u = { use = "inout", levels = 2 } },
        update = function(f, p)
          return 2 * f.u(0, 0) - f.u.prev(0, 0) + 0.1 * apply(laplacian { dims = 2 }, f.u)
        end }""",
    # Linear, Lax-Friedrichs: h is the elevation above a depth of 1, u and v are the velocities.
    "shallow water": """return stencil { name = "shallow", boundary = "periodic", HOW,
        fields = { h = "inout", u = "inout", v = "inout" },
        update = function(f, p)
          local function mean(q) return (q(1, 0) + q(-1, 0) + q(0, 1) + q(0, -1)) / 4 end
          local c = 0.1
          return { h = mean(f.h) - c * (f.u(1, 0) - f.u(-1, 0) + f.v(0, 1) - f.v(0, -1)),
                   u = mean(f.u) - c * (f.h(1, 0) - f.h(-1, 0)),
                   v = mean(f.v) - c * (f.h(0, 1) - f.h(0, -1)) }
        end }""",
}


def rounded(values, storage):
    """The numbers as arrays of the storage hold them."""
    if storage != "bfloat16":
        return values.astype(WORDS.get(storage, "float64"))
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widened(array):
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def answers(text, fields, start, storage):
    how = 'dtype = "double"' if storage == "double" else 'dtype = "float"'
    if storage in ("half", "bfloat16"):
        how += f', storage = "{storage}"'
    kernel = sg.build(text=text.replace("HOW", how), size=(N, N))
    state = [rounded(start if i == 0 else 0 * start, storage) for i in range(fields)]
    if "levels" in text:
        state.append(state[0])
    out = []
    for mark in MARKS:
        result = kernel.run(*state, steps=mark)
        out.append(widened(result[0] if isinstance(result, tuple) else result))
    return out


def main():
    x = 2 * np.pi * np.arange(N) / N
    start = 1 + np.outer(np.sin(x), np.cos(x)) / 2
    for name, text in SPECS.items():
        fields = 3 if name == "shallow water" else 1
        exact = answers(text, fields, start, "double")
        for storage in ("float", "half", "bfloat16"):
            found = answers(text, fields, start, storage)
            errors = [abs(f - e).max() / abs(e).max() for f, e in zip(found, exact)]
            print(f"| {name} | `{storage}` | " + " | ".join(f"{e:.1e}" for e in errors) + " |")


if __name__ == "__main__":
    main()
