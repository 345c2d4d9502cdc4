"""Arithmetic of congruences: what a value is modulo some number.

P. Granger, "Static analysis of arithmetical congruences" (1989); here with wrap-around: what leaves a type of n bits is
known only modulo powers of 2 up to 2ⁿ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd, inf

from .interval_arithmetic import Interval


@dataclass(frozen=True, slots=True)
class Congruence:
    """The numbers that leave `residue` when divided by `modulus`; modulus 0 is the one number `residue`.

    `Congruence(1, 0)` is all numbers. 0 ≤ residue < modulus unless modulus is 0.
    """

    modulus: int
    residue: int

    @staticmethod
    def of(modulus: int, residue: int) -> Congruence:
        return Congruence(modulus, residue % modulus if modulus else residue)

    def divisible_by(self, number: int) -> bool:
        """Whether every one of the numbers is a multiple of `number`."""
        return self.modulus % number == 0 and self.residue % number == 0

    def holds(self, number: int) -> bool:
        """Whether `number` is one of the numbers."""
        return number == self.residue if self.modulus == 0 else number % self.modulus == self.residue

    def union(self, other: Congruence) -> Congruence:
        """The least congruence that holds both."""
        return Congruence.of(gcd(self.modulus, other.modulus, self.residue - other.residue), self.residue)

    def modulo(self, number: int) -> Congruence:
        """What is known modulo a divisor of `number`: of values of which only that is known."""
        return Congruence.of(gcd(self.modulus, number), self.residue)

    def remainders(self, divisor: int) -> Interval:
        """The least and the greatest remainder (of floor division) that the numbers leave when divided."""
        known = self.modulo(divisor).nearest(Interval(0, divisor - 1) if divisor > 0 else Interval(divisor + 1, 0))
        assert known is not None, "the modulus divides the divisor: one of each period is in between"
        return known

    def __add__(self, other: Congruence) -> Congruence:
        return Congruence.of(gcd(self.modulus, other.modulus), self.residue + other.residue)

    def __neg__(self) -> Congruence:
        return Congruence.of(self.modulus, -self.residue)

    def __mul__(self, other: Congruence) -> Congruence:
        m, r, n, s = self.modulus, self.residue, other.modulus, other.residue
        return Congruence.of(gcd(m * n, m * s, n * r), r * s)

    def nearest(self, interval: Interval) -> Interval | None:
        """The interval without the ends that are none of the numbers; None when nothing is left."""
        if self.modulus == 0:
            return interval.intersection(Interval(self.residue, self.residue))
        low = interval.low + (self.residue - interval.low) % self.modulus
        high = interval.high - (interval.high - self.residue) % self.modulus
        return Interval(low, high) if low <= high else None


ANYTHING = Congruence(1, 0)

Transfer = Callable[[Sequence[Congruence], Sequence[Interval]], Congruence]
"""From the operands' congruences and intervals to the congruence of the result, before it wraps around."""


def constant(number: int) -> Congruence:
    return Congruence(0, number)


def _add(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    return operands[0] + operands[1]


def _sub(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    return operands[0] + -operands[1]


def _mul(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    return operands[0] * operands[1]


def _neg(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    return -operands[0]


def _abs(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    x = intervals[0]
    if x.low >= 0:
        return operands[0]
    return -operands[0] if x.high <= 0 else operands[0].union(-operands[0])


def _floordiv(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    x, y = operands
    divisor = y.residue
    if y.modulus or not divisor or x.modulus % divisor:
        return ANYTHING
    return Congruence.of(abs(x.modulus // divisor), x.residue // divisor)


def _truncdiv(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    x, y = operands
    is_exact = not y.modulus and y.residue and x.divisible_by(y.residue)
    rounds_down = intervals[0].low >= 0 and intervals[1].low > 0
    return _floordiv(operands, intervals) if is_exact or rounds_down else ANYTHING


def _floormod(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    x, y = operands
    if 0 <= intervals[0].low and intervals[0].high < intervals[1].low:
        return x
    divisor = y.residue
    if not y.modulus and divisor and x.modulus % divisor == 0:
        return constant(x.residue % divisor)
    return x.modulo(gcd(y.modulus, divisor))


def _truncmod(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    x, y = operands
    if intervals[0].low >= 0:
        size = -y if intervals[1].high < 0 else y
        if intervals[1].high < 0 or intervals[1].low > 0:
            smallest = min(abs(intervals[1].low), abs(intervals[1].high))
            return _floormod((x, size), (intervals[0], Interval(smallest, smallest)))
    # x − y · q
    return x.modulo(gcd(y.modulus, y.residue))


def _bitwise(function: Callable[[int, int], int], zeros_stay: bool) -> Transfer:
    """The low bits that are known of both operands are known of the result."""

    def transfer(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
        x, y = operands
        known = min(_low_bits(x.modulus), _low_bits(y.modulus))
        if known == inf:
            return constant(function(x.residue, y.residue))
        result = Congruence.of(1 << int(known), function(x.residue, y.residue))
        if zeros_stay:
            zeros = max(_low_bits(gcd(z.modulus, z.residue)) for z in operands)
            if zeros == inf:
                return constant(0)
            if zeros > known:
                return Congruence(1 << int(zeros), 0)
        return result

    return transfer


def _low_bits(modulus: int) -> float:
    """How often 2 divides the number: infinitely often for 0."""
    return (modulus & -modulus).bit_length() - 1 if modulus else inf


def _shl(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    x, y = operands
    if y.modulus:
        return ANYTHING
    return x * constant(1 << y.residue) if 0 <= y.residue < 64 else constant(0)


def _shr(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    x, y = operands
    if y.modulus or not 0 <= y.residue < 64:
        return ANYTHING
    return _floordiv((x, constant(1 << y.residue)), intervals)


def _chosen(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    """Of min and max: either operand."""
    return operands[0].union(operands[1])


def _where(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
    _, x, y = operands
    if intervals[0].is_single:
        return x if intervals[0].low else y
    return x.union(y)


def _division(transfer: Transfer) -> Transfer:
    """Division by 0 has no meaning: its result may be any number."""

    def checked(operands: Sequence[Congruence], intervals: Sequence[Interval]) -> Congruence:
        divisor = intervals[1]
        return ANYTHING if divisor.low <= 0 <= divisor.high else transfer(operands, intervals)

    return checked


CONGRUENCES: dict[str, Transfer] = {
    "neg": _neg,
    "abs": _abs,
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "floordiv": _division(_floordiv),
    "floormod": _division(_floormod),
    "truncdiv": _division(_truncdiv),
    "truncmod": _division(_truncmod),
    "min": _chosen,
    "max": _chosen,
    "and": _bitwise(lambda x, y: x & y, True),
    "or": _bitwise(lambda x, y: x | y, False),
    "xor": _bitwise(lambda x, y: x ^ y, False),
    "shl": _shl,
    "shr": _shr,
    "where": _where,
}
"""ALU op → its transfer function; nothing is known of the results of the other ops but what their intervals say."""
