"""Rules that make one reduction of two, the second of which needs what the first gives, so that both walk their ranges
at the same time.

A sum of exp(x − max x) is the second value of the monoid `online_softmax`, whose first is the maximum: a partial sum is
rescaled where its maximum is not that of all. Its exponents are never above 0, and it is associative;
test/unit/test_monoids.py proves both in the reals. Where the maximum is −∞, x − max x is NaN, and the monoid's sum 0.
log-sum-exp takes 0 for an infinite maximum: then the sum is 0, or ∞ as one of its terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan

from xdsl.ir import Operation, SSAValue

from ....dialects.monoids import MonoidAttr
from ....dialects.syntax import segment_sizes
from ....dialects.types import byte_width
from ....dialects.uop import ALU_OPS, ReduceOp, SubOp, WhereOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.rules import Rules
from .reductions import is_number, reduce

_ABS, _EQ, _EXP = ALU_OPS["abs"], ALU_OPS["eq"], ALU_OPS["exp"]


def maximum_of(value: SSAValue, maximum: SSAValue) -> ReduceOp | None:
    """The reduction if `maximum` is the greatest element of `value` along some ranges."""
    op = maximum.owner
    if not isinstance(op, ReduceOp) or op.monoid.data not in ("max", "online_softmax"):
        return None
    return op if maximum == op.results[0] and op.inputs[0] == value else None


@dataclass(frozen=True)
class _Exponentials:
    """Terms exp(value − max value).

    over: the ranges, in the order of the maximum. is_finite: 0 is taken for a maximum that is infinite.
    """

    value: SSAValue
    over: Sequence[SSAValue]
    is_finite: bool


def _unless_infinite(base: SSAValue) -> SSAValue | None:
    """x where `base` is x, or 0 where x is infinite."""
    choice = base.owner
    if not isinstance(choice, WhereOp) or not is_number(choice.operands[1], 0.0):
        return None
    condition, _, value = choice.operands
    if not isinstance(condition.owner, _EQ) or not is_number(condition.owner.operands[1], inf):
        return None
    size = condition.owner.operands[0].owner
    return value if isinstance(size, _ABS) and size.operands[0] == value else None


def _terms(op: ReduceOp) -> _Exponentials | None:
    """What the reduction adds up, if it is exp(x − max x) over the same ranges."""
    if op.monoid.data != "add" or byte_width(op.inputs[0].type) < 4:
        return None
    power = op.inputs[0].owner
    difference = power.operands[0].owner if isinstance(power, _EXP) else None
    if not isinstance(difference, SubOp):
        return None
    value, base = difference.operands
    maximum = _unless_infinite(base)
    reduction = maximum_of(value, base if maximum is None else maximum)
    if reduction is None or set(reduction.over) != set(op.over):
        return None
    return _Exponentials(value, reduction.over, maximum is not None)


def _online(builder: RewriteBuilder, value: SSAValue, over: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The maximum of a value over some ranges, and the sum of exp(value − maximum)."""
    one = builder.const(1.0, value.type)
    properties = {"monoid": MonoidAttr("online_softmax"), "operandSegmentSizes": segment_sizes(2, len(over))}
    return builder.pure(ReduceOp, (value, one, *over), [value.type, value.type], properties).results


def with_sum(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """A maximum that a sum of exp(x − max x) over the same ranges needs."""
    if op.monoid.data != "max":
        return None
    users: list[Operation] = [op]
    for _ in range(4):  # 0 where it is infinite, x less that, its exponential, the sum
        users = [use.operation for user in users for result in user.results for use in result.uses]
        for user in users:
            if isinstance(user, ReduceOp) and (terms := _terms(user)) is not None and terms.value == op.inputs[0]:
                return _online(builder, terms.value, op.over)[:1]
    return None


def with_maximum(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """A sum of exp(x − max x)."""
    terms = _terms(op)
    if terms is None:
        return None
    maximum, total = _online(builder, terms.value, terms.over)
    infinity, otherwise = (inf, inf) if terms.is_finite else (-inf, nan)
    is_infinite = builder.alu("eq", maximum, builder.const(infinity, maximum.type))
    return [builder.alu("where", is_infinite, builder.const(otherwise, total.type), total)]


DEPENDENT_REDUCTIONS = Rules(
    (reduce[...] >> with_sum).up_to_rounding(),
    (reduce[...] >> with_maximum).up_to_rounding(),
)
