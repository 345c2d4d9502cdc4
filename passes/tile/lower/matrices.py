"""tile.mma and reads by ldmatrix → instructions of a warp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from .values import Place

MOST_MATRICES = 4
"""Matrices that one ldmatrix loads."""


def lower_mma(lowering: Lowering, scope: Scope, op: MmaOp) -> None:
    """Unrolled loops over the instructions of a tile; the accumulators are changed in place when nobody else reads
    them."""
    _check_lanes(lowering, op)
    values = lowering.values
    c, a, b = (_array(lowering, scope, value) for value in op.operands)
    c_type, a_type, b_type = (value.type for value in op.operands)
    c_rank, a_rank, b_rank = op.fragment_ranks
    owner = op.accumulator.owner
    is_here = (owner if isinstance(owner, Block) else owner.parent) is op.parent
    if is_here and op.accumulator in values.arrays and op.accumulator.has_one_use():
        result = c
    else:
        result = values.array_of(scope, op.result, op.result.name_hint or "acc")
    atom = op.instruction.registers

    def load(inner: Scope, array: SSAValue, value: SSAValue, place: Place, registers: int) -> SSAValue:
        type = moved_type(element_of(value.type), registers)
        return inner.insert(LoadOp.of(array, values.array_place(inner, value, place), None, type)).result

    with values.nest(scope, shape_of(c_type)[:-c_rank]) as (inner, lead):
        c_place = [*lead, *[ZERO] * c_rank]
        a_place = [*lead[len(lead) - len(shape_of(a_type)) + a_rank :], *[ZERO] * a_rank]
        b_place = [*lead[len(lead) - len(shape_of(b_type)) + b_rank :], *[ZERO] * b_rank]
        fragments = (
            load(inner, c, op.accumulator, c_place, atom[2]),
            load(inner, a, op.a, a_place, atom[0]),
            load(inner, b, op.b, b_place, atom[1]),
        )
        changed = inner.insert(GPUMmaOp.of(op.atom.data, *fragments)).result
        inner.insert(StoreOp.of(changed, result, values.array_place(inner, op.result, c_place)))
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
    """As many matrices at once as one instruction loads: the last dimensions of the tile but the 4 bytes of a lane.

    A lane gives the address of a row: lane `l` that of row `l mod 8` of the matrix `l ÷ 8`.
    """
    _check_lanes(lowering, op)
    values, indices = lowering.values, lowering.indices
    shape = shape_of(op.result.type)
    lane = indices.remainder(lowering.root, lowering.grid.thread, WARP)
    row = indices.remainder(lowering.root, lane, MATRIX_ROWS)

    type = op.buffer.type
    assert is_memref(type)
    forms = [_linear(op, index) for index in op.indices]
    array = values.array_of(scope, op.result, op.result.name_hint or "fragment")
    for place, steps in _loads(shape):
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
        scope.insert(StoreOp.of(scope.insert(loaded).result, array, values.array_place(scope, op.result, place)))
    values.arrays[op.result] = array


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
            value = lowering.values.known[leaf]
        assert isinstance(value, LinearForm)
        total += value * coefficient
    return total
