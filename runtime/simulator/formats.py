"""PTX types as numpy sees them, and the rounding that numpy lacks.

A register holds raw bits: an unsigned integer array of its width (bool for predicates). Integers and f32/f64
are views of it; f16 and bf16 stay encoded as 16-bit integers, and are decoded to f32 by the operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Dtype: TypeAlias = np.dtype[Any]

UNSIGNED: dict[int, Dtype] = {bits: np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)}
SIGNED: dict[int, Dtype] = {bits: np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)}
_BIT = np.dtype(bool)

SMALLEST_NORMAL_F32 = float(np.finfo(np.float32).smallest_normal)


@cache
def bits_of(type_: str) -> int:
    """Width of a PTX type: 32 for f32 and f16x2, 1 for pred."""
    if type_ == "pred":
        return 1
    match = re.fullmatch(r"[a-z]*?(\d+)(?:x(\d))?", type_)
    if match is None:
        raise ValueError(f"not a PTX type: {type_}")
    return int(match[1]) * int(match[2] or 1)


@cache
def storage_dtype(type_: str) -> Dtype:
    """The dtype that holds the bits of a value of this type."""
    return _BIT if type_ == "pred" else UNSIGNED[bits_of(type_)]


@cache
def view_dtype(type_: str) -> Dtype:
    """The dtype in which operations see a value of this type."""
    if type_ in ("f32", "f64"):
        return np.dtype(type_.replace("f32", "f4").replace("f64", "f8"))
    if type_[0] == "s" and type_[1:].isdigit():
        return SIGNED[bits_of(type_)]
    return storage_dtype(type_)


def is_float(type_: str) -> bool:
    """Whether the type is floating point, packed or not."""
    return type_[0] == "f" or type_.startswith(("bf", "tf"))


def is_signed(type_: str) -> bool:
    """Whether the type is a signed integer."""
    return type_[0] == "s"


# -- 16-bit formats ---------------------------------------------------------------------------------------------


def decode_f16(encoded: Array) -> Array:
    """f16 bits to f32, exact."""
    return encoded.view(np.float16).astype(np.float32)


def decode_bf16(encoded: Array) -> Array:
    """bf16 bits to f32, exact."""
    return (encoded.astype(np.uint32) << np.uint32(16)).view(np.float32)


def encode_f16(values: Array) -> Array:
    """f32 or f64 to f16 bits, to nearest even (a single rounding from either)."""
    return values.astype(np.float16).view(np.uint16)


def encode_bf16(values: Array) -> Array:
    """f32 or f64 to bf16 bits, to nearest even (a single rounding from either); NaN becomes 0x7fff."""
    if values.dtype == np.float64:
        values = narrow_to_odd(values)
    bits = values.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), np.uint16(0x7FFF), rounded.astype(np.uint16))


def narrow_to_odd(values: Array) -> Array:
    """f64 to f32 by rounding to odd: a later rounding to fewer bits is then a single rounding of the f64.

    (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008.)
    """
    nearest = values.astype(np.float32)
    wide = nearest.astype(np.float64)
    is_even = (nearest.view(np.uint32) & np.uint32(1)) == 0
    fix = (wide != values) & is_even & np.isfinite(values)
    other = np.nextafter(nearest, np.where(wide < values, np.float32(np.inf), np.float32(-np.inf)))
    # Above the largest f32, the odd neighbour is that largest number, not infinity.
    largest = np.copysign(np.finfo(np.float32).max, nearest)
    other = np.where(np.isinf(nearest) & np.isfinite(values), largest, other)
    return np.where(fix, other, nearest).astype(np.float32)


DECODE: dict[str, Callable[[Array], Array]] = {"f16": decode_f16, "bf16": decode_bf16}
ENCODE: dict[str, Callable[[Array], Array]] = {"f16": encode_f16, "bf16": encode_bf16}


# -- rounding ---------------------------------------------------------------------------------------------------


def flush_subnormals(values: Array) -> Array:
    """`.ftz` on f32: subnormals become zeros of the same sign."""
    tiny = np.abs(values) < np.float32(SMALLEST_NORMAL_F32)
    return np.where(tiny, np.copysign(np.float32(0), values), values)


def saturate(values: Array) -> Array:
    """`.sat` on floats: clamp to [0, 1], NaN becomes +0."""
    one = values.dtype.type(1)
    zero = values.dtype.type(0)
    return np.where(values > zero, np.minimum(values, one), zero)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its exact error (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def step(values: Array, error: Array, mode: str) -> Array:
    """Turn `values`, which are rounded to nearest and short of the exact result by `error`, into `mode`.

    mode: rn, rz (towards zero), rm (down) or rp (up). Only the sign of `error` is used.
    """
    if mode == "rn":
        return values
    down = np.nextafter(values, values.dtype.type(-np.inf))
    up = np.nextafter(values, values.dtype.type(np.inf))
    below, above = error < 0, error > 0
    if mode == "rm":
        result = np.where(below, down, values)
    elif mode == "rp":
        result = np.where(above, up, values)
    else:
        # Exact zero cannot have an error, so the sign of the rounded value is the sign of the exact one,
        # unless it rounded to zero, which is then already towards zero.
        result = np.where(below & (values > 0), down, np.where(above & (values < 0), up, values))
    return result.astype(values.dtype)


def round_to_odd_sum(a: Array, b: Array) -> Array:
    """a + b in f64, rounded to odd."""
    total, error = two_sum(a, b)
    is_even = (total.view(np.uint64) & np.uint64(1)) == 0
    fix = (error != 0) & is_even & np.isfinite(total)
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where(fix, np.nextafter(total, towards), total)


def narrow(values: Array, mode: str) -> Array:
    """f64 to f32 in a rounding mode."""
    nearest = values.astype(np.float32)
    if mode == "rn":
        return nearest
    # An infinity from overflow is beyond the value in the direction of its sign.
    return step(nearest, values - nearest.astype(np.float64), mode)
