"""uop.reduce_axis over registers: parts with parts, then the lanes of one vector."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects.cpu_kernel import ExtractOp, ShuffleOp
from ....dialects.monoids import MonoidAttr
from ....dialects.types import shape_of
from ....dialects.uop import ReduceAxisOp
from ..lower.values import Value
from .lowering import CPULowering, Place
from .vector_scope import VectorScope


def lower_reduce_axis(lowering: CPULowering, scope: VectorScope, op: ReduceAxisOp) -> None:
    shape, kept = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    groups: dict[Place, list[Place]] = {}
    for place in lowering.places(shape):
        own = tuple(0 if extent == 1 else x for extent, x in zip(kept, place, strict=True))
        groups.setdefault(own, []).append(place)
    parts: list[dict[Place, Value]] = [{} for _ in op.results]
    for own, places in groups.items():
        values = _combined(op.monoid, scope, [[lowering.vector_at(scope, x, p) for x in op.operands] for p in places])
        if lowering.has_lanes(shape) and not lowering.has_lanes(kept):
            values = _over_lanes(op.monoid, scope, values, lowering.lanes)
        for result, value in zip(parts, values, strict=True):
            result[own] = value
    for result, of_result in zip(op.results, parts, strict=True):
        lowering.set(result, of_result)


def _combined(monoid: MonoidAttr, scope: VectorScope, elements: Sequence[Sequence[SSAValue]]) -> Sequence[SSAValue]:
    """All elements together, neighbours first: a tree has short chains."""
    while len(elements) > 1:
        pairs = [
            monoid.monoid.combine(scope, first, second)
            for first, second in zip(elements[::2], elements[1::2], strict=False)
        ]
        elements = [*pairs, *elements[2 * len(pairs) :]]
    return elements[0]


def _over_lanes(monoid: MonoidAttr, scope: VectorScope, values: Sequence[SSAValue], lanes: int) -> list[SSAValue]:
    """The lanes of one vector together: halves of what is left on each other."""
    step = lanes // 2
    while step:
        turned = [(lane + step) % lanes for lane in range(lanes)]
        others = [scope.insert(ShuffleOp.of(value, value, turned)).result for value in values]
        values = monoid.monoid.combine(scope, values, others)
        step //= 2
    return [scope.insert(ExtractOp.of(value, 0)).result for value in values]
