"""Rules that make one reduction of several, some of which need what others give, so that all walk their ranges at the
same time.

Of exponentials exp(x − max x), written e, over the ranges of the maximum:

    Σ e · w                                     →  online_softmax(x, w), the second value
    max x                                       →  online_softmax(x, w), the first value
    online_softmax(x, w), online_softmax(x, v)  →  online_attention(x, w, v)

A partial sum is rescaled where its maximum is not that of all. Exponents are never above 0, and the monoids are
associative; test/unit/test_monoids.py proves both in the reals. Where the maximum is −∞, x − max x is NaN, and the
monoids' sums are 0. log-sum-exp takes 0 for an infinite maximum: then the sum is 0, or ∞ as one of its terms.

What attention sums has such terms once the rules of weighted_sums.py have been applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ....dialects.monoids import MonoidAttr
from ....dialects.syntax import segment_sizes
from ....dialects.uop import LoadOp, RangeOp, ReduceOp, StoreOp
from ....rewriting.backward_slices import backward_slice
from ....rewriting.driver import RewriteBuilder
from ....rewriting.effects import is_pure
from ....rewriting.rules import Rules
from ....rewriting.values import constant_of
from .exponentials import ONLINE, Exponential, factors_of, is_wide_sum, product
from .reductions import dependents, is_number, reduce


@dataclass(frozen=True)
class _Terms:
    """Terms exp(x − max x) times weights, which do not depend on the maximum."""

    exponential: Exponential
    weights: Sequence[SSAValue]


def _terms(op: ReduceOp) -> _Terms | None:
    """What the reduction adds up, if it is such terms over the ranges of the maximum."""
    if not is_wide_sum(op):
        return None
    factors = factors_of(op.inputs[0])
    for place, factor in enumerate(factors):
        found = Exponential.of(factor)
        if found is None or set(found.maximum.over) != set(op.over):
            continue
        weights = factors[:place] + factors[place + 1 :]
        # Of weights that are not 1 the sum with an infinite term may be NaN.
        is_finite = found.base.special is None or found.base.special[0] < 0
        if not weights or (is_finite and not dependents(weights, found.maximum.results)):
            return _Terms(found, weights)
    return None


def with_maximum(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """A sum of exp(x − max x), or of that times weights."""
    terms = _terms(op)
    if terms is None:
        return None
    value, base, over = terms.exponential.value, terms.exponential.base, terms.exponential.maximum.over
    weight = product(builder, terms.weights) if terms.weights else builder.const(1.0, value.type)
    maximum, total = _online(builder, value, [weight], over)
    if base.special is not None:
        extreme, result = (builder.const(number, total.type) for number in base.special)
        total = builder.alu("where", builder.alu("eq", maximum, extreme), result, total)
    return [total]


def _online(
    builder: RewriteBuilder, value: SSAValue, weights: Sequence[SSAValue], over: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The maximum of a value over some ranges, and for each of the weights the sum of exp(value − maximum) · weight."""
    inputs = (value, *weights)
    properties = {
        "monoid": MonoidAttr(ONLINE[len(weights) - 1]),
        "operandSegmentSizes": segment_sizes(len(inputs), len(over)),
    }
    return builder.pure(ReduceOp, (*inputs, *over), [value.type] * len(inputs), properties).results


def joined(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """A maximum, alone or with a sum of exponentials, of a value of which there are further sums of exponentials."""
    if op.monoid.data not in ("max", ONLINE[0]):
        return None
    value, *own = op.inputs
    for other in _online_of(value):
        if other is op or set(other.over) != set(op.over):
            continue
        weights = list(other.inputs[1:])
        places = [place for place, weight in enumerate(weights) if own and _is_same(weight, own[0])]
        if own and not places:
            if len(weights) > 1:
                continue
            places = [0 if is_number(own[0], 1.0) else 1]
            weights.insert(places[0], own[0])
        if len(weights) == len(own) or not (_may_depend(op, weights) and _may_depend(other, weights)):
            continue
        if (moved := _in_front(builder, op, weights)) is not None:
            maximum, *totals = _online(builder, value, moved, other.over)
            return [maximum, *(totals[place] for place in places)]
    return None


def _online_of(value: SSAValue) -> Iterator[ReduceOp]:
    """The reductions to the maximum of a value and to sums of its exponentials."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, ReduceOp) and op.monoid.data in ONLINE and use.index == 0:
            yield op


def _is_same(x: SSAValue, y: SSAValue) -> bool:
    """Whether two weights are one value, or the same constant."""
    number = constant_of(x)
    return x == y or (number is not None and is_number(y, number))


def _may_depend(op: ReduceOp, weights: Sequence[SSAValue]) -> bool:
    """Whether the op may depend on what the weights depend on: whether all that is computed from it stands where these
    ranges are walked."""
    ranges = _ranges_of(weights) - _ranges_of(op.inputs) - set(op.over)
    if not ranges:
        return True
    for user in _users(op):
        if isinstance(user, ReduceOp) and not ranges.isdisjoint(user.over):
            return False
        if isinstance(user, StoreOp) and dependents(user.indices, ranges) != ranges:
            return False
    return True


def _ranges_of(values: Iterable[SSAValue]) -> set[SSAValue]:
    """The ranges that the values are computed from, those of reductions inside included."""
    return {op.result for op in backward_slice(values) if isinstance(op, RangeOp)}


def _users(op: Operation) -> Iterator[Operation]:
    """All ops that are computed from an op's results."""
    seen = {op}
    pending = [op]
    while pending:
        for result in pending.pop().results:
            for user in (use.operation for use in result.uses):
                if user not in seen:
                    seen.add(user)
                    pending.append(user)
                    yield user


def _in_front(builder: RewriteBuilder, op: Operation, values: Sequence[SSAValue]) -> list[SSAValue] | None:
    """The values, computed in front of an op; None where something is needed that cannot be computed there."""
    needed = set(backward_slice(values))
    moved: dict[SSAValue, SSAValue] = {}
    part: Operation | None = op
    while part is not None:
        if part in needed:
            if part is op or not (is_pure(type(part)) or isinstance(part, LoadOp)):
                return None
            copy = builder.pure_like(part, [moved.get(value, value) for value in part.operands])
            moved.update(zip(part.results, copy.results, strict=True))
        part = part.next_op
    return [moved.get(value, value) for value in values]


DEPENDENT_REDUCTIONS = Rules(
    (reduce[...] >> with_maximum).up_to_rounding(),
    (reduce[...] >> joined).up_to_rounding(),
)
