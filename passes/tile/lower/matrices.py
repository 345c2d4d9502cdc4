"""tile.mma and reads by ldmatrix → instructions of a warp."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, SSAValue

from ....dialects.atoms import COLUMN_LANES, MATRIX_ROWS, ROW_LANES
from ....dialects.axes import WARP, AxisKind
from ....dialects.gpu_kernel import LdmatrixOp, LoadOp, StoreOp
from ....dialects.gpu_kernel import MmaOp as GPUMmaOp
from ....dialects.tile import AxisOp, MmaOp, ReadOp
from ....dialects.types import element_of, is_memref, shape_of
from ....rewriting.diagnostics import PassError
from ....rewriting.linear import LinearForm
from ..linear import linear_form
from .accesses import flat_index, moved_type
from .grid import Grid
from .indices import ZERO
from .lowering import Lowering
from .scopes import Scope
from .stages import VALUE_OPS
from .values import Place, array_type

MOST_MATRICES = 4
"""Matrices that one ldmatrix loads."""


def lower_mma(lowering: Lowering, scope: Scope, op: MmaOp) -> None:
    """Unrolled loops over the instructions of a tile; the accumulators are changed in place when nobody else reads
    them. Steps along K are written out, each with the matrices that it reads."""
    _check_lanes(lowering, op)
    values = lowering.values
    by_step = [read for value in (op.a, op.b) if isinstance(read := value.owner, ReadOp) and _reads_by_step(read)]
    c_rank, a_rank, b_rank = op.fragment_ranks
    owner = op.accumulator.owner
    is_here = (owner if isinstance(owner, Block) else owner.parent) is op.parent
    is_kept = op.accumulator in values.arrays
    c = _array(lowering, scope, op.accumulator)
    arrays = {
        value: _array(lowering, scope, value)
        for value in (op.a, op.b)
        if value not in {read.result for read in by_step}
    }
    if not is_kept or (is_here and op.accumulator.has_one_use()):
        result = c
    else:
        result = values.array_of(scope, op.result, op.result.name_hint or "acc")
    atom = op.instruction.registers

    def place_of(value: SSAValue, rank: int, lead: Place) -> Place:
        """Where in a value the fragment of an instruction begins."""
        extents = len(shape_of(value.type)) - rank
        return [*[*lead, *[ZERO] * extents][:extents], *[ZERO] * rank]

    def load(inner: Scope, array: SSAValue, value: SSAValue, rank: int, lead: Place, registers: int) -> SSAValue:
        type, place = moved_type(element_of(value.type), registers), place_of(value, rank, lead)
        return inner.insert(LoadOp.of(array, values.array_place(inner, value, place, array), None, type)).result

    def factor(inner: Scope, value: SSAValue, rank: int, lead: Place, of_tile: Place, registers: int) -> SSAValue:
        """A fragment of A or B, in an array of all steps or of one."""
        if value in arrays:
            return load(inner, arrays[value], value, rank, lead, registers)
        type, place = moved_type(element_of(value.type), registers), place_of(value, rank, of_tile)
        at = values.place_in(inner, _extents(value, op.steps), place)
        return inner.insert(LoadOp.of(of_step[value], at, None, type)).result

    c_lead, a_lead, _ = op.leads
    for number, step in enumerate(product(*(range(a_lead[dimension]) for dimension in op.steps))):
        at = {dimension: LinearForm({}, place) for dimension, place in zip(op.steps, step, strict=True)}
        of_step: dict[SSAValue, SSAValue] = {read.result: _read_matrices(lowering, scope, read, at) for read in by_step}
        with values.nest(scope, c_lead) as (inner, of_tile):
            lead = [at.get(dimension, coordinate) for dimension, coordinate in enumerate(of_tile)]
            fragments = (
                load(inner, result if number else c, op.accumulator, c_rank, of_tile, atom[2]),
                factor(inner, op.a, a_rank, lead, of_tile, atom[0]),
                factor(inner, op.b, b_rank, lead, of_tile, atom[1]),
            )
            changed = inner.insert(GPUMmaOp.of(op.atom.data, *fragments)).result
            place = place_of(op.result, c_rank, of_tile)
            inner.insert(StoreOp.of(changed, result, values.array_place(inner, op.result, place, result)))
    values.arrays[op.result] = result


def is_of_matrix_lanes(grid: Grid) -> bool:
    """Whether lane l of a warp is the thread at row lane l ÷ 4 and column lane l mod 4."""
    digits = [(digit.kind, digit.extent) for digit in grid.digits[-2:]]
    return digits == [(AxisKind.LANE, ROW_LANES), (AxisKind.LANE, COLUMN_LANES)] and grid.threads % WARP == 0


def _check_lanes(lowering: Lowering, op: MmaOp | ReadOp) -> None:
    if not is_of_matrix_lanes(lowering.grid):
        raise PassError(
            f"{op.name} is of a warp, whose lanes are {ROW_LANES} along rows and {COLUMN_LANES} along columns, but the "
            "threads of the schedule's end are others",
            op,
            "give rows, columns and the reduced axis mma factors",
        )


def _array(lowering: Lowering, scope: Scope, value: SSAValue) -> SSAValue:
    values = lowering.values
    array = values.arrays.get(value)
    if array is None:
        array = values.array_of(scope, value, value.name_hint or "fragment")
        values.fill(scope, value, array)
    return array


def lower_matrix_read(lowering: Lowering, scope: Scope, op: ReadOp) -> None:
    """Read the matrices of a tile, unless each step of the product that takes them reads its own."""
    _check_lanes(lowering, op)
    if not _reads_by_step(op):
        lowering.values.arrays[op.result] = _read_matrices(lowering, scope, op, {})


def _extents(value: SSAValue, steps: Collection[int]) -> tuple[int, ...]:
    """The shape of what one step takes of a value."""
    return tuple(1 if dimension in steps else extent for dimension, extent in enumerate(shape_of(value.type)))


def _reads_by_step(op: ReadOp) -> bool:
    """Whether matrices are read in the steps of the one product that takes them, which stands right behind: a tile of
    them would take many registers. Nothing that is in between writes to shared memory."""
    uses = list(op.result.uses)
    if op.ldmatrix is None or len(uses) != 1:
        return False
    user = uses[0].operation
    if not isinstance(user, MmaOp) or user.parent is not op.parent or not user.steps:
        return False
    between = op.next_op
    while isinstance(between, (*VALUE_OPS, ReadOp)):
        between = between.next_op
    return between is user


def _read_matrices(lowering: Lowering, scope: Scope, op: ReadOp, step: Mapping[int, LinearForm]) -> SSAValue:
    """The array of a tile, or of a step of it: as many matrices at once as one instruction loads, the last dimensions
    but the 4 bytes of a lane.

    A lane gives the address of a row: lane `l` that of row `l mod 8` of the matrix `l ÷ 8`.

    step: coordinates along the dimensions that only one place of is read.
    """
    values, indices = lowering.values, lowering.indices
    shape = _extents(op.result, step)
    lane = indices.remainder(lowering.root, lowering.grid.thread, WARP)
    row = indices.remainder(lowering.root, lane, MATRIX_ROWS)

    type = op.buffer.type
    assert is_memref(type)
    forms = [_linear(op, index) for index in op.indices]
    hint = op.result.name_hint or "fragment"
    array = values.allocate(scope, array_type(element_of(op.result.type), shape, flat=True), hint)
    for of_step, steps in _loads(shape):
        place = [step.get(dimension, coordinate) for dimension, coordinate in enumerate(of_step)]
        count = prod(steps[:-1])
        number = indices.quotient(lowering.root, lane, MATRIX_ROWS)
        number = indices.remainder(lowering.root, number, count)
        of_lane = list(place)
        for dimension in reversed(range(len(shape) - 1)):
            if steps[dimension] > 1:
                of_lane[dimension] += indices.remainder(lowering.root, number, steps[dimension])
                number = indices.quotient(lowering.root, number, steps[dimension])
        lanes = {ROW_LANES: row, COLUMN_LANES: ZERO}
        if op.transposed is not None:
            lanes = {ROW_LANES: ZERO, COLUMN_LANES: ZERO}
            of_lane[-1] = row
        at = [form_at(lowering, form, of_lane, lanes) for form in forms]
        total = indices.pinned(flat_index(indices, scope, type, at) + lowering.slots.get(op.buffer, ZERO))
        start, offset = indices.value_and_offset(scope, total, type.element_type)
        loaded = LdmatrixOp.of(
            lowering.buffers[op.buffer],
            start,
            VectorType(type.element_type, [shape[-1] * count]),
            op.transposed is not None,
            offset,
        )
        scope.insert(StoreOp.of(scope.insert(loaded).result, array, values.place_in(scope, shape, of_step)))
    return array


def _loads(shape: Sequence[int]) -> Iterator[tuple[Place, list[int]]]:
    """Where in a tile each load begins, and its extents: as many matrices as one instruction loads, which lie behind
    each other in registers."""
    steps, left, split = [1] * len(shape), MOST_MATRICES, len(shape) - 2
    steps[-1] = shape[-1]
    while split >= 0 and shape[split] in (1, 2, 4) and shape[split] <= left:
        steps[split] = shape[split]
        left //= shape[split]
        split -= 1
    # Along the dimension before those that are loaded whole, what is left over takes smaller loads; runs of registers
    # begin at multiples of their length.
    extent = shape[split] if split >= 0 else 1
    for number, outer in enumerate(product(*(range(extent) for extent in shape[: max(0, split)]))):
        begin = 0
        while begin < extent:
            at = number * extent + begin
            size = next(size for size in (4, 2, 1) if size <= min(left, extent - begin) and at % size == 0)
            place = [*outer, begin, *[0] * (len(shape) - len(outer) - 1)]
            yield (
                [LinearForm({}, coordinate) for coordinate in place],
                [size if dimension == split else step for dimension, step in enumerate(steps)],
            )
            begin += size


def _linear(op: ReadOp, index: SSAValue) -> LinearForm:
    form = linear_form(index)
    if form is None:
        raise PassError("the index of matrices is not linear in axes and loops", op, "read them without ldmatrix")
    return form


def form_at(lowering: Lowering, form: LinearForm, place: Place, lanes: Mapping[int, LinearForm]) -> LinearForm:
    """A form of axes and loops with these coordinates of registers, and these of the lane axes of each extent."""
    total = LinearForm({}, form.constant)
    for leaf, coefficient in form.terms.items():
        if shape := shape_of(leaf.type):
            value = place[max(range(len(shape)), key=lambda dimension: shape[dimension])]
        elif isinstance(leaf.owner, AxisOp) and leaf.owner.axis.axis_kind is AxisKind.LANE:
            value = lanes[leaf.owner.extent]
        else:
            (value,) = lowering.values.elements(lowering.root, [leaf])
        assert isinstance(value, LinearForm)
        total += value * coefficient
    return total
