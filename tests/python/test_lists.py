"""Reductions, scans and merges, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stencilgen as sg


def build(text: str, **options: Any) -> Any:
    return sg.build(text=f"return {text}", device="cpu", **options)


@pytest.mark.parametrize("word,dtype", [("float", "float32"), ("double", "float64"), ("int32", "int32"), ("int64", "int64"), ("uint32", "uint32")])  # fmt: skip
def test_sums_and_extremes(word: str, dtype: str, rng: np.random.Generator) -> None:
    for op, function in [("sum", np.sum), ("max", np.max), ("min", np.min)]:
        kernel = build(f"reduce {{ name = 'r', op = '{op}', dtype = '{word}' }}")
        assert isinstance(kernel, sg.Reduce)
        for n in (1, 31, 1000, 100_003):
            x = (rng.random(n) * 100).astype(dtype)
            got = kernel(x)
            assert isinstance(got, np.dtype(dtype).type)
            assert np.isclose(got, function(x, dtype=dtype) if op == "sum" else function(x), rtol=1e-4)
    grid = (rng.random((3, 4, 5)) * 9).astype(dtype)
    assert kernel(grid) == grid.min()
    out = np.zeros(1, dtype)
    assert kernel(grid, out=out) is out and out[0] == grid.min()


def test_no_list_at_all() -> None:
    for text in ("reduce { name = 'none' }", "scan { name = 'none' }"):
        with pytest.raises(sg.UsageError, match="'none' needs its array 'input'"):
            sg.build(text="return " + text, device="cpu")(None)
    merge = sg.build(text="return merge { name = 'join' }", device="cpu")
    for a, b, words in [(None, None, "needs its array 'a'"), (1.0, np.zeros(2, "float32"), "a float is no array")]:
        with pytest.raises(sg.UsageError, match=words):
            merge(a, b)


def test_an_empty_list() -> None:
    assert build("reduce { name = 's', dtype = 'double' }")(np.zeros(0)) == 0
    found = build("reduce { name = 'a', op = 'argmin', dtype = 'double' }")(np.zeros(0))
    assert found.index == -1


def test_argmin_has_an_index(specs: Path, rng: np.random.Generator) -> None:
    kernel = sg.build(specs / "reduce_argmin.lua", device="cpu")
    x = rng.random(5000, dtype="float32")
    found = kernel(x)
    assert isinstance(found, sg.Found)
    assert (found.value, found.index) == (x.min(), x.argmin())
    assert isinstance(found.index, np.int64)


def test_dot(rng: np.random.Generator) -> None:
    kernel = build("reduce { name = 'dot', dtype = 'double', inputs = 2, map = function(x, y) return x * y end }")
    x, y = rng.random(1234), rng.random(1234)
    assert np.isclose(kernel(x, y), x @ y)
    with pytest.raises(sg.UsageError, match="needs its array 'second'"):
        kernel(x)
    with pytest.raises(sg.UsageError, match="no array 'second'"):
        build("reduce { name = 's', dtype = 'double' }")(x, y)
    with pytest.raises(sg.UsageError):
        kernel(x, y[:-1])


def test_segments(specs: Path, rng: np.random.Generator) -> None:
    kernel = sg.build(specs / "reduce_rows.lua", device="cpu")
    x = rng.random(100)
    offsets = np.array([0, 10, 10, 55, 100])
    expected = [x[a:b].sum() for a, b in zip(offsets, offsets[1:])]
    assert np.allclose(kernel(x, offsets=offsets), expected)
    assert np.allclose(kernel(x, offsets=[0, 10, 10, 55, 100]), expected)
    for wrong, words in [([0, 2.7], "an offset is a whole number, not 2.7"), (3, "one axis"), (np.array(3), "one axis")]:
        with pytest.raises((sg.UsageError, sg.DataError), match=words):
            kernel(x, offsets=wrong)
    with pytest.raises(sg.DataError, match="'offsets' is int32.*takes int64"):
        kernel(x, offsets=offsets.astype("int32"))


def test_scans(specs: Path, rng: np.random.Generator) -> None:
    x = rng.integers(0, 9, 10_001).astype("int32")
    exclusive = sg.build(specs / "scan.lua", device="cpu")
    assert isinstance(exclusive, sg.Scan)
    assert (exclusive(x) == np.concatenate([[0], np.cumsum(x)[:-1]])).all()
    inclusive = build("scan { name = 'i', op = 'max', dtype = 'int32' }")
    assert (inclusive(x) == np.maximum.accumulate(x)).all()
    grid = x[:10_000].reshape(100, 100)
    assert inclusive(grid).shape == (100, 100)
    assert inclusive(x, out=x) is x and (np.diff(x) >= 0).all()


def test_merges(specs: Path, rng: np.random.Generator) -> None:
    a, b = (np.sort(rng.integers(0, 50, n)).astype("int32") for n in (300, 201))
    av, bv = np.arange(300, dtype="float32"), -1 - np.arange(201, dtype="float32")
    merge = sg.build(specs / "merge.lua", device="cpu")
    assert isinstance(merge, sg.Merge)
    keys, values = merge(a, b, av, bv)
    order = np.argsort(np.concatenate([a, b]), kind="stable")
    assert (keys == np.concatenate([a, b])[order]).all()
    assert (values == np.concatenate([av, bv])[order]).all()
    alone = build("merge { name = 'm', keys = 'int32' }")
    out = np.empty(501, "int32")
    assert alone(a, b, out=out) is out and (out == keys).all()
    with pytest.raises(sg.UsageError, match="needs its array 'a_values'"):
        merge(a, b)
    with pytest.raises(sg.UsageError, match="no array 'a_values'"):
        alone(a, b, av, bv)


def test_merges_of_lists_with_more_axes() -> None:
    merge = sg.build(text='return merge { name = "planes", keys = "double" }', device="cpu")
    a, b = np.arange(6.0).reshape(2, 3), np.float64(2.5)
    assert merge(a, b).tolist() == [0, 1, 2, 2.5, 3, 4, 5]


def test_calls_like_the_one_before(specs: Path, rng: np.random.Generator) -> None:
    """They take a shorter way, with the same results, whatever else is given in between."""
    total = sg.build(text='return reduce { name = "s", dtype = "double", inputs = 1 }', device="cpu")
    dot = sg.build(
        text='return reduce { name = "d", dtype = "double", inputs = 2, map = function(x, y) return x * y end }',
        device="cpu",
    )
    rows = sg.build(specs / "reduce_rows.lua", device="cpu")
    running = sg.build(text='return scan { name = "r", dtype = "double" }', device="cpu")
    join = sg.build(text='return merge { name = "m", keys = "double" }', device="cpu")
    out, index = np.empty(1), np.array([0, 3, 3, 60])
    for n in (70, 70, 70, 90, 90, 60, 60, 60):
        x, y = rng.random(n), rng.random((n // 10, 10))
        assert (
            np.isclose(total(x), x.sum())
            and np.isclose(total(y), y.sum())
            and np.isclose(total(x[::2].copy()), x[::2].sum())
        )
        assert total(x, out=out) is out and np.isclose(out[0], x.sum())
        assert np.isclose(dot(x, y), (x * y.reshape(-1)).sum())
        assert np.allclose(rows(x, offsets=index), [x[:3].sum(), 0, x[3:60].sum()])
        assert rows(x, offsets=index[:3]).shape == (2,)
        assert running(y).shape == y.shape and np.allclose(running(x), np.cumsum(x))
        assert (join(np.sort(x), np.sort(x[:7])) == np.sort(np.concatenate([x, x[:7]]))).all()
        assert total(x) is not total(x)
        with pytest.raises(sg.UsageError, match="needs its array 'second'"):
            dot(x)
        with pytest.raises(sg.UsageError, match="no array 'second'"):
            total(x, x)
        with pytest.raises(sg.UsageError, match="no array or parameter 'k'"):
            total(x, k=1)
        with pytest.raises(sg.DataError, match="contiguous"):
            total(x[::2])


def test_launches(rng: np.random.Generator) -> None:
    scan = build("scan { name = 'i', dtype = 'double' }")
    x = rng.random(100)
    y = np.empty(100)
    assert scan.launch(x, y) is None
    assert np.allclose(y, np.cumsum(x))
    total = np.zeros(1)
    build("reduce { name = 's', dtype = 'double' }").launch(input=x, result=total)
    assert np.isclose(total[0], x.sum())


def test_lists_must_be_contiguous() -> None:
    kernel = build("reduce { name = 's', dtype = 'double' }")
    with pytest.raises(sg.DataError, match="'input' is not contiguous: numpy.ascontiguousarray"):
        kernel(np.zeros(10)[::2])
    with pytest.raises(sg.DataError, match="not contiguous"):
        kernel(np.zeros((4, 5)).T)
    assert kernel(np.ones((5, 1))[:, ::-1]) == 5


def test_parameters_and_algorithms(rng: np.random.Generator) -> None:
    kernel = build(
        "reduce { name = 'p', dtype = 'double', parameters = { e = 2 }, map = function(x, p) return x * p.e end }"
    )
    x = rng.random(77)
    assert np.isclose(kernel(x), 2 * x.sum()) and np.isclose(kernel(x, e=5), 5 * x.sum())
    scan = build("scan { name = 'k', dtype = 'double' }", method="kogge-stone")
    assert scan.plan.startswith("kogge-stone")
    assert np.allclose(scan(x), np.cumsum(x))
