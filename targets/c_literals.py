"""Constants in C, exact to the bit."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr

from ..dialects.types import type_name
from ..dialects.uop import ConstOp
from . import c_types
from .writer import finite_literal, float_bits


def literal(op: ConstOp) -> str:
    """C text of a constant, exact to the bit."""
    name = type_name(op.result.type)
    if isinstance(op.value, FloatAttr):
        return float_literal(op.value.value.data, name)
    value = int(op.value.value.data)
    if name == "i1":
        return "1" if value else "0"
    if name in ("i64", "index"):
        if value == -(2**63):
            return "(-9223372036854775807ll - 1)"
        return f"{value}ll" if name == "i64" or abs(value) >= 2**31 else str(value)
    if name == "i32":
        return "(-2147483647 - 1)" if value == -(2**31) else str(value)
    return f"({c_types.SCALARS[name]}){value}"


def float_literal(value: float, name: str) -> str:
    """C text of a float of the type called `name`; of 16 bits, as its bits."""
    bits = float_bits(value, name)
    if name in ("f16", "bf16"):
        return f"(unsigned short)0x{bits:04x}"
    suffix, digits = ("f", 23) if name == "f32" else ("", 52)
    sign = "-" if bits >> (31 if name == "f32" else 63) else ""
    if value in (float("inf"), float("-inf")):
        return f"{sign}__builtin_inf{suffix}()"
    if value == value:
        return finite_literal(value, name)
    quiet, payload = bits >> (digits - 1) & 1, bits & ((1 << (digits - 1)) - 1)
    return f'{sign}__builtin_nan{"" if quiet else "s"}{suffix}("0x{payload:x}")'
