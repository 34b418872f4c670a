"""Sparse matrices and products, against SciPy."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stencilgen as sg

sparse: Any = pytest.importorskip("scipy.sparse")
TEXT = 'return spmv { name = "p", dtype = "double" }'


@pytest.fixture(scope="module")
def a() -> Any:
    return sparse.random(60, 45, density=0.08, format="csr", random_state=3)


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "lil", "dok", "bsr", "dia"])
def test_formats_of_scipy(a: Any, format: str, rng: np.random.Generator) -> None:
    x = rng.random(45)
    product = sg.build(text=TEXT, matrix=a.asformat(format), device="cpu")
    assert isinstance(product, sg.Product)
    assert np.allclose(product(x), a @ x)


@pytest.mark.parametrize("format", ["coo", "csr", "csc", "ell", "sell", "hyb", "jds", "bcsr"])
def test_formats_of_kernels(a: Any, format: str, rng: np.random.Generator) -> None:
    x = rng.random(45)
    product = sg.build(text=TEXT, matrix=a, format=format, device="cpu")
    assert product.matrix.info.format == format and product.matrix.shape == (60, 45)
    assert np.allclose(product(x), a @ x)


def test_alpha_beta_and_outputs(a: Any, rng: np.random.Generator) -> None:
    product = sg.build(text=TEXT, matrix=a, device="cpu")
    x, y = rng.random(45), rng.random(60)
    expected = 2 * (a @ x) - 3 * y
    assert product(x, y, alpha=2, beta=-3) is y
    assert np.allclose(y, expected)
    product.launch(x, y)
    assert np.allclose(y, a @ x)
    with pytest.raises(sg.UsageError, match="beta needs a y"):
        product(x, beta=1)
    for bad in (rng.random(44), rng.random((45, 2)), np.zeros((1, 1, 45)), rng.random(90)[::2]):
        with pytest.raises(sg.DataError):
            product(bad)
    with pytest.raises(sg.DataError, match="float32"):
        product(x.astype("float32"))


@pytest.mark.parametrize("format", ["csr", "sell", "pkt", "csc"])
def test_values_of_16_bits(a: Any, format: str, rng: np.random.Generator) -> None:
    text = 'return spmv { name = "p", dtype = "double", storage = "%s" }'
    x = rng.random(45)
    rounded = a.copy()
    rounded.data = a.data.astype("float16").astype("float64")
    product = sg.build(text=text % "half", matrix=a, format=format, device="cpu")
    assert np.allclose(product(x), rounded @ x, rtol=1e-14)
    rounded.data = sg.from_bfloat16(sg.to_bfloat16(a.data.astype("float32"))).astype("float64")
    product = sg.build(text=text % "bfloat16", matrix=a, format=format, device="cpu")
    assert np.allclose(product(x), rounded @ x, rtol=1e-14)
    huge = sparse.coo_matrix(([1e5], ([0], [0])), shape=(2, 2))
    with pytest.raises(sg.DataError, match="too large for a half"):
        sg.build(text=text % "half", matrix=huge, format=format, device="cpu")(rng.random(2))


def test_several_vectors(a: Any, rng: np.random.Generator) -> None:
    text = 'return spmv { name = "p", dtype = "double", vectors = 3 }'
    product = sg.build(text=text, matrix=a, device="cpu")
    x = rng.random((3, 45))
    assert np.allclose(product(x), (a @ x.T).T)
    with pytest.raises(sg.DataError, match="different numbers of vectors"):
        product(x, np.zeros((2, 60)))


def test_other_matrices(a: Any, rng: np.random.Generator) -> None:
    product = sg.build(text=TEXT, device="cpu")
    x = rng.random(45)
    with pytest.raises(sg.UsageError, match="without a matrix"):
        product(x)
    b = product.upload(3 * a)
    del a
    assert np.allclose(product(x, matrix=b), product(x, matrix=b))
    assert product(x, matrix=b).shape == (60,)


def test_arguments_that_are_no_matrices_or_numbers(a: Any) -> None:
    product, x = sg.build(text=TEXT, matrix=a, device="cpu"), np.ones(45)
    with pytest.raises(sg.UsageError, match="what upload[(][)] makes of a matrix, not a csr_"):
        product(x, matrix=a)
    with pytest.raises(sg.UsageError, match="alpha is a number, not '2'"):
        product(x, alpha="2")
    with pytest.raises(TypeError, match="a stencilgen.Matrix"):
        copy.copy(sg.Matrix(a))
    small: Any = sg.Matrix((3, 4))
    for call, words in [
        (lambda: small[1.5, 0], "a row is a whole number, not 1.5"),
        (lambda: small[1, 2**64], "a column of 18446744073709551616 is too large"),
        (lambda: small[1, 2, 3], "a place is a pair"),
        (lambda: small[1], "a place is a pair"),
        (lambda: small.add(0, "a", 1), "a column is a whole number, not 'a'"),
        (lambda: small.add(0, 0, "a"), "an entry is a number, not 'a'"),
        (lambda: small.__setitem__((0, 0), None), "an entry is a number, not None"),
        (lambda: sg.Matrix((2**64 + 3, 3)), "a row of 18446744073709551619 is too large"),
        (lambda: sg.Matrix((1, 2, 3)), "a size is a pair"),
    ]:
        with pytest.raises(sg.UsageError, match=words):
            call()


def test_lists_of_different_lengths(a: Any) -> None:
    coo, count = a.tocoo(), a.nnz
    coo.row = coo.row[:1]
    with pytest.raises(sg.DataError, match=f"1 rows, {count} columns and {count} values"):
        sg.Matrix(coo)


def test_duplicates_are_added() -> None:
    a = sparse.coo_matrix(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert sg.Matrix(a, device="cpu")[0, 1] == 3


def test_values_that_are_no_real_numbers(a: Any) -> None:
    for values in ("complex128", "complex64"):
        with pytest.raises(sg.DataError, match="real numbers"):
            sg.Matrix(a.astype(values))
    assert sg.Matrix(a.astype("int32")).info.rows == 60


def test_files(a: Any, tmp_path: Path, rng: np.random.Generator) -> None:
    path = tmp_path / "a.mtx"
    sg.Matrix(a, device="cpu").save(path)
    x = rng.random(45)
    assert np.allclose(sg.build(text=TEXT, matrix=path, device="cpu")(x), a @ x)
    assert np.allclose(sg.build(text=TEXT, matrix=str(path), device="cpu")(x), a @ x)
    path.write_text("%%MatrixMarket nonsense\n")
    with pytest.raises(sg.DataError, match=f"{path}:1"):
        sg.Matrix(path)
    with pytest.raises(sg.FileError):
        sg.Matrix(tmp_path / "none.mtx")


def test_a_matrix_of_keys() -> None:
    m = sg.Matrix((3, 4), device="cpu")
    m[0, 1] = 2.5
    m.add(0, 1, 1)
    m[2, 3] = -1
    assert m.shape == (3, 4) and m[0, 1] == 3.5 and m[1, 1] == 0
    row, column, value = m.entries()
    assert row.tolist() == [0, 2] and column.tolist() == [1, 3] and value.tolist() == [3.5, -1]
    assert m.info.entries == 2 and m.info.empty_rows == 1 and not m.info.symmetric
    chosen = [f.format for f in m.formats() if f.chosen]
    assert len(chosen) == 1
    with pytest.raises(sg.UsageError):
        m[3, 0] = 1
    with pytest.raises(sg.UsageError, match="no sparse matrix"):
        sg.Matrix([[1, 2]])


def test_the_matrix_may_be_dropped(a: Any, rng: np.random.Generator) -> None:
    product = sg.build(text=TEXT, matrix=sg.Matrix(a, device="cpu"), device="cpu")
    assert np.allclose(product(np.ones(45)), a @ np.ones(45))
