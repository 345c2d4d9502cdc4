"""tile.write of accumulators: lanes exchange what they hold, so that each stores a run of 16 bytes.

A lane of a matrix instruction holds 2 neighbours of a row: stored as they are, they are a quarter or half of 16 bytes.
Each warp puts 16 rows into a part of shared memory that is its own, and takes vectors of 16 bytes from there. Where a
product was transposed, because its result has few rows, an accumulator's columns are rows of the buffer, of which a
lane holds single elements: it puts 8 rows there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.ir import Operation, SSAValue

from ....dialects.axes import WARP
from ....dialects.gpu_kernel import IfOp, StoreOp, WarpBarrierOp
from ....dialects.loop import ForOp
from ....dialects.tile import AxisOp, ReduceAcrossOp, StageOp, WriteOp
from ....dialects.types import byte_width, element_count, element_of, is_memref, packed_strides, shape_of
from ....dialects.uop import EqOp, constant_value
from ....rewriting.diagnostics import emit_remark
from ....rewriting.linear import LinearForm
from ..linear import conjuncts, linear_form, negative_form
from .accesses import flat_index
from .grid import Digit, Grid
from .indices import ZERO
from .lowering import Lowering
from .matrices import form_at, is_of_matrix_lanes
from .pipelines import pipelined_stages
from .reductions import uses_shared_memory
from .row_columns import Columns
from .row_exchanges import RUN_BYTES, Columnwise, Pairs, Units
from .scopes import Scope
from .values import Place


@dataclass(frozen=True)
class RowWrite:
    """How the accumulators of a tile are written.

    columns: the axes along a row of the buffer. run: elements that a lane stores at once.
    indices: of the buffer. conditions: forms that are negative where an element is written, alike for the elements of a
    run.
    """

    op: WriteOp
    columns: Columns
    run: int
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
        indices = [form for index in op.indices if (form := linear_form(index)) is not None]
        conditions = [negative_form(condition) for condition in _open_conditions(lowering, op)]
        if len(indices) < len(op.indices) or not lowering.values.flat:
            return None
        place = LinearForm({})
        for form, stride in zip(indices, packed_strides(buffer.get_shape()), strict=True):
            place += form * stride
        columns = Columns.of(place, shape)
        if columns is None:
            return None
        run = min(RUN_BYTES // width, columns.elements // WARP)
        if columns.coefficient(place, run) != 1:
            return None
        forms = [form for form in conditions if form is not None and columns.coefficient(form, run) is not None]
        return RowWrite(op, columns, run, indices, forms) if len(forms) == len(conditions) else None

    def build(self, lowering: Lowering, scope: Scope) -> bool:
        """Write; False, and nothing is built, where shared memory has no room."""
        op, values, indices = self.op, lowering.values, lowering.indices
        element = element_of(op.value.type)
        exchange = Columnwise if self.columns.transposed else Pairs if byte_width(element) == 2 else Units
        size = exchange.elements(self.columns, element)
        warp, warps = _writing_warp(lowering, op)
        needed = warps * size
        scratch = _scratch(lowering, scope, op, needed)
        if scratch is None:
            emit_remark(
                op,
                f"lanes store what they hold, not runs of {self.run * byte_width(element)} bytes, which take "
                f"{needed * byte_width(element)} bytes of shared memory: the slabs leave less",
            )
            return False
        array = values.arrays.get(op.value)
        if array is None:
            array = values.array_of(scope, op.value, f"{op.buffer.name_hint or 'out'}_r")
            values.fill(scope, op.value, array)
        slab = exchange(
            lowering, op.value, self.columns, self.run, array, scratch, warp * size, partial(self._store, lowering)
        )
        shape = shape_of(op.value.type)
        own = {len(shape) - 2, len(shape) - 1, *(dimension for dimension, _ in self.columns.dimensions)}
        inside = [dimension in own for dimension in range(len(shape))]
        around = [1 if is_inside else extent for extent, is_inside in zip(shape, inside, strict=True)]
        with values.nest(scope, around) as (inner, outer):
            if element_count(around) > 1:  # the rows before have been taken
                inner.insert(WarpBarrierOp.create())
            slab.put(
                inner, outer, [extent if is_inside else 1 for extent, is_inside in zip(shape, inside, strict=True)]
            )
            inner.insert(WarpBarrierOp.create())
            lane = indices.remainder(lowering.root, lowering.grid.thread, WARP)
            with values.nest(inner, (slab.takes // WARP,)) as (innermost, (step,)):
                slab.take(innermost, outer, step * WARP + lane)
            if rest := slab.takes % WARP:
                branch = IfOp.of(indices.compare(inner, "lt", lane, LinearForm({}, rest)))
                with inner.inside(branch, branch.then.block) as innermost:
                    slab.take(innermost, outer, lane + LinearForm({}, slab.takes - rest))
        return True

    def _store(
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


def _open_conditions(lowering: Lowering, op: WriteOp) -> list[SSAValue]:
    """The conditions of the mask that are not known to hold where the write stands."""
    conditions = [] if op.mask is None else conjuncts(op.mask)
    return [condition for condition in conditions if not _is_known(lowering, condition)]


def _is_known(lowering: Lowering, condition: SSAValue) -> bool:
    known = lowering.values.known.get(condition)
    return isinstance(known, SSAValue) and constant_value(known) is True


def _writing_warp(lowering: Lowering, op: WriteOp) -> tuple[LinearForm, int]:
    """The number of this warp among those that write, and how many these are: in the branch of the first threads along
    an axis, by which a condition is known, the others do not."""
    grid, only_first = lowering.grid, set[Digit]()
    for condition in [] if op.mask is None else conjuncts(op.mask):
        owner = condition.owner
        if _is_known(lowering, condition) and isinstance(owner, EqOp) and isinstance(owner.operands[0].owner, AxisOp):
            only_first.add(grid.bind(owner.operands[0].owner))
    if not only_first:
        return lowering.indices.quotient(lowering.root, grid.thread, WARP), grid.threads // WARP
    number, count = ZERO, 1
    for digit in grid.digits[:-2]:  # the last are the lanes
        if digit not in only_first:
            number, count = number * digit.extent + digit.position, count * digit.extent
    return number, count


def _has_loops_behind(op: WriteOp) -> bool:
    behind = op.next_op
    while behind is not None:
        if behind.regions:
            return True
        behind = behind.next_op
    return False


def _scratch(lowering: Lowering, scope: Scope, op: WriteOp, count: int) -> SSAValue | None:
    """Shared memory for so many elements: that of a slab that nobody reads any more or, behind a barrier, of a slab of
    a loop."""
    element = element_of(op.value.type)
    fitting: list[tuple[StageOp, SSAValue]] = []
    for stage in lowering.kernel.body.walk():
        if isinstance(stage, StageOp):
            array = lowering.buffers[stage.result]
            if element_of(array.type) == element and element_count(shape_of(array.type)) >= count:
                fitting.append((stage, array))
    for stage, array in fitting:
        if _is_left(lowering.grid, stage, op):
            return array
    for stage, array in fitting:
        if isinstance(stage.parent_op(), ForOp):
            lowering.barrier(scope)
            return array
    if lowering.has_room(count * byte_width(element)):
        return lowering.shared_array(count, element, "rows")
    return None


def _is_left(grid: Grid, stage: StageOp, op: WriteOp) -> bool:
    """Whether the threads have met since the last of them read a slab: in a loop, whose slabs are copied ahead, or in a
    reduction, between its reads and a write."""
    reads = {use.operation for use in stage.result.uses}
    behind: Operation | None = stage
    while behind is not None and behind.parent is not op.parent:
        behind = behind.parent_op()
        reads.clear()
    while behind is not None and (behind := behind.next_op) is not None and behind is not op:
        if not reads and _meet(grid, behind):
            return True
        reads.discard(behind)
    return False


def _meet(grid: Grid, op: Operation) -> bool:
    """Whether all threads of the block meet in an op."""
    if isinstance(op, ReduceAcrossOp):
        return uses_shared_memory(grid, op)
    return isinstance(op, ForOp) and bool(pipelined_stages(op)) and op.axis.extent.data > 0
