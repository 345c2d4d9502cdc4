"""The schedule of products of a few rows by a matrix: the matrix is read once, and reading it takes all the time."""

from __future__ import annotations

from math import prod

from ...dialects.axes import WARP, AxisKind
from .kernel_shape import Access, KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

MOST_ROWS = 4
"""Rows, whose sums a thread holds side by side; more of them are a product of matrices."""

LEAST_ELEMENTS = 4096
"""Elements of a matrix below which its kernel is a launch and little else."""

VECTOR_BYTES = 16
"""What a lane reads at once."""

SUM_BYTES = 256
"""Of the sums that a thread holds: those of its rows, for each element that it reads at once."""

RUN_BYTES = 64
"""The least that neighbouring lanes read of a row of the matrix: two sectors."""

FEW_BLOCKS = 64
"""Blocks that may stay few: about half of the multiprocessors of a large GPU."""

ROW_THREADS = 128
"""Threads of a block where the reduced axis is contiguous, and rows need no other warps."""

COLUMN_WARPS = 16
"""The most warps of a block whose sums of the same columns are added in shared memory."""

SHARED_BYTES = 32 * 1024
"""Shared memory for the sums of all warps: two thirds of what a kernel gets without asking."""

_Matrix = tuple[Access, str, str, int]


def vector_product(shape: KernelShape) -> _Matrix | None:
    """(load of the matrix, its free axis, the reduced axis, rows) where the kernel is such a product.

    The free axis of the matrix is one that no other factor has; the rows are the axes that the matrix does not have.
    """
    if len(shape.reduced) != 1 or shape.scanned or (reduced := shape.reduced[0]) in shape.parallel:
        return None
    factors = [access for access in shape.loads if reduced in access.axes]
    if len(factors) < 2:
        return None
    matrix = max(factors, key=lambda access: prod(shape.extents[axis] for axis in access.axes))
    vectors = frozenset[str]().union(*(access.axes for access in factors if access.axes != matrix.axes))
    free = [axis for axis in shape.parallel if axis in matrix.axes and axis not in vectors]
    rows = prod(shape.extents[axis] for axis in shape.parallel if axis not in matrix.axes)
    if reduced not in vectors or not free or rows > MOST_ROWS or not matrix.is_linear:
        return None
    contiguous = matrix.contiguous_axis
    if contiguous not in (*free, reduced):
        return None
    column = contiguous if contiguous in free else free[-1]
    if shape.extents[column] * shape.extents[reduced] < LEAST_ELEMENTS:
        return None
    return matrix, column, reduced, max(1, rows)


def vector_product_schedule(shape: KernelShape, matrix: Access, column: str, reduced: str, rows: int) -> Choice:
    """Lanes read the matrix by 16 bytes along its contiguous axis; all rows of the other factor are in registers."""
    along_columns = matrix.contiguous_axis == column
    axes: Axes = {
        axis: factors_of((max(1, shape.extents[axis]), AxisKind.REGISTER))
        for axis in shape.parallel
        if axis not in matrix.axes
    }
    others = prod(shape.extents[axis] for axis in matrix.axes if axis not in (column, reduced))
    schedule = _columns if along_columns else _rows
    return schedule(shape, axes, matrix, column, reduced, rows, max(1, others))


def _sums(shape: KernelShape) -> int:
    """How many sums a thread may hold."""
    return SUM_BYTES // max(4, shape.widest_bytes)


def _vector(shape: KernelShape, matrix: Access, axis: str) -> int:
    """Elements that a lane reads at once: 16 bytes, or less where rows of the matrix do not begin at vectors."""
    width = VECTOR_BYTES // matrix.element_bytes
    while shape.extents[axis] % width:
        width //= 2
    return width


def _columns(
    shape: KernelShape, axes: Axes, matrix: Access, column: str, reduced: str, rows: int, others: int
) -> Choice:
    """Lanes take neighbouring columns, and what is left of a block's threads is spread over the reduced axis."""
    extent, length = shape.extents[column], shape.extents[reduced]
    width = _vector(shape, matrix, column)
    lanes = min(WARP, power_of_two_above(ceil_div(extent, width)))
    while lanes * width * matrix.element_bytes > RUN_BYTES and ceil_div(extent, lanes * width) * others < FEW_BLOCKS:
        lanes //= 2
    # As many steps as there are elements in a vector: the other factor is read by vectors, too.
    steps = max(1, min(VECTOR_BYTES // matrix.element_bytes, _sums(shape) // (width * rows), length // WARP))
    steps = 1 << (steps.bit_length() - 1)
    warps = COLUMN_WARPS
    while warps > 1 and warps * lanes * width * rows * max(4, shape.widest_bytes) > SHARED_BYTES:
        warps //= 2
    threads = min(warps * WARP // lanes, power_of_two_above(ceil_div(length, steps)))
    axes[reduced] = factors_of(
        (ceil_div(length, threads * steps), AxisKind.LOOP), (threads, AxisKind.THREAD), (steps, AxisKind.REGISTER)
    )
    axes[column] = factors_of(
        (ceil_div(extent, lanes * width), AxisKind.BLOCK), (lanes, AxisKind.THREAD), (width, AxisKind.REGISTER)
    )
    reason = f"{rows} rows by a matrix: {lanes} x {width} columns a block, {threads} threads a column, {steps} at once"
    return Choice(schedule_of(shape, axes, outer=[reduced]), reason)


def _rows(shape: KernelShape, axes: Axes, matrix: Access, column: str, reduced: str, rows: int, others: int) -> Choice:
    """Lanes take neighbours along the reduced axis; each has several columns of the result, which share what it read
    of the other factor."""
    extent, length = shape.extents[column], shape.extents[reduced]
    width = _vector(shape, matrix, reduced)
    lanes = min(WARP, power_of_two_above(ceil_div(length, width)))
    each = max(1, min(4, _sums(shape) // (width * rows), power_of_two_above(extent)))
    groups = ROW_THREADS // lanes

    def blocks() -> int:
        return ceil_div(extent, groups * each) * others

    while each > 1 and blocks() < 2 * FEW_BLOCKS:
        each //= 2
    while groups > 1 and blocks() < 2 * FEW_BLOCKS and 2 * lanes * width <= length:
        lanes, groups = 2 * lanes, groups // 2
    axes[reduced] = factors_of(
        (ceil_div(length, lanes * width), AxisKind.LOOP), (lanes, AxisKind.THREAD), (width, AxisKind.REGISTER)
    )
    axes[column] = factors_of(
        (ceil_div(extent, groups * each), AxisKind.BLOCK), (groups, AxisKind.THREAD), (each, AxisKind.REGISTER)
    )
    reason = f"{rows} rows by a matrix: {lanes} threads a row of it, {width} at once, {each} of its rows a thread"
    # The reduced axis last: its threads are neighbours.
    return Choice(schedule_of(shape, axes, outer=[axis for axis in shape.extents if axis != reduced]), reason)
