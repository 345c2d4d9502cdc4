"""Sums of indices in as few ops as there are ways to write them here: terms combined, common factors taken out.

(i − q · 14) · 9 + q    →  i · 9 + q · −125
i · 33 + j · 33 + 5     →  (i + j) · 33 + 5
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ...dialects.types import index
from ...dialects.uop import AddOp, MulOp, NegOp, SubOp
from ...rewriting.driver import RewriteBuilder
from ...rewriting.values import constant_of

LEAST, GREATEST = -(1 << 31), (1 << 31) - 1
"""What an index holds on every machine."""


@dataclass
class IndexSum:
    """Σ coefficient · leaf + constant, in the order of the text. ops: how many compute it that nothing else uses."""

    terms: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    constant: int = 0
    ops: int = 0


def shorter_sum(builder: RewriteBuilder, op: Operation) -> SSAValue | None:
    """The sum that an op ends, in fewer ops; None where there are none, or a part of it may not fit 32 bits."""
    result = op.results[0]
    if result.type != index or _is_part_of_sum(op):
        return None
    total = sum_of(op)
    groups = _grouped(total)
    if _cost(groups, total.constant) >= total.ops:
        return None
    return _built(builder, groups, total.constant)


def _is_part_of_sum(op: Operation) -> bool:
    """Whether an op is only used by a sum or a multiple of the same block, which sees all of it."""
    result = op.results[0]
    if not result.has_one_use():
        return False
    user = next(iter(result.uses)).operation
    return user.parent is op.parent and _is_linear(user)


def _is_linear(op: Operation) -> bool:
    if type(op) is MulOp:
        return constant_of(op.operands[0]) is not None or constant_of(op.operands[1]) is not None
    return type(op) in (AddOp, SubOp, NegOp)


def sum_of(root: Operation) -> IndexSum:
    """What `root` adds up; what is shared, or stands in another block, is a leaf."""
    total = IndexSum()
    stack: list[tuple[SSAValue, int]] = [(root.results[0], 1)]
    while stack:
        value, factor = stack.pop()
        owner = value.owner
        number = constant_of(value)
        if number is not None:
            total.constant += factor * int(number)
        elif (
            isinstance(owner, Operation)
            and _is_linear(owner)
            and (owner is root or (value.has_one_use() and owner.parent is root.parent))
        ):
            total.ops += 1
            stack += reversed(_parts(owner, factor))
        else:
            total.terms[value] = total.terms.get(value, 0) + factor
    total.terms = {leaf: factor for leaf, factor in total.terms.items() if factor}
    return total


def _parts(op: Operation, factor: int) -> list[tuple[SSAValue, int]]:
    """The operands of a linear op, each with its factor."""
    operands = op.operands
    if type(op) is NegOp:
        return [(operands[0], -factor)]
    if type(op) is not MulOp:
        return [(operands[0], factor), (operands[1], factor if type(op) is AddOp else -factor)]
    x, y = operands if constant_of(operands[1]) is not None else reversed(operands)
    number = constant_of(y)
    assert number is not None
    return [(x, factor * int(number))]


Groups = dict[int, list[SSAValue]]
"""Coefficient → the leaves that have it."""


def _grouped(total: IndexSum) -> Groups:
    groups: Groups = {}
    for leaf, factor in total.terms.items():
        groups.setdefault(factor, []).append(leaf)
    return groups


def _cost(groups: Groups, constant: int) -> int:
    """How many ops a sum is built from: a multiplication for each coefficient, an addition between two parts."""
    parts = sum(len(leaves) for leaves in groups.values()) + (constant != 0)
    return max(parts - 1, 0) + sum(factor != 1 for factor in groups)


def _built(builder: RewriteBuilder, groups: Groups, constant: int) -> SSAValue | None:
    """The sum, its constant last. None where a part of it may not fit 32 bits."""
    parts: list[SSAValue] = []
    for factor, leaves in groups.items():
        part = _added(builder, leaves)
        if part is not None and factor != 1:
            part = _checked(builder, builder.alu("mul", part, builder.const(factor, index)))
        if part is None:
            return None
        parts.append(part)
    if constant or not parts:
        parts.append(builder.const(constant, index))
    return _added(builder, parts)


def _added(builder: RewriteBuilder, parts: list[SSAValue]) -> SSAValue | None:
    """The sum of the parts, from left to right."""
    total = parts[0]
    for part in parts[1:]:
        checked = _checked(builder, builder.alu("add", total, part))
        if checked is None:
            return None
        total = checked
    return total


def _checked(builder: RewriteBuilder, value: SSAValue) -> SSAValue | None:
    """The value, if it fits 32 bits, as all indices of a kernel must that is proved to need no more."""
    interval = builder.interval(value)
    return value if interval is not None and LEAST <= interval.low and interval.high <= GREATEST else None
