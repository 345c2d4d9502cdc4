"""Rows that the registers of a block do not hold alone, held with slots in shared memory: read once, written once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...dialects.axes import AxisKind
from ...dialects.loop import ForOp, ReduceOp
from ...dialects.schedule import ScheduleAttr, Slots
from ...dialects.traversal import ops_inside
from ...dialects.types import shape_of
from ..held_values import held_at_once
from ..tile.tile_drop_masks import TileDropMasksPass
from .convert_loop_to_tile import ConvertLoopToTilePass
from .kernel_shape import KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, schedule_of

REGISTERS = 64 * 1024
"""Registers of a multiprocessor, which one block may have, up to 255 a thread."""

OF_A_THREAD = 14
"""Registers that a thread needs beside what it has of a row: for addresses, masks, and what it computes with. Without
one of them ptxas spills some kernel on some architecture."""

THREADS = 512
"""Threads of a block, each of which has a quarter of the registers of a scheduler's 4 warps: 128."""

MOST = 128
"""Values of 4 bytes that a thread holds."""

HELD_IN_VECTORS = 100
"""Those of them in registers, beside what it computes with. The rest, 56 KB of a block, passes over shared memory 4
times."""

HELD_ONE_BY_ONE = 88
"""As many of elements that have an address and a mask each, so that ptxas spills none of them on any architecture."""

HELD_IN_PAIRS = 80
"""As many of elements of 8 bytes, two registers each, as has what is computed with them."""

HELD_BESIDE_OTHERS = 64
"""As many where other operands are on their way, too; in vectors, runs of registers, if that is the whole row."""

MOST_WIDTH = 4
"""Elements of a vector: runs of 4 registers."""

DECLARED_BYTES = 44 * 1024
"""Shared memory of a block for the slots of all values but one, which a launch can ask for; some is left to what
threads exchange."""


@dataclass(frozen=True)
class RowValues:
    """What a thread has of each element of a row at once, where that is most: bytes of each value.

    held: what several walks need. read: that, and what else a walk reads before it combines it.
    """

    held: list[int]
    read: list[int]

    @staticmethod
    def of(shape: KernelShape, row: str) -> RowValues:
        """Found in a copy of the kernel."""
        copy = shape.kernel.clone()
        steps = ceil_div(shape.extents[row], THREADS)
        axes: Axes = {row: factors_of((steps, AxisKind.REGISTER), (THREADS, AxisKind.THREAD))}
        copy.schedule = ScheduleAttr(schedule_of(shape, axes))
        module = ModuleOp([copy])
        ConvertLoopToTilePass().apply(Context(), module)
        TileDropMasksPass().apply(Context(), module)
        ops = list(copy.body.block.ops)

        def is_of_row(value: SSAValue) -> bool:
            return shape_of(value.type)[:1] == (steps,)

        return RowValues(held_at_once(ops, is_of_row), held_at_once(ops, is_of_row, reads=True))

    def fit(self, elements: int, threads: int) -> bool:
        """Whether the threads of a block have registers for so many elements each."""
        return elements * _registers(self.read) + OF_A_THREAD <= min(255, REGISTERS // threads)


def _registers(values: list[int]) -> int:
    return sum(ceil_div(width, 4) for width in values)


def long_row_schedule(shape: KernelShape, row: str, width: int) -> Choice | None:
    """A row a block, each element read once, in vectors of `width`, and held until it is written; None where nothing is
    needed twice, or where a thread would hold too much."""
    extent = shape.extents[row]
    walks = sum(isinstance(op, ForOp | ReduceOp) and op.axis.axis.data == row for op in ops_inside(shape.kernel.body))
    if walks < 2 or extent > MOST * THREADS:
        return None
    values = RowValues.of(shape, row)
    each = _registers(values.held)
    if not each:
        return None
    # With slots, what the row is combined with is read where it is used, not held, too.
    operands = {load.buffer for load in shape.loads if row in load.axes}
    width = min(width, MOST_WIDTH)
    if len(operands) > len(values.held):
        held = HELD_BESIDE_OTHERS
        # With more, ptxas finds no runs of registers for vectors, and spills.
        if each * width * ceil_div(extent, THREADS * width) > held:
            width = 1
    elif max(values.held) > 4:
        held = HELD_IN_PAIRS
    else:
        held = HELD_ONE_BY_ONE if width == 1 else HELD_IN_VECTORS
    steps = ceil_div(extent, THREADS * width)
    slots = Slots(row, max(1, steps - held // (each * width)))
    declared = slots.steps * width * THREADS * (sum(values.held) - max(values.held))
    if each * width * steps > MOST or declared > DECLARED_BYTES:
        return None
    axes: Axes = {
        row: factors_of((steps, AxisKind.REGISTER), (THREADS, AxisKind.THREAD), (width, AxisKind.REGISTER)),
    }
    return Choice(
        schedule_of(shape, axes, slots=slots),
        f"rows of {extent}: a row a block of {THREADS} threads, in registers but for {slots.steps * width} elements a "
        "thread, which are in shared memory",
    )
