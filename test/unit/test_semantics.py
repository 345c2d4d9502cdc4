"""Every row of the semantics table on special values against PyTorch."""

# pyright: reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (PyTorch leaves parameters of its functions untyped)

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from aten_oracle import STEP, to_numpy
from xdsl.ir import Attribute

from uop.dialects.semantics import ALU, evaluate, round_to_element
from uop.dialects.types import ELEMENT_TYPES, is_bool, is_float
from uop.frontends.element_types import dtype_of

Tensors = Callable[..., torch.Tensor]


def exact_modulo(modulo: Tensors, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """In float64, where the library does not give up on quotients above 2²⁴ as it does in float32."""
    return modulo(x.double(), y.double()).to(x.dtype) if x.dtype == torch.float32 else modulo(x, y)


EXACT: dict[str, Tensors] = {
    "neg": torch.neg,
    "abs": torch.abs,
    "sign": torch.sign,
    "reciprocal": torch.reciprocal,
    "rcp": torch.reciprocal,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "round": torch.round,
    "trunc": torch.trunc,
    "not": torch.bitwise_not,
    "isnan": torch.isnan,
    "isinf": torch.isinf,
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "floordiv": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "floormod": lambda x, y: exact_modulo(torch.remainder, x, y),
    "truncdiv": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "truncmod": lambda x, y: exact_modulo(torch.fmod, x, y),
    "min": torch.minimum,
    "max": torch.maximum,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "shl": torch.bitwise_left_shift,
    "shr": torch.bitwise_right_shift,
    "eq": torch.eq,
    "ne": torch.ne,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
}
"""What is equal to the last bit; of 0 and −0, `min` and `max` may give either."""

ROUNDED: dict[str, Tensors] = {
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "exp": torch.exp,
    "exp2": torch.exp2,
    "exp2_ftz": torch.exp2,
    "expm1": torch.expm1,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "asin": torch.asin,
    "acos": torch.acos,
    "atan": torch.atan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "tanh": torch.tanh,
    "asinh": torch.asinh,
    "acosh": torch.acosh,
    "atanh": torch.atanh,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "pow": torch.pow,
    "atan2": torch.atan2,
}
"""What the libraries round in different ways, by a few steps; on integers, `pow` is exact."""

FLOATS = [0.0, 1.0, 0.5, 1.5, 2.5, 3.7, 7.0, 100.0, 1e-3, 1e-30, 3e38, math.inf, math.nan]


def test_every_row_is_checked() -> None:
    assert {*EXACT, *ROUNDED, "where", "fma", "to_tf32"} == set(ALU)


def values(element: Attribute) -> torch.Tensor:
    dtype = dtype_of(element)
    if is_float(element):
        return torch.tensor([*FLOATS, *(-x for x in FLOATS)], dtype=dtype)
    if is_bool(element):
        return torch.tensor([False, True])
    info = torch.iinfo(dtype)
    return torch.tensor([*range(11), info.max, info.max - 1, info.min, info.min + 1, info.max // 2 + 1], dtype=dtype)


CASES = [
    (name, type)
    for name, row in ALU.items()
    for type, element in ELEMENT_TYPES.items()
    if type != "index" and row.accepts(element)
]


@pytest.mark.parametrize(("name", "type"), [case for case in CASES if case[0] in EXACT | ROUNDED])
def test_row_is_pytorch_s(name: str, type: str) -> None:
    row, element = ALU[name], ELEMENT_TYPES[type]
    x = values(element)
    operands = [x] if row.arity == 1 else [x.repeat_interleave(len(x)), x.repeat(len(x))]
    if name in ("floordiv", "floormod", "truncdiv", "truncmod") and not is_float(element):
        # Division by zero has no meaning, and least ÷ −1 traps in PyTorch.
        least = torch.iinfo(x.dtype).min
        kept = (operands[1] != 0) & ((operands[0] != least) | (operands[1] != -1) | (least == 0))
        operands = [operand[kept] for operand in operands]
    reference = (EXACT | ROUNDED)[name]
    # Floats of 16 bits are computed in f32 and rounded once.
    wide = [operand.float() if is_float(element) and STEP[x.dtype] > 1e-5 else operand for operand in operands]
    expected = reference(*wide)
    expected = expected if row.compares else expected.to(x.dtype)
    actual = evaluate(np, row, element, [to_numpy(operand) for operand in operands])
    wanted = to_numpy(expected)
    assert actual.dtype == wanted.dtype
    if name in ROUNDED and is_float(element):
        step = max(STEP[x.dtype], 0)
        np.testing.assert_allclose(actual, wanted, rtol=8 * step, atol=1e-44)
        return
    np.testing.assert_array_equal(actual, wanted)
    if is_float(element) and not row.compares and name not in ("min", "max"):
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(actual)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.parametrize("type", [type for name, type in CASES if name == "where"])
def test_where(type: str) -> None:
    element = ELEMENT_TYPES[type]
    x = values(element)
    condition = torch.arange(len(x)) % 2 == 0
    expected = torch.where(condition, x, x.flip(0))
    actual = evaluate(np, ALU["where"], element, [to_numpy(operand) for operand in (condition, x, x.flip(0))])
    np.testing.assert_array_equal(actual, to_numpy(expected))


def test_to_tf32() -> None:
    """Towards 0, to 11 significant bits; infinities and NaN stay."""
    step = 2.0**-10
    x = [1 + step, 1 + 1.9 * step, -1 - 1.9 * step, 0.0, -0.0, 2.0**-149, 3.4028234e38, math.inf, -math.inf, math.nan]
    wanted = [1 + step, 1 + step, -1 - step, 0.0, -0.0, 0.0, 2.0**128 - 2.0**117, math.inf, -math.inf, math.nan]
    actual = evaluate(np, ALU["to_tf32"], ELEMENT_TYPES["f32"], [np.array(x, np.float32).reshape(2, 5)])
    np.testing.assert_array_equal(actual.reshape(-1), np.array(wanted, np.float32))
    assert np.signbit(actual).reshape(-1).tolist() == np.signbit(np.array(wanted)).tolist()
    assert [type for name, type in CASES if name == "to_tf32"] == ["f32"]


def nearest(exact: Fraction, dtype: Any) -> Any:
    """The number of a float type nearest to `exact`, ties to even."""
    guess = dtype(float(exact))
    around = [np.nextafter(guess, dtype(-np.inf)), guess, np.nextafter(guess, dtype(np.inf))]
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[guess.itemsize]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(bits)) & 1))


