"""The copy of a slab to shared memory by all threads of a block, in vectors as wide as divisibility proves."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ....dialects.axes import WARP
from ....dialects.gpu_kernel import AsyncCopyOp, ForOp, IfOp, LoadOp, StoreOp
from ....dialects.layouts import SwizzleAttr, span_of, strides_of
from ....dialects.tile import StageOp
from ....dialects.types import byte_width, is_memref, packed_strides
from ....dialects.uop import constant_value
from ....rewriting.diagnostics import emit_remark
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from ..linear import bounds_of, linear_form
from .accesses import flat_index, moved_type
from .indices import ZERO, Indices, is_multiple
from .lowering import Lowering
from .scopes import Scope
from .warp_slabs import is_read_by_warps

ALIGNMENT = 16
"""Bytes; buffers and shared arrays begin at multiples of it."""

MOST_UNROLLED_STEPS = 16
"""Copies of one thread that are written out; more stay a loop."""

VECTOR_SIZES = (1, 2, 4, 8, 16)
"""Bytes that one load or store moves."""

ODD = LinearForm({}, 1)
"""Stands for an origin that may be any number: no vector but of one element begins there."""


@dataclass(frozen=True)
class Dimension:
    """One dimension of the box that a stage copies.

    origin: where the box begins in the buffer. checks: comparisons that say whether a coordinate is inside the buffer,
    for all places of the loops around. limit: where the buffer ends for this copy, if not at its extent.
    """

    extent: int
    origin: LinearForm
    buffer_extent: int
    source_stride: int
    target_stride: int
    checks: tuple[str, ...]
    limit: LinearForm | None = None

    @property
    def end(self) -> LinearForm:
        """The first coordinate of the buffer that is outside."""
        return LinearForm({}, self.buffer_extent) if self.limit is None else self.limit


@dataclass(frozen=True)
class SlabCopy:
    """How the threads of a block copy the box of a stage.

    box: with origins in terms of the tile form's loops and axes.
    width: elements that are moved at once.
    """

    op: StageOp
    slab: MemRefType[Attribute]
    box: Sequence[Dimension]
    width: int
    asynchronous: bool

    @staticmethod
    def of(lowering: Lowering, op: StageOp) -> SlabCopy:
        """The copy in the widest vectors; a remark says when it cannot be asynchronous although it is asked for."""
        slab = op.result.type
        assert is_memref(slab)
        box, sizes = box_of(op), lowering.arch.async_copy_bytes
        if op.asynchronous is not None:
            if (width := _vector_width(box, slab, sizes)) is not None:
                return SlabCopy(op, slab, box, width, True)
            emit_remark(
                op,
                f"copied through registers, not asynchronously: {lowering.arch.name} copies "
                f"{', '.join(map(str, sizes))} bytes at once, and the slab's rows are not proved to be made of such "
                "pieces",
            )
        is_cut = bool(box) and box[-1].limit is not None  # only asynchronous copies move a part of a vector
        width = 1 if is_cut else _vector_width(box, slab, VECTOR_SIZES)
        assert width is not None, "one element can always be moved"
        return SlabCopy(op, slab, box, width, False)

    @property
    def span(self) -> int:
        """Elements from one slab to the next: each begins at a multiple of `ALIGNMENT` bytes."""
        unit = max(1, ALIGNMENT // byte_width(self.slab.element_type))
        return -(-span_of(self.slab) // unit) * unit

    def by_warps(self, lowering: Lowering) -> bool:
        """Whether each warp copies the part of the slab that it reads, which nobody else does."""
        count = prod(dimension.extent for dimension in self.box) // self.width
        is_even = count % lowering.grid.threads == 0 and _is_written_out(lowering, count)
        return self.asynchronous and is_even and is_read_by_warps(lowering.grid, self.op)

    def declare(self, lowering: Lowering, slabs: int) -> None:
        """The shared array of the stage, with room for so many slabs."""
        hint = self.op.result.name_hint or f"{self.op.buffer.name_hint or 'slab'}_s"
        array = lowering.shared_array(slabs * self.span, self.slab.element_type, hint)
        lowering.buffers[self.op.result] = array

    def build(self, lowering: Lowering, scope: Scope, slot: LinearForm) -> None:
        """Copy the box to the shared array, from element `slot` on; 0 where it is outside the buffer.

        Neighbouring threads move neighbouring vectors of a row.
        """
        box: Sequence[Dimension] = [
            replace(dimension, origin=origin)
            for dimension, origin in zip(self.box, lowering.values.elements(scope, self.op.origin), strict=True)
            if isinstance(origin, LinearForm)
        ]
        if self.op.limit is not None:
            (limit,) = lowering.values.elements(scope, [self.op.limit])
            assert isinstance(limit, LinearForm)
            box = [dimension if dimension.limit is None else replace(dimension, limit=limit) for dimension in box]
        if not isinstance(self.slab.layout, SwizzleAttr):
            box = _merged(box)
        count = prod(dimension.extent for dimension in box) // self.width
        if count == 0:
            return
        if self.asynchronous and _is_written_out(lowering, count):
            for number in _numbers(lowering, count, self.by_warps(lowering)):
                self._copy(lowering, scope, box, number, slot)
            if rest := count % lowering.grid.threads:
                with vectors_of(lowering, scope, rest) as (inner, number):
                    self._copy(lowering, inner, box, number + LinearForm({}, count - rest), slot)
            return
        with vectors_of(lowering, scope, count) as (inner, number):
            self._copy(lowering, inner, box, number, slot)

    def _place(self, indices: Indices, scope: Scope, box: Sequence[Dimension], number: LinearForm) -> list[LinearForm]:
        """The coordinates of the first element of the vector of this number of a box."""
        extents = [dimension.extent for dimension in box]
        extents[-1:] = [extent // self.width for extent in extents[-1:]]
        place = coordinates_of(indices, scope, extents, number)
        place[-1:] = [coordinate * self.width for coordinate in place[-1:]]
        return place

    def _copy(
        self, lowering: Lowering, scope: Scope, box: Sequence[Dimension], number: LinearForm, slot: LinearForm
    ) -> None:
        """Copy the vector of this number of the box."""
        indices = lowering.indices
        buffer, array = lowering.buffers[self.op.buffer], lowering.buffers[self.op.result]
        place = self._place(indices, scope, box, number)
        mask = inside_of(indices, scope, box, place)
        source, target = ZERO, slot
        rows = _merged(box)
        for dimension, coordinate in zip(rows, self._place(indices, scope, rows, number), strict=True):
            source += (dimension.origin + coordinate) * dimension.source_stride
        if isinstance(self.slab.layout, SwizzleAttr):
            target += flat_index(indices, scope, self.slab, place)
        else:
            for dimension, coordinate in zip(box, place, strict=True):
                target += coordinate * dimension.target_stride
        if lowering.values.flat:
            source, target = indices.pinned(source), indices.pinned(target)
        if not self.asynchronous:
            at = indices.value(scope, source)
            load = LoadOp.of(buffer, [at], mask, moved_type(self.slab.element_type, self.width))
            scope.insert(StoreOp.of(scope.insert(load).result, array, [indices.value(scope, target)]))
            return
        (source_index, source_offset), (target_index, target_offset) = (
            indices.value_and_offset(scope, form, self.slab.element_type) for form in (source, target)
        )
        scope.insert(
            AsyncCopyOp.of(
                buffer,
                source_index,
                array,
                target_index,
                self.width,
                mask,
                count=self._count(indices, scope, box, place),
                source_offset=source_offset,
                target_offset=target_offset,
            )
        )

    def _count(
        self, indices: Indices, scope: Scope, box: Sequence[Dimension], place: Sequence[LinearForm]
    ) -> SSAValue | None:
        """How many elements of a vector whose first is inside the buffer are; None where all are."""
        if not box or box[-1].limit is None or self.width == 1:
            return None
        inside = indices.value(scope, box[-1].end - box[-1].origin - place[-1])
        return scope.alu("min", inside, indices.constant(self.width))


def box_of(op: StageOp) -> list[Dimension]:
    buffer, slab = op.buffer.type, op.result.type
    assert is_memref(buffer)
    assert is_memref(slab)
    box: list[Dimension] = []
    limits = [op.limit_along(dimension) for dimension in range(len(op.origin))]
    for origin, limit, extent, buffer_extent, source_stride, target_stride in zip(
        op.origin,
        limits,
        slab.get_shape(),
        buffer.get_shape(),
        packed_strides(buffer.get_shape()),
        strides_of(slab),
        strict=True,
    ):
        form = linear_form(origin)
        reach = Interval(-1, buffer_extent) if form is None else bounds_of(form)
        checks = (("ge", reach.low < 0), ("lt", limit is not None or reach.high + extent > buffer_extent))
        needed = tuple(name for name, is_needed in checks if is_needed)
        form, end = ODD if form is None else form, None if limit is None else ODD
        box.append(Dimension(extent, form, buffer_extent, source_stride, target_stride, needed, end))
    return box


def _vector_width(box: Sequence[Dimension], slab: MemRefType[Attribute], sizes: Sequence[int]) -> int | None:
    """Elements that can be moved at once in one of these sizes, in bytes; None when not even one can.

    Both places must be multiples of the vector, and a vector must lie inside the buffer or outside.
    """
    element_bytes = byte_width(slab.element_type)
    for size in sorted(sizes, reverse=True):
        width = size // element_bytes
        if width == 1 and size == element_bytes:
            return 1
        if width > 1 and size % element_bytes == 0 and _moves_in_vectors(box, slab, width):
            return width
    return None


def _moves_in_vectors(box: Sequence[Dimension], slab: MemRefType[Attribute], width: int) -> bool:
    if not box:
        return False
    last, outer = box[-1], box[:-1]
    if last.extent % width or not is_multiple(last.origin, width):
        return False
    if last.checks and last.buffer_extent % width:
        return False
    if isinstance(slab.layout, SwizzleAttr) and slab.layout.unit.data % width:
        return False
    rows = [dimension for dimension in outer if dimension.extent > 1]
    return all(is_multiple(d.origin * d.source_stride, width) for d in outer) and all(
        d.source_stride % width == 0 and d.target_stride % width == 0 for d in rows
    )


def _merged(box: Sequence[Dimension]) -> list[Dimension]:
    """The box with neighbouring dimensions as one where they follow each other on both sides; an outer dimension of
    extent 1 follows any."""
    merged: list[Dimension] = []
    for inner in box:
        outer = merged[-1] if merged else None
        if outer is not None and not outer.checks and not inner.checks and _follow(outer, inner):
            # The outer origin, in elements of the inner dimension.
            origin = outer.origin * (outer.source_stride // inner.source_stride) + inner.origin
            merged[-1] = replace(inner, extent=outer.extent * inner.extent, origin=origin)
        else:
            merged.append(inner)
    return merged


def _follow(outer: Dimension, inner: Dimension) -> bool:
    return outer.extent == 1 or (
        outer.source_stride == inner.extent * inner.source_stride
        and outer.target_stride == inner.extent * inner.target_stride
    )


def _is_written_out(lowering: Lowering, count: int) -> bool:
    """Whether the copies of a thread are, of `count` vectors: not too many, and all threads move as many, or it pays
    that their places are computed once."""
    threads = lowering.grid.threads
    return count // threads <= MOST_UNROLLED_STEPS and (count % threads == 0 or lowering.values.flat)


def _numbers(lowering: Lowering, count: int, by_warps: bool) -> Iterator[LinearForm]:
    """The numbers of the vectors that every thread moves of `count`. by_warps: those of a warp follow each other."""
    indices, root, threads, thread = lowering.indices, lowering.root, lowering.grid.threads, lowering.grid.thread
    for step in range(count // threads):
        if by_warps:
            warp, lane = indices.quotient(root, thread, WARP), indices.remainder(root, thread, WARP)
            yield warp * (count * WARP // threads) + lane + LinearForm({}, step * WARP)
        else:
            yield thread + LinearForm({}, step * threads)


@contextmanager
def vectors_of(
    lowering: Lowering, scope: Scope, count: int, unroll: int | None = None
) -> Generator[tuple[Scope, LinearForm]]:
    """Where the threads share `count` vectors: the number of the one to move, thread by thread.

    unroll: how many a thread moves without a jump, where it has several; by itself all, if they are not many.
    """
    indices, threads, thread = lowering.indices, lowering.grid.threads, lowering.grid.thread
    if count % threads == 0:
        steps = count // threads
        if steps == 1:
            yield scope, thread
            return
        if unroll is None and steps <= MOST_UNROLLED_STEPS:
            unroll = 0
        loop = ForOp.of(indices.constant(0), steps, 1, unroll)
        loop.index.name_hint = "u"
        with scope.inside(loop, loop.body.block) as inner:
            yield inner, indices.leaf(loop.index) * threads + thread
        return
    if count < threads:
        branch = IfOp.of(indices.compare(scope, "lt", thread, LinearForm({}, count)))
        with scope.inside(branch, branch.then.block) as inner:
            yield inner, thread
        return
    loop = ForOp.of(indices.value(scope, thread), count, threads, unroll)
    loop.index.name_hint = "e"
    with scope.inside(loop, loop.body.block) as inner:
        yield inner, indices.leaf(loop.index)


def coordinates_of(indices: Indices, scope: Scope, extents: Sequence[int], number: LinearForm) -> list[LinearForm]:
    """The coordinates of element `number` of a box with these extents, in row-major order."""
    coordinates: list[LinearForm] = []
    for extent in reversed(extents[1:]):
        coordinates.append(indices.remainder(scope, number, extent))
        number = indices.quotient(scope, number, extent)
    return [*([number] if extents else []), *reversed(coordinates)]


def inside_of(indices: Indices, scope: Scope, box: Sequence[Dimension], local: Sequence[LinearForm]) -> SSAValue | None:
    """Whether a place of the box is inside the buffer; None where it always is."""
    inside: SSAValue | None = None
    for dimension, coordinate in zip(box, local, strict=True):
        for check in dimension.checks:
            end = dimension.end if check == "lt" else ZERO
            condition = indices.compare(scope, check, dimension.origin + coordinate, end)
            if constant_value(condition) is True:
                continue
            inside = condition if inside is None else scope.alu("and", inside, condition)
    return inside
