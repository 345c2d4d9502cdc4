"""tile.write of accumulators: lanes exchange what they hold, so that each stores a run of 16 bytes.

A lane of a matrix instruction holds 2 neighbours of a row: stored as they are, they are a quarter or half of 16 bytes.
Each warp puts 16 rows into a part of shared memory that is its own, and takes vectors of 16 bytes from there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ....dialects.atoms import COLUMN_LANES, ROW_LANES
from ....dialects.axes import WARP, AxisKind
from ....dialects.gpu_kernel import LoadOp, StoreOp, WarpBarrierOp
from ....dialects.layouts import slab_type
from ....dialects.tile import AxisOp, StageOp, WriteOp
from ....dialects.types import byte_width, element_count, element_of, is_memref, packed_strides, shape_of
from ....rewriting.diagnostics import emit_remark
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from ..linear import conjuncts, linear_form, negative_form
from .accesses import flat_index, moved_type
from .indices import ZERO, is_multiple
from .lowering import Lowering
from .matrices import form_at, is_of_matrix_lanes
from .scopes import Scope
from .values import Place, array_type

ROWS = 16
"""Rows of an accumulator."""

COLUMNS = 8
"""Columns of an accumulator."""

RUN_BYTES = 16
"""What a lane stores at once."""

UNIT = 4
"""Elements of an accumulator that a lane holds."""


@dataclass(frozen=True)
class RowWrite:
    """How the accumulators of a tile are written.

    dimension: the register dimension along which accumulators lie side by side in a row of the buffer; `count` of them.
    indices: of the buffer. conditions: forms that are negative where an element is written, alike for the elements of a
    run.
    """

    op: WriteOp
    dimension: int
    count: int
    indices: Sequence[LinearForm]
    conditions: Sequence[LinearForm]

    @staticmethod
    def of(lowering: Lowering, op: WriteOp) -> RowWrite | None:
        """None where the lanes do not hold accumulators of 16-bit or 32-bit elements, or where runs are not proved to
        be aligned, or to be inside as a whole; and in loops, behind which shared memory would have another use."""
        shape, buffer = shape_of(op.value.type), op.buffer.type
        assert is_memref(buffer)
        width = byte_width(buffer.element_type)
        if width not in (2, 4) or shape[-2:] != (2, 2) or not is_of_matrix_lanes(lowering.grid):
            return None
        if op.parent is not lowering.kernel.body.block or _has_loops_behind(op):
            return None
        run = RUN_BYTES // width
        if not lowering.values.flat or any(stride % run for stride in packed_strides(buffer.get_shape())[:-1]):
            return None
        indices = [linear_form(index) for index in op.indices]
        conditions = [] if op.mask is None else [negative_form(condition) for condition in conjuncts(op.mask)]
        last = indices[-1] if indices else None
        if last is None:
            return None
        dimensions = (_dimension(leaf) for leaf, coefficient in last.terms.items() if coefficient == COLUMNS)
        dimension = next((found for found in dimensions if found >= 0), -1)
        if dimension < 0:
            return None
        columns = _Columns(dimension, len(shape), run)
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

    @property
    def run(self) -> int:
        """Elements that a lane stores at once."""
        return RUN_BYTES // byte_width(element_of(self.op.value.type))

    def build(self, lowering: Lowering, scope: Scope) -> bool:
        """Write; False, and nothing is built, where shared memory has no room."""
        op, values, indices = self.op, lowering.values, lowering.indices
        element, size = element_of(op.value.type), ROWS * COLUMNS * self.count
        needed = lowering.grid.threads // WARP * size
        scratch = _scratch(lowering, scope, element, needed)
        if scratch is None:
            emit_remark(
                op,
                f"lanes store 2 elements each, not runs of {RUN_BYTES} bytes, which take "
                f"{needed * byte_width(element)} bytes of shared memory: the slabs leave less",
            )
            return False
        array = values.arrays.get(op.value)
        if array is None:
            array = values.array_of(scope, op.value, f"{op.buffer.name_hint or 'out'}_r")
            values.fill(scope, op.value, array)
        base = indices.quotient(lowering.root, lowering.grid.thread, WARP) * size
        exchange = _Pairs if self.run == COLUMNS else _Units
        slab = exchange(self, lowering, array, scratch, base)
        shape = shape_of(op.value.type)
        inside = [d in (self.dimension, len(shape) - 2, len(shape) - 1) for d in range(len(shape))]
        around = [1 if own else extent for extent, own in zip(shape, inside, strict=True)]
        with values.nest(scope, around) as (inner, outer):
            if element_count(around) > 1:  # the rows before have been taken
                inner.insert(WarpBarrierOp.create())
            slab.put(inner, outer, [extent if own else 1 for extent, own in zip(shape, inside, strict=True)])
            inner.insert(WarpBarrierOp.create())
            with values.nest(inner, (self.count // 2,)) as (innermost, (step,)):
                lane = indices.remainder(lowering.root, lowering.grid.thread, WARP)
                slab.take(innermost, outer, step * WARP + lane)
        return True

    def store(
        self, lowering: Lowering, scope: Scope, value: SSAValue, place: Place, lanes: Mapping[int, LinearForm]
    ) -> None:
        """Store the run whose first element is at this place of the tile in the lane with these coordinates."""
        op, indices = self.op, lowering.indices
        assert is_memref(op.buffer.type)
        mask: SSAValue | None = None
        for condition in self.conditions:
            holds = indices.compare(scope, "lt", form_at(lowering, condition, place, lanes), ZERO)
            mask = holds if mask is None else scope.alu("and", mask, holds)
        at = [form_at(lowering, form, place, lanes) for form in self.indices]
        target = flat_index(indices, scope, op.buffer.type, at)
        scope.insert(StoreOp.of(value, lowering.buffers[op.buffer], [indices.value(scope, target)], mask))


@dataclass(frozen=True)
class _Exchange(ABC):
    """The part of shared memory through which the lanes of a warp exchange 16 rows.

    array: the accumulators in registers. scratch: shared memory, in which the part of the warp begins at `base`.
    """

    write: RowWrite
    lowering: Lowering
    array: SSAValue
    scratch: SSAValue
    base: LinearForm

    @abstractmethod
    def put(self, scope: Scope, outer: Place, extents: Sequence[int]) -> None:
        """Put what a lane holds of 16 rows at `outer` there: a part of the tile with these extents."""

    @abstractmethod
    def take(self, scope: Scope, outer: Place, number: LinearForm) -> None:
        """Take the elements of this number from there, and store them. Numbers differ by lanes."""

    def _move_in(self, scope: Scope, place: Place, width: int, at: LinearForm) -> None:
        values, indices, value = self.lowering.values, self.lowering.indices, self.write.op.value
        moved = moved_type(element_of(value.type), width)
        held = scope.insert(LoadOp.of(self.array, values.array_place(scope, value, place), None, moved)).result
        scope.insert(StoreOp.of(held, self.scratch, [indices.value(scope, at + self.base)]))

    def _taken(self, scope: Scope, at: LinearForm) -> SSAValue:
        """The 16 bytes there."""
        moved = moved_type(element_of(self.scratch.type), self.write.run)
        return scope.insert(LoadOp.of(self.scratch, [self.lowering.indices.value(scope, at)], None, moved)).result


class _Pairs(_Exchange):
    """16-bit elements: rows, into which a lane puts the 2 neighbours that it holds of each of them."""

    def put(self, scope: Scope, outer: Place, extents: Sequence[int]) -> None:
        row, column = (digit.position for digit in self.lowering.grid.digits[-2:])
        with self.lowering.values.nest(scope, extents, 2) as (inner, own):
            place = [a + b for a, b in zip(outer, own, strict=True)]
            at = (place[-2] * ROW_LANES + row, place[self.write.dimension] * COLUMNS + column * 2)
            self._move_in(inner, place, 2, self._index(inner, at))

    def take(self, scope: Scope, outer: Place, number: LinearForm) -> None:
        """Neighbouring lanes take neighbouring runs of a row."""
        indices, write = self.lowering.indices, self.write
        row = indices.quotient(scope, number, write.count)
        run = indices.remainder(scope, number, write.count)
        value = self._taken(scope, self._index(scope, (row, run * COLUMNS)) + self.base)
        place = list(outer)
        place[write.dimension], place[-2] = run, indices.quotient(scope, row, ROW_LANES)
        lanes = {ROW_LANES: indices.remainder(scope, row, ROW_LANES), COLUMN_LANES: ZERO}
        write.store(self.lowering, scope, value, place, lanes)

    def _index(self, scope: Scope, place: tuple[LinearForm, LinearForm]) -> LinearForm:
        slab = slab_type(element_of(self.scratch.type), (ROWS, COLUMNS * self.write.count), swizzle=self.write.run)
        return flat_index(self.lowering.indices, scope, slab, place)


class _Units(_Exchange):
    """32-bit elements: units of 16 bytes, the 4 elements of an accumulator that a lane holds: 2 of rows r and r + 8.

    The units of two neighbouring lanes make 4 columns of both rows. Of the units of accumulator j, that of lane l lies
    at place l xor (0, 1, 4, 5)[j mod 4]: neither the lanes that put one accumulator there, nor the 8 that take two
    halves of each of four, meet in a bank.
    """

    def put(self, scope: Scope, outer: Place, extents: Sequence[int]) -> None:
        indices, steps = self.lowering.indices, [*(1 for _ in extents[:-2]), *extents[-2:]]
        lane = indices.remainder(self.lowering.root, self.lowering.grid.thread, WARP)
        with self.lowering.values.steps(scope, extents, steps) as (inner, own):
            place = [a + b for a, b in zip(outer, own, strict=True)]
            accumulator = place[self.write.dimension]
            fixed = indices.value(inner, indices.pinned(lane * UNIT))
            bits = indices.value(inner, self._bits(inner, accumulator) * UNIT)
            unit = indices.leaf(inner.alu("xor", fixed, bits), Interval.of_extent(WARP * UNIT))
            self._move_in(inner, place, UNIT, unit + accumulator * (WARP * UNIT))

    def take(self, scope: Scope, outer: Place, number: LinearForm) -> None:
        """Neighbouring lanes take neighbouring halves of accumulators' rows."""
        indices, write, values = self.lowering.indices, self.write, self.lowering.values
        half = indices.remainder(scope, number, 2)
        accumulator = indices.remainder(scope, indices.quotient(scope, number, 2), write.count)
        row = indices.quotient(scope, number, 2 * write.count)
        lane, permuted = row * COLUMN_LANES + half * 2, 2 * COLUMN_LANES
        low = indices.value(scope, indices.remainder(scope, lane, permuted))
        low = scope.alu("xor", low, indices.value(scope, self._bits(scope, accumulator)))
        rest = self.base + accumulator * (WARP * UNIT) + indices.quotient(scope, lane, permuted) * (permuted * UNIT)
        element = element_of(self.scratch.type)
        units, rows = (values.allocate(scope, array_type(element, (2 * UNIT,)), name) for name in ("units", "rows"))
        for neighbour in range(2):
            unit = scope.alu("xor", low, indices.constant(neighbour)) if neighbour else low
            at = indices.pinned(rest + indices.leaf(unit, Interval.of_extent(permuted)) * UNIT)
            taken = self._taken(scope, at)
            scope.insert(StoreOp.of(taken, units, [indices.constant(neighbour * UNIT)]))
            for side in range(2):
                pair = LoadOp.of(units, [indices.constant(neighbour * UNIT + side * 2)], None, moved_type(element, 2))
                place = indices.constant(side * UNIT + neighbour * 2)
                scope.insert(StoreOp.of(scope.insert(pair).result, rows, [place]))
        place, lanes = list(outer), {ROW_LANES: row, COLUMN_LANES: half * 2}
        place[write.dimension] = accumulator
        with values.nest(scope, (2,)) as (inner, (side,)):
            place[-2] = side
            value = LoadOp.of(rows, [indices.value(inner, side * UNIT)], None, moved_type(element, UNIT))
            write.store(self.lowering, inner, inner.insert(value).result, place, lanes)

    def _bits(self, scope: Scope, accumulator: LinearForm) -> LinearForm:
        """Those that are reversed in the numbers of the lanes whose units of an accumulator are put somewhere."""
        indices = self.lowering.indices
        low, high = accumulator, indices.quotient(scope, accumulator, 2)
        return indices.remainder(scope, low, 2) + indices.remainder(scope, high, 2) * COLUMN_LANES


@dataclass(frozen=True)
class _Columns:
    """The axes along the columns of accumulators side by side: 8 · register `dimension` + 2 · lane + pair."""

    dimension: int
    rank: int
    run: int

    def coefficient(self, form: LinearForm) -> int | None:
        """How often a form counts columns, 0 or 1, if all the rest of it are multiples of a run then; else None."""
        found = {COLUMNS: 0, 2: 0, 1: 0}
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
        return 1 if counts == {1} and is_multiple(rest, self.run) else None

    def _unit(self, leaf: SSAValue) -> int | None:
        dimension = _dimension(leaf)
        if dimension >= 0:
            return {self.dimension: COLUMNS, self.rank - 1: 1}.get(dimension)
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
