"""tile.read, tile.write and tile.stage → loads and stores of scalars and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ....dialects.cpu_kernel import AllocOp, ForOp, LoadOp, StoreOp
from ....dialects.layouts import LOCAL, span_of
from ....dialects.tile import ReadOp, StageOp, WriteOp
from ....dialects.types import element_of, index, is_memref, shape_of, with_shape
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from ..lower.accesses import flat_index
from ..lower.values import Value
from .lowering import ONLY, ZERO, CPULowering, Place
from .masks import Mask, lanewise, mask_at, mask_of
from .vector_scope import VectorScope, lanes_of


def lower_read(lowering: CPULowering, scope: VectorScope, op: ReadOp) -> None:
    type = lowering.part_type(op.result.type)
    parts: dict[Place, Value] = {}
    for place in lowering.places(shape_of(op.result.type)):
        mask = mask_at(lowering, scope, op.mask, place)
        if mask is None:
            part = scope.const(0, element_of(type))
        else:
            address = _address(lowering, scope, op.buffer, op.indices, place)
            part = _load(lowering, scope, lowering.buffers[op.buffer], address, type, mask)
        parts[place] = lowering.indices.leaf(part) if element_of(type) == index else part
    lowering.set(op.result, parts)


def lower_write(lowering: CPULowering, scope: VectorScope, op: WriteOp) -> None:
    for place in lowering.places(shape_of(op.value.type)):
        mask = mask_at(lowering, scope, op.mask, place)
        if mask is not None:
            value = lowering.vector_at(scope, op.value, place)
            address = _address(lowering, scope, op.buffer, op.indices, place)
            _store(lowering, scope, value, lowering.buffers[op.buffer], address, mask)


def lower_stage(lowering: CPULowering, scope: VectorScope, op: StageOp) -> None:
    """An array of the task, into which the box is copied row by row, in vectors; what of it is outside of the buffer
    becomes 0."""
    source, slab = op.buffer.type, op.result.type
    assert is_memref(source)
    assert is_memref(slab)
    array_type = MemRefType(slab.element_type, [span_of(slab)], memory_space=LOCAL)
    array = lowering.root.insert(AllocOp.of(array_type)).result
    array.name_hint = op.result.name_hint
    lowering.buffers[op.result] = array
    *outer, row = slab.get_shape()
    lanes = min(lowering.lanes, row)
    whole = row // lanes * lanes
    with ExitStack() as loops:
        place: list[LinearForm] = []
        for extent in outer:
            scope, position = _step(lowering, scope, loops, extent, 1)
            place.append(position)
        with ExitStack() as columns:
            inner, position = _step(lowering, scope, columns, whole, lanes)
            _copy(lowering, inner, op, [*place, position], lanes)
        if whole < row:
            _copy(lowering, scope, op, [*place, LinearForm({}, whole)], row - whole)


def _step(
    lowering: CPULowering, scope: VectorScope, loops: ExitStack, extent: int, step: int
) -> tuple[VectorScope, LinearForm]:
    """A loop in steps, and the position in it."""
    if extent == step:
        return scope, ZERO
    loop = ForOp.of(lowering.indices.constant(0), lowering.indices.constant(extent), (), step)
    scope = loops.enter_context(scope.inside(loop, loop.body.block))
    return scope, lowering.indices.leaf(loop.index, Interval(0, extent - step))


def _copy(lowering: CPULowering, scope: VectorScope, op: StageOp, place: Sequence[LinearForm], count: int) -> None:
    """Copy `count` elements, no more than a vector, from a place of the slab on."""
    source, slab = op.buffer.type, op.result.type
    assert is_memref(source)
    assert is_memref(slab)
    is_vector = lowering.lanes > 1
    position = [*place]
    if is_vector:
        position[-1] += lowering.lane
    at = [lowering.form_at(value, ONLY) + x for value, x in zip(op.origin, position, strict=True)]
    inside = [x - LinearForm({}, extent) for x, extent in zip(at, source.get_shape(), strict=True)]
    within = [lowering.lane - LinearForm({}, count)] if is_vector else []
    mask = mask_of(lowering, scope, [*inside, *within])
    type = with_shape(source.element_type, (lowering.lanes,) if is_vector else ())
    value = scope.const(0, source.element_type)
    if mask is not None:
        address = flat_index(lowering.indices, scope, source, at)
        value = _load(lowering, scope, lowering.buffers[op.buffer], address, type, mask)
    stored = mask_of(lowering, scope, within)
    assert stored is not None
    value = scope.fit(value, lowering.lanes if is_vector else 0)
    _store(
        lowering, scope, value, lowering.buffers[op.result], flat_index(lowering.indices, scope, slab, position), stored
    )


def _address(
    lowering: CPULowering, scope: VectorScope, buffer: SSAValue, coordinates: Sequence[SSAValue], place: Place
) -> LinearForm:
    type = buffer.type
    assert is_memref(type)
    forms = [lowering.form_at(coordinate, place) for coordinate in coordinates]
    return flat_index(lowering.indices, scope, type, forms)


def _is_run(lowering: CPULowering, address: LinearForm) -> bool:
    """Whether the lanes of a vector lie side by side."""
    if lowering.lane_dimension is None:
        return False
    (lane,) = lowering.lane.terms
    return address.terms.get(lane) == 1 and all(leaf is lane or not lanes_of(leaf.type) for leaf in address.terms)


def _load(
    lowering: CPULowering, scope: VectorScope, buffer: SSAValue, address: LinearForm, type: Attribute, mask: Mask
) -> SSAValue:
    """A vector, or a scalar where all its lanes are one element."""
    condition = mask.condition
    is_lanewise = mask.count is not None or (condition is not None and lanes_of(condition.type) > 0)
    if not is_lanewise and not any(lanes_of(leaf.type) for leaf in address.terms):
        place = lowering.indices.value(scope, address)
        return scope.insert(LoadOp.of(buffer, place, element_of(type), condition)).result
    if _is_run(lowering, address):
        begin = lowering.indices.value(scope, address - lowering.lane)
        return scope.insert(LoadOp.of(buffer, begin, type, condition, mask.count)).result
    each = scope.fit(lowering.indices.value(scope, address), lowering.lanes)
    return scope.insert(LoadOp.of(buffer, each, type, lanewise(lowering, scope, mask))).result


def _store(
    lowering: CPULowering, scope: VectorScope, value: SSAValue, buffer: SSAValue, address: LinearForm, mask: Mask
) -> None:
    if not lanes_of(value.type):
        scope.insert(StoreOp.of(value, buffer, lowering.indices.value(scope, address), mask.condition))
    elif _is_run(lowering, address):
        begin = lowering.indices.value(scope, address - lowering.lane)
        scope.insert(StoreOp.of(value, buffer, begin, mask.condition, mask.count))
    else:
        each = scope.fit(lowering.indices.value(scope, address), lowering.lanes)
        scope.insert(StoreOp.of(value, buffer, each, lanewise(lowering, scope, mask)))
