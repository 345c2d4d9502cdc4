"""uop.reduce_axis over registers: parts with parts, then the lanes of one vector."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects.cpu_kernel import ExtractOp, ShuffleOp
from ....dialects.monoids import MonoidAttr
from ....dialects.types import shape_of
from ....dialects.uop import ReduceAxisOp
from .lowering import CPULowering, Place
from .transposes import exchanged
from .vector_scope import VectorScope


def lower_reduce_axis(lowering: CPULowering, scope: VectorScope, op: ReduceAxisOp) -> None:
    shape, kept = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    groups: dict[Place, list[Place]] = {}
    for place in lowering.places(shape):
        own = tuple(0 if extent == 1 else x for extent, x in zip(kept, place, strict=True))
        groups.setdefault(own, []).append(place)
    along, before = lowering.lane_dimension(kept), lowering.lane_dimension(shape)
    elements: dict[Place, Sequence[SSAValue]] = {}
    for own, places in groups.items():
        values = _combined(op.monoid, scope, [[lowering.vector_at(scope, x, p) for x in op.operands] for p in places])
        is_last = along is None and before is not None
        elements[own] = _over_lanes(op.monoid, scope, values, lowering.lanes) if is_last else values
    if along is not None and along != before:
        vectors: dict[Place, list[Sequence[SSAValue]]] = {}
        for own, values in elements.items():
            vectors.setdefault((*own[:along], own[along] // lowering.lanes, *own[along + 1 :]), []).append(values)
        elements = {own: _over_each(op.monoid, scope, values) for own, values in vectors.items()}
    for number, result in enumerate(op.results):
        lowering.set(result, {own: values[number] for own, values in elements.items()})


def _combined(monoid: MonoidAttr, scope: VectorScope, elements: Sequence[Sequence[SSAValue]]) -> Sequence[SSAValue]:
    """All elements together, neighbours first: a tree has short chains."""
    while len(elements) > 1:
        pairs = [
            monoid.monoid.combine(scope, first, second)
            for first, second in zip(elements[::2], elements[1::2], strict=False)
        ]
        elements = [*pairs, *elements[2 * len(pairs) :]]
    return elements[0]


def _over_each(monoid: MonoidAttr, scope: VectorScope, vectors: Sequence[Sequence[SSAValue]]) -> Sequence[SSAValue]:
    """The lanes of each of as many vectors as they have lanes together: lane `i` of the result is of vector `i`.

    Vectors are put together in pairs whose halves, quarters, … are exchanged: as many operations as vectors, not the
    logarithm of their lanes times as many.
    """
    while step := len(vectors) // 2:
        pairs = [
            [exchanged(scope, pair, step) for pair in zip(first, second, strict=True)]
            for first, second in zip(vectors[:step], vectors[step:], strict=True)
        ]
        vectors = [monoid.monoid.combine(scope, *zip(*pair, strict=True)) for pair in pairs]
    return vectors[0]


def _over_lanes(monoid: MonoidAttr, scope: VectorScope, values: Sequence[SSAValue], lanes: int) -> list[SSAValue]:
    """The lanes of one vector together: halves of what is left on each other."""
    step = lanes // 2
    while step:
        turned = [(lane + step) % lanes for lane in range(lanes)]
        others = [scope.insert(ShuffleOp.of(value, value, turned)).result for value in values]
        values = monoid.monoid.combine(scope, values, others)
        step //= 2
    return [scope.insert(ExtractOp.of(value, 0)).result for value in values]
