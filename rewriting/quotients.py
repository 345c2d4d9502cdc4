"""Quotients by constants as they are computed without division: x · m >> s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ..dialects.types import index
from ..dialects.uop import ALU_OPS, CastOp, MulOp, TruncdivOp
from .interval_arithmetic import Interval
from .values import constant_of

_SHIFT = ALU_OPS["shr"]

GREATEST_MULTIPLIER = (1 << 31) - 1
"""A product with it is one 32-bit multiplication that gives 64 bits."""


def magic_numbers(greatest: int, divisor: int) -> tuple[int, int] | None:
    """The least m and s with x ÷ divisor = x · m >> s for all 0 ≤ x ≤ greatest; None if m has more than 31 bits.

    Granlund and Montgomery, "Division by invariant integers using multiplication" (1994).
    """
    shift = 0
    while (multiplier := -((-1 << shift) // divisor)) <= GREATEST_MULTIPLIER:
        if is_exact(greatest, divisor, multiplier, shift):
            return multiplier, shift
        shift += 1
    return None


def is_exact(greatest: int, divisor: int, multiplier: int, shift: int) -> bool:
    """Whether x · m >> s is x ÷ divisor for all 0 ≤ x ≤ greatest: m exceeds 2ˢ ÷ d by e ÷ d, which does no harm where
    x · e < 2ˢ."""
    excess = multiplier * divisor - (1 << shift)
    return excess >= 0 and greatest * excess < 1 << shift


@dataclass(frozen=True)
class Quotient:
    """dividend ÷ divisor of a dividend that is not negative."""

    dividend: SSAValue
    divisor: int


def quotient_of(value: SSAValue, interval_of: Callable[[SSAValue], Interval | None]) -> Quotient:
    """What a value is the quotient of, with or without division: itself, divided by 1, where it is none.

    interval_of: the interval of a value, or None where it is not known.
    """
    plain = Quotient(value, 1)
    owner = _without_casts(value).owner
    if not isinstance(owner, TruncdivOp | _SHIFT):
        return plain
    number = constant_of(owner.operands[1])
    if number is None or number < 0:
        return plain
    if isinstance(owner, TruncdivOp):
        dividend, divisor = owner.operands[0], int(number)
        interval = interval_of(dividend)
        return plain if interval is None or interval.low < 0 or not divisor else Quotient(dividend, divisor)
    product = owner.operands[0].owner
    if not isinstance(product, MulOp):
        return plain
    multiplier = constant_of(product.operands[1])
    dividend = _without_casts(product.operands[0])
    interval = interval_of(dividend)
    if multiplier is None or multiplier <= 0 or interval is None or interval.low < 0:
        return plain
    divisor = -((-1 << int(number)) // int(multiplier))
    fits = interval.high * multiplier < 1 << 63
    exact = is_exact(interval.high, divisor, int(multiplier), int(number))
    return Quotient(dividend, divisor) if fits and exact else plain


def remainder_of(op: Operation, interval_of: Callable[[SSAValue], Interval | None]) -> Interval | None:
    """What x + (x ÷ a) · −a gives, if that is what an addition adds up."""
    x, multiple = op.operands
    product = multiple.owner
    if not isinstance(product, MulOp):
        return None
    factor = constant_of(product.operands[1])
    if factor is None or factor >= 0:
        return None
    divisor = -int(factor)
    inner, outer = quotient_of(x, interval_of), quotient_of(product.operands[0], interval_of)
    # x may be a quotient itself: then both are of one number.
    is_of_x = outer == Quotient(x, divisor) or outer == Quotient(inner.dividend, inner.divisor * divisor)
    interval = interval_of(x)
    if not is_of_x or interval is None or interval.low < 0:
        return None
    return Interval(0, min(divisor - 1, interval.high))


def _without_casts(value: SSAValue) -> SSAValue:
    """The value that is cast, between types of 64 bits."""
    while isinstance(value.owner, CastOp) and value.type in (index, i64) and value.owner.input.type in (index, i64):
        value = value.owner.input
    return value
