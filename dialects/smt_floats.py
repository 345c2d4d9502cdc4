# z3 comes in as an argument of type Any, as numpy does for the meaning on arrays.
"""What ALU ops that round nothing mean on floats as SMT terms; those that round are run instead (runtime/proofs).

A term has a floating-point sort, which has one NaN, as PyTorch's meaning has. `function(z3, element, *terms)` as in
smt.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute

from . import smt
from .smt import SmtMeaning
from .types import type_name

_WIDTHS = {"f64": (11, 53), "f32": (8, 24), "f16": (5, 11), "bf16": (8, 8)}
"""Bits of the exponent and of the significand, its hidden one included."""


def sort(z3: Any, element: Attribute) -> Any:
    """The sort of terms of a float type."""
    return z3.FPSort(*_WIDTHS[type_name(element)])


def literal(z3: Any, element: Attribute, number: float) -> Any:
    """A number that the type holds."""
    return z3.FPVal(number, sort(z3, element))


def number_of(z3: Any, value: Any) -> float:
    """A literal as Python's number."""
    if value.isNaN():
        return float("nan")
    magnitude = float("inf")
    if not value.isInf():
        magnitude = abs(float(z3.simplify(z3.fpToReal(value)).as_fraction()))
    return -magnitude if value.isNegative() else magnitude


def abs_(z3: Any, element: Attribute, x: Any) -> Any:
    return z3.fpAbs(x)


def min_(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return _extreme(z3, "min", x, y, z3.fpLT(x, y))


def max_(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return _extreme(z3, "max", x, y, z3.fpGT(x, y))


def _extreme(z3: Any, name: str, x: Any, y: Any, is_first: Any) -> Any:
    """NaN if either is; of 0 and −0 either, but always the same one."""
    zeros = z3.Function(f"{name} of zeros", x.sort(), x.sort(), z3.BoolSort())
    is_first = z3.If(z3.And(z3.fpIsZero(x), z3.fpIsZero(y)), zeros(x, y), is_first)
    return z3.If(z3.fpIsNaN(x), x, z3.If(z3.fpIsNaN(y), y, z3.If(is_first, x, y)))


def isnan(z3: Any, element: Attribute, x: Any) -> Any:
    return z3.fpIsNaN(x)


def isinf(z3: Any, element: Attribute, x: Any) -> Any:
    return z3.fpIsInf(x)


def eq(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.fpEQ(x, y)


def ne(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.Not(z3.fpEQ(x, y))


def lt(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.fpLT(x, y)


def le(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.fpLEQ(x, y)


def gt(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.fpGT(x, y)


def ge(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.fpGEQ(x, y)


EXACT: Mapping[str, SmtMeaning] = {
    "neg": smt.neg,
    "abs": abs_,
    "min": min_,
    "max": max_,
    "isnan": isnan,
    "isinf": isinf,
    "eq": eq,
    "ne": ne,
    "lt": lt,
    "le": le,
    "gt": gt,
    "ge": ge,
    "where": smt.where,
}
"""Op → meaning."""
