"""Rules of reductions over conditions on the position (arange folding): one-hot selects read one element, and
counts of positions are arithmetic. Neither needs a loop.

    Σ_r where(r = p, e[r], 0)  →  where(0 ≤ p < n, e[p], 0)
    Σ_r where(r < p, v, 0)     →  min(max(p, 0), n) · v
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.monoids import Number
from ....dialects.types import element_of, index, integer_bounds, is_bool, is_float, is_integer, type_name
from ....dialects.uop import (
    AddOp,
    AluOp,
    AndOp,
    BitcastOp,
    CastOp,
    LoadOp,
    ReduceOp,
    SubOp,
    WhereOp,
)
from ....rewriting.driver import RewriteBuilder
from ....rewriting.rules import Rules
from ....rewriting.values import number_of
from .casts import SIGNIFICANDS
from .reductions import dependents, extents_of, is_number, rebuild, reduce

MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""What holds of (y, x) where a comparison holds of (x, y)."""


@dataclass(frozen=True)
class Choice:
    """An element that is `value` where the condition holds, and the monoid's identity elsewhere; a number stands
    for a constant."""

    condition: SSAValue
    value: SSAValue | Number


@dataclass(frozen=True)
class Bound:
    """A comparison of a bound range with a value that it does not change: `range ∘ other`."""

    comparison: str
    other: SSAValue


def choice_of(op: ReduceOp) -> Choice | None:
    """The element that a reduction combines as a choice, if it is one."""
    (value,) = op.inputs
    element, owner = value.type, value.owner
    (neutral,) = op.monoid.monoid.identity([element])
    if isinstance(owner, WhereOp):
        condition, x, y = owner.operands
        return Choice(condition, x) if is_number(y, neutral) else None
    if isinstance(owner, CastOp) and is_bool(element_of(owner.input.type)) and op.monoid.data in ("add", "or"):
        return Choice(owner.input, 1.0 if is_float(element) else 1)
    if op.monoid.data == "or" and is_bool(element):
        return Choice(value, True)
    return None


def clauses_of(condition: SSAValue) -> list[SSAValue]:
    """The conditions that hold together."""
    clauses: list[SSAValue] = []
    stack = [condition]
    while stack:
        value = stack.pop()
        if isinstance(value.owner, AndOp) and is_bool(value.type):
            stack += reversed(value.owner.operands)
        else:
            clauses.append(value)
    return clauses


def conjunction(builder: RewriteBuilder, conditions: Sequence[SSAValue]) -> SSAValue | None:
    """Whether all conditions hold; None when there is none."""
    result: SSAValue | None = None
    for condition in conditions:
        result = condition if result is None else builder.alu("and", result, condition)
    return result


def bound_of(builder: RewriteBuilder, clause: SSAValue, range: SSAValue) -> Bound | None:
    """A clause as a comparison of the range with something else, if it is one."""
    owner = clause.owner
    if not isinstance(owner, AluOp) or owner.row().name not in MIRRORED:
        return None
    name = owner.row().name
    x, y = owner.operands
    if not dependents((x,), (range,)):
        x, y, name = y, x, MIRRORED[name]
    if dependents((y,), (range,)):
        return None
    # A cast that keeps the bounds of the range keeps its numbers.
    if isinstance(x.owner, CastOp) and is_integer(element_of(x.type)):
        source = x.owner.input
        if source is range and builder.interval(source) == builder.interval(x):
            return Bound(name, y)
        return None
    # Indices do not wrap around: what is added to the range goes to the other side.
    while x is not range:
        if not isinstance(x.owner, AddOp | SubOp) or x.type != index:
            return None
        a, b = x.owner.operands
        if isinstance(x.owner, AddOp):
            x, y = (a, builder.alu("sub", y, b)) if dependents((a,), (range,)) else (b, builder.alu("sub", y, a))
        elif dependents((a,), (range,)):
            x, y = a, builder.alu("add", y, b)
        else:
            x, y, name = b, builder.alu("sub", a, y), MIRRORED[name]
        if dependents((y,), (range,)):
            return None
    return Bound(name, y)


# One position.


