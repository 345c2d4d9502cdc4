"""Rules that make a sum of products one of exponentials times weights: what stands between the two goes out of it.

Of exponentials exp(x − max x), written e, attention divides each by their sum l, rounds the quotient, and takes 0
where a row has nothing but −∞:

    Σ (e / l) · v                   →  (Σ e · v) / l
    Σ rounded(p) · v, rounded       →  Σ p · v, rounded
    Σ where(max x = −∞, 0, p) · v   →  where(max x = −∞, Σ exp(x − 0) · v, Σ p · v)

Where the number of keys is a symbol, those behind it have x = −∞, and their p is set to 0 once more:

    Σ where(k < n, p, 0) · v        →  Σ p · v

Or it subtracts the logarithm of the sum, as a softmax by its logarithm does:

    exp(x − (log l + max x))        →  e / l

l is at least 1, or e is 0 everywhere, or l is NaN: infinities and NaN are as before. In a row of nothing but −∞ the
exponentials are 0, and a v of infinity or NaN counts as it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from xdsl.ir import Operation, SSAValue

from ....dialects.types import byte_width, is_float
from ....dialects.uop import ALU_OPS, AddOp, CastOp, DivOp, ReduceOp, SubOp, WhereOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import BOOL, FLOAT, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import div, exp, sub, where
from .exponentials import (
    Base,
    conjuncts_of,
    exponential_in,
    factors_of,
    is_normalizer,
    is_nothing,
    is_nothing_unless,
    is_wide_sum,
    maximum_of,
    product,
    rounded,
    sum_of_exponentials,
    varies,
)
from .reductions import is_number, rebuild, reduce

(c,) = variables("c", BOOL)
u, v, w, x = variables("u v w x", FLOAT)

_LOG, _LT, _NE, _NOT, _RECIPROCAL = (ALU_OPS[name] for name in ("log", "lt", "ne", "not", "reciprocal"))


def _sum(builder: RewriteBuilder, op: ReduceOp, factors: Sequence[SSAValue]) -> SSAValue:
    """The sum of other products over the same ranges."""
    return rebuild(builder, op, (product(builder, factors),), op.over)[0]


def without_rounding(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """Σ rounded(p) · v, rounded itself, where p is a multiple of an exponential."""
    if not is_wide_sum(op):
        return None
    factors = factors_of(op.inputs[0])
    for place, factor in enumerate(factors):
        wide = rounded(factor)
        if wide is not None and exponential_in(wide, op.over) is not None and _is_rounded(op, factor):
            return [_sum(builder, op, [*factors[:place], wide, *factors[place + 1 :]])]
    return None


def _is_rounded(op: ReduceOp, factor: SSAValue) -> bool:
    """Whether all that uses the sum casts it to floats as narrow as those that the factor was rounded to."""
    assert isinstance(factor.owner, CastOp)
    width = byte_width(factor.owner.input.type)
    users = [use.operation for use in op.results[0].uses]
    return all(
        isinstance(user, CastOp) and is_float(user.result.type) and byte_width(user.result.type) <= width
        for user in users
    )


def without_quotient(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """Σ (e / l) · v where e is a multiple of an exponential, and l one sum of them."""
    if not is_wide_sum(op):
        return None
    factors = factors_of(op.inputs[0])
    for place, factor in enumerate(factors):
        divisor = _divisor(factor)
        if divisor is None or not is_normalizer(divisor) or varies(divisor, op.over):
            continue
        rest = factors[:place] + factors[place + 1 :]
        if isinstance(factor.owner, DivOp):
            rest.insert(place, factor.owner.operands[0])
        if any(exponential_in(other, op.over) is not None for other in rest):
            return [builder.alu("div", _sum(builder, op, rest), divisor)]
    return None


def _divisor(factor: SSAValue) -> SSAValue | None:
    op = factor.owner
    return op.operands[-1] if isinstance(op, DivOp | _RECIPROCAL) else None


def without_mask(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """Σ where(c, p, 0) · v where p is a multiple of exp(x − max x), and x is −∞ where c does not hold."""
    if not is_wide_sum(op):
        return None
    factors = factors_of(op.inputs[0])
    for place, factor in enumerate(factors):
        choice = factor.owner
        if not isinstance(choice, WhereOp) or not is_number(choice.operands[2], 0.0):
            continue
        condition, value, zero = choice.operands
        found = exponential_in(value, op.over)
        if found is None:
            continue
        conditions = conjuncts_of(condition)
        others = [
            part
            for part in conditions
            if not (is_nothing_unless(part, found.value) and _holds_once(builder, part, op.over))
        ]
        if len(others) < len(conditions):
            for part in others:
                value = _where(builder, part, value, zero)
            return [_sum(builder, op, [*factors[:place], value, *factors[place + 1 :]])]
    return None


def _where(builder: RewriteBuilder, condition: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
    """A choice whose condition is no negation."""
    if isinstance(condition.owner, _NOT):
        return builder.alu("where", condition.owner.operands[0], y, x)
    if isinstance(condition.owner, _NE):
        return builder.alu("where", builder.alu("eq", *condition.owner.operands), y, x)
    return builder.alu("where", condition, x, y)


def _holds_once(builder: RewriteBuilder, condition: SSAValue, over: Sequence[SSAValue]) -> bool:
    """Whether the condition holds somewhere in the ranges: whether it is that one of them is below at least 1."""
    if not isinstance(condition.owner, _LT):
        return False
    position, bound = condition.owner.operands
    while isinstance(position.owner, CastOp):
        position = position.owner.input
    interval = builder.interval(bound)
    return position in over and interval is not None and interval.low >= 1


def without_choice(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """Σ where(max x = −∞, 0, p) · v where p is a multiple of exp(x − max x)."""
    if not is_wide_sum(op):
        return None
    factors = factors_of(op.inputs[0])
    for place, factor in enumerate(factors):
        choice = factor.owner
        if not isinstance(choice, WhereOp) or not is_number(choice.operands[1], 0.0):
            continue
        condition, zero, otherwise = choice.operands
        found = exponential_in(otherwise, op.over)
        if found is None or not is_nothing(condition, found.base.maximum):
            continue
        base = builder.alu("where", condition, zero, found.base.maximum)
        power = builder.alu("exp", builder.alu("sub", found.value, base))
        sums = [_sum(builder, op, [*factors[:place], part, *factors[place + 1 :]]) for part in (power, otherwise)]
        return [builder.alu("where", condition, *sums)]
    return None


def without_logarithm(builder: RewriteBuilder, op: Operation) -> SSAValue | None:
    """exp(x − (log l + max x)) or exp((x − max x) − log l), where l is a sum of exponentials of x."""
    (difference,) = op.operands
    assert isinstance(difference.owner, SubOp)
    value, subtracted = difference.owner.operands
    if isinstance(subtracted.owner, AddOp):
        x, y = subtracted.owner.operands
    elif isinstance(value.owner, SubOp):
        (value, x), y = value.owner.operands, subtracted
    else:
        return None
    for base, logarithm in ((x, y), (y, x)):
        maximum = Base.of(base).maximum
        if isinstance(logarithm.owner, _LOG) and maximum_of(value, maximum) is not None:
            (total,) = logarithm.owner.operands
            if sum_of_exponentials(total) is not None:
                # Where the maximum is infinite, x less 0 and an infinite logarithm is what x less the maximum is.
                return builder.alu("div", builder.alu("exp", builder.alu("sub", value, maximum)), total)
    return None


def is_nan(x: SSAValue) -> bool:
    """Whether the value is the constant NaN."""
    return is_number(x, nan)


def is_empty_quotient(c: SSAValue, u: SSAValue, v: SSAValue) -> bool:
    """Whether the condition is that a maximum is −∞, and u / v are sums of exponentials with it: then 0 / 0."""
    total = sum_of_exponentials(v)
    if total is None or u.owner is not total or v.owner is not total:
        return False
    return is_nothing(c, total.results[0])


WEIGHTED_SUMS = Rules(
    (reduce[...] >> without_rounding).up_to_rounding(),
    (reduce[...] >> without_quotient).up_to_rounding(),
    reduce[...] >> without_mask,
    reduce[...] >> without_choice,
    (exp[sub[u, v]] >> without_logarithm).up_to_rounding(),
    # In one branch of a choice the same condition is known.
    where[c, u, div[where[c, v, w], x]] >> where[c, u, div[w, x]],
    where[c, u, div[v, where[c, w, x]]] >> where[c, u, div[v, x]],
    div[where[c, x, u], where[c, x, v]].when(is_nan) >> where[c, x, div[u, v]],
    where[c, x, div[u, v]].when(is_nan, is_empty_quotient) >> div[u, v],
    # A row has one divisor and many sums.
    where[c, u, div[u, v]] >> div[u, where[c, 1, v]],
)
