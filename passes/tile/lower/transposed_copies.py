"""The copy of a slab whose rows go along another dimension than the buffer's: through registers, in which threads
transpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from math import prod

from xdsl.ir import SSAValue

from ....dialects.gpu_kernel import LoadOp, StoreOp
from ....dialects.layouts import strides_of
from ....dialects.tile import StageOp
from ....dialects.types import byte_width, is_memref
from ....rewriting.linear import LinearForm
from ..bank_conflicts import warp_wavefronts
from .accesses import moved_type
from .copies import ODD, VECTOR_SIZES, Dimension, SlabCopy, box_of, coordinates_of, inside_of, vectors_of
from .indices import ZERO, Indices, is_multiple
from .lowering import Lowering
from .scopes import Scope
from .values import array_type

MOST_HELD_BYTES = 160
"""What a thread holds of a slab in registers at once."""


def slab_copy(lowering: Lowering, op: StageOp) -> SlabCopy:
    """The copy of a stage."""
    slab = op.result.type
    assert is_memref(slab)
    strides, shape = strides_of(slab), slab.get_shape()
    along = max((place for place, stride in enumerate(strides) if stride == 1), default=-1)
    if all(extent == 1 for extent in shape[along + 1 :]):
        return SlabCopy.of(lowering, op)
    return TransposedCopy.along_dimension(op, along)


@dataclass(frozen=True)
class TransposedCopy(SlabCopy):
    """How the threads of a block copy a box whose elements are neighbours along dimension `along` of the slab.

    A thread loads a piece: of `pack` rows along that dimension, runs of `run` neighbours in the buffer. It stores `run`
    vectors of `pack` elements. A run is all of the dimensions behind `along` where these are copied whole, so that
    rows follow each other in the buffer; else an aligned vector of the last dimension, of which the first and the last
    may lie partly outside of the box.

    width: elements that are loaded at once.
    """

    along: int
    pack: int
    run: int
    whole: bool

    @staticmethod
    def along_dimension(op: StageOp, along: int) -> TransposedCopy:
        """The copy with the widest stores, and then the widest loads, that are proved aligned."""
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

        width = next(width for width in widths if width == 1 or can_load(width))
        return TransposedCopy(op, slab, box, width, False, along, pack, run if whole else width, whole)

    def build(self, lowering: Lowering, scope: Scope, slot: LinearForm) -> None:
        """Which pieces neighbouring threads take is what gives the fewest bank conflicts of stores; where that leaves a
        choice, they load what is side by side."""
        values, indices, element = lowering.values, lowering.indices, self.slab.element_type
        box: list[Dimension] = [
            replace(dimension, origin=origin)
            for dimension, origin in zip(self.box, values.elements(scope, self.op.origin), strict=True)
            if isinstance(origin, LinearForm)
        ]
        rows, others, units = box[self.along], [*box[: self.along]], [1] * self.along
        if not self.whole:
            others += [*box[self.along + 1 : -1], self._in_vectors(box[-1])]
            units += [*[1] * (len(others) - len(units) - 1), self.width]
        counts = [d.extent // unit for d, unit in zip([rows, *others], [self.pack, *units], strict=True)]
        if not prod(counts):
            return
        strides = [d.target_stride * unit for d, unit in zip([rows, *others], [self.pack, *units], strict=True)]
        order = _order(counts, [stride * byte_width(element) for stride in strides], self.pack * byte_width(element))
        buffer, array = lowering.buffers[self.op.buffer], lowering.buffers[self.op.result]
        with vectors_of(lowering, scope, prod(counts), unroll=1) as (inner, number):
            digits = coordinates_of(indices, inner, [counts[place] for place in order], number)
            first, *rest = [digits[order.index(place)] for place in range(len(counts))]
            first, rest = first * self.pack, [digit * unit for digit, unit in zip(rest, units, strict=True)]
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
            for at in range(self.run):
                column = LinearForm({}, at - self.shift)
                mask = None if self.whole else self._in_box(indices, inner, rest[-1], at)
                packed = self._packed(lowering, inner, piece, at)
                vector = LoadOp.of(
                    packed, values.place_in(inner, (self.pack,), [ZERO]), None, moved_type(element, self.pack)
                )
                place = indices.value(inner, target + column * box[-1].target_stride)
                inner.insert(StoreOp.of(inner.insert(vector).result, array, [place], mask))

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
        """What the rows of a piece have at one place of their runs, side by side."""
        if self.run == 1:
            return piece
        values, size = lowering.values, (self.pack * self.run,)
        packed = values.allocate(scope, array_type(self.slab.element_type, (self.pack,)), "packed")
        with values.nest(scope, (self.pack,)) as (within, (row,)):
            held = values.place_in(within, size, [row * self.run + LinearForm({}, at)])
            taken = within.insert(LoadOp.of(piece, held)).result
            within.insert(StoreOp.of(taken, packed, values.place_in(within, (self.pack,), [row])))
        return packed


def _order(counts: Sequence[int], strides: Sequence[int], bytes: int) -> Sequence[int]:
    """The order of dimensions, the fastest last, in which a warp's stores of so many bytes a lane take the fewest
    passes over shared memory; the first of equals. strides: in bytes, from a piece to the next."""
    moving = [place for place, count in enumerate(counts) if count > 1]
    fixed = [place for place, count in enumerate(counts) if count <= 1]

    def passes(order: Sequence[int]) -> int:
        return warp_wavefronts(tuple(counts[p] for p in order), tuple(strides[p] for p in order), bytes)

    return [*fixed, *min(permutations(moving), key=passes)]


def _begin_at_multiples(box: Sequence[Dimension], width: int) -> bool:
    """Whether every row of the box begins at a multiple of `width` elements of the buffer."""
    return all(
        is_multiple(d.origin * d.source_stride, width) and (d.extent == 1 or d.source_stride % width == 0) for d in box
    )
