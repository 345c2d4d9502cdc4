"""The rules behind `choose-cpu-schedule`: one function for each kind of kernel, from its shape and the machine's
vectors."""

from __future__ import annotations

from math import prod

from ...dialects.axes import AxisKind
from ...dialects.loop import ReduceOp
from ...dialects.schedule import Factor
from .attention_shape import attention_shape
from .cpu_attention_rule import cpu_attention_schedule
from .cpu_product_rule import cpu_product_schedule
from .kernel_shape import KernelShape, contiguous_axis, product_axes, reduces_in_stages
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of
from .transpose_rule import transposed_axes

VECTORS = 4
"""Vectors side by side in a step of a loop: as many chains of dependent operations as hide the latency of one."""

STAGED_VECTORS = 16
"""Vectors of a step that a monoid in two stages combines, which it then adds to what there is: in scalars."""

TASK_ELEMENTS = 8192
"""Elements of a row that one task computes: their operands and results fit the first cache."""


ROWS = 8
"""Rows that a task reduces side by side, where they share what they are multiplied with and that is long: measured,
a product of a matrix and a vector then takes two thirds of the time (2048 rows of 5632)."""

SHARED_BYTES = 16 * 1024
"""Half of the first cache: a longer vector is not there any more when the next row comes, which has gone through it. Of
shorter ones a row after the other is one stream of memory, which is faster than eight."""


def choose_for_cpu(shape: KernelShape, vector_bytes: int) -> Choice:
    """The default schedule of a kernel for a machine with vectors of so many bytes."""
    moved = [access.element_bytes for access in (*shape.loads, *shape.stores) if access.axes]  # in vectors
    lanes = vector_bytes // max(4, min(8, max(moved, default=4)))
    if shape.scanned:
        return _scan(shape, lanes)
    if not shape.reduced:
        transposed = transposed_axes(shape)
        return _elementwise(shape, lanes) if transposed is None else _transpose(shape, *transposed, lanes)
    if (attention := attention_shape(shape)) is not None:
        return cpu_attention_schedule(shape, attention, lanes)
    if (axes := product_axes(shape)) is not None:
        return cpu_product_schedule(shape, *axes, lanes)
    contiguous = contiguous_axis(shape)
    if contiguous in shape.reduced or not shape.rows:
        return _row_reduction(shape, contiguous if contiguous in shape.reduced else shape.reduced[-1], lanes)
    return _column_reduction(shape, contiguous if contiguous in shape.rows else shape.rows[-1], lanes)


def _vectors(extent: int, lanes: int, most: int = VECTORS) -> tuple[int, int]:
    """(vectors, lanes) of a step along an axis: no more of either than the axis has elements."""
    lanes = min(lanes, power_of_two_above(extent))
    return min(most, ceil_div(extent, lanes)), lanes


def _elementwise(shape: KernelShape, lanes: int) -> Choice:
    """Vectors along the innermost axis, a run of it a task."""
    axes: Axes = {}
    if not shape.parallel:
        return Choice(schedule_of(shape, axes), "one element: one task")
    inner = shape.parallel[-1]
    extent = max(1, shape.extents[inner])
    vectors, lanes = _vectors(extent, lanes)
    steps = ceil_div(min(extent, TASK_ELEMENTS), vectors * lanes)
    axes[inner] = factors_of(
        (ceil_div(extent, steps * vectors * lanes), AxisKind.BLOCK),
        (steps, AxisKind.LOOP),
        (vectors, AxisKind.REGISTER),
        (lanes, AxisKind.REGISTER),
    )
    return Choice(schedule_of(shape, axes), f"elementwise: {vectors} vectors of {lanes} along {inner} a step")


