"""Floating-point arithmetic of PTX on numpy arrays, for f16, bf16, f32, f64 and their packed pairs.

Exact where PTX is: add, sub, mul, fma, div.rn, sqrt.rn, rcp.rn, and the rounding modes of the first four.
16-bit operations go through f64 and round once. The approximate functions are numpy's, within the errors
that PTX allows but not the bits of any GPU. NaNs keep numpy's payload (PTX's f32 NaN is 0x7fffffff).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from .fma import fma_f32, fma_f64, fma_f64_odd
from .formats import (
    DECODE,
    ENCODE,
    Array,
    flush_subnormals,
    narrow,
    round_to_odd_sum,
    saturate,
    step,
    two_sum,
)

Function: TypeAlias = Callable[..., Array]

ROUNDING = ("rn", "rz", "rm", "rp")


def add(a: Array, b: Array, mode: str) -> Array:
    """a + b in f32 or f64, in a rounding mode."""
    if mode == "rn":
        return a + b
    if a.dtype == np.float32:
        return narrow(round_to_odd_sum(a.astype(np.float64), b.astype(np.float64)), mode)
    total, error = two_sum(a, b)
    overflows = np.isinf(total) & np.isfinite(a) & np.isfinite(b)
    return step(total, np.where(overflows, -total, error), mode)


def multiply(a: Array, b: Array, mode: str) -> Array:
    """a * b in f32 or f64, in a rounding mode."""
    if mode == "rn":
        return a * b
    if a.dtype == np.float32:
        return narrow(np.multiply(a, b, dtype=np.float64), mode)
    return fma_f64(a, b, np.full(1, -0.0), mode)  # adding -0 keeps the sign of a zero


def minimum(a: Array, b: Array) -> Array:
    """The other operand if one is NaN; -0 is less than +0."""
    return _extremum(np.fmin, np.bitwise_or, a, b)


def maximum(a: Array, b: Array) -> Array:
    """The other operand if one is NaN; -0 is less than +0."""
    return _extremum(np.fmax, np.bitwise_and, a, b)


def _extremum(choose: Function, combine_bits: Function, a: Array, b: Array) -> Array:
    # Equal operands have equal bits unless they are zeros of two signs: the bits decide the sign then.
    integer = np.uint32 if a.dtype == np.float32 else np.uint64
    same = combine_bits(a.view(integer), b.view(integer)).view(a.dtype)
    return np.where(a == b, same, choose(a, b))


def propagate_nan(function: Function) -> Function:
    """`.NaN` on min and max: NaN if any operand is."""

    def extremum(*operands: Array) -> Array:
        result = function(*operands)
        for operand in operands:
            result = np.where(np.isnan(operand), operand, result)
        return result

    return extremum


def reciprocal_sqrt(a: Array) -> Array:
    """1 / sqrt(a), in f64."""
    return 1.0 / np.sqrt(a.astype(np.float64))


def high_word(function: Function) -> Function:
    """rcp and rsqrt.approx.ftz.f64: the upper 32 bits of the result, the rest is zero. Subnormals are zeros."""
    tiny = np.finfo(np.float64).smallest_normal

    def flush(a: Array) -> Array:
        return np.where(np.abs(a) < tiny, np.copysign(0.0, a), a)

    def approximate(a: Array) -> Array:
        bits = flush(function(flush(a))).view(np.uint64)
        return (bits & np.uint64(0xFFFFFFFF00000000)).view(np.float64)

    return approximate


def _reciprocal(a: Array) -> Array:
    return a.dtype.type(1) / a


ONE_OPERAND: dict[str, Function] = {
    "neg": np.negative,
    "abs": np.abs,
    "rcp": _reciprocal,
    "sqrt": np.sqrt,
    "rsqrt": reciprocal_sqrt,
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}
ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "min": 2, "max": 2, "fma": 3, "mad": 3, "copysign": 2}


def native(name: str, mode: str) -> Function:
    """The operation on f32 or f64 arrays, in a rounding mode. Raises KeyError if it is not known."""

    def subtract(a: Array, b: Array) -> Array:
        return a - b if mode == "rn" else add(a, -b, mode)

    def fused(a: Array, b: Array, c: Array) -> Array:
        return fma_f32(a, b, c, mode) if a.dtype == np.float32 else fma_f64(a, b, c, mode)

    def copy_sign(sign: Array, magnitude: Array) -> Array:
        return np.copysign(magnitude, sign)

    functions: dict[str, Function] = {
        **ONE_OPERAND,
        "add": partial(add, mode=mode),
        "sub": subtract,
        "mul": partial(multiply, mode=mode),
        "div": np.divide,
        "min": minimum,
        "max": maximum,
        "copysign": copy_sign,
        "fma": fused,
        "mad": fused,
    }
    return functions[name]


def operation(name: str, type_: str, modifiers: frozenset[str]) -> Function:
    """The function of `name.modifiers.type_` on arrays as `view_dtype` gives them.

    Raises KeyError for an operation, and ValueError for a modifier, that is not known.
    """
    if type_.endswith("x2"):
        return _packed(operation(name, type_[:-2], modifiers), np.uint16 if "16" in type_ else np.float32)
    mode = next((mode for mode in ROUNDING if mode in modifiers), "rn")
    if mode != "rn" and (type_ in DECODE or name not in ("add", "sub", "mul", "fma", "mad")):
        raise ValueError(f"rounding mode {mode}")
    unknown = modifiers - {*ROUNDING, "ftz", "sat", "approx", "full", "NaN", "relu", "xorsign", "abs", "uni"}
    if unknown:
        raise ValueError(", ".join(sorted(unknown)))
    if type_ in DECODE and name in ("neg", "abs"):
        return _sign_16(name)
    function = native(name, mode)
    if "NaN" in modifiers:
        function = propagate_nan(function)
    if "xorsign" in modifiers:
        function = _xor_sign(function)
    if type_ == "f64" and "approx" in modifiers and "ftz" in modifiers:
        function = high_word(function)
    if type_ in DECODE:
        return _in_f64(function if name not in ("fma", "mad") else fma_f64_odd, type_, modifiers)
    if type_ == "f32":
        function = _to_f32(function) if name == "rsqrt" else function
        if "ftz" in modifiers:
            function = _flushing(function)
    if "sat" in modifiers:
        function = _saturating(function)
    return function


def _saturating(function: Function) -> Function:
    def compute(*operands: Array) -> Array:
        return saturate(function(*operands))

    return compute


def _to_f32(function: Function) -> Function:
    def compute(*operands: Array) -> Array:
        return np.asarray(function(*operands)).astype(np.float32)

    return compute


def _flushing(function: Function) -> Function:
    def compute(*operands: Array) -> Array:
        return flush_subnormals(function(*(flush_subnormals(operand) for operand in operands)))

    return compute


def _xor_sign(function: Function) -> Function:
    """min/max.xorsign.abs: the extremum of the magnitudes, with the product of the signs."""

    def extremum(a: Array, b: Array) -> Array:
        sign = np.copysign(a.dtype.type(1), a) * np.copysign(b.dtype.type(1), b)
        return np.copysign(function(np.abs(a), np.abs(b)), sign)

    return extremum


def _sign_16(name: str) -> Function:
    """neg and abs of 16-bit floats act on the sign bit, NaN included."""

    def negate(a: Array) -> Array:
        return a ^ np.uint16(0x8000)

    def absolute(a: Array) -> Array:
        return a & np.uint16(0x7FFF)

    return negate if name == "neg" else absolute


def _in_f64(function: Function, type_: str, modifiers: frozenset[str]) -> Function:
    """A 16-bit operation: decode, compute in f64, round once."""
    decode, encode = DECODE[type_], ENCODE[type_]

    def compute(*operands: Array) -> Array:
        result = np.asarray(function(*(decode(operand).astype(np.float64) for operand in operands)))
        if "sat" in modifiers:
            result = saturate(result)
        if "relu" in modifiers:
            result = np.where(result < 0, 0.0, result)
        return encode(result)

    return compute


def _packed(function: Function, element: type[np.generic]) -> Function:
    """Apply a function to both halves of packed operands."""

    def compute(*operands: Array) -> Array:
        whole = operands[0].dtype
        halves = [np.ascontiguousarray(operand)[..., None].view(element) for operand in operands]
        return np.ascontiguousarray(function(*halves)).view(whole)[..., 0]

    return compute


# -- comparisons ------------------------------------------------------------------------------------------------

COMPARISONS: dict[str, Function] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lo": np.less,
    "ls": np.less_equal,
    "hi": np.greater,
    "hs": np.greater_equal,
}


def compare(relation: str, a: Array, b: Array) -> Array:
    """A float comparison. Ordered ones are false with a NaN; those that end in u are true."""
    match relation:
        case "num":
            return ~(np.isnan(a) | np.isnan(b))
        case "nan":
            return np.isnan(a) | np.isnan(b)
        case "ne":
            return (a != b) & ~(np.isnan(a) | np.isnan(b))
        case "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu":
            return COMPARISONS[relation[:-1]](a, b) | np.isnan(a) | np.isnan(b)
        case _:
            return COMPARISONS[relation](a, b)


def test_property(name: str, a: Array) -> Array:
    """testp."""
    smallest = np.finfo(a.dtype).smallest_normal
    match name:
        case "finite":
            return np.isfinite(a)
        case "infinite":
            return np.isinf(a)
        case "number":
            return ~np.isnan(a)
        case "notanumber":
            return np.isnan(a)
        case "normal":
            return np.isfinite(a) & (np.abs(a) >= smallest)
        case "subnormal":
            return (a != 0) & (np.abs(a) < smallest)
        case _:
            raise KeyError(name)
