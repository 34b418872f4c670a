"""What arrays of 16 bits do to an answer: steps of three specs on small grids, each storage compared with double.
Runs at the root of the repository. Takes: the package (PYTHONPATH=python) and NumPy. Prints the rows of docs/precision.md."""

import re
from pathlib import Path

import numpy as np
import stencilgen as sg

N = 64
MARKS = (100, 1000, 10000)
WORDS = {"float": "float32", "half": "float16", "bfloat16": "uint16"}

X = 2 * np.pi * np.arange(N) / N
SMOOTH = np.outer(np.sin(X), np.cos(X))
PULSE = np.exp(-((np.add.outer((X - np.pi) ** 2, (X - np.pi) ** 2)) / 0.5))
# The spec, and the arrays that it begins with by their names; the first is the one compared.
CASES = {
    "heat": ("specs/heat2d5.lua", {"u": 1 + SMOOTH / 2}),
    "wave": ("specs/wave2d.lua", {"u": PULSE, "u.prev": PULSE, "c": np.ones((N, N))}),
    "shallow water": ("specs/shallow.lua", {"h": 1.2 + SMOOTH / 10, "mu": 0 * SMOOTH, "mv": 0 * SMOOTH}),
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


def answers(path, start, storage):
    """The first field after each number of steps."""
    text = Path(path).read_text()
    own = 'dtype = "double"' if storage == "double" else f'dtype = "float", storage = "{storage}"'
    text, changed = re.subn(r'dtype *= "float"', own if storage != "float" else 'dtype = "float"', text)
    assert changed == 1, path
    kernel = sg.build(text=text, size=(N, N))
    state = {array: rounded(values, storage) for array, values in start.items()}
    out = []
    for mark in MARKS:
        out.append(widened(kernel.run(state, steps=mark)[next(iter(start))]))
    return out


def main():
    for name, (path, start) in CASES.items():
        exact = answers(path, start, "double")
        for storage in ("float", "half", "bfloat16"):
            found = answers(path, start, storage)
            errors = [abs(f - e).max() / abs(e).max() for f, e in zip(found, exact)]
            print(f"| {name} | `{storage}` | " + " | ".join(f"{e:.1e}" for e in errors) + " |")


if __name__ == "__main__":
    main()