@dataclass
class Substitution:
    """Values computed anew with `position` in the place of `range`, which is in its bounds where `valid` holds."""

    builder: RewriteBuilder
    range: SSAValue
    position: SSAValue
    valid: SSAValue | None

    def of(self, value: SSAValue) -> SSAValue | None:
        """The value; None where an op in between cannot be computed anew."""
        known: dict[SSAValue, SSAValue] = {self.range: self.position}
        stack = [value]
        while stack:
            current = stack[-1]
            owner = current.owner
            if current in known:
                stack.pop()
            elif not isinstance(owner, Operation) or not dependents((current,), (self.range,)):
                known[current] = current
            elif not isinstance(owner, AluOp | CastOp | BitcastOp | LoadOp):
                return None
            elif missing := [operand for operand in owner.operands if operand not in known]:
                stack += missing
            else:
                known[current] = self._again(owner, [known[operand] for operand in owner.operands])
        return known[value]

    def _again(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        if not isinstance(op, LoadOp):
            return self.builder.pure_like(op, operands).results[0]
        rank = len(op.indices)
        masks = [*operands[1 + rank :], *([] if self.valid is None else [self.valid])]
        load = LoadOp.of(operands[0], operands[1 : 1 + rank], conjunction(self.builder, masks))
        return self.builder.insert(load).results[0]


def is_computable(value: SSAValue, range: SSAValue) -> bool:
    """Whether all that lies between the range and the value is arithmetic or a load."""
    stack, seen = [value], set[SSAValue]()
    while stack:
        current = stack.pop()
        owner = current.owner
        if current in seen or not isinstance(owner, Operation) or current is range:
            continue
        seen.add(current)
        if not isinstance(owner, AluOp | CastOp | BitcastOp | LoadOp) and dependents((current,), (range,)):
            return False
        stack += owner.operands
    return True


def select_one(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """A reduction whose element is the identity everywhere but at one position: the element there."""
    if len(op.inputs) != 1 or (choice := choice_of(op)) is None:
        return None
    clauses = clauses_of(choice.condition)
    for range in op.over:
        for clause in clauses:
            bound = bound_of(builder, clause, range)
            if bound is not None and bound.comparison == "eq":
                rest = [other for other in clauses if other is not clause]
                return element_at(builder, op, range, bound.other, rest, choice.value)
    return None


def element_at(
    builder: RewriteBuilder,
    op: ReduceOp,
    range: SSAValue,
    position: SSAValue,
    clauses: Sequence[SSAValue],
    value: SSAValue | Number,
) -> Sequence[SSAValue] | None:
    """The element at `position` of the range, where it is one and the other clauses hold."""
    computed = [*clauses, *([value] if isinstance(value, SSAValue) else [])]
    if not all(is_computable(part, range) for part in computed):
        return None
    (extent,) = extents_of((range,))
    element = op.inputs[0].type
    # In the type of the position, which may hold more than an index.
    inside = [builder.alu("ge", position, builder.constant_like(0, position))]
    if extent <= integer_bounds(position.type)[1]:
        inside.append(builder.alu("lt", position, builder.constant_like(extent, position)))
    valid = conjunction(builder, inside)
    substitution = Substitution(builder, range, builder.cast(position, index), valid)
    conditions = [valid, *map(substitution.of, clauses)]
    condition = conjunction(builder, [c for c in conditions if c is not None])
    result = substitution.of(value) if isinstance(value, SSAValue) else builder.constant_like(value, op.inputs[0])
    assert condition is not None
    assert result is not None
    if op.monoid.data == "add" and is_float(element):
        result = builder.alu("add", result, builder.constant_like(0.0, result))  # a sum begins at +0
    (neutral,) = op.monoid.monoid.identity([element])
    chosen = builder.alu("where", condition, result, builder.constant_like(neutral, result))
    return rebuild(builder, op, (chosen,), [other for other in op.over if other is not range])


# How many positions.


def count_positions(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """A sum of one number over the positions between bounds: how many they are, times the number."""
    if op.monoid.data != "add" or (choice := choice_of(op)) is None:
        return None
    over = list(op.over)
    element = op.inputs[0].type
    clauses = clauses_of(choice.condition)
    for range in over:
        (extent,) = extents_of((range,))
        if isinstance(choice.value, SSAValue) and dependents((choice.value,), (range,)):
            continue
        if is_float(element) and not is_exact_count(choice.value, element, extent):
            continue
        varying = [clause for clause in clauses if dependents((clause,), (range,))]
        bounds = [bound_of(builder, clause, range) for clause in varying]
        known = [bound for bound in bounds if bound is not None and can_clamp(bound, extent)]
        if not varying or len(known) < len(varying):
            continue
        count = builder.cast(positions_within(builder, known, extent), element)
        value = choice.value if isinstance(choice.value, SSAValue) else builder.constant_like(choice.value, count)
        total = builder.alu("mul", count, value)
        condition = conjunction(builder, [clause for clause in clauses if clause not in varying])
        if condition is not None:
            total = builder.alu(
                "where", condition, total, builder.constant_like(0.0 if is_float(element) else 0, total)
            )
        return rebuild(builder, op, (total,), [other for other in over if other is not range])
    return None


def is_exact_count(value: SSAValue | Number, element: Attribute, extent: int) -> bool:
    """Whether sums of up to `extent` times this float are exact: a positive whole number, and not many."""
    if isinstance(value, SSAValue):
        number = number_of(value.owner) if isinstance(value.owner, Operation) else None
    else:
        number = value
    if number is None or not number > 0 or number % 1 != 0:
        return False
    return number * extent <= 1 << SIGNIFICANDS[type_name(element)]


def can_clamp(bound: Bound, extent: int) -> bool:
    """Whether the type of what the range is compared with holds −1 and the extent."""
    low, high = integer_bounds(bound.other.type)
    return bound.comparison in ("lt", "le", "gt", "ge") and low < 0 and extent <= high


def positions_within(builder: RewriteBuilder, bounds: Sequence[Bound], extent: int) -> SSAValue:
    """How many positions of an axis of this extent satisfy all bounds, as an index."""
    ends: dict[str, SSAValue | None] = {"max": None, "min": None}
    for bound in bounds:
        # range < p and range ≥ p end at p; range ≤ p and range > p behind it, clamped first so that nothing wraps.
        step = 0 if bound.comparison in ("lt", "ge") else 1
        low = builder.constant_like(-step, bound.other)
        high = builder.constant_like(extent - step, bound.other)
        end = builder.cast(builder.alu("min", builder.alu("max", bound.other, low), high), index)
        if step:
            end = builder.alu("add", end, builder.const(1, index))
        name = "min" if bound.comparison in ("lt", "le") else "max"
        known = ends[name]
        ends[name] = end if known is None else builder.alu(name, known, end)
    first = ends["max"]
    last = builder.const(extent, index) if ends["min"] is None else ends["min"]
    if first is None:
        return last
    return builder.alu("max", builder.alu("sub", last, first), builder.const(0, index))


POSITIONS = Rules(
    reduce[...] >> select_one,
    reduce[...] >> count_positions,
)
