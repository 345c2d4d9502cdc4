"""The copy of a slab whose rows go along another dimension than the buffer's: through registers, in which threads
transpose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from ....dialects.axes import WARP
from ....dialects.gpu_kernel import LoadOp, PinOp, StoreOp
from ....dialects.layouts import row_dimension
from ....dialects.tile import StageOp
from ....dialects.types import byte_width, is_memref
from ....rewriting.diagnostics import PassError
from ....rewriting.linear import LinearForm
from ..bank_conflicts import store_wavefronts
from .accesses import moved_type
from .copies import ODD, VECTOR_SIZES, Dimension, SlabCopy, box_of, coordinates_of, inside_of, vectors_of
from .indices import ZERO, Indices, is_multiple
from .lowering import Lowering
from .scopes import Scope
from .values import array_type

MOST_HELD_BYTES = 160
"""What a thread holds of a slab in registers at once."""


PLACE_INSTRUCTIONS = 40
"""What it takes to know where a piece is (counted)."""


def slab_copy(lowering: Lowering, op: StageOp) -> SlabCopy:
    """The copy of a stage."""
    slab = op.result.type
    assert is_memref(slab)
    along = row_dimension(slab)
    if all(extent == 1 for extent in slab.get_shape()[along + 1 :]):
        return SlabCopy.of(lowering, op)
    if op.limit is not None:
        raise PassError(
            "a slab whose rows go along another dimension than the buffer's has a limit",
            op,
            "leave the limit out, and mask what is read of the slab",
        )
    return TransposedCopy.along_dimension(lowering.grid.threads, op, along)


@dataclass(frozen=True)
class TransposedCopy(SlabCopy):
    """How the threads of a block copy a box whose elements are neighbours along dimension `along` of the slab.

    A thread loads a piece: of `pack` rows along that dimension, runs of `run` neighbours in the buffer. It stores `run`
    vectors of `pack` elements. A run is all of the dimensions behind `along` where these are copied whole, so that
    rows follow each other in the buffer; else an aligned vector of the last dimension, of which the first and the last
    may lie partly outside of the box.

    width: elements that are loaded at once. order: in which pieces are numbered, the rows' dimension being 0: the last
    the fastest.
    """

    along: int
    pack: int
    run: int
    whole: bool
    order: tuple[int, ...] = ()

    @staticmethod
    def along_dimension(threads: int, op: StageOp, along: int) -> TransposedCopy:
        """The copy with the widest stores that are proved aligned, and of the loads that are, and of the orders, those
        that take the fewest instructions and passes over shared memory."""
        slab = op.result.type
        assert is_memref(slab)
        box, element_bytes = box_of(op), byte_width(slab.element_type)
        rows, outer, behind, last = box[along], box[:along], box[along + 1 :], box[-1]
        run = prod(d.extent for d in behind)
        widths = [max(1, size // element_bytes) for size in sorted(VECTOR_SIZES, reverse=True)]
        stores = [
            width
            for width in widths
            if rows.extent % width == 0
            and all(d.extent == 1 or d.target_stride % width == 0 for d in (*outer, *behind))
        ]
        pack = stores[0]
        # A piece of whole rows is inside of the buffer or outside.
        is_inside = not rows.checks or (rows.buffer_extent % pack == 0 and is_multiple(rows.origin, pack))
        whole = is_inside and pack * run * element_bytes <= MOST_HELD_BYTES
        whole = whole and not any(d.checks or d.extent != d.buffer_extent for d in behind)

        def can_load(width: int) -> bool:
            if whole:
                starts = is_multiple(rows.origin * run, width) and _begin_at_multiples(outer, width)
                return starts and pack * run % width == 0
            moving = last.origin - LinearForm({}, last.origin.constant)
            return (
                last.origin is not ODD
                and is_multiple(moving, width)
                and last.buffer_extent % width == 0
                and _begin_at_multiples(box[:-1], width)
                and pack * width * element_bytes <= MOST_HELD_BYTES
            )

        found = [width for width in widths if width == 1 or can_load(width)]
        copies = [
            TransposedCopy(op, slab, box, width, False, along, pack, run if whole else width, whole)
            for width in (found[:1] if whole else found)
        ]
        return min((ordered for copy in copies for ordered in copy._orders()), key=lambda copy: copy._cost(threads))

    def _orders(self) -> Iterator[TransposedCopy]:
        """The copy with each order of the dimensions along which there are several pieces."""
        counts = [count for count, _ in self._pieces(self.box)]
        fixed = [place for place, count in enumerate(counts) if count <= 1]
        for order in permutations(place for place, count in enumerate(counts) if count > 1):
            yield replace(self, order=(*fixed, *order))

    def _pieces(self, box: Sequence[Dimension]) -> list[tuple[int, Dimension]]:
        """How many pieces there are along each dimension that they are numbered along, that of the rows first."""
        rows, outer = box[self.along], box[: self.along]
        pieces = [(rows.extent // self.pack, rows), *((d.extent, d) for d in outer)]
        if not self.whole:
            last = self._in_vectors(box[-1])
            pieces += [*((d.extent, d) for d in box[self.along + 1 : -1]), (last.extent // self.width, last)]
        return pieces

    @property
    def _units(self) -> list[int]:
        """Elements from a piece to the next along each of these dimensions."""
        units = [1] * (len(self.box) if not self.whole else self.along + 1)
        units[0] = self.pack
        if not self.whole:
            units[-1] = self.width
        return units

    def _cost(self, threads: int) -> int:
        """Instructions of a block's warps, and passes of its stores over shared memory, which take as long as four."""
        pieces, element_bytes = self._pieces(self.box), byte_width(self.slab.element_type)
        count = prod(count for count, _ in pieces)
        loads = self.pack * self.run // self.width
        each = loads + self.run * (1 + self.pack // 2) + PLACE_INSTRUCTIONS
        number = np.arange(count)
        place = np.zeros(count, np.int64)
        for dimension in reversed(self.order):
            count, d = pieces[dimension]
            place += number % count * (d.target_stride * self._units[dimension] * element_bytes)
            number //= count
        passes = store_wavefronts(place, self.pack * element_bytes)
        whole, rest = divmod(len(place), threads)
        warps = whole * -(-threads // WARP) - (-rest // WARP)
        return warps * each + self.run * passes * 4

    def build(self, lowering: Lowering, scope: Scope, slot: LinearForm) -> None:
        """Which pieces neighbouring threads take is what gives the fewest bank conflicts of stores; where that leaves a
        choice, they load what is side by side."""
        values, indices, element = lowering.values, lowering.indices, self.slab.element_type
        box: list[Dimension] = [
            replace(dimension, origin=origin)
            for dimension, origin in zip(self.box, values.elements(scope, self.op.origin), strict=True)
            if isinstance(origin, LinearForm)
        ]
        rows, pieces = box[self.along], self._pieces(box)
        others = [dimension for _, dimension in pieces[1:]]
        total = prod(count for count, _ in pieces)
        if not total:
            return
        buffer, array = lowering.buffers[self.op.buffer], lowering.buffers[self.op.result]
        with vectors_of(lowering, scope, total, unroll=1) as (inner, number):
            digits = coordinates_of(indices, inner, [pieces[place][0] for place in self.order], number)
            first, *rest = [digits[self.order.index(place)] * unit for place, unit in enumerate(self._units)]
            source, target = ZERO, slot
            for dimension, coordinate in zip([rows, *others], [first, *rest], strict=True):
                source += (dimension.origin + coordinate) * dimension.source_stride
                target += coordinate * dimension.target_stride
            inside = inside_of(indices, inner, others, rest)
            size = (self.pack * self.run,)
            piece = values.allocate(inner, array_type(element, size), "piece")

            def load(within: Scope, row: LinearForm, at: LinearForm, held: LinearForm) -> None:
                """Load a vector that begins in `row` of the piece, `at` elements behind the first."""
                mask = inside_of(indices, within, [rows], [first + row])
                if mask is not None and inside is not None:
                    mask = within.alu("and", inside, mask)
                index = indices.value(within, source + at)
                loaded = LoadOp.of(buffer, [index], mask or inside, moved_type(element, self.width))
                within.insert(StoreOp.of(within.insert(loaded).result, piece, values.place_in(within, size, [held])))

            if self.whole:
                with values.nest(inner, size, self.width) as (within, (at,)):
                    load(within, ZERO, at, at)
            else:
                with values.nest(inner, (self.pack,)) as (within, (row,)):
                    load(within, row, row * rows.source_stride, row * self.run)
            # NVRTC takes a vector apart that it stores where it has just computed, and puts it together again behind a
            # number that it knows nothing of.
            base = indices.leaf(inner.insert(PinOp.of(indices.value(inner, target))).result, indices.bounds(target))
            for at in range(self.run):
                column = LinearForm({}, at - self.shift)
                mask = None if self.whole else self._in_box(indices, inner, rest[-1], at)
                vector = self._packed(lowering, inner, piece, at)
                place = indices.value(inner, base + column * box[-1].target_stride)
                inner.insert(StoreOp.of(vector, array, [place], mask))

    @property
    def shift(self) -> int:
        """How far in front of the box the first vector of the last dimension begins."""
        return 0 if self.whole else self.box[-1].origin.constant % self.width

    def _in_vectors(self, last: Dimension) -> Dimension:
        """The last dimension, as long as the vectors that the box touches."""
        extent = -(-(last.extent + self.shift) // self.width) * self.width
        return replace(last, extent=extent, origin=last.origin - LinearForm({}, self.shift))

    def _in_box(self, indices: Indices, scope: Scope, first: LinearForm, at: int) -> SSAValue | None:
        """Whether element `at` of the vector that begins `shift` in front of column `first` is in the box; None where
        it is in every vector."""
        last = self.box[-1]
        greatest = self._in_vectors(last).extent - self.width + at - self.shift
        column = first + LinearForm({}, at - self.shift)
        conditions: list[SSAValue] = []
        if at < self.shift:
            conditions.append(indices.compare(scope, "ge", column, ZERO))
        if greatest >= last.extent:
            conditions.append(indices.compare(scope, "lt", column, LinearForm({}, last.extent)))
        if len(conditions) == 2:
            return scope.alu("and", *conditions)
        return conditions[0] if conditions else None

    def _packed(self, lowering: Lowering, scope: Scope, piece: SSAValue, at: int) -> SSAValue:
        """What the rows of a piece have at one place of their runs, as one vector."""
        values, size, element = lowering.values, (self.pack * self.run,), self.slab.element_type
        packed = piece
        if self.run > 1:
            packed = values.allocate(scope, array_type(element, (self.pack,)), "packed")
            with values.nest(scope, (self.pack,)) as (within, (row,)):
                held = values.place_in(within, size, [row * self.run + LinearForm({}, at)])
                taken = within.insert(LoadOp.of(piece, held)).result
                within.insert(StoreOp.of(taken, packed, values.place_in(within, (self.pack,), [row])))
        first = values.place_in(scope, (self.pack,), [ZERO])
        return scope.insert(LoadOp.of(packed, first, None, moved_type(element, self.pack))).result


def _begin_at_multiples(box: Sequence[Dimension], width: int) -> bool:
    """Whether every row of the box begins at a multiple of `width` elements of the buffer."""
    return all(
        is_multiple(d.origin * d.source_stride, width) and (d.extent == 1 or d.source_stride % width == 0) for d in box
    )
