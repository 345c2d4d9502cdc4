"""`cvt`: conversions between PTX types."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .floats import ROUNDING
from .formats import (
    DECODE,
    ENCODE,
    Array,
    bits_of,
    decode_bf16,
    decode_f16,
    encode_bf16,
    encode_f16,
    flush_subnormals,
    is_float,
    is_signed,
    narrow,
    saturate,
    step,
    view_dtype,
)

TO_INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_KNOWN = frozenset([*ROUNDING, *TO_INTEGRAL, "ftz", "sat", "relu", "satfinite", "rna"])


def conversion(to: str, source: str, modifiers: frozenset[str]) -> Callable[[Array], Array]:
    """The function of `cvt.modifiers.to.source`. Raises ValueError for a modifier or type that is not known."""
    if modifiers - _KNOWN:
        raise ValueError(", ".join(sorted(modifiers - _KNOWN)))
    if to == "tf32":
        return _to_tf32(modifiers)
    for type_ in (to, source):
        if type_ not in ("f16", "bf16", "f32", "f64") and type_[0] not in "su":
            raise ValueError(type_)
    if is_float(source):
        return _float_to_float(to, source, modifiers) if is_float(to) else _float_to_integer(to, source, modifiers)
    return _integer_to_float(to, modifiers) if is_float(to) else _integer_to_integer(to, source, modifiers)


def pack_halves(to: str, modifiers: frozenset[str]) -> Callable[[Array, Array], Array]:
    """`cvt.rn.f16x2.f32 d, a, b`: a in the upper half, b in the lower one."""
    convert = conversion(to[:-2], "f32", modifiers)

    def pack(high: Array, low: Array) -> Array:
        return (convert(high).astype(np.uint32) << np.uint32(16)) | convert(low).astype(np.uint32)

    return pack


def _mode(modifiers: frozenset[str]) -> str:
    return next((mode for mode in ROUNDING if mode in modifiers), "rn")


def _decode(source: str) -> Callable[[Array], Array]:
    return DECODE.get(source, lambda values: values)


def _float_to_float(to: str, source: str, modifiers: frozenset[str]) -> Callable[[Array], Array]:
    decode = _decode(source)
    integral = next((TO_INTEGRAL[name] for name in TO_INTEGRAL if name in modifiers), None)
    mode = _mode(modifiers)

    def convert(values: Array) -> Array:
        values = decode(values)
        if "ftz" in modifiers and values.dtype == np.float32:
            values = flush_subnormals(values)
        if integral is not None:
            values = integral(values)
        if "sat" in modifiers:
            values = saturate(values)
        if "relu" in modifiers:
            values = np.where(values < 0, values.dtype.type(0), values)
        if to == "f16":
            return encode_f16(values) if mode == "rn" else _directed_16(values, encode_f16, decode_f16, mode)
        if to == "bf16":
            return encode_bf16(values) if mode == "rn" else _directed_16(values, encode_bf16, decode_bf16, mode)
        if to == "f32":
            result = narrow(values, mode) if values.dtype == np.float64 else values
            return flush_subnormals(result) if "ftz" in modifiers else result
        return values.astype(np.float64)

    return convert


def _directed_16(values: Array, encode: Callable[[Array], Array], decode: Callable[[Array], Array], mode: str) -> Array:
    """Round to a 16-bit format in a directed mode, by stepping the encoded nearest value."""
    nearest = encode(values)
    error = values.astype(np.float64) - decode(nearest).astype(np.float64)
    # The encodings of each sign are ordered as integers: one away from zero is +1, one towards it -1.
    value = decode(nearest)
    is_negative = np.signbit(np.where(value == 0, values, value))
    below, above = error < 0, error > 0
    down = np.where(is_negative, nearest + np.uint16(1), nearest - np.uint16(1))
    up = np.where(is_negative, nearest - np.uint16(1), nearest + np.uint16(1))
    if mode == "rm":
        return np.where(below, down, nearest).astype(np.uint16)
    if mode == "rp":
        return np.where(above, up, nearest).astype(np.uint16)
    return np.where(below & ~is_negative, down, np.where(above & is_negative, up, nearest)).astype(np.uint16)


def _float_to_integer(to: str, source: str, modifiers: frozenset[str]) -> Callable[[Array], Array]:
    """Rounded, then clamped to the range. NaN: 0, but the top bit alone for f64 or 64 bits (as PTX says)."""
    decode, target = _decode(source), view_dtype(to)
    limits = np.iinfo(target)
    integral = next((TO_INTEGRAL[name] for name in TO_INTEGRAL if name in modifiers), np.trunc)
    nan = 0 if source != "f64" and bits_of(to) != 64 else 1 << (bits_of(to) - 1)
    nan_value = np.array(nan, np.uint64).astype(target)

    def convert(values: Array) -> Array:
        values = decode(values)
        if "ftz" in modifiers and values.dtype == np.float32:
            values = flush_subnormals(values)
        rounded = integral(values).astype(np.float64)
        # float(limits.max) may round up to a power of two, which is out of range: compare before converting.
        too_large, too_small = rounded >= float(limits.max), rounded <= float(limits.min)
        safe = np.where(too_large | too_small | np.isnan(rounded), 0.0, rounded)
        result = safe.astype(target)
        result = np.where(too_large, target.type(limits.max), np.where(too_small, target.type(limits.min), result))
        return np.where(np.isnan(rounded), nan_value, result)

    return convert


def _integer_to_float(to: str, modifiers: frozenset[str]) -> Callable[[Array], Array]:
    mode = _mode(modifiers)

    def convert(values: Array) -> Array:
        if to == "f64":
            return _integer_to_f64(values, mode)
        if to == "f32" and mode == "rn":
            return values.astype(np.float32)
        wide = _odd_f64(values)
        if to == "f32":
            return narrow(wide, mode)
        if mode != "rn":
            raise ValueError(f"rounding mode {mode}")
        return ENCODE[to](wide)

    return convert


def _odd_f64(values: Array) -> Array:
    """Integers as f64; 64-bit ones that do not fit are rounded to odd, so that a later rounding is right."""
    if values.dtype.itemsize < 8:
        return values.astype(np.float64)
    dtype = values.dtype.type
    sticky = ((values & dtype(0x7FF)) != 0).astype(values.dtype)
    coarse = (((values >> dtype(11)) | sticky) << dtype(11)).astype(np.float64)
    fits = np.abs(values.astype(np.float64)) <= float(1 << 53)
    return np.where(fits, values.astype(np.float64), coarse)


def _integer_to_f64(values: Array, mode: str) -> Array:
    nearest = values.astype(np.float64)
    if mode == "rn" or values.dtype.itemsize < 8:
        return nearest
    # Rounding may leave the integer's range by one, which wraps to its least value; so does the difference.
    is_signed_64 = values.dtype.kind == "i"
    beyond = 2.0**63 if is_signed_64 else 2.0**64
    least = values.dtype.type(np.iinfo(values.dtype).min)
    inside = nearest < beyond
    back = np.where(inside, np.where(inside, nearest, 0.0).astype(values.dtype), least)
    return step(nearest, (values - back).view(np.int64).astype(np.float64), mode)


def _integer_to_integer(to: str, source: str, modifiers: frozenset[str]) -> Callable[[Array], Array]:
    target = view_dtype(to)
    if "sat" not in modifiers:
        return lambda values: values.astype(target)
    low, high = np.iinfo(target).min, np.iinfo(target).max
    if is_signed(source):
        low, high = max(low, -(1 << 63)), min(high, (1 << 63) - 1)
        return lambda values: np.clip(values.astype(np.int64), low, high).astype(target)
    return lambda values: np.minimum(values.astype(np.uint64), np.uint64(high)).astype(target)


def _to_tf32(modifiers: frozenset[str]) -> Callable[[Array], Array]:
    """f32 rounded to 10 bits of mantissa: to nearest, ties away (rna) or to even (rn). Result as bits."""

    def convert(values: Array) -> Array:
        bits = values.view(np.uint32)
        tie = np.uint32(0x1000) if "rna" in modifiers else np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))
        rounded = (bits + tie) & np.uint32(0xFFFFE000)
        return np.where(np.isfinite(values), rounded, bits)

    return convert
