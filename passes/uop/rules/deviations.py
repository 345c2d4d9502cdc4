"""Rules that take a mean and the sum of the squared deviations from it in one walk: variance.

`welford` reduces elements to their count n, a point p, which is their mean, rounded, the sum d of their deviations from
it, and that of the squares, q. Then

    Σ (x − m)², where m is Σ x ÷ n   →  q − d² ÷ n
    Σ x                              →  (p + d ÷ n) · n, where there are these
    (p + d ÷ n) · n ÷ n              →  p + d ÷ n

As an exponential is moved from the maximum of a part to that of all, deviations are moved from the point of a part to
that of all, by the monoid (dialects/monoids.py); test/unit/test_deviations.py proves it in the reals. d is 0 but for
rounding: where the mean is large, d² ÷ n is small beside q, and no digits are lost.

An infinite or NaN element makes d and q NaN, as it does the deviations from its mean, which p is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from ....dialects.types import byte_width, element_count, element_of, is_float, shape_of
from ....dialects.uop import DivOp, ExpandOp, MulOp, ReduceAxisOp, SubOp, WhereOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import FLOAT, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.values import constant_of
from ....rewriting.vocabulary import div, mul
from .reductions import reduce_axis

SAMPLE = "welford"
"""The monoid of a count, a mean, and the sums of deviations from it and of their squares."""

MOST_ELEMENTS = 1 << 24
"""Elements that f32 counts one by one."""

(u,) = variables("u", FLOAT)
a, b = constants("a b")


class Deviating(NamedTuple):
    """A value that deviates from its mean along some axes."""

    value: SSAValue
    mean: SSAValue


def deviating(op: ReduceAxisOp) -> Deviating | None:
    """What has the squared deviations from its mean along the reduced axes that the reduction adds up, if it does that.

    They are floats of a type that counts them.
    """
    square = op.operands[0].owner
    element = element_of(op.operands[0].type)
    if op.monoid.data != "add" or not is_float(element) or byte_width(element) < 4:
        return None
    if not 0 < _count(op) <= MOST_ELEMENTS:
        return None
    if not isinstance(square, MulOp) or square.operands[0] != square.operands[1]:
        return None
    difference = square.operands[0].owner
    if not isinstance(difference, SubOp):
        return None
    x, y = difference.operands
    for value, means in ((x, y), (y, x)):
        if isinstance(means.owner, ExpandOp) and _is_mean(means.owner.input, value, op):
            return Deviating(value, means.owner.input)
    return None


def _count(op: ReduceAxisOp) -> int:
    """Elements of one result."""
    shape = shape_of(op.operands[0].type)
    return element_count([shape[axis] for axis in op.axis_list()])


def _is_mean(mean: SSAValue, value: SSAValue, op: ReduceAxisOp) -> bool:
    """Whether a value is the sum of another along the axes of the op, divided by the number of elements."""
    quotient = mean.owner
    if not isinstance(quotient, DivOp | MulOp):
        return False
    total, number = quotient.operands[0].owner, constant_of(quotient.operands[1])
    if not isinstance(total, ReduceAxisOp) or total.monoid.data != "add" or number is None:
        return False
    if total.operands[0] != value or total.axes != op.axes:
        return False
    return number == _count(op) if isinstance(quotient, DivOp) else number * _count(op) == 1


def _sample(builder: RewriteBuilder, value: SSAValue, op: ReduceAxisOp) -> tuple[SSAValue, SSAValue]:
    """Mean and sum of squared deviations of a value along the axes of an op."""
    # −0.0 is what floats may be added to without a change.
    one, nothing = (builder.constant_like(number, value) for number in (1.0, -0.0))
    _, point, rest, squares = builder.reduce_axis(SAMPLE, (one, value, nothing, nothing), op.axis_list())
    share = builder.alu("mul", rest, builder.constant_like(1 / _count(op), rest))
    mean = builder.alu("where", builder.alu("isnan", rest), point, builder.alu("add", point, share))
    squares = builder.alu("sub", squares, builder.alu("mul", rest, share))
    return mean, builder.alu("max", squares, builder.constant_like(0.0, squares))


def with_mean(builder: RewriteBuilder, op: ReduceAxisOp) -> Sequence[SSAValue] | None:
    """A sum of squared deviations from the mean."""
    found = deviating(op)
    if found is None:
        return None
    _, squares = _sample(builder, found.value, op)
    return [squares]


def with_deviations(builder: RewriteBuilder, op: ReduceAxisOp) -> Sequence[SSAValue] | None:
    """The sum of a value of which there are a mean and squared deviations."""
    value = op.operands[0]
    if op.monoid.data != "add" or not any(user.axes == op.axes for user in _samples_of(value)):
        return None
    mean, _ = _sample(builder, value, op)
    return [builder.alu("mul", mean, builder.constant_like(float(_count(op)), mean))]


def _samples_of(value: SSAValue) -> Iterator[ReduceAxisOp]:
    for use in value.uses:
        user = use.operation
        if isinstance(user, ReduceAxisOp) and user.monoid.data == SAMPLE and use.index == 1:
            yield user


def is_mean(u: SSAValue) -> bool:
    """Whether a value is the mean of what there are deviations of."""
    if not isinstance(u.owner, WhereOp):
        return False
    point = u.owner.operands[1]
    return (
        isinstance(point.owner, ReduceAxisOp) and point.owner.monoid.data == SAMPLE and point.owner.results[1] == point
    )


def is_inverse(a: float, b: float) -> bool:
    """Whether one number is the inverse of the other."""
    return a * b == 1


def deviations(pays: Callable[[ReduceAxisOp], bool]) -> Rules:
    """The rules, for sums of squared deviations of which this holds."""

    def does_pay(op: ReduceAxisOp) -> bool:
        return pays(op)

    return Rules(
        (reduce_axis[...].when(does_pay) >> with_mean).up_to_rounding(),
        (reduce_axis[...] >> with_deviations).up_to_rounding(),
        (div[mul[u, a], a].when(is_mean) >> u).up_to_rounding(),
        (mul[mul[u, a], b].when(is_mean, is_inverse) >> u).up_to_rounding(),
    )


DEVIATIONS = deviations(lambda op: True)
"""The rules, wherever they apply."""
