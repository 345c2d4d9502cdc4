"""Rows that the registers of a block do not hold alone, held with slots in shared memory: read once, written once."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.axes import AxisKind
from ...dialects.loop import ForOp, ReduceOp
from ...dialects.schedule import Schedule, ScheduleAttr, Slots
from ...dialects.traversal import ops_inside
from ...dialects.types import shape_of
from ...dialects.uop import KernelOp
from ..held_values import held_bytes
from ..tile.tile_drop_masks import TileDropMasksPass
from .convert_loop_to_tile import ConvertLoopToTilePass
from .kernel_shape import KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, schedule_of

THREADS = 512
"""Threads of a block, each of which has a quarter of the registers of a scheduler's 4 warps: 128."""

MOST = 128
"""Elements of 4 bytes that a thread holds."""

HELD_IN_VECTORS = 100
"""Those of them in registers, beside what it computes with. The rest, 56 KB of a block, passes over shared memory 4
times."""

HELD_ONE_BY_ONE = 88
"""As many of elements that have an address and a mask each, so that ptxas spills none of them on any architecture."""

MOST_WIDTH = 4
"""Elements of a vector: runs of 4 registers."""


def long_row_schedule(shape: KernelShape, row: str, width: int) -> Choice | None:
    """A row a block, each element read once, in vectors of `width`, and held until it is written; None where nothing is
    needed twice, where a thread would hold more than one value of 4 bytes an element, or too many elements."""
    extent = shape.extents[row]
    # With other operands on their way, too, ptxas finds no runs of registers for vectors, and spills.
    operands = {load.buffer for load in shape.loads if row in load.axes}
    width = min(width, MOST_WIDTH) if len(operands) == 1 else 1
    walks = sum(isinstance(op, ForOp | ReduceOp) and op.axis.axis.data == row for op in ops_inside(shape.kernel.body))
    steps = ceil_div(extent, THREADS * width)
    if walks < 2 or steps > MOST // width:
        return None
    axes: Axes = {
        row: factors_of((steps, AxisKind.REGISTER), (THREADS, AxisKind.THREAD), (width, AxisKind.REGISTER)),
    }
    # With slots, what the row is combined with is read where it is used, not held, too.
    held = HELD_ONE_BY_ONE if width == 1 else HELD_IN_VECTORS // width
    slots = Slots(row, max(1, steps - held))
    schedule = schedule_of(shape, axes, slots=slots)
    if _held_bytes(shape.kernel, schedule, steps) > 4:
        return None
    return Choice(
        schedule,
        f"rows of {extent}: a row a block of {THREADS} threads, in registers but for {slots.steps * width} elements a "
        "thread, which are in shared memory",
    )


def _held_bytes(kernel: KernelOp, schedule: Schedule, steps: int) -> int:
    """What a thread holds of the row at a time, in bytes an element, found in a copy of the kernel."""
    copy = kernel.clone()
    copy.schedule = ScheduleAttr(schedule)
    module = ModuleOp([copy])
    ConvertLoopToTilePass().apply(Context(), module)
    TileDropMasksPass().apply(Context(), module)
    return held_bytes(list(copy.body.block.ops), lambda value: shape_of(value.type)[:1] == (steps,))
