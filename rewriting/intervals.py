"""Intervals: the least and the greatest value of integers, indices and bools.

`TRANSFER` says for each op what its operands' intervals tell of its result. Arithmetic is on whole numbers; a result
that leaves its element type has wrapped around, so nothing is known of it. A value of tensor or vector type has one
interval for all its elements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import loop, tile
from ..dialects.types import bit_width, element_of, integer_bounds, is_bool, is_integer, shape_of
from ..dialects.uop import (
    ALU_OPS,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    GatherOp,
    IotaOp,
    PadOp,
    PermuteOp,
    RangeOp,
    ReshapeOp,
    ShrinkOp,
)


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


Transfer = Callable[[Operation, Sequence[Interval]], Interval | None]
"""From an op and its operands' intervals to its result's interval; None where nothing is known."""


@cache
def whole(element: Attribute) -> Interval | None:
    """All numbers of an integer or bool type; None for another."""
    return Interval(*integer_bounds(element)) if is_integer(element) or is_bool(element) else None


class IntervalAnalysis:
    """Intervals of values, found when asked for and kept. They stay true when ops are replaced by equal
    ones."""

    def __init__(self) -> None:
        # By id, which hashes faster; `_values` keeps the values, so that ids stay theirs.
        self._known: dict[int, Interval | None] = {}
        self._values: list[SSAValue] = []

    def of(self, value: SSAValue) -> Interval | None:
        """The interval of a value; None for floats."""
        known = self._known
        if id(value) in known:
            return known[id(value)]
        stack = [value]
        while stack:
            current = stack[-1]
            owner = current.owner
            transfer = TRANSFER.get(type(owner))  # pyright: ignore[reportArgumentType]  # a block has none
            limits = whole(element_of(current.type))
            result = limits
            if limits is not None and transfer is not None:
                assert isinstance(owner, Operation)
                operands = owner.operands
                missing = [operand for operand in operands if id(operand) not in known]
                if missing:
                    stack += missing
                    continue
                result = _apply(transfer, owner, [known[id(operand)] for operand in operands], limits)
            elif limits is not None and isinstance(owner, Block):
                result = _of_argument(owner, current) or limits
            known[id(current)] = result
            self._values.append(current)
            stack.pop()
        return known[id(value)]


def _apply(transfer: Transfer, op: Operation, operands: Sequence[Interval | None], limits: Interval) -> Interval:
    """The interval of the result, within the limits of its type."""
    numbers = [operand for operand in operands if operand is not None]
    if len(numbers) < len(operands):  # a float among them
        return limits
    result = transfer(op, numbers)
    return result if result is not None and limits.contains(result) else limits


def _of_argument(block: Block, value: SSAValue) -> Interval | None:
    parent = block.parent_op()
    if isinstance(parent, loop.ForOp | loop.ReduceOp) and value is parent.index:
        return Interval.of_extent(parent.axis.extent.data)
    return None


# Sources.


def _const(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    assert isinstance(op, ConstOp)
    return Interval(int(op.number), int(op.number)) if isinstance(op.value, IntegerAttr) else None


def _axis(op: Operation, operands: Sequence[Interval]) -> Interval:
    assert isinstance(op, RangeOp | tile.AxisOp)
    return Interval.of_extent(op.extent)


def _iota(op: Operation, operands: Sequence[Interval]) -> Interval:
    return Interval.of_extent(shape_of(op.results[0].type)[0])


# Movement: elements of the first operand, and zeros.


def _first(op: Operation, operands: Sequence[Interval]) -> Interval:
    return operands[0]


def _pad(op: Operation, operands: Sequence[Interval]) -> Interval:
    return operands[0].union(Interval(0, 0))


# ALU ops.


def _corners(function: Callable[[int, int], int]) -> Transfer:
    """For functions that are monotone in each operand while the other stands still."""

    def transfer(op: Operation, operands: Sequence[Interval]) -> Interval:
        x, y = operands
        return Interval.hull([function(a, b) for a, b in product((x.low, x.high), (y.low, y.high))])

    return transfer


def _monotone(function: Callable[..., int]) -> Transfer:
    """For functions that grow, or stay, with each operand."""

    def transfer(op: Operation, operands: Sequence[Interval]) -> Interval:
        return Interval(function(*(x.low for x in operands)), function(*(x.high for x in operands)))

    return transfer


def _signum(x: int) -> int:
    return (x > 0) - (x < 0)


def _neg(op: Operation, operands: Sequence[Interval]) -> Interval:
    return Interval(-operands[0].high, -operands[0].low)


def _abs(op: Operation, operands: Sequence[Interval]) -> Interval:
    x = operands[0]
    if x.low <= 0 <= x.high:
        return Interval(0, max(-x.low, x.high))
    return Interval.hull([abs(x.low), abs(x.high)])


def _floored(x: int, y: int) -> int:
    return x // y


def _truncated(x: int, y: int) -> int:
    return -(-x // y) if (x < 0) != (y < 0) else x // y


def _quotient(function: Callable[[int, int], int]) -> Transfer:
    corners = _corners(function)

    def transfer(op: Operation, operands: Sequence[Interval]) -> Interval | None:
        y = operands[1]
        return None if y.low <= 0 <= y.high else corners(op, operands)

    return transfer


def _floormod(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if y.low <= 0 <= y.high:
        return None
    if y.is_single and x.low // y.low == x.high // y.low:
        return Interval(x.low % y.low, x.high % y.low)
    return Interval(0, y.high - 1) if y.low > 0 else Interval(y.low + 1, 0)


def _truncmod(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if y.low <= 0 <= y.high:
        return None
    greatest = max(abs(y.low), abs(y.high)) - 1
    if 0 <= x.low and x.high < min(abs(y.low), abs(y.high)):
        return x
    return Interval(max(min(x.low, 0), -greatest), min(max(x.high, 0), greatest))


def _and(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if x.is_single and y.is_single:
        return Interval(x.low & y.low, x.low & y.low)
    highs = [z.high for z in operands if z.low >= 0]
    return Interval(0, min(highs)) if highs else None


def _or(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if x.is_single and y.is_single:
        return Interval(x.low | y.low, x.low | y.low)
    if min(x.low, y.low) < 0:
        return None
    return Interval(max(x.low, y.low), (1 << max(x.high, y.high).bit_length()) - 1)


def _xor(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    x, y = operands
    if x.is_single and y.is_single:
        return Interval(x.low ^ y.low, x.low ^ y.low)
    if min(x.low, y.low) < 0:
        return None
    return Interval(0, (1 << max(x.high, y.high).bit_length()) - 1)


def _not(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    limits = whole(element_of(op.results[0].type))
    assert limits is not None
    # The complement counts down from the other end: of bools and unsigned numbers as of signed ones.
    end = limits.low + limits.high
    return Interval(end - operands[0].high, end - operands[0].low)


def _shifted_left(x: int, y: int) -> int:
    return x << y


def _shifted_right(x: int, y: int) -> int:
    return x >> y


def _shift(function: Callable[[int, int], int]) -> Transfer:
    corners = _corners(function)

    def transfer(op: Operation, operands: Sequence[Interval]) -> Interval | None:
        width = bit_width(element_of(op.results[0].type))
        y = operands[1]
        return corners(op, operands) if 0 <= y.low and y.high < width else None

    return transfer


def _decided(holds: Callable[[Interval, Interval], bool | None]) -> Transfer:
    """For comparisons: whether the answer is the same for all numbers of two intervals."""

    def transfer(op: Operation, operands: Sequence[Interval]) -> Interval | None:
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


def _where(op: Operation, operands: Sequence[Interval]) -> Interval:
    condition, x, y = operands
    if condition.is_single:
        return x if condition.low else y
    return x.union(y)


def _cast(op: Operation, operands: Sequence[Interval]) -> Interval:
    x = operands[0]
    if is_bool(element_of(op.results[0].type)):  # whether it is not 0
        zero = _equal(x, Interval(0, 0))
        return Interval(0, 1) if zero is None else Interval(int(not zero), int(not zero))
    return x


_ALU: dict[str, Transfer] = {
    "neg": _neg,
    "abs": _abs,
    "sign": _monotone(_signum),
    "not": _not,
    "add": _monotone(operator.add),
    "sub": _corners(operator.sub),
    "mul": _corners(operator.mul),
    "floordiv": _quotient(_floored),
    "floormod": _floormod,
    "truncdiv": _quotient(_truncated),
    "truncmod": _truncmod,
    "min": _monotone(min),
    "max": _monotone(max),
    "and": _and,
    "or": _or,
    "xor": _xor,
    "shl": _shift(_shifted_left),
    "shr": _shift(_shifted_right),
    "lt": _decided(_less),
    "gt": _decided(lambda x, y: _less(y, x)),
    "ge": _decided(lambda x, y: _negated(_less(x, y))),
    "le": _decided(lambda x, y: _negated(_less(y, x))),
    "eq": _decided(_equal),
    "ne": _decided(lambda x, y: _negated(_equal(x, y))),
    "where": _where,
}

TRANSFER: dict[type[Operation], Transfer] = {
    **{ALU_OPS[name]: transfer for name, transfer in _ALU.items()},
    ConstOp: _const,
    CastOp: _cast,
    RangeOp: _axis,
    tile.AxisOp: _axis,
    IotaOp: _iota,
    ExpandOp: _first,
    ReshapeOp: _first,
    PermuteOp: _first,
    ShrinkOp: _first,
    FlipOp: _first,
    PadOp: _pad,
    GatherOp: _first,
}
"""Op class → its transfer function; a dialect whose ops give integers adds its own."""
