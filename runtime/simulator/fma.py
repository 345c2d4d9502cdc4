"""Fused multiply-add with a single rounding, for numpy arrays.

f32: the product of two f32 is exact in f64. Adding the third operand in f64 and rounding to f32 rounds twice,
which differs from one rounding only when the f64 sum lies half way between two f32 (or two subnormals, whose
spacing is wider): those few lanes are computed again from the sum rounded to odd.
f64: error-free transformations in the common range, exact rational arithmetic for the lanes outside it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .formats import SMALLEST_NORMAL_F32, Array, narrow, round_to_odd_sum, step, two_sum

_HALF_WAY = np.uint64(1 << 28)  # bits of an f64 below the last bit of an f32: 29, the first of them set
_BELOW_F32 = np.uint64((1 << 29) - 1)


def fma_f32(a: Array, b: Array, c: Array, mode: str = "rn") -> Array:
    """a * b + c on f32 arrays, rounded once."""
    product = np.multiply(a, b, dtype=np.float64)
    total = np.asarray(product + c)
    if mode != "rn":
        return narrow(round_to_odd_sum(product, c.astype(np.float64)), mode)
    result = total.astype(np.float32)
    doubtful = (total.view(np.uint64) & _BELOW_F32) == _HALF_WAY
    doubtful |= (np.abs(result) <= np.float32(SMALLEST_NORMAL_F32)) & (total != 0)
    if doubtful.any():
        wide_c = np.broadcast_to(c, total.shape)[doubtful].astype(np.float64)
        exact = round_to_odd_sum(np.broadcast_to(product, total.shape)[doubtful], wide_c)
        result[doubtful] = exact.astype(np.float32)
    return result


def fma_f64_odd(a: Array, b: Array, c: Array) -> Array:
    """a * b + c for operands of at most 24 bits (f16, bf16, f32), in f64 rounded to odd."""
    return round_to_odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))


def fma_f64(a: Array, b: Array, c: Array, mode: str = "rn") -> Array:
    """a * b + c on f64 arrays, rounded once.

    (Boldo and Melquiond, 2008; rational arithmetic at the ends of the range, and for other modes than rn.)
    """
    plain = np.asarray(a * b + c)
    a, b, c = (np.broadcast_to(value, plain.shape) for value in (a, b, c))
    # Splitting, products and their errors neither overflow nor lose bits between these bounds.
    safe = np.ones(plain.shape, bool)
    for magnitude in (np.abs(a), np.abs(b), np.abs(a * b), np.abs(c)):
        safe &= (magnitude > 1e-250) & (magnitude < 1e250)
    is_plain = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    if mode == "rn":
        high, low = two_product(a, b)
        u_high, u_low = two_sum(c, low)
        t_high, t_low = two_sum(high, u_high)
        result = np.where(safe, t_high + round_to_odd_sum(t_low, u_low), plain)
        rest = ~safe & ~is_plain & (c != 0)
    else:
        result, rest = plain, ~is_plain
    for index in np.argwhere(rest):
        where = tuple(index)
        result[where] = _exact(float(a[where]), float(b[where]), float(c[where]), mode)
    return result


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded f64 product and its exact error (Dekker, with Veltkamp's splitting)."""
    splitter = np.float64((1 << 27) + 1)
    product = a * b
    scaled_a, scaled_b = splitter * a, splitter * b
    a_high = scaled_a - (scaled_a - a)
    b_high = scaled_b - (scaled_b - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _exact(a: float, b: float, c: float, mode: str) -> float:
    """One fma by rational arithmetic. All operands are finite."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        nearest = exact.numerator / exact.denominator  # int / int is rounded once
    except OverflowError:
        nearest = float("inf") if exact > 0 else float("-inf")
    if np.isinf(nearest):
        error = -1.0 if exact > 0 else 1.0
    else:
        difference = exact - Fraction(nearest)
        error = float((difference > 0) - (difference < 0))
    if nearest == 0:
        nearest = float(np.copysign(0.0, 1.0 if exact > 0 else -1.0))
    return float(step(np.array(nearest), np.array(error), mode))