def _transpose(shape: KernelShape, loaded: str, stored: str, lanes: int) -> Choice:
    """Squares of as many vectors as they have lanes, loaded along one axis and stored along the other."""
    axes: Axes = {}
    for axis in (loaded, stored):
        extent = shape.extents[axis]
        count = min(lanes, power_of_two_above(extent))
        axes[axis] = factors_of((ceil_div(extent, count), AxisKind.BLOCK), (count, AxisKind.REGISTER))
    steps = [factor for factor in axes[stored] if factor.kind is AxisKind.BLOCK]
    if steps:  # A task fills whole rows of the output.
        axes[stored] = [Factor(steps[0].extent, AxisKind.LOOP), axes[stored][-1]]
    reason = f"loads along {loaded}, stores along {stored}: squares of {lanes} vectors, transposed"
    return Choice(schedule_of(shape, axes), reason)


def _row_reduction(shape: KernelShape, row: str, lanes: int) -> Choice:
    """A row a task: vectors along it, whose lanes are combined at its end."""
    extent = max(1, shape.extents[row])
    if (beside := _axis_of_rows(shape, row)) is not None:
        axis, rows = beside
        axes: Axes = {
            axis: factors_of((ceil_div(shape.extents[axis], rows), AxisKind.BLOCK), (rows, AxisKind.REGISTER)),
            row: factors_of((ceil_div(extent, lanes), AxisKind.LOOP), (lanes, AxisKind.REGISTER)),
        }
        reason = f"rows of {extent}: {rows} side by side share what they read, a vector of {lanes} along {row} a step"
        return Choice(schedule_of(shape, axes), reason)
    vectors, lanes = _vectors(extent, lanes, STAGED_VECTORS if reduces_in_stages(shape) else VECTORS)
    axes = {
        row: factors_of(
            (ceil_div(extent, vectors * lanes), AxisKind.LOOP),
            (vectors, AxisKind.REGISTER),
            (lanes, AxisKind.REGISTER),
        )
    }
    return Choice(schedule_of(shape, axes), f"rows of {extent}: {vectors} vectors of {lanes} along {row} a step")


def _axis_of_rows(shape: KernelShape, row: str) -> tuple[str, int] | None:
    """The axis along which rows share what is long, and how many are reduced side by side."""
    axis = next((axis for axis in reversed(shape.rows) if shape.extents[axis] >= ROWS), None)
    if axis is None or row in shape.parallel or shape.reduced != [row]:
        return None
    along = [load for load in shape.loads if row in load.axes]
    shared = sum(load.element_bytes * shape.extents[row] for load in along if axis not in load.axes)
    reductions = sum(isinstance(op, ReduceOp) for op in shape.kernel.body.walk())
    if shared <= SHARED_BYTES or not any(axis in load.axes for load in along) or reductions > ROWS // 2:
        return None
    return axis, ROWS // power_of_two_above(reductions)


def _column_reduction(shape: KernelShape, inner: str, lanes: int) -> Choice:
    """Columns side by side in vectors, one step of the reduction after the other."""
    extent = max(1, shape.extents[inner])
    vectors, lanes = _vectors(extent, lanes)
    axes: Axes = {
        inner: factors_of(
            (ceil_div(extent, vectors * lanes), AxisKind.BLOCK),
            (vectors, AxisKind.REGISTER),
            (lanes, AxisKind.REGISTER),
        )
    }
    length = prod(max(1, shape.extents[axis]) for axis in shape.reduced)
    return Choice(schedule_of(shape, axes), f"columns of {length}: {vectors} vectors of {lanes} columns a task")


def _scan(shape: KernelShape, lanes: int) -> Choice:
    """One step after the other along the scanned axis; vectors along another one where the data lies along it."""
    axes: Axes = {axis: factors_of((max(1, shape.extents[axis]), AxisKind.LOOP)) for axis in shape.scanned}
    inner = contiguous_axis(shape)
    walked = ", ".join(shape.scanned)
    if inner not in shape.rows:
        return Choice(schedule_of(shape, axes), f"scan along {walked}: a row a task, one element after the other")
    extent = max(1, shape.extents[inner])
    vectors, lanes = _vectors(extent, lanes)
    axes[inner] = factors_of(
        (ceil_div(extent, vectors * lanes), AxisKind.BLOCK),
        (vectors, AxisKind.REGISTER),
        (lanes, AxisKind.REGISTER),
    )
    return Choice(schedule_of(shape, axes), f"scan along {walked}: {vectors} vectors of {lanes} along {inner} a task")
