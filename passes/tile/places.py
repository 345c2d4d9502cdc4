"""Where passes of tile form build: indices as linear forms, each part as far out as it can stand."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from ...dialects.loop import ForOp
from ...dialects.tile import AxisOp
from ...dialects.types import index, shape_of
from ...rewriting.linear import LinearForm
from .tile_builder import TileBuilder


def builder_before(op: Operation) -> TileBuilder:
    """A builder in front of an op; its parent builds in front of the op of the kernel's body that `op` is in."""
    top = op
    while isinstance(around := top.parent_op(), ForOp):
        top = around
    assert op.parent is not None
    assert top.parent is not None
    outer = TileBuilder(top.parent, top)
    outer.remember(ops_before(top))
    builder = TileBuilder(op.parent, op, outer)
    builder.location = op.location
    builder.remember(ops_before(op))
    return builder


def ops_before(op: Operation | None) -> list[Operation]:
    """The ops in front of one in its block."""
    ops: list[Operation] = []
    while op is not None and (op := op.prev_op) is not None:
        ops.append(op)
    return ops[::-1]


def build_form(builder: TileBuilder, form: LinearForm, shape: tuple[int, ...]) -> SSAValue:
    """A linear form as a value of the given shape: axes first, at the top, then loops, then registers."""
    assert builder.parent is not None
    place, position = builder.parent, None
    place.location = builder.location
    axes = [x for x in form.terms if isinstance(x.owner, AxisOp)]
    for leaf in axes:
        if not shape_of(leaf.type):
            position = place.add_term(position, leaf, form.terms[leaf])
    for leaf in form.terms:
        if leaf not in axes:
            place = builder
            position = place.add_term(position, leaf, form.terms[leaf])
    if form.constant or not form.terms:
        constant = place.const(form.constant, index)
        position = constant if position is None else place.alu("add", position, constant)
    for leaf in axes:
        if shape_of(leaf.type):
            position = place.add_term(position, leaf, form.terms[leaf])
    assert position is not None
    return place.fit(position, shape)
