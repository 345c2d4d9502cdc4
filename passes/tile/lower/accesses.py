"""tile.read and tile.write → loads and stores of flat buffers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, SSAValue

from ....dialects.gpu_kernel import ForOp, LoadOp, StoreOp
from ....dialects.layouts import SwizzleAttr, strides_of
from ....dialects.tile import ReadOp, WriteOp
from ....dialects.types import element_of, is_memref, shape_of, with_shape
from ....dialects.uop import constant_value
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from .indices import ZERO, Indices
from .lowering import Lowering
from .scopes import Scope
from .values import Place, is_one_element


def flat_index(indices: Indices, scope: Scope, type: MemRefType[Attribute], place: Sequence[LinearForm]) -> LinearForm:
    """Where the element at `place` lies in memory of this type and layout, in elements."""
    if isinstance(type.layout, SwizzleAttr):
        return _swizzled_index(indices, scope, type, type.layout, place)
    total = ZERO
    for coordinate, stride in zip(place, strides_of(type), strict=True):
        total += coordinate * stride
    return total


def _swizzled_index(
    indices: Indices, scope: Scope, type: MemRefType[Attribute], swizzle: SwizzleAttr, place: Sequence[LinearForm]
) -> LinearForm:
    """As `SwizzleAttr.column`: the units of a row are permuted by exclusive or with bits of the row's number.

    What only loops change is applied last, to an index that is computed once for a thread: where chunk = x + y has no
    carries, (x + y) xor bits is (x xor bits) xor y, and so is the sum with the row's start.
    """
    unit, chunks = swizzle.unit.data, swizzle.chunks.data
    row_length = type.get_shape()[-1]
    row_start, row = ZERO, ZERO
    for coordinate, stride in zip(place[:-1], strides_of(type), strict=False):
        row_start += coordinate * stride
        row += coordinate * (stride // row_length)
    bits = indices.remainder(scope, indices.quotient(scope, row, max(1, 8 // chunks)), min(chunks, 8))
    chunk, rest = indices.quotient(scope, place[-1], unit), indices.remainder(scope, place[-1], unit)
    steady, moving = indices.split_by_loops(chunk)
    if not _adds_without_carries(indices, steady, moving):
        steady, moving = chunk, ZERO
    permuted = scope.alu("xor", indices.value(scope, steady), indices.value(scope, bits))
    start = indices.leaf(permuted, Interval.of_extent(chunks)) * unit
    if not moving.terms and not moving.constant:
        return row_start + start + rest
    own_row, other_row = indices.split_by_loops(row_start)
    length = indices.bounds(own_row).high + row_length
    if length & (length - 1):  # the exclusive or might seem to leave the rows
        own_row, other_row = ZERO, row_start
        length = row_length
    fixed = indices.pinned(scope, own_row + start)
    moved = scope.alu("xor", indices.value(scope, fixed), indices.value(scope, moving * unit))
    return indices.leaf(moved, Interval.of_extent(length)) + other_row + rest


def _adds_without_carries(indices: Indices, first: LinearForm, second: LinearForm) -> bool:
    """Whether no bit is ever set in both of two forms, nor in two terms of one."""
    taken = 0
    for form in (first, second):
        if form.constant < 0 or form.constant & taken:
            return False
        taken |= form.constant
        for leaf, coefficient in form.terms.items():
            bits = _bits(indices, leaf) * coefficient
            if coefficient < 0 or coefficient & (coefficient - 1) or bits & taken:
                return False
            taken |= bits
    return True


def _bits(indices: Indices, leaf: SSAValue) -> int:
    """The bits that may be set in an index; all, if it may be negative."""
    bounds = indices.bounds(LinearForm({leaf: 1}))
    if bounds.low < 0:
        return -1
    bits = (1 << bounds.high.bit_length()) - 1
    loop = leaf.owner.parent_op() if isinstance(leaf.owner, Block) else None
    if isinstance(loop, ForOp) and constant_value(loop.start) == 0:
        step = loop.step.value.data
        bits &= -(step & -step)
    return bits


def _address(
    lowering: Lowering, scope: Scope, buffer: SSAValue, coordinates: Sequence[SSAValue], place: Place
) -> list[SSAValue]:
    forms: list[LinearForm] = []
    for form in lowering.values.elements(scope, coordinates, place):
        assert isinstance(form, LinearForm)
        forms.append(form)
    type = buffer.type
    assert is_memref(type)
    total = flat_index(lowering.indices, scope, type, forms) + lowering.slots.get(buffer, ZERO)
    return [lowering.indices.value(scope, total)]


def _mask(lowering: Lowering, scope: Scope, mask: SSAValue | None, place: Place) -> SSAValue | None:
    """The mask at one place; None where it is known to hold."""
    if mask is None:
        return None
    (condition,) = lowering.values.scalars(scope, [mask], place)
    return None if constant_value(condition) is True else condition


def lower_read(lowering: Lowering, scope: Scope, op: ReadOp) -> None:
    """A scalar becomes one load, a tile a register array that unrolled loops fill."""
    values = lowering.values
    buffer, type = lowering.buffers[op.buffer], op.result.type
    shape = shape_of(type)
    hint = op.result.name_hint or f"{(op.buffer.name_hint or 'v').removesuffix('_s')}_r"
    if is_one_element(op.result):
        place = [ZERO] * len(shape)
        mask = _mask(lowering, scope, op.mask, place)
        loaded = scope.insert(LoadOp.of(buffer, _address(lowering, scope, op.buffer, op.indices, place), mask)).result
        loaded.name_hint = hint
        values.known[op.result] = loaded
        return
    width = 1 if op.vector is None else op.vector.value.data
    moved = moved_type(element_of(type), width)
    array = values.array_of(scope, op.result, hint, op.vector_dimension)
    with values.nest(scope, shape, width, op.vector_dimension) as (inner, place):
        mask = _mask(lowering, inner, op.mask, place)
        address = _address(lowering, inner, op.buffer, op.indices, place)
        loaded = inner.insert(LoadOp.of(buffer, address, mask, moved)).result
        inner.insert(StoreOp.of(loaded, array, values.array_place(inner, op.result, place, array)))
    values.arrays[op.result] = array


def lower_write(lowering: Lowering, scope: Scope, op: WriteOp) -> None:
    """Elements are stored as they are computed; those of vector stores are put side by side in registers first."""
    values = lowering.values
    buffer, type = lowering.buffers[op.buffer], op.value.type
    width = 1 if op.vector is None else op.vector.value.data
    array = None
    if width > 1:
        array = values.arrays.get(op.value)
        if array is None or values.neighbours(op.value, array) != op.vector_dimension:
            array = values.array_of(scope, op.value, f"{op.buffer.name_hint or 'out'}_r", op.vector_dimension)
            values.fill(scope, op.value, array)
    with values.nest(scope, shape_of(type), width, op.vector_dimension) as (inner, place):
        mask = _mask(lowering, inner, op.mask, place)
        if array is None:
            (value,) = values.scalars(inner, [op.value], place)
        else:
            load = LoadOp.of(
                array, values.array_place(inner, op.value, place, array), None, moved_type(element_of(type), width)
            )
            value = inner.insert(load).result
        address = _address(lowering, inner, op.buffer, op.indices, place)
        inner.insert(StoreOp.of(value, buffer, address, mask))


def moved_type(element: Attribute, width: int) -> Attribute:
    """What one instruction moves: a scalar, or `width` elements side by side."""
    return with_shape(element, () if width == 1 else (width,))