@pytest.mark.parametrize(("type", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_fma_rounds_once(type: str, dtype: Any) -> None:
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(2000).astype(dtype) for _ in range(2))
    # Sums that cancel, and sums that lie next to the middle of two numbers.
    z = np.concatenate([-(x[:1000] * y[:1000]), random.standard_normal(1000).astype(dtype) * dtype(2.0**20)])
    actual = evaluate(np, ALU["fma"], ELEMENT_TYPES[type], [x, y, z])
    for a, b, c, result in zip(x, y, z, actual, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        assert result == nearest(exact, dtype)


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_rounding_to_16_bits(type: str) -> None:
    """Every pattern of bits, the middles between them, and what lies next to those."""
    patterns = np.arange(1 << 16, dtype=np.uint32)
    dtype = torch.float16 if type == "f16" else torch.bfloat16
    exact = torch.from_numpy(patterns.astype(np.uint16).view(np.int16)).view(dtype)
    numbers = to_numpy(exact.float())
    numbers = numbers[np.isfinite(numbers)]
    with np.errstate(over="ignore"):
        middles = numbers + np.abs(np.nextafter(numbers, np.float32(np.inf)) - numbers) * np.float32(2**12)
    points = np.concatenate([numbers, middles, np.nextafter(middles, np.float32(0)), [np.float32(np.nan)]])
    actual = round_to_element(np, points.astype(np.float32), ELEMENT_TYPES[type])
    np.testing.assert_array_equal(actual, to_numpy(torch.from_numpy(points.astype(np.float32)).to(dtype)))
