"""Rules of scans: what has no steps, or does not change in them, needs no state."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects.types import element_of, is_float, is_integer, shape_of
from ....dialects.uop import ScanAxisOp, ScanOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import OpPattern
from ....rewriting.rules import Rules
from .reductions import IDEMPOTENT, dependents, extents_of

scan_axis = OpPattern("scan_axis", ScanAxisOp)
scan = OpPattern("scan", ScanOp)


def begun(builder: RewriteBuilder, monoid: str, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The first element of a scan, which combines it with the identity: a sum begins at +0."""
    if monoid in ("add", "logaddexp") and is_float(element_of(values[0].type)):
        return [builder.alu("add", values[0], builder.constant_like(0.0, values[0]))]
    return values


def of_one_element(builder: RewriteBuilder, op: ScanAxisOp) -> Sequence[SSAValue] | None:
    """A scan along an axis of one element, or of none."""
    extent = shape_of(op.operands[0].type)[op.axis.value.data]
    return begun(builder, op.monoid.data, op.operands) if extent <= 1 else None


def of_one_step(builder: RewriteBuilder, op: ScanOp) -> Sequence[SSAValue] | None:
    """A scan over a range of one step."""
    return begun(builder, op.monoid.data, op.inputs) if extents_of(op.over) == [1] else None


def of_invariants(builder: RewriteBuilder, op: ScanOp) -> Sequence[SSAValue] | None:
    """A scan of an element that no step changes: itself, or of integers that are added up, its multiples."""
    (over,) = op.over
    if dependents(op.inputs, (over,)):
        return None
    if op.monoid.data in IDEMPOTENT:
        return op.inputs
    (value, *_) = op.inputs
    if op.monoid.data != "add" or not is_integer(value.type):
        return None
    steps = builder.alu("add", over, builder.constant_like(1, over))
    return [builder.alu("mul", builder.cast(steps, value.type), value)]


SCANS = Rules(
    scan_axis[...] >> of_one_element,
    scan[...] >> of_one_step,
    scan[...] >> of_invariants,
)
