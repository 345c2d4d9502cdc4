# numpy comes in as an argument of type Any, so that a driver that only rewrites does not load it.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
"""What ALU ops mean on numpy arrays where that is not one function of numpy: rows of the semantics table name these.

`function(np, *arrays)`, where np is the module and the arrays have one dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def of_math(name: str) -> Callable[..., Any]:
    """A function of Python's `math` for arrays (numpy has no erf)."""

    def apply(np: Any, x: Any) -> Any:
        import math

        return np.vectorize(getattr(math, name), otypes=[np.float64])(x)

    return apply


def _int_pow(np: Any, x: Any, y: Any) -> Any:
    """Wrapping power; a negative exponent gives 1, ±1 or 0, as PyTorch computes it."""
    x, y = np.broadcast_arrays(x, y)
    power = np.power(x, np.maximum(y, 0))
    odd = np.where(y % 2 == 0, 1, -1).astype(x.dtype)
    negative = np.where(x == 1, 1, np.where(x == -1, odd, 0)).astype(x.dtype)
    return np.where(y < 0, negative, power)


def _is_floating(np: Any, x: Any) -> bool:
    return np.issubdtype(np.asarray(x).dtype, np.floating)


def power(np: Any, x: Any, y: Any) -> Any:
    return np.power(x, y) if _is_floating(np, x) else _int_pow(np, x, y)


def floor_mod(np: Any, x: Any, y: Any) -> Any:
    """numpy's remainder of floats gives a zero the sign of y, PyTorch's leaves it that of x."""
    if not _is_floating(np, x):
        return np.remainder(x, y)
    remainder = np.fmod(x, y)
    return np.where((remainder != 0) & ((remainder < 0) != (y < 0)), remainder + y, remainder)


def trunc_div(np: Any, x: Any, y: Any) -> Any:
    if _is_floating(np, x):
        return np.trunc(x / y)
    quotient = np.floor_divide(x, y)
    inexact = np.remainder(x, y) != 0
    return quotient + (inexact & ((x < 0) != (y < 0))).astype(quotient.dtype)


def shift_left(np: Any, x: Any, y: Any) -> Any:
    bits = np.asarray(x).dtype.itemsize * 8
    inside = (y >= 0) & (y < bits)
    return np.where(inside, np.left_shift(x, np.where(inside, y, 0)), 0).astype(np.asarray(x).dtype)


def shift_right(np: Any, x: Any, y: Any) -> Any:
    bits = np.asarray(x).dtype.itemsize * 8
    inside = (y >= 0) & (y < bits)
    beyond = np.zeros_like(x) if np.asarray(x).dtype.kind == "u" else np.right_shift(x, bits - 1)
    return np.where(inside, np.right_shift(x, np.where(inside, y, 0)), beyond).astype(np.asarray(x).dtype)


def to_tf32(np: Any, x: Any) -> Any:
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).reshape(np.shape(x))


def sign(np: Any, x: Any) -> Any:
    if np.asarray(x).dtype == np.uint8:
        return (x > 0).astype(np.uint8)
    return ((x > 0).astype(np.int8) - (x < 0).astype(np.int8)).astype(np.asarray(x).dtype)


def fma(np: Any, x: Any, y: Any, z: Any) -> Any:
    """Rounded once: by way of a sum rounded to odd, which a second rounding to fewer bits does not harm.

    Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
    odd" (2008).
    """
    if np.asarray(x).dtype == np.float32:
        return _sum_to_odd(np, x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64))
    product, product_error = _two_product(np, x, y)
    low, low_error = _two_sum(np, z, product_error)
    high, high_error = _two_sum(np, product, low)
    exact = high + _sum_to_odd(np, low_error, high_error)
    # Where a part overflows, the rounding of the sum does not matter; of a sum that is 0, only the sign does. A product
    # alone is rounded once as it is, also where its error is too small for a number.
    return np.where(np.isfinite(exact) & (exact != 0) & (z != 0), exact, x * y + z)


def _two_sum(np: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """x + y rounded, and its error (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _two_product(np: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """x · y rounded, and its error, of float64 (Dekker)."""

    def split(value: Any) -> tuple[Any, Any]:
        scaled = value * 134217729.0  # 2²⁷ + 1
        high = scaled - (scaled - value)
        return high, value - high

    product = x * y
    (x_high, x_low), (y_high, y_low) = split(x), split(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _sum_to_odd(np: Any, x: Any, y: Any) -> Any:
    """x + y of float64; where it is not exact, the neighbour whose last bit is 1."""
    total, error = _two_sum(np, x, y)
    inexact = np.isfinite(total) & (error != 0)
    if not inexact.any():
        return total
    bits = np.ascontiguousarray(total).view(np.int64).reshape(np.shape(total))
    towards = np.where((error > 0) == (total > 0), 1, -1)  # the greater pattern is farther from 0
    return np.asarray(bits + towards * (inexact & (bits & 1 == 0))).view(np.float64)
