"""uop-plan-buffers: results of launches that are not needed at the same time share memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from ...dialects.types import byte_count
from ...dialects.uop import LaunchOp
from ...rewriting.diagnostics import emit_remark
from ...rewriting.lifetimes import last_readers

ALIGNMENT = 256
"""Bytes that every offset is a multiple of: what `cudaMalloc` guarantees, and a whole number of cache lines."""


class UOpPlanBuffersPass(ModulePass):
    """Gives each result of a launch that only the program itself needs a place in one arena.

    Two results overlap only if the last launch that reads one comes before the launch that writes the other.
    Largest first, each at the lowest offset that is free for as long as it is needed (greedy by size: Pisarchyk
    and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020). A remark tells the arena's size,
    the sum of what lies in it, and the most that is needed at any one launch, which no plan can go below.

    What the program returns outlives it, so it has memory of its own. A result that takes an operand's buffer lies
    where that does, which is then needed for as long as the result is. Leaves alone: kernels, functions without
    launches, functions whose launches are planned already.
    """

    name = "uop-plan-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                plan_function(function)


@dataclass
class Buffer:
    """A result in the arena: its bytes, the first and last launch that need it, and its offset once chosen."""

    value: SSAValue
    size: int
    first: int
    last: int
    offset: int = 0

    @property
    def end(self) -> int:
        return self.offset + self.size

    def meets(self, other: Buffer) -> bool:
        """Whether both are needed at some launch."""
        return self.first <= other.last and other.first <= self.last


def plan_function(function: FuncOp) -> None:
    """Write the plan on the launches of one function."""
    block = function.body.block
    launches = [op for op in block.ops if isinstance(op, LaunchOp)]
    if any(launch.arena is not None for launch in launches):
        return
    buffers = _buffers(block)
    if not buffers:
        return
    placed: list[Buffer] = []
    for buffer in sorted(buffers, key=lambda buffer: -buffer.size):  # equal sizes stay in the order of launches
        _place(buffer, placed)
        placed.append(buffer)
    offsets = {buffer.value: buffer.offset for buffer in placed}
    for launch in launches:
        if any(result in offsets for result in launch.results):
            launch.place([offsets.get(result) for result in launch.results])
    needed = [sum(b.size for b in buffers if b.first <= i <= b.last) for i in range(len(launches))]
    emit_remark(
        function,
        f"the {len(buffers)} buffers between the kernels of @{function.sym_name.data} take"
        f" {max(buffer.end for buffer in placed):,} bytes, {sum(buffer.size for buffer in buffers):,} without reuse"
        f" ({max(needed):,} are needed at once)",
    )


def _buffers(block: Block) -> list[Buffer]:
    """The results with buffers of their own that no return needs, in order."""
    readers = last_readers(block)
    place = {launch: i for i, launch in enumerate(op for op in block.ops if isinstance(op, LaunchOp))}
    return [
        Buffer(value, _aligned(byte_count(value.type)), place[launch], place[reader])
        for launch in place
        for value in launch.results
        if isinstance(reader := readers.get(value), LaunchOp)
    ]


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _place(buffer: Buffer, placed: list[Buffer]) -> None:
    """The lowest offset with room among the buffers that are needed while this one is."""
    for other in sorted((other for other in placed if other.meets(buffer)), key=lambda other: other.offset):
        if buffer.end <= other.offset:
            return
        buffer.offset = max(buffer.offset, other.end)
