"""What the tests share: the folder of specs, and contexts of the cpu device."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stencilgen as sg

ROOT = Path(__file__).resolve().parents[2]
SPECS = ROOT / "specs"


def drawn(count: int, parts: int) -> range:
    """One of so many parts of the numbers below `count`, as SG_SEED says, else as is drawn; CASES=all: all of them."""
    if os.environ.get("CASES") == "all":
        return range(count)
    return range((int(os.environ.get("SG_SEED") or 0) or secrets.randbelow(parts)) % parts, count, parts)


@pytest.fixture(scope="session")
def specs() -> Path:
    return SPECS


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture(scope="session")
def shift() -> Any:
    """u = 2 u(x+1) - u(y-1) in 2D, zero outside: any cell that is mixed up shows."""
    text = "return stencil { name = 'shift', boundary = 'zero', update = function(u) return 2*u(1,0) - u(0,-1) end }"
    return sg.build(text=text, size=(16, 16), device="cpu")


def shifted(u: np.ndarray) -> np.ndarray:
    padded = np.pad(u, 1)
    return 2 * padded[1:-1, 2:] - padded[:-2, 1:-1]
