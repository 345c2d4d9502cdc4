"""The schedule of products on a CPU: a register tile of the output, along whose lanes one operand lies side by side."""

from __future__ import annotations

from math import prod

from ...dialects.axes import AxisKind
from ...dialects.schedule import Staging
from ...dialects.types import shape_of
from .kernel_shape import Access, KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

WIDE_LANES = 16
"""Lanes of f32 of a machine that has 32 vector registers, and so room for larger tiles."""

PACKED_ROWS = 32
"""Rows from which on packing pays: each element of a panel is then read several times."""

MOST_PANEL_BYTES = 896 * 1024
"""What a panel may take: most of the second cache of a core, and of what a task has for arrays."""

CACHE_BYTES = 512 * 1024
"""What an operand may take that stays in the second cache as it is."""

PAGE_BYTES = 4096
"""Rows that are so far apart, or a multiple of it, lie in the same few sets of a cache, and each in a page of its own
(measured: half the speed)."""

TASKS = 16
"""Tasks, if there is as much work: threads that share a machine with others do not wait long for the last one."""


def cpu_product_schedule(shape: KernelShape, row: str, column: str, reduced: str, lanes: int) -> Choice:
    """Lanes along the columns or the rows, where an operand lies along them or can be packed so: the other's elements
    are broadcast. Where both lie along the reduced axis and are too small for that, so do the lanes, which are added
    together at the end."""
    factors = [access for access in shape.loads if reduced in access.axes]
    for axis, other in ((column, row), (row, column)):
        if any(_runs_along(access, axis) for access in factors):
            return _broadcast(shape, other, axis, reduced, lanes)
    axis, other = (row, column) if shape.extents[row] <= shape.extents[column] else (column, row)
    if shape.extents[axis] >= lanes and shape.extents[other] >= PACKED_ROWS:
        return _broadcast(shape, other, axis, reduced, lanes)
    return _dot(shape, row, column, reduced, lanes)


def _runs_along(access: Access, axis: str) -> bool:
    """Whether neighbours along the axis lie side by side, as they do too where a window walks over them."""
    return bool(access.indices) and (access.indices[-1] or {}).get(axis) == 1


def _rows(extent: int, most: int) -> int:
    """Rows of a tile: as many as divide the axis, if that is not much less than the most."""
    if extent <= most:
        return max(1, extent)
    return next((rows for rows in range(most, most // 2, -1) if extent % rows == 0), most)


def _broadcast(shape: KernelShape, row: str, column: str, reduced: str, lanes: int) -> Choice:
    """A tile of several rows by two vectors of columns: enough sums to hide their latency, few enough for the
    registers, and less than one load for each multiplication (measured: 8 x 2 of 16 lanes, 6 x 2 of 8)."""
    is_wide = lanes >= WIDE_LANES
    width = max(1, shape.extents[column])
    lanes = min(lanes, power_of_two_above(width))
    rows = _rows(max(1, shape.extents[row]), 8 if is_wide else 6)
    most = (24 if is_wide else 12) // rows
    vectors = min(ceil_div(width, lanes), max(2, min(8, power_of_two_above(most + 1) // 2)))
    panel = _panel(shape, row, column, reduced)
    if panel is not None and not _runs_along(panel, column):
        while vectors > 1 and _panel_bytes(shape, panel, reduced, vectors * lanes) > MOST_PANEL_BYTES:
            vectors, rows = vectors // 2, _rows(max(1, shape.extents[row]), 2 * rows)
    columns = ceil_div(width, vectors * lanes)
    steps = ceil_div(max(1, shape.extents[row]), rows)
    others = prod(max(1, shape.extents[axis]) for axis in shape.parallel if axis not in (row, column))
    blocks = min(steps, ceil_div(TASKS, columns * others))
    axes: Axes = {
        row: factors_of((blocks, AxisKind.BLOCK), (ceil_div(steps, blocks), AxisKind.LOOP), (rows, AxisKind.REGISTER)),
        column: factors_of((columns, AxisKind.BLOCK), (vectors, AxisKind.REGISTER), (lanes, AxisKind.REGISTER)),
    }
    stage = _packed(shape, row, column, reduced, vectors * lanes)
    packed = "".join(f", %{staging.buffer} packed" for staging in stage)
    reason = f"product: tiles of {rows} x {vectors} vectors of {lanes} along {column}{packed}"
    return Choice(schedule_of(shape, axes, stage), reason)


def _panel(shape: KernelShape, row: str, column: str, reduced: str) -> Access | None:
    """The operand with the columns, if there is one and its rows are read often enough to be packed."""
    panels = [access for access in shape.loads if {column, reduced} <= access.axes and row not in access.axes]
    if len(panels) != 1 or shape.extents[row] < PACKED_ROWS or not panels[0].is_linear:
        return None
    return panels[0]


def _panel_bytes(shape: KernelShape, panel: Access, reduced: str, width: int) -> int:
    return shape.extents[reduced] * width * panel.element_bytes


def _packed(shape: KernelShape, row: str, column: str, reduced: str, width: int) -> tuple[Staging, ...]:
    """The operand with the columns, if its panels lie badly: elsewhere than along the columns, with rows that share a
    few sets of the cache, or with more of them than it holds."""
    panel = _panel(shape, row, column, reduced)
    if panel is None or _panel_bytes(shape, panel, reduced, width) > MOST_PANEL_BYTES:
        return ()
    if not _runs_along(panel, column):
        along = [place for place, index in enumerate(panel.indices) if index and column in index]
        return (Staging(panel.buffer, along=along[0]),) if len(along) == 1 else ()
    row_bytes = shape_of(panel.op.buffer.type)[-1] * panel.element_bytes
    if row_bytes % PAGE_BYTES == 0 or row_bytes * shape.extents[reduced] > CACHE_BYTES:
        return (Staging(panel.buffer),)
    return ()


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
