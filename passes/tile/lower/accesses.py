"""tile.read and tile.write → loads and stores of flat buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, SSAValue

from ....dialects.axes import THREAD_KINDS, WARP
from ....dialects.gpu_kernel import ForOp, LoadOp, StoreOp
from ....dialects.layouts import SwizzleAttr, strides_of
from ....dialects.tile import AxisOp, ReadOp, WriteOp
from ....dialects.types import element_of, is_memref, shape_of, with_shape
from ....dialects.uop import EqOp, constant_value
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from ..held_alike import is_held_alike
from ..linear import conjuncts
from .indices import ZERO, Indices, is_multiple, split_multiples
from .lowering import Lowering
from .scopes import Scope
from .values import LateRead, Place, array_type, is_one_element


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
    unit, (repeat, period) = swizzle.unit.data, swizzle.rows
    row_length = type.get_shape()[-1]
    row_start, row = ZERO, ZERO
    for coordinate, stride in zip(place[:-1], strides_of(type), strict=False):
        row_start += coordinate * stride
        row += coordinate * (stride // row_length)
    if period == 1:
        return row_start + place[-1]
    bits = indices.remainder(scope, indices.quotient(scope, row, repeat), period)
    chunk, rest = indices.quotient(scope, place[-1], unit), indices.remainder(scope, place[-1], unit)
    chunks = swizzle.chunks.data
    periods, within = split_multiples(chunk, period)
    if indices.bounds(within).low >= 0 and indices.bounds(within).high < period:
        # The bits are below the period: what is a multiple of it stays.
        row_start, chunk, chunks = row_start + periods * (period * unit), within, period
    steady, moving = indices.split_by_loops(chunk)
    if not _adds_without_carries(indices, steady, moving):
        steady, moving = chunk, ZERO
    permuted = scope.alu("xor", indices.value(scope, steady), indices.value(scope, bits))
    start = indices.leaf(permuted, Interval.of_extent(chunks)) * unit
    if not moving.terms and not moving.constant:
        return row_start + start + rest
    own_row, other_row = indices.split_by_loops(row_start)
    length = chunks * unit
    if length & (length - 1) or not is_multiple(own_row, length):  # the exclusive or might seem to leave the rows
        own_row, other_row = ZERO, row_start
    length += indices.bounds(own_row).high
    fixed = indices.pinned(own_row + start)
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


def address_of(
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
        loaded = scope.insert(LoadOp.of(buffer, address_of(lowering, scope, op.buffer, op.indices, place), mask)).result
        loaded.name_hint = hint
        values.known[op.result] = loaded
        return
    width = 1 if op.vector is None else op.vector.value.data
    moved = moved_type(element_of(type), width)

    def load(inner: Scope, place: Place) -> SSAValue:
        mask = _mask(lowering, inner, op.mask, place)
        address = address_of(lowering, inner, op.buffer, op.indices, place)
        return inner.insert(LoadOp.of(buffer, address, mask, moved)).result

    if values.reads_late(op):
        values.late[op.result] = LateRead(load, width)
        return
    array = values.array_of(scope, op.result, hint, op.vector_dimension)
    for inner, place in values.parts(scope, shape, width, op.vector_dimension):
        values.put(inner, load(inner, place), op.result, place, array)
    values.arrays[op.result] = array


def lower_write(lowering: Lowering, scope: Scope, op: WriteOp) -> None:
    """Elements are stored as they are computed; those of vector stores are put side by side in registers first."""
    values = lowering.values
    buffer, type = lowering.buffers[op.buffer], op.value.type
    width = 1 if op.vector is None else op.vector.value.data
    if values.splits(shape_of(type)):
        _write_parts(lowering, scope, op, width)
        return
    array = None
    if width > 1:
        array = values.arrays.get(op.value)
        if array is None or values.neighbours(op.value, array) != op.vector_dimension:
            array = values.array_of(scope, op.value, f"{op.buffer.name_hint or 'out'}_r", op.vector_dimension)
            values.fill(scope, op.value, array)
    spread = None if array is None else _Spread.of(lowering, op)
    if array is not None and spread is not None:
        _write_spread(lowering, scope, op, array, spread)
        return
    with values.nest(scope, shape_of(type), width, op.vector_dimension) as (inner, place):
        mask = _mask(lowering, inner, op.mask, place)
        if array is None:
            (value,) = values.scalars(inner, [op.value], place)
        else:
            load = LoadOp.of(
                array, values.array_place(inner, op.value, place, array), None, moved_type(element_of(type), width)
            )
            value = inner.insert(load).result
        address = address_of(lowering, inner, op.buffer, op.indices, place)
        inner.insert(StoreOp.of(value, buffer, address, mask))


def _write_parts(lowering: Lowering, scope: Scope, op: WriteOp, width: int) -> None:
    """Elements of a tile that does not lie in registers alone are put side by side vector by vector."""
    values, element = lowering.values, element_of(op.value.type)
    for inner, place in values.parts(scope, shape_of(op.value.type), width):
        if width == 1:
            (value,) = values.scalars(inner, [op.value], place)
        else:
            run = values.allocate(inner, array_type(element, (width,)), f"{op.buffer.name_hint or 'out'}_r")
            with values.steps(inner, (width,), (1,)) as (innermost, (offset,)):
                (one,) = values.scalars(innermost, [op.value], [*place[:-1], place[-1] + offset])
                innermost.insert(StoreOp.of(one, run, [lowering.indices.value(innermost, offset)]))
            value = inner.insert(
                LoadOp.of(run, [lowering.indices.constant(0)], None, moved_type(element, width))
            ).result
        mask = _mask(lowering, inner, op.mask, place)
        address = address_of(lowering, inner, op.buffer, op.indices, place)
        inner.insert(StoreOp.of(value, lowering.buffers[op.buffer], address, mask))


@dataclass(frozen=True)
class _Spread:
    """A write of a run longer than a vector by the first of several lanes that all hold it: each of the first `lanes`
    at `position` writes a part of it, so that together they write whole sectors at once.

    others: the conditions of the mask, without that the position is 0.
    """

    position: LinearForm
    lanes: int
    others: Sequence[SSAValue]

    @staticmethod
    def of(lowering: Lowering, op: WriteOp) -> _Spread | None:
        """None where the run is one vector, or where lanes are not proved to hold the same."""
        shape, width = shape_of(op.value.type), op.vector
        if op.mask is None or width is None or (run := shape[op.vector_dimension]) <= width.value.data:
            return None
        conditions = conjuncts(op.mask)
        for condition in conditions:
            owner = condition.owner
            if not isinstance(owner, EqOp) or constant_value(owner.operands[1]) != 0:
                continue
            axis = owner.operands[0].owner
            if not isinstance(axis, AxisOp) or axis.axis.axis_kind not in THREAD_KINDS:
                continue
            digit = lowering.grid.bind(axis)
            lanes = run // width.value.data
            while lanes * digit.stride * 2 <= WARP and digit.extent % (lanes * 2) == 0 and run % (lanes * 2) == 0:
                lanes *= 2
            others = [other for other in conditions if other is not condition]
            # A power of two, so that the warp that has the first threads has them all.
            in_warp = lanes & (lanes - 1) == 0 and lanes * digit.stride <= WARP and digit.extent % lanes == 0
            if in_warp and is_held_alike([op.value, *op.indices, *others], axis):
                return _Spread(digit.position, lanes, others)
        return None


def _write_spread(lowering: Lowering, scope: Scope, op: WriteOp, array: SSAValue, spread: _Spread) -> None:
    """Each lane takes its part of the run, of which it holds the whole in `array`, by choices: registers have no
    index."""
    values, indices = lowering.values, lowering.indices
    type, dimension, position = op.value.type, op.vector_dimension, spread.position
    shape = list(shape_of(type))
    width = shape[dimension] // spread.lanes
    shape[dimension] = width
    part = values.allocate(scope, array_type(element_of(type), (width,)), "part")
    first = indices.compare(scope, "lt", position, LinearForm({}, spread.lanes))
    with values.nest(scope, shape, width, dimension) as (inner, place):
        for element in range(width):
            chosen: SSAValue | None = None
            for lane in range(spread.lanes):
                at = [*place]
                at[dimension] = LinearForm({}, lane * width + element)
                held = inner.insert(LoadOp.of(array, values.array_place(inner, op.value, at, array))).result
                if chosen is not None:
                    is_own = indices.compare(scope, "eq", position, LinearForm({}, lane))
                    held = inner.alu("where", is_own, held, chosen)
                chosen = held
            assert chosen is not None
            at = [] if width == 1 else [indices.constant(element)]
            inner.insert(StoreOp.of(chosen, part, at))
        own = [*place]
        own[dimension] = position * width
        conditions = [first, *values.scalars(inner, spread.others, own)]
        mask: SSAValue | None = None
        for condition in conditions:
            if constant_value(condition) is not True:
                mask = condition if mask is None else inner.alu("and", mask, condition)
        at = [] if width == 1 else [indices.constant(0)]
        value = inner.insert(LoadOp.of(part, at, None, moved_type(element_of(type), width))).result
        inner.insert(
            StoreOp.of(
                value, lowering.buffers[op.buffer], address_of(lowering, inner, op.buffer, op.indices, own), mask
            )
        )


def moved_type(element: Attribute, width: int) -> Attribute:
    """What one instruction moves: a scalar, or `width` elements side by side."""
    return with_shape(element, () if width == 1 else (width,))
