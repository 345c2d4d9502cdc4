"""What rules ask about sums of exponentials in range form: terms exp(x − max x), and what they are multiplied by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf, nan

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, SSAValue

from ....dialects.monoids import LOG2_E, number_attribute
from ....dialects.types import byte_width, is_float
from ....dialects.uop import ALU_OPS, AddOp, CastOp, DivOp, MulOp, NegOp, ReduceOp, SubOp, WhereOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.values import constant_of
from .reductions import is_number

ONLINE = ("online_softmax", "online_attention")
"""Monoids of a maximum and one sum of exponentials, or two."""

_ABS, _AND, _EQ, _EXP, _EXP2, _FMA, _MAX = (ALU_OPS[name] for name in ("abs", "and", "eq", "exp", "exp2", "fma", "max"))


def maximum_of(value: SSAValue, maximum: SSAValue) -> ReduceOp | None:
    """The reduction if `maximum` is the greatest element of `value` along some ranges."""
    op = maximum.owner
    if not isinstance(op, ReduceOp) or op.monoid.data not in ("max", *ONLINE):
        return None
    return op if maximum == op.results[0] and op.inputs[0] == value else None


def is_nothing(condition: SSAValue, maximum: SSAValue) -> bool:
    """Whether the condition is that the maximum is −∞."""
    test = condition.owner
    return isinstance(test, _EQ) and test.operands[0] == maximum and is_number(test.operands[1], -inf)


@dataclass(frozen=True)
class Base:
    """What is subtracted from elements before they are exponentiated: their maximum, or 0 for some of its values.

    special: for which maximum a sum of the exponentials is not what a monoid of `ONLINE` gives, and what it is then;
      None if there is none.
    """

    maximum: SSAValue
    special: tuple[float, float] | None = (-inf, nan)

    @staticmethod
    def of(value: SSAValue) -> Base:
        """The base that a value is: a maximum, one with 0 for −∞, or one with 0 for both infinities."""
        choice = value.owner
        if isinstance(choice, WhereOp) and is_number(choice.operands[1], 0.0):
            condition, _, maximum = choice.operands
            if is_nothing(condition, maximum):
                return Base(maximum, None)
            test = condition.owner
            if isinstance(test, _EQ) and is_number(test.operands[1], inf):
                size = test.operands[0].owner
                if isinstance(size, _ABS) and size.operands[0] == maximum:
                    return Base(maximum, (inf, inf))
        return Base(value)


@dataclass(frozen=True)
class Exponential:
    """exp(x − base), where the base is the maximum of x along the ranges that `maximum` goes over."""

    value: SSAValue
    base: Base
    maximum: ReduceOp

    @staticmethod
    def of(power: SSAValue) -> Exponential | None:
        """The exponential that a value is, as a power of e, or as one of 2 whose exponent is a multiple by log₂e."""
        found = _difference_in(power)
        if found is None:
            return None
        value, subtracted = found
        base = Base.of(subtracted)
        maximum = maximum_of(value, base.maximum)
        return None if maximum is None else Exponential(value, base, maximum)


def _difference_in(power: SSAValue) -> Sequence[SSAValue] | None:
    """x and y where the value is exp(x − y), exp2((x − y) · log₂e) or exp2(x · n + y · −n), where n is log₂e or 1."""
    if not isinstance(power.owner, _EXP | _EXP2):
        return None
    exponent = power.owner.operands[0].owner
    if isinstance(power.owner, _EXP2):
        if isinstance(exponent, _FMA):
            value, factor, shift = exponent.operands
            if not _is_power(factor) or not isinstance(shift.owner, MulOp):
                return None
            subtracted, by = shift.owner.operands
            return (value, subtracted) if _is_negative(by, factor) else None
        if not isinstance(exponent, MulOp) or not _is_log2_e(exponent.operands[1]):
            return None
        exponent = exponent.operands[0].owner
    return exponent.operands if isinstance(exponent, SubOp) else None


def _is_negative(value: SSAValue, of: SSAValue) -> bool:
    return isinstance(value.owner, NegOp) and value.owner.operands[0] == of


def _is_power(factor: SSAValue) -> bool:
    """Whether the factor is log₂e, or 1 where numbers are so far apart that all smaller powers are next to nothing."""
    choice = factor.owner
    return isinstance(choice, WhereOp) and _is_log2_e(choice.operands[1]) and is_number(choice.operands[2], 1.0)


def _is_log2_e(value: SSAValue) -> bool:
    """Whether the value is log₂e, rounded to its type: 2 to the power of other multiples is not what e is."""
    number = number_attribute(LOG2_E, value.type) if is_float(value.type) else None
    return isinstance(number, FloatAttr) and is_number(value, number.value.data)


def is_wide_sum(op: ReduceOp) -> bool:
    """Whether floats of at least 32 bits are added."""
    element = op.inputs[0].type
    return op.monoid.data == "add" and is_float(element) and byte_width(element) >= 4


def factors_of(value: SSAValue) -> list[SSAValue]:
    """The factors of a product, in order."""
    return _parts(value, MulOp)


def _parts(value: SSAValue, kind: type[Operation]) -> list[SSAValue]:
    """What nested ops of one class combine, in order."""
    found: list[SSAValue] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part.owner, kind):
            pending += reversed(part.owner.operands)
        else:
            found.append(part)
    return found


def product(builder: RewriteBuilder, factors: Sequence[SSAValue]) -> SSAValue:
    """The product of at least one factor."""
    first, *rest = factors
    for factor in rest:
        first = builder.alu("mul", first, factor)
    return first


def rounded(value: SSAValue) -> SSAValue | None:
    """x where the value is x cast to a narrower type of floats and back."""
    narrow = value.owner.operands[0] if isinstance(value.owner, CastOp) else None
    if narrow is None or not isinstance(narrow.owner, CastOp) or not is_float(narrow.type):
        return None
    wide = narrow.owner.operands[0]
    return wide if wide.type == value.type and byte_width(narrow.type) < byte_width(wide.type) else None


def exponential_in(value: SSAValue, over: Collection[SSAValue]) -> Exponential | None:
    """The exponential, with its maximum over these ranges, that the value is a multiple of: divided, rounded, or 0 on
    some condition."""
    pending = [value]
    while pending:
        value = pending.pop()
        found = Exponential.of(value)
        if found is not None and set(found.maximum.over) == set(over):
            return found
        op = value.owner
        if isinstance(op, MulOp):
            pending += reversed(op.operands)
        elif isinstance(op, DivOp):
            pending.append(op.operands[0])
        elif isinstance(op, WhereOp):
            pending += [part for part, other in (op.operands[1:], op.operands[:0:-1]) if is_number(other, 0.0)]
        elif (wide := rounded(value)) is not None:
            pending.append(wide)
    return None


def conjuncts_of(condition: SSAValue) -> list[SSAValue]:
    """The conditions whose conjunction this is, in order."""
    return _parts(condition, _AND)


def is_nothing_unless(condition: SSAValue, value: SSAValue) -> bool:
    """Whether a value is −∞ where the condition does not hold."""
    while isinstance(value.owner, WhereOp) and is_number(value.owner.operands[2], -inf):
        holds, value, _ = value.owner.operands
        if condition in conjuncts_of(holds):
            return True
    return False


def sum_of_exponentials(value: SSAValue) -> ReduceOp | None:
    """The reduction if `value` is a sum of exp(x − max x) over the ranges of the maximum; or NaN or ∞ in its place."""
    total = value.owner
    if isinstance(total, WhereOp) and any(is_number(total.operands[1], number) for number in (nan, inf)):
        value = total.operands[2]
        total = value.owner
    if not isinstance(total, ReduceOp):
        return None
    if total.monoid.data in ONLINE and is_number(total.inputs[1], 1.0):
        return total if value == total.results[1] else None
    if total.monoid.data != "add":
        return None
    term = Exponential.of(total.inputs[0])
    return total if term is not None and set(term.maximum.over) <= set(total.over) else None


def is_normalizer(value: SSAValue) -> bool:
    """Whether the value is a sum of exponentials or more: at least 1, unless all exponentials are 0, or NaN."""
    pending = [value]
    while pending:
        value = pending.pop()
        if sum_of_exponentials(value) is not None:
            return True
        if isinstance(value.owner, AddOp | _MAX):
            x, y = value.owner.operands
            pending += [term for term, other in ((x, y), (y, x)) if _is_not_negative(other)]
    return False


def _is_not_negative(value: SSAValue) -> bool:
    number = constant_of(value)
    return isinstance(value.owner, _EXP | _EXP2) if number is None else 0 <= number < inf


def varies(value: SSAValue, over: Collection[SSAValue]) -> bool:
    """Whether a value depends on one of the ranges, outside of reductions over all of them."""
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value in over:
            return True
        op = value.owner
        if value in seen or not isinstance(op, Operation) or (isinstance(op, ReduceOp) and set(over) <= set(op.over)):
            continue
        seen.add(value)
        pending += op.operands
    return False
