"""Arrays of 16 bits: of NumPy, and of PyTorch, JAX and ml_dtypes where they are here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stencilgen as sg

SHIFT = """return stencil { name = 'shift16', boundary = 'zero', storage = '%s',
  update = function(u) return 2 * u(1, 0) - 0.3 * u(0, -1) end }"""


def shifted(u: np.ndarray) -> np.ndarray:
    padded = np.pad(u.astype("float32"), 1)
    return 2 * padded[1:-1, 2:] - np.float32(0.3) * padded[:-2, 1:-1]


@pytest.fixture(scope="module")
def half() -> Any:
    return sg.build(text=SHIFT % "half", size=(9, 11), device="cpu")


@pytest.fixture(scope="module")
def bfloat16() -> Any:
    return sg.build(text=SHIFT % "bfloat16", size=(9, 11), device="cpu")


def to_bits(values: np.ndarray) -> np.ndarray:
    """The upper half of each float, rounded to nearest even."""
    whole = values.astype("float32").view("uint32")
    return ((whole + 0x7FFF + ((whole >> 16) & 1)) >> 16).astype("uint16")


def test_conversions(rng: np.random.Generator) -> None:
    values = (rng.standard_normal((7, 30)) * 10.0 ** rng.integers(-30, 30, (7, 30))).astype("float32")
    bits = sg.to_bfloat16(values)
    assert bits.dtype == "uint16" and bits.shape == (7, 30) and (bits == to_bits(values)).all()
    back = sg.from_bfloat16(bits)
    assert back.dtype == "float32" and (back.view("uint32") == bits.astype("uint32") << 16).all()
    assert (sg.from_bfloat16(bits[::-1, ::2]) == back[::-1, ::2]).all() and sg.to_bfloat16(1.0) == 0x3F80
    assert (sg.from_bfloat16(bits.astype(">u2")) == back).all()
    for wrong in (values, values[:0].astype("float16")):
        with pytest.raises(sg.DataError, match=f"not {wrong.dtype.name}"):
            sg.from_bfloat16(wrong)


def test_half_of_numpy(half: Any, rng: np.random.Generator) -> None:
    assert half.dtype == "float32" and [a.dtype for a in half.arrays] == ["float16", "float16"]
    u = rng.standard_normal((9, 11)).astype("float16")
    got = half(u)
    assert got.dtype == "float16" and np.allclose(got, shifted(u).astype("float16"), rtol=1e-3, atol=1e-6)
    assert (half(u) == got).all() and (half(u[::-1]) == half(u[::-1].copy())).all()
    twice = half.run(u, steps=2)
    assert twice.dtype == "float16" and (twice == half(half(u))).all(), "every step is rounded"
    with pytest.raises(sg.DataError, match="is float32, but 'shift16' takes float16: numpy.asarray.*'float16'"):
        half(u.astype("float32"))
    total = sg.build(text='return reduce { name = "s", dtype = "half" }', device="cpu")(np.ones(3000, "float16"))
    assert total == 3000 and total.dtype == "float32"


def test_bfloat16_as_bits(bfloat16: Any, rng: np.random.Generator) -> None:
    assert [a.dtype for a in bfloat16.arrays] == ["uint16", "uint16"]
    u = sg.to_bfloat16(rng.standard_normal((9, 11)))
    got = bfloat16(u)
    assert got.dtype == "uint16"
    assert np.allclose(sg.from_bfloat16(got), shifted(sg.from_bfloat16(u)), rtol=2**-8, atol=1e-6)
    with pytest.raises(sg.DataError, match="takes bfloat16, in NumPy as uint16: stencilgen.to_bfloat16"):
        bfloat16(u.astype("float32"))


def test_ml_dtypes(bfloat16: Any, rng: np.random.Generator) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    u = rng.standard_normal((9, 11)).astype(ml_dtypes.bfloat16)
    got = bfloat16(u)
    assert got.dtype == ml_dtypes.bfloat16 and (got.view("uint16") == bfloat16(u.view("uint16"))).all()


def test_torch(half: Any, bfloat16: Any, rng: np.random.Generator) -> None:
    torch = pytest.importorskip("torch")
    u = rng.standard_normal((9, 11)).astype("float16")
    t = torch.from_numpy(u)
    got = half(t)
    assert got.dtype == torch.float16 and (got.numpy() == half(u)).all()
    b = t.to(torch.bfloat16)
    got = bfloat16(b)
    assert got.dtype == torch.bfloat16
    assert (got.view(torch.uint16).numpy() == bfloat16(b.view(torch.uint16).numpy())).all()
    with pytest.raises(sg.DataError, match=r"\.to\(torch.bfloat16\)"):
        bfloat16(t)


def test_jax(half: Any, bfloat16: Any, rng: np.random.Generator) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_platforms", "cpu")
    u = rng.standard_normal((9, 11)).astype("float16")
    got = half(jax.numpy.asarray(u))
    assert got.dtype == "float16" and (np.asarray(got) == half(u)).all()
    b = jax.numpy.asarray(u).astype("bfloat16")
    got = bfloat16(b)
    assert isinstance(got, jax.Array) and got.dtype == "bfloat16"
    assert (np.asarray(got).view("uint16") == bfloat16(np.asarray(b).view("uint16"))).all()
    with pytest.raises(sg.DataError, match=r"astype\('bfloat16'\)"):
        bfloat16(jax.numpy.asarray(u))


@pytest.mark.parametrize("word,dtype", [("half", "float16"), ("bfloat16", "uint16")])
def test_lists(word: str, dtype: str) -> None:
    numbers = np.arange(20, dtype="float32")
    x = numbers.astype("float16") if word == "half" else sg.to_bfloat16(numbers)
    values = (lambda a: a) if word == "half" else sg.from_bfloat16

    def build(family: str, rest: str = "") -> Any:
        return sg.build(text=f'return {family} {{ name = "l", {rest or f"dtype = {word!r}"} }}', device="cpu")

    assert build("reduce")(x) == 190, "the sum is a float"
    running = build("scan")(x)
    assert running.dtype == dtype and (values(running) == np.cumsum(numbers)).all()
    keys = np.arange(20, dtype="int32")
    merged, carried = build("merge", f"keys = 'int32', values = {word!r}")(keys, keys, x, x)
    assert (merged == np.repeat(keys, 2)).all() and (values(carried) == np.repeat(numbers, 2)).all()
