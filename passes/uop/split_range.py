"""A range as two: which of so many groups, and where inside of it."""

from __future__ import annotations

from ...dialects.uop import FloordivOp, FloormodOp, RangeOp, constant_value
from ...rewriting.builder import Builder
from ...rewriting.uses import replace_uses
from .free_ranges import unused_axis


def split_range(op: RangeOp, size: int) -> None:
    """Put two ranges in the place of one without limits, whose quotients and remainders by `size`, which divides its
    extent, are ranges then. It is left without uses."""
    assert op.parent is not None
    builder = Builder(op.parent, before=op)
    with builder.at(op.location):
        name = unused_axis(op.parent, op.axis.axis.data)
        group = builder.insert(RangeOp.of(op.axis.axis.data, op.extent // size)).result
        inside = builder.insert(RangeOp.of(name, size)).result
        group.name_hint, inside.name_hint = op.result.name_hint, name
        number = builder.const(size, op.result.type)
        position = builder.alu("add", builder.alu("mul", group, number), inside)
    for use in list(op.result.uses):
        user = use.operation
        if use.index == 0 and isinstance(user, FloordivOp | FloormodOp) and constant_value(user.operands[1]) == size:
            replace_uses(user.result, group if isinstance(user, FloordivOp) else inside)
    replace_uses(op.result, position)
