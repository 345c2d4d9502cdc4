"""tile.read and tile.write → loads and stores of scalars and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.ir import Attribute, SSAValue

from ....dialects.cpu_kernel import LoadOp, StoreOp
from ....dialects.tile import ReadOp, WriteOp
from ....dialects.types import byte_count, element_of, index, is_memref, shape_of
from ....rewriting.linear import LinearForm
from ..lower.accesses import flat_index
from ..lower.values import Value
from .lowering import CPULowering, Place
from .masks import Mask, lanewise, mask_at
from .transposes import columns_of, rows_of
from .vector_scope import VectorScope, lanes_of

STREAMED_BYTES = 64 << 20
"""Outputs of so many bytes leave no cache that holds them: they go past all of them, and need not be read first."""


def lower_read(lowering: CPULowering, scope: VectorScope, op: ReadOp) -> None:
    shape, type = shape_of(op.result.type), lowering.part_type(op.result.type)
    if lanes_of(type) and (rectangles := _rectangles(lowering, scope, op, op.indices, shape)):
        lowering.set(op.result, _read_rectangles(lowering, scope, op, rectangles, type))
        return
    parts: dict[Place, Value] = {}
    for place in lowering.places(shape):
        mask = mask_at(lowering, scope, op.mask, shape, place)
        if mask is None:
            part = scope.const(0, element_of(type))
        else:
            address = _address(lowering, scope, op.buffer, op.indices, shape, place)
            part = load(lowering, scope, lowering.buffers[op.buffer], address, type, mask)
        parts[place] = lowering.indices.leaf(part) if element_of(type) == index else part
    lowering.set(op.result, parts)


def lower_write(lowering: CPULowering, scope: VectorScope, op: WriteOp) -> None:
    shape = shape_of(op.value.type)
    if lowering.has_lanes(shape) and (rectangles := _rectangles(lowering, scope, op, op.indices, shape)):
        _write_rectangles(lowering, scope, op, rectangles)
        return
    for place in lowering.places(shape):
        mask = mask_at(lowering, scope, op.mask, shape, place)
        if mask is not None:
            value = lowering.vector_at(scope, op.value, place)
            address = _address(lowering, scope, op.buffer, op.indices, shape, place)
            store(lowering, scope, value, lowering.buffers[op.buffer], address, mask)


# Rectangles: lanes lie apart, but rows lie side by side.


@dataclass(frozen=True)
class _Rectangle:
    """Places of one tile, a power of two of them, whose elements in one lane lie side by side in memory.

    address: where the first lane of the first place lies. stride: from one lane to the next. rows, lanes: how many of
    either there are; those behind them do not exist.
    """

    places: tuple[Place, ...]
    address: LinearForm
    stride: int
    rows: int
    lanes: int


def _rectangles(
    lowering: CPULowering, scope: VectorScope, op: ReadOp | WriteOp, indices: Sequence[SSAValue], shape: Sequence[int]
) -> list[_Rectangle]:
    """The tile as rectangles; nothing where vectors are as good, or where a mask cuts it otherwise."""
    dimension = _row_dimension(lowering, scope, op, indices, shape)
    if dimension is None:
        return []
    count = gcd(shape[dimension], lowering.lanes)
    (lane,) = lowering.lane.terms
    rectangles: list[_Rectangle] = []
    for first in lowering.places(shape):
        if first[dimension] % count:
            continue
        places = tuple((*first[:dimension], first[dimension] + row, *first[dimension + 1 :]) for row in range(count))
        masks = [mask_at(lowering, scope, op.mask, shape, place) for place in places]
        rows = next((row for row, mask in enumerate(masks) if mask is None), count)
        counts = {mask.count for mask in masks[:rows] if mask is not None}
        has_conditions = any(mask is not None and mask.condition is not None for mask in masks)
        if has_conditions or len(counts) > 1 or any(mask is not None for mask in masks[rows:]):
            return []
        addresses = [_address(lowering, scope, op.buffer, indices, shape, place) for place in places]
        if not _is_rectangle(addresses, lane):
            return []
        lanes = (counts.pop() if counts else None) or lowering.lanes
        stride = addresses[0].terms[lane]
        origin = addresses[0] - lowering.lane * stride
        rectangles.append(_Rectangle(places, origin, stride, rows, lanes if rows else 0))
    return rectangles


def _is_rectangle(addresses: Sequence[LinearForm], lane: SSAValue) -> bool:
    """Whether rows lie one element apart, and lanes the same number of elements in each."""
    first = addresses[0]
    if [leaf for leaf in first.terms if lanes_of(leaf.type)] != [lane]:
        return False
    steps = [address - first for address in addresses]
    return all(not step.terms and step.constant == row for row, step in enumerate(steps))


def _row_dimension(
    lowering: CPULowering, scope: VectorScope, op: ReadOp | WriteOp, indices: Sequence[SSAValue], shape: Sequence[int]
) -> int | None:
    """The dimension along which the elements of a lane seem to lie side by side, of at least four elements, where lanes
    lie apart."""
    first = next(iter(lowering.places(shape)))
    (lane,) = lowering.lane.terms
    address = _address(lowering, scope, op.buffer, indices, shape, first)
    if address.terms.get(lane, 1) == 1:
        return None
    for dimension, extent in enumerate(shape):
        if dimension == lowering.lane_dimension(shape) or dimension in lowering.window:
            continue
        if gcd(extent, lowering.lanes) < LEAST_ROWS:
            continue
        second = tuple(1 if place == dimension else x for place, x in enumerate(first))
        if _is_rectangle([address, _address(lowering, scope, op.buffer, indices, shape, second)], lane):
            return dimension
    return None


LEAST_ROWS = 4
"""Rows of a rectangle that are worth shuffles: less are stored element by element."""


def _read_rectangles(
    lowering: CPULowering, scope: VectorScope, op: ReadOp, rectangles: Sequence[_Rectangle], type: Attribute
) -> dict[Place, Value]:
    parts: dict[Place, Value] = {}
    buffer = lowering.buffers[op.buffer]
    nothing = scope.fit(scope.const(0, element_of(type)), lowering.lanes)
    for rectangle in rectangles:
        columns: list[SSAValue] = []
        for lane in range(lowering.lanes):
            column = nothing
            if lane < rectangle.lanes:
                at = lowering.indices.value(scope, rectangle.address + LinearForm({}, lane * rectangle.stride))
                count = rectangle.rows if rectangle.rows < lowering.lanes else None
                column = scope.insert(LoadOp.of(buffer, at, type, None, count)).result
            columns.append(column)
        parts |= zip(rectangle.places, rows_of(scope, columns, len(rectangle.places)), strict=True)
    return parts


def _write_rectangles(lowering: CPULowering, scope: VectorScope, op: WriteOp, rectangles: Sequence[_Rectangle]) -> None:
    buffer = lowering.buffers[op.buffer]
    for rectangle in rectangles:
        rows = [lowering.vector_at(scope, op.value, place) for place in rectangle.places]
        for lane, column in enumerate(columns_of(scope, rows)[: rectangle.lanes]):
            at = lowering.indices.value(scope, rectangle.address + LinearForm({}, lane * rectangle.stride))
            count = rectangle.rows if rectangle.rows < lowering.lanes else None
            scope.insert(StoreOp.of(column, buffer, at, None, count))


# Scalars and vectors.


def _address(
    lowering: CPULowering,
    scope: VectorScope,
    buffer: SSAValue,
    coordinates: Sequence[SSAValue],
    tile: Sequence[int],
    place: Place,
) -> LinearForm:
    type = buffer.type
    assert is_memref(type)
    forms = [lowering.form_at(scope, coordinate, tile, place) for coordinate in coordinates]
    return flat_index(lowering.indices, scope, type, forms)


def _is_run(lowering: CPULowering, address: LinearForm) -> bool:
    """Whether the lanes of a vector lie side by side."""
    if not lowering.lane_dimensions:
        return False
    (lane,) = lowering.lane.terms
    return address.terms.get(lane) == 1 and all(leaf is lane or not lanes_of(leaf.type) for leaf in address.terms)


def load(
    lowering: CPULowering, scope: VectorScope, buffer: SSAValue, address: LinearForm, type: Attribute, mask: Mask
) -> SSAValue:
    """A vector of `type`, or a scalar where all its lanes are one element."""
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


def store(
    lowering: CPULowering, scope: VectorScope, value: SSAValue, buffer: SSAValue, address: LinearForm, mask: Mask
) -> None:
    if not lanes_of(value.type):
        scope.insert(StoreOp.of(value, buffer, lowering.indices.value(scope, address), mask.condition))
    elif _is_run(lowering, address):
        begin = lowering.indices.value(scope, address - lowering.lane)
        is_streamed = mask.condition is None and mask.count is None and byte_count(buffer.type) >= STREAMED_BYTES
        scope.insert(StoreOp.of(value, buffer, begin, mask.condition, mask.count, is_streamed))
    else:
        each = scope.fit(lowering.indices.value(scope, address), lowering.lanes)
        scope.insert(StoreOp.of(value, buffer, each, lanewise(lowering, scope, mask)))
