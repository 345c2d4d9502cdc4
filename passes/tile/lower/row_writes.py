"""tile.write of 16-bit accumulators: lanes exchange what they hold, so that each stores a run of 8 elements.

A lane of a matrix instruction holds 2 neighbours of a row: stored as they are, they fill half a sector of a row. Each
warp puts 16 rows into a part of shared memory that is its own, and takes vectors of 16 bytes from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ....dialects.atoms import COLUMN_LANES, ROW_LANES
from ....dialects.axes import WARP, AxisKind
from ....dialects.gpu_kernel import LoadOp, StoreOp, WarpBarrierOp
from ....dialects.layouts import slab_type
from ....dialects.tile import AxisOp, StageOp, WriteOp
from ....dialects.types import byte_width, element_count, element_of, is_memref, packed_strides, shape_of
from ....rewriting.linear import LinearForm
from ..linear import conjuncts, linear_form, negative_form
from .accesses import flat_index, moved_type
from .indices import ZERO, is_multiple
from .lowering import Lowering
from .matrices import form_at, is_of_matrix_lanes
from .scopes import Scope
from .values import Place

ROWS = 16
"""Rows of an accumulator."""

RUN = 8
"""Elements of 16 bytes: the columns of an accumulator."""


@dataclass(frozen=True)
class RowWrite:
    """How the accumulators of a tile are written.

    dimension: the register dimension along which accumulators lie side by side in a row of the buffer; `count` of them.
    indices: of the buffer. conditions: forms that are negative where an element is written, alike for runs of 8.
    """

    op: WriteOp
    dimension: int
    count: int
    indices: Sequence[LinearForm]
    conditions: Sequence[LinearForm]

    @staticmethod
    def of(lowering: Lowering, op: WriteOp) -> RowWrite | None:
        """None where the lanes do not hold accumulators of 16-bit elements, or where runs of 8 are not proved to be
        aligned, or to be inside as a whole; and in loops, behind which shared memory would have another use."""
        shape, buffer = shape_of(op.value.type), op.buffer.type
        assert is_memref(buffer)
        if byte_width(buffer.element_type) != 2 or shape[-2:] != (2, 2) or not is_of_matrix_lanes(lowering.grid):
            return None
        if op.parent is not lowering.kernel.body.block or _has_loops_behind(op):
            return None
        if any(stride % RUN for stride in packed_strides(buffer.get_shape())[:-1]):
            return None
        indices = [linear_form(index) for index in op.indices]
        conditions = [] if op.mask is None else [negative_form(condition) for condition in conjuncts(op.mask)]
        last = indices[-1] if indices else None
        if last is None:
            return None
        dimension = next((_dimension(leaf) for leaf, c in last.terms.items() if c == RUN and _dimension(leaf) >= 0), -1)
        if dimension < 0:
            return None
        columns = _Columns(dimension, len(shape))
        forms: list[LinearForm] = []
        for place, form in enumerate([*indices, *conditions]):
            coefficient = None if form is None else columns.coefficient(form)
            if form is None or coefficient is None or (place < len(indices) and coefficient != (form is last)):
                return None
            forms.append(form)
        count = shape[dimension]
        if count < 2 or count & (count - 1):
            return None
        return RowWrite(op, dimension, count, forms[: len(indices)], forms[len(indices) :])

    def build(self, lowering: Lowering, scope: Scope) -> bool:
        """Write; False, and nothing is built, where shared memory has no room."""
        op, values, indices = self.op, lowering.values, lowering.indices
        element = element_of(op.value.type)
        slab = slab_type(element, (ROWS, RUN * self.count), swizzle=RUN)
        size = ROWS * RUN * self.count
        scratch = _scratch(lowering, scope, element, lowering.grid.threads // WARP * size)
        if scratch is None:
            return False
        array = values.arrays.get(op.value)
        if array is None:
            array = values.array_of(scope, op.value, f"{op.buffer.name_hint or 'out'}_r")
            values.fill(scope, op.value, array)
        base = indices.quotient(lowering.root, lowering.grid.thread, WARP) * size
        shape = shape_of(op.value.type)
        inside = [d in (self.dimension, len(shape) - 2, len(shape) - 1) for d in range(len(shape))]
        around = [1 if own else extent for extent, own in zip(shape, inside, strict=True)]
        with values.nest(scope, around) as (inner, outer):
            if element_count(around) > 1:  # the rows before have been taken
                inner.insert(WarpBarrierOp.create())
            own = [extent if is_own else 1 for extent, is_own in zip(shape, inside, strict=True)]
            with values.nest(inner, own, 2) as (innermost, place):
                place = [a + b for a, b in zip(outer, place, strict=True)]
                at = self._slab_index(lowering, innermost, slab, self._place_of_lane(lowering, place)) + base
                held = LoadOp.of(array, values.array_place(innermost, op.value, place), None, moved_type(element, 2))
                innermost.insert(StoreOp.of(innermost.insert(held).result, scratch, [indices.value(innermost, at)]))
            inner.insert(WarpBarrierOp.create())
            with values.nest(inner, (self.count // 2,)) as (innermost, (step,)):
                self._store_run(lowering, innermost, scratch, slab, base, outer, step)
        return True

    def _place_of_lane(self, lowering: Lowering, place: Place) -> tuple[LinearForm, LinearForm]:
        """Row and column in the slab of the first of the two elements that a lane holds at one place."""
        row, column = (digit.position for digit in lowering.grid.digits[-2:])
        return place[-2] * ROW_LANES + row, place[self.dimension] * RUN + column * 2

    def _slab_index(
        self, lowering: Lowering, scope: Scope, slab: MemRefType[Attribute], place: tuple[LinearForm, LinearForm]
    ) -> LinearForm:
        return flat_index(lowering.indices, scope, slab, place)

    def _store_run(
        self,
        lowering: Lowering,
        scope: Scope,
        scratch: SSAValue,
        slab: MemRefType[Attribute],
        base: LinearForm,
        outer: Place,
        step: LinearForm,
    ) -> None:
        """Neighbouring lanes take neighbouring runs of a row."""
        op, indices = self.op, lowering.indices
        assert is_memref(op.buffer.type)
        lane = indices.remainder(lowering.root, lowering.grid.thread, WARP)
        number = step * WARP + lane
        row = indices.quotient(scope, number, self.count)
        run = indices.remainder(scope, number, self.count)
        at = indices.value(scope, self._slab_index(lowering, scope, slab, (row, run * RUN)) + base)
        moved = moved_type(slab.element_type, RUN)
        value = scope.insert(LoadOp.of(scratch, [at], None, moved)).result
        place = list(outer)
        place[self.dimension], place[-2] = run, indices.quotient(scope, row, ROW_LANES)
        lanes = {ROW_LANES: indices.remainder(scope, row, ROW_LANES), COLUMN_LANES: ZERO}
        mask: SSAValue | None = None
        for condition in self.conditions:
            holds = indices.compare(scope, "lt", form_at(lowering, condition, place, lanes), ZERO)
            mask = holds if mask is None else scope.alu("and", mask, holds)
        target = flat_index(
            indices, scope, op.buffer.type, [form_at(lowering, form, place, lanes) for form in self.indices]
        )
        scope.insert(StoreOp.of(value, lowering.buffers[op.buffer], [indices.value(scope, target)], mask))


@dataclass(frozen=True)
class _Columns:
    """The axes along the columns of accumulators side by side: 8 · register `dimension` + 2 · lane + pair."""

    dimension: int
    rank: int

    def coefficient(self, form: LinearForm) -> int | None:
        """How often a form counts columns, 0 or 1, if all the rest of it are multiples of 8 then; None otherwise."""
        found = {RUN: 0, 2: 0, 1: 0}
        rest = LinearForm({}, form.constant)
        for leaf, coefficient in form.terms.items():
            unit = self._unit(leaf)
            if unit is None:
                rest += LinearForm({leaf: coefficient})
            elif coefficient % unit:
                return None
            else:
                found[unit] = coefficient // unit
        counts = set(found.values())
        if counts == {0}:
            return 0
        return 1 if counts == {1} and is_multiple(rest, RUN) else None

    def _unit(self, leaf: SSAValue) -> int | None:
        dimension = _dimension(leaf)
        if dimension >= 0:
            return {self.dimension: RUN, self.rank - 1: 1}.get(dimension)
        owner = leaf.owner
        if isinstance(owner, AxisOp) and owner.axis.axis_kind is AxisKind.LANE and owner.extent == COLUMN_LANES:
            return 2
        return None


def _dimension(leaf: SSAValue) -> int:
    """The dimension of a register axis; −1 for others."""
    shape = shape_of(leaf.type)
    return max(range(len(shape)), key=lambda dimension: shape[dimension]) if shape else -1


def _has_loops_behind(op: WriteOp) -> bool:
    behind = op.next_op
    while behind is not None:
        if behind.regions:
            return True
        behind = behind.next_op
    return False


def _scratch(lowering: Lowering, scope: Scope, element: Attribute, count: int) -> SSAValue | None:
    """Shared memory for so many elements: that of a slab, which nobody reads any more behind a barrier."""
    for stage in lowering.kernel.body.walk():
        if isinstance(stage, StageOp):
            array = lowering.buffers[stage.result]
            if element_of(array.type) == element and element_count(shape_of(array.type)) >= count:
                lowering.barrier(scope)
                return array
    if lowering.has_room(count * byte_width(element)):
        return lowering.shared_array(count, element, "rows")
    return None
