"""What stands behind a reduction of several rows by a warp, done by the lanes that hold one row each."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from ....dialects.axes import WARP
from ....dialects.gpu_kernel import StoreOp
from ....dialects.tile import AxisOp, ReduceAcrossOp, WriteOp
from ....dialects.types import shape_of
from ....dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, EqOp, ExpandOp, constant_value
from ....rewriting.linear import LinearForm
from ..held_alike import is_held_alike
from ..linear import conjuncts
from .accesses import address_of
from .indices import ZERO
from .lowering import Lowering
from .scopes import Scope


def can_write_held(lowering: Lowering, op: ReduceAcrossOp, writes: Sequence[WriteOp]) -> bool:
    """Whether each lane can write the row that it holds: the writes behind, which are of the first lane, are of rows,
    and made, element by element, of nothing else that differs by lanes or that registers hold row by row.

    writes: all that is seen of what stands behind the reduction.
    """
    shape = shape_of(op.inputs[0].type)
    if op.parent is not lowering.kernel.body.block or any(shape_of(write.value.type) != shape for write in writes):
        return False
    lanes = [axis.owner for axis in op.over if isinstance(axis.owner, AxisOp)]
    return all(
        all(is_held_alike(_needed(op, write), lane) for lane in lanes)
        and _is_made_by_elements(lowering, op, _needed(op, write))
        for write in writes
    )


def _needed(op: ReduceAcrossOp, write: WriteOp) -> list[SSAValue]:
    return [write.value, *write.indices, *_conditions(op, write)]


def _conditions(op: ReduceAcrossOp, write: WriteOp) -> list[SSAValue]:
    """Those of the mask beside that of the first lane."""
    conditions = [] if write.mask is None else conjuncts(write.mask)

    def is_of_first(condition: SSAValue) -> bool:
        owner = condition.owner
        return isinstance(owner, EqOp) and owner.operands[0] in op.over and constant_value(owner.operands[1]) == 0

    return [condition for condition in conditions if not is_of_first(condition)]


_BY_ELEMENTS = (AluOp, AxisOp, BitcastOp, CastOp, ConstOp, ExpandOp)


def _is_made_by_elements(lowering: Lowering, op: ReduceAcrossOp, values: Sequence[SSAValue]) -> bool:
    """Whether one element of values can be computed from the results: others are known, and none lies in a register
    array, which has no index."""
    stack, seen = list(values), set[SSAValue](op.outputs)
    while stack:
        value = stack.pop()
        if value in seen or value in lowering.values.known:
            continue
        seen.add(value)
        if value in lowering.values.arrays or not isinstance(value.owner, _BY_ELEMENTS):
            return False
        stack += value.owner.operands
    return True


def write_held(
    lowering: Lowering, scope: Scope, op: ReduceAcrossOp, element: Sequence[SSAValue], writes: Sequence[WriteOp]
) -> None:
    """Write, by the first of the lanes that hold a row side by side. element: what this lane holds."""
    values, indices, shape = lowering.values, lowering.indices, shape_of(op.inputs[0].type)
    lanes = WARP // prod(shape)
    lane = indices.remainder(scope, lowering.grid.thread, WARP)
    row, place = indices.quotient(scope, lane, lanes), list[LinearForm]()
    for extent in reversed(shape):
        place.insert(0, indices.remainder(scope, row, extent))
        row = indices.quotient(scope, row, extent)
    for output, value in zip(op.outputs, element, strict=True):
        values.set_known(output, value)
    first = indices.compare(scope, "eq", indices.remainder(scope, lane, lanes), ZERO)
    for write in writes:
        with scope.at(write.location):
            value, *conditions = values.scalars(scope, [write.value, *_conditions(op, write)], place)
            mask = first
            for condition in conditions:
                if constant_value(condition) is not True:
                    mask = scope.alu("and", mask, condition)
            address = address_of(lowering, scope, write.buffer, write.indices, place)
            scope.insert(StoreOp.of(value, lowering.buffers[write.buffer], address, mask))
