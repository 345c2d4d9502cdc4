"""Numbers as the texts of kernels write them."""

from __future__ import annotations

from math import inf

from xdsl.ir import Attribute

from ...dialects.monoids import Number
from ...dialects.types import ELEMENT_TYPES, is_bool, is_float, type_name

INFINITIES = {
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000"),
    "f32": ("0x7F800000", "0xFF800000"),
    "f16": ("0x7C00", "0xFC00"),
    "bf16": ("0x7F80", "0xFF80"),
}
"""∞ and −∞ as a constant is written."""


def literal(number: Number, element: Attribute) -> str:
    if is_bool(element):
        return "true" if number else "false"
    if is_float(element):
        if number in (inf, -inf):
            return INFINITIES[type_name(element)][number < 0]
        return f"{float(number):e}"
    return str(number)


def typed(number: str, type: str) -> str:
    return number if type == "i1" else f"{number} : {type}"


def zero(type: str) -> str:
    return typed("false" if type == "i1" else "0.0" if is_float(ELEMENT_TYPES[type]) else "0", type)
