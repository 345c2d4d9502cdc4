"""Arithmetic of intervals: what the operands' intervals of an ALU op tell of its result.

Arithmetic is on whole numbers. A result that leaves its element type has wrapped around, so nothing is known of it:
that is for the caller to see (`within`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from xdsl.ir import Attribute

from ..dialects.types import bit_width, integer_bounds, is_bool, is_integer


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers from `low` to `high`, both included."""

    low: int
    high: int

    @staticmethod
    def of_extent(extent: int) -> Interval:
        """Positions along an axis. An empty axis has none, so anything holds of them."""
        return Interval(0, max(extent - 1, 0))

    @staticmethod
    def hull(values: Sequence[int]) -> Interval:
        return Interval(min(values), max(values))

    @property
    def is_single(self) -> bool:
        return self.low == self.high

    def contains(self, other: Interval) -> bool:
        return self.low <= other.low and other.high <= self.high

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def intersection(self, other: Interval) -> Interval | None:
        """The numbers in both; None where there are none."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low <= high else None

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __mul__(self, factor: int) -> Interval:
        ends = self.low * factor, self.high * factor
        return Interval(min(ends), max(ends))


Transfer = Callable[[Attribute, Sequence[Interval]], Interval | None]
"""From the element type of the result and the operands' intervals to the result's; None where nothing is known."""


@cache
def whole(element: Attribute) -> Interval | None:
    """All numbers of an integer or bool type; None for another."""
    return Interval(*integer_bounds(element)) if is_integer(element) or is_bool(element) else None


def truncated_quotient(x: int, y: int) -> int:
    """x ÷ y rounded towards 0."""
    return -(-x // y) if (x < 0) != (y < 0) else x // y


def _corners(function: Callable[[int, int], int]) -> Transfer:
    """For functions that are monotone in each operand while the other stands still."""

    def transfer(element: Attribute, operands: Sequence[Interval]) -> Interval:
        x, y = operands
        return Interval.hull([function(a, b) for a, b in product((x.low, x.high), (y.low, y.high))])

    return transfer


def _monotone(function: Callable[..., int]) -> Transfer:
    """For functions that grow, or stay, with each operand."""

    def transfer(element: Attribute, operands: Sequence[Interval]) -> Interval:
        return Interval(function(*(x.low for x in operands)), function(*(x.high for x in operands)))

    return transfer


def _signum(x: int) -> int:
    return (x > 0) - (x < 0)


def _neg(element: Attribute, operands: Sequence[Interval]) -> Interval:
    return Interval(-operands[0].high, -operands[0].low)


def _abs(element: Attribute, operands: Sequence[Interval]) -> Interval:
    x = operands[0]
    if x.low <= 0 <= x.high:
        return Interval(0, max(-x.low, x.high))
    return Interval.hull([abs(x.low), abs(x.high)])


def _floored(x: int, y: int) -> int:
    return x // y


def _quotient(function: Callable[[int, int], int]) -> Transfer:
    corners = _corners(function)

    def transfer(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
        y = operands[1]
        return None if y.low <= 0 <= y.high else corners(element, operands)

    return transfer


def _floormod(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if y.low <= 0 <= y.high:
        return None
    if y.is_single and x.low // y.low == x.high // y.low:
        return Interval(x.low % y.low, x.high % y.low)
    if 0 <= x.low and x.high < y.low:
        return x
    if y.low > 0:
        return Interval(0, min(y.high - 1, x.high) if x.low >= 0 else y.high - 1)
    return Interval(y.low + 1, 0)


def _truncmod(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if y.low <= 0 <= y.high:
        return None
    if y.is_single and x.low >= 0 and x.low // abs(y.low) == x.high // abs(y.low):
        return Interval(x.low % abs(y.low), x.high % abs(y.low))
    greatest = max(abs(y.low), abs(y.high)) - 1
    if 0 <= x.low and x.high < min(abs(y.low), abs(y.high)):
        return x
    return Interval(max(min(x.low, 0), -greatest), min(max(x.high, 0), greatest))


def _pow(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if y.low < 0 or y.high > 64:
        return None
    ends = [base**exponent for base in (x.low, x.high) for exponent in (y.low, y.high)]
    if x.low < 0:
        # The sign alternates with the exponent: powers reach from −|x|ⁿ to |x|ⁿ.
        reach = max(abs(x.low), abs(x.high)) ** y.high
        ends += [-reach, reach]
    return Interval.hull([*ends, 1] if y.low == 0 else ends)


def _and(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if x.is_single and y.is_single:
        return Interval(x.low & y.low, x.low & y.low)
    highs = [z.high for z in operands if z.low >= 0]
    return Interval(0, min(highs)) if highs else None


def _or(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if x.is_single and y.is_single:
        return Interval(x.low | y.low, x.low | y.low)
    if min(x.low, y.low) < 0:
        return None
    return Interval(max(x.low, y.low), (1 << max(x.high, y.high).bit_length()) - 1)


def _xor(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if x.is_single and y.is_single:
        return Interval(x.low ^ y.low, x.low ^ y.low)
    if min(x.low, y.low) < 0:
        return None
    # The lesser operand changes no more than the bits that it may have.
    less, more = sorted(operands, key=lambda operand: operand.high)
    bits = (1 << less.high.bit_length()) - 1
    return Interval(more.low & ~bits, more.high | bits)


def _not(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
    limits = whole(element)
    assert limits is not None
    # The complement counts down from the other end: of bools and unsigned numbers as of signed ones.
    end = limits.low + limits.high
    return Interval(end - operands[0].high, end - operands[0].low)


def _shifted_left(x: int, y: int) -> int:
    return x << y


def _shifted_right(x: int, y: int) -> int:
    return x >> y


def _shift(function: Callable[[int, int], int], beyond: Callable[[int], int]) -> Transfer:
    """beyond: what a shift by a number outside of [0, bits) gives."""
    corners = _corners(function)

    def transfer(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
        x, y = operands
        inside = y.intersection(Interval(0, bit_width(element) - 1))
        outside = Interval(beyond(x.low), beyond(x.high))
        if inside is None:
            return outside
        result = corners(element, (x, inside))
        return result if result is None or inside == y else result.union(outside)

    return transfer


def _decided(holds: Callable[[Interval, Interval], bool | None]) -> Transfer:
    """For comparisons: whether the answer is the same for all numbers of two intervals."""

    def transfer(element: Attribute, operands: Sequence[Interval]) -> Interval | None:
        answer = holds(operands[0], operands[1])
        return None if answer is None else Interval(int(answer), int(answer))

    return transfer


def _less(x: Interval, y: Interval) -> bool | None:
    return True if x.high < y.low else False if x.low >= y.high else None


def _equal(x: Interval, y: Interval) -> bool | None:
    if x.high < y.low or y.high < x.low:
        return False
    return True if x.is_single and x == y else None


def _negated(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _where(element: Attribute, operands: Sequence[Interval]) -> Interval:
    condition, x, y = operands
    if condition.is_single:
        return x if condition.low else y
    return x.union(y)


def cast(element: Attribute, operands: Sequence[Interval]) -> Interval:
    """To an integer type, or to bool: whether it is not 0."""
    x = operands[0]
    if is_bool(element):
        zero = _equal(x, Interval(0, 0))
        return Interval(0, 1) if zero is None else Interval(int(not zero), int(not zero))
    return x


def within(limits: Interval, result: Interval | None) -> Interval:
    """The interval of a result whose type has these limits: all of them where it may have wrapped around."""
    return result if result is not None and limits.contains(result) else limits


INTERVALS: dict[str, Transfer] = {
    "neg": _neg,
    "abs": _abs,
    "sign": _monotone(_signum),
    "not": _not,
    "add": _monotone(operator.add),
    "sub": _corners(operator.sub),
    "mul": _corners(operator.mul),
    "floordiv": _quotient(_floored),
    "floormod": _floormod,
    "truncdiv": _quotient(truncated_quotient),
    "truncmod": _truncmod,
    "pow": _pow,
    "min": _monotone(min),
    "max": _monotone(max),
    "and": _and,
    "or": _or,
    "xor": _xor,
    "shl": _shift(_shifted_left, lambda x: 0),
    "shr": _shift(_shifted_right, lambda x: -1 if x < 0 else 0),
    "lt": _decided(_less),
    "gt": _decided(lambda x, y: _less(y, x)),
    "ge": _decided(lambda x, y: _negated(_less(x, y))),
    "le": _decided(lambda x, y: _negated(_less(y, x))),
    "eq": _decided(_equal),
    "ne": _decided(lambda x, y: _negated(_equal(x, y))),
    "where": _where,
}
"""ALU op → its transfer function. The other ops are of floats."""
