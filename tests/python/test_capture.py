"""Captures: arrays as they were when they were taken, in memory that lives as long as what is seen of it."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
import stencilgen as sg


def test_an_array_as_it_was(rng: np.random.Generator) -> None:
    for shape, dtype in [
        ((4, 5, 6), "float32"),
        ((7,), np.float64),
        ((3, 2), "float16"),
        (5, "int64"),
        ((0, 3), "uint32"),
    ]:
        a = (100 * rng.random(shape)).astype(dtype)
        kept = a.copy()
        capture = sg.Capture(shape, dtype, device="cpu")
        capture.take(a)
        a[...] = 0
        got = capture.wait()
        assert got.dtype == kept.dtype and got.shape == kept.shape and (got == kept).all()
        assert not got.flags.writeable
        capture.take(kept + 1)
        capture.wait()
        del capture
        gc.collect()
        assert (got == kept + 1).all(), "the memory of a capture is used again, and lives"


def test_bits_of_bfloat16() -> None:
    bits = sg.to_bfloat16(np.arange(6.0).reshape(2, 3))
    capture = sg.Capture((2, 3), "bfloat16", device="cpu")
    capture.take(bits)
    assert (sg.from_bfloat16(capture.wait()) == np.arange(6).reshape(2, 3)).all()


def test_what_is_refused(rng: np.random.Generator) -> None:
    capture = sg.Capture((4, 6), device="cpu")
    a: Any = rng.random((4, 6), dtype="float32")
    for wrong, kind, words in [
        (a[:3], sg.DataError, r"float32 of \(3, 6\), but the capture is for float32 of \(4, 6\)"),
        (a.astype("float64"), sg.DataError, "is float64"),
        (np.asfortranarray(a), sg.DataError, "ascontiguousarray"),
        (a.tolist(), sg.UsageError, "list"),
    ]:
        with pytest.raises(kind, match=words):
            capture.take(wrong)
    with pytest.raises(sg.UsageError, match="no array was taken"):
        capture.wait()
    capture.take(a)
    with pytest.raises(sg.UsageError, match="wait"):
        capture.take(a)
    assert (capture.wait() == a).all()
    with pytest.raises(sg.UsageError, match="complex64"):
        sg.Capture((4, 6), "complex64", device="cpu")
