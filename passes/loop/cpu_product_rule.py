"""The schedule of products on a CPU: a register tile of the output, along whose lanes one operand lies side by side."""

from __future__ import annotations

from math import prod

from ...dialects.axes import AxisKind
from .kernel_shape import Access, KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

WIDE_LANES = 16
"""Lanes of f32 of a machine that has 32 vector registers, and so room for larger tiles."""

TASKS = 16
"""Tasks, if there is as much work: threads that share a machine with others do not wait long for the last one."""


def cpu_product_schedule(shape: KernelShape, row: str, column: str, reduced: str, lanes: int) -> Choice:
    """Lanes along the columns or the rows, where an operand lies along them: the other's elements are broadcast. Where
    both lie along the reduced axis, so do the lanes, and are added together at the end."""
    factors = [access for access in shape.loads if reduced in access.axes]
    if _along(factors, column):
        return _broadcast(shape, row, column, lanes)
    if _along(factors, row):
        return _broadcast(shape, column, row, lanes)
    return _dot(shape, row, column, reduced, lanes)


def _along(factors: list[Access], axis: str) -> bool:
    return any(access.contiguous_axis == axis for access in factors)


def _rows(extent: int, most: int) -> int:
    """Rows of a tile: as many as divide the axis, if that is not much less than the most."""
    if extent <= most:
        return max(1, extent)
    return next((rows for rows in range(most, most // 2, -1) if extent % rows == 0), most)


def _broadcast(shape: KernelShape, row: str, column: str, lanes: int) -> Choice:
    """A tile of several rows by two vectors of columns: enough sums to hide their latency, few enough for the
    registers, and less than one load for each multiplication (measured: 8 x 2 of 16 lanes, 6 x 2 of 8)."""
    is_wide = lanes >= WIDE_LANES
    width = max(1, shape.extents[column])
    lanes = min(lanes, power_of_two_above(width))
    rows = _rows(max(1, shape.extents[row]), 8 if is_wide else 6)
    most = (24 if is_wide else 12) // rows
    vectors = min(ceil_div(width, lanes), max(2, min(8, power_of_two_above(most + 1) // 2)))
    columns = ceil_div(width, vectors * lanes)
    steps = ceil_div(max(1, shape.extents[row]), rows)
    others = prod(max(1, shape.extents[axis]) for axis in shape.parallel if axis not in (row, column))
    blocks = min(steps, ceil_div(TASKS, columns * others))
    axes: Axes = {
        row: factors_of((blocks, AxisKind.BLOCK), (ceil_div(steps, blocks), AxisKind.LOOP), (rows, AxisKind.REGISTER)),
        column: factors_of((columns, AxisKind.BLOCK), (vectors, AxisKind.REGISTER), (lanes, AxisKind.REGISTER)),
    }
    return Choice(schedule_of(shape, axes), f"product: tiles of {rows} x {vectors} vectors of {lanes} along {column}")


def _dot(shape: KernelShape, row: str, column: str, reduced: str, lanes: int) -> Choice:
    """A tile of rows by columns, each a vector of partial sums."""
    rows = _rows(max(1, shape.extents[row]), 4)
    columns = _rows(max(1, shape.extents[column]), 6 if lanes >= WIDE_LANES else 3)
    lanes = min(lanes, power_of_two_above(max(1, shape.extents[reduced])))
    steps, blocks = ceil_div(max(1, shape.extents[row]), rows), ceil_div(max(1, shape.extents[column]), columns)
    axes: Axes = {
        row: factors_of((steps, AxisKind.LOOP), (rows, AxisKind.REGISTER)),
        column: factors_of((blocks, AxisKind.BLOCK), (columns, AxisKind.REGISTER)),
        reduced: factors_of(
            (ceil_div(max(1, shape.extents[reduced]), lanes), AxisKind.LOOP), (lanes, AxisKind.REGISTER)
        ),
    }
    return Choice(schedule_of(shape, axes), f"product: tiles of {rows} x {columns} vectors of {lanes} along {reduced}")
