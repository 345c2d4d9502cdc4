"""Numbers to try: special ones, all of the small types, and random ones (always the same)."""

from __future__ import annotations

from functools import cache
from math import inf, nan
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from ...dialects.monoids import Number
from ...dialects.semantics import numpy_dtype, round_to_element
from ...dialects.types import bf16, bit_width, f16, f32, index, integer_bounds, is_bool, is_float

Array = np.ndarray[Any, Any]

SPECIAL_FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    inf,
    -inf,
    nan,
    0.5,
    -2.0,
    3.0,
    1e-40,
    6e-8,
    65504.0,
    1e-3,
    0.1,
    -7.0,
    1e30,
    2049.0,
)


@cache
def constants_of(element: Attribute) -> tuple[Number, ...]:
    """What a constant of a rule is tried with."""
    if is_bool(element):
        return False, True
    if is_float(element):
        return tuple(_round(number, element) for number in SPECIAL_FLOATS[:10])
    if element == index:
        return 0, 1, -1, 2, -2, 3, 4, 6, -3, 8, 12, -8, 64, 1 << 20
    low, high = integer_bounds(element)
    numbers = (0, 1, 2, 3, 4, 6, 8, low, low + 1, high, high - 1, high // 2 + 1, -1, -2, -3, 12)
    return tuple(number for number in numbers if low <= number <= high)


def _round(number: float, element: Attribute) -> float:
    with np.errstate(all="ignore"):
        return float(round_to_element(np, np.asarray(number), element))


@cache
def all_of(element: Attribute) -> Array | None:
    """All numbers of a type of 16 bits or fewer, NaNs with every payload; None of a larger type."""
    if is_bool(element):
        return np.array([False, True])
    if element == f16:
        return np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    if element == bf16:
        return (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    if element == index or is_float(element) or bit_width(element) > 16:
        return None
    low, high = integer_bounds(element)
    return np.arange(low, high + 1).astype(numpy_dtype(element))


@cache
def some_of(element: Attribute, count: int) -> Array:
    """Special numbers first, then random ones of every exponent or width: `count` in all, or fewer if there are not
    as many."""
    whole = all_of(element)
    if whole is not None and len(whole) <= count:
        return whole
    if is_float(element):
        special = np.array([_round(number, element) for number in SPECIAL_FLOATS], numpy_dtype(element))
        return np.concatenate([special, _edges(element), _random_floats(element, count)])[:count]
    low, high = integer_bounds(element)
    numbers = dict.fromkeys((*constants_of(element), *range(-25, 26), 1 << 20, 1 - (1 << 20)))
    special_integers = [int(number) for number in numbers if low <= number <= high]
    generator = np.random.default_rng(1)
    if element == index:  # an index never wraps: not so great that a product could
        return np.concatenate([special_integers, generator.integers(-1000, 1000, count)])[:count]
    random = generator.integers(low, high, count, np.int64, endpoint=True) >> generator.integers(
        0, bit_width(element), count
    )
    return np.concatenate([special_integers, random]).astype(numpy_dtype(element))[:count]


def _edges(element: Attribute) -> Array:
    """The least and greatest subnormal and normal numbers, and neighbours of 1."""
    mantissa = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}[str(element)]
    exponents = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}[str(element)]
    one = ((1 << (exponents - 1)) - 1) << mantissa
    top = ((1 << exponents) - 1) << mantissa
    patterns = [1, (1 << mantissa) - 1, 1 << mantissa, top - 1, top + 1, one - 1, one + 1]
    sign = 1 << (mantissa + exponents)
    return _of_patterns(np.array([*patterns, *(pattern | sign for pattern in patterns)], np.uint64), element)


def _random_floats(element: Attribute, count: int) -> Array:
    generator = np.random.default_rng(2)
    width = bit_width(element)
    patterns = generator.integers(0, (1 << width) - 1, count, np.uint64, endpoint=True)
    near_one = generator.uniform(-8, 8, count)
    with np.errstate(all="ignore"):
        moderate = round_to_element(np, near_one.astype(np.float64), element)
    return np.where(np.arange(count) % 2 == 0, _of_patterns(patterns, element), moderate)


def _of_patterns(patterns: Array, element: Attribute) -> Array:
    """Floats by their bits."""
    if element == bf16:
        return (patterns.astype(np.uint32) << np.uint32(16)).view(np.float32)
    if element == f16:
        return patterns.astype(np.uint16).view(np.float16)
    return patterns.astype(np.uint32).view(np.float32) if element == f32 else patterns.view(np.float64)
