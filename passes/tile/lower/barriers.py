"""Where all threads must have arrived before shared memory is overwritten."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, SSAValue

from ....dialects.loop import ForOp
from ....dialects.tile import ReadOp, ReduceAcrossOp, ScanAcrossOp, StageOp, WriteOp
from .pipelines import pipelined_stages
from .stages import VALUE_OPS

Read = frozenset[SSAValue | Operation]
"""Slabs, and the scratch arrays of reductions and scans, that some thread may still read: those read since the last
barrier."""

_NOTHING: Read = frozenset()


class BarrierPlan:
    """The ops in front of whose writes a barrier must stand: a slab or a scratch array may still be read there.

    Found by following each block to the end, and each loop until what may be read at its end may be read at its
    begin. Reads see what was written because a barrier stands behind every write: behind a group of stages, inside a
    reduction or a scan, at the top of a loop whose slabs are copied ahead, also for the stages in front of it. Behind
    stages of which each warp reads a part of its own, it may be one of each warp. Behind a write to a slab stands one,
    too, and none in front: a thread writes where nobody else has read.
    """

    def __init__(
        self,
        block: Block,
        uses_shared_memory: Callable[[ReduceAcrossOp | ScanAcrossOp], bool],
        is_read_by_warps: Callable[[StageOp], bool],
    ):
        self.ops: set[Operation] = set()
        self._uses_shared_memory = uses_shared_memory
        self._is_read_by_warps = is_read_by_warps
        self._follow(block, _NOTHING)

    def _follow(self, block: Block, read: Read) -> Read:
        """What may still be read behind the block when `read` may be in front of it."""
        copied: list[StageOp] = []
        for op in block.ops:
            if copied and not isinstance(op, (StageOp, *VALUE_OPS)):
                if not (isinstance(op, ForOp) and pipelined_stages(op)):
                    read = self._meet_behind(copied, read)
                copied = []
            if isinstance(op, StageOp):
                if op not in self._ahead(op):
                    read = self._write(op, {op.result}, read)
                    copied.append(op)
            elif isinstance(op, ReadOp):
                if isinstance(op.buffer.owner, StageOp):
                    read |= {op.buffer}
            elif isinstance(op, WriteOp):
                if isinstance(op.buffer.owner, StageOp):
                    read = _NOTHING
            elif isinstance(op, ReduceAcrossOp | ScanAcrossOp):
                if self._uses_shared_memory(op):
                    self._write(op, {op}, read)
                    read = frozenset((op,))
            elif isinstance(op, ForOp):
                read = self._follow_loop(op, read)
        return self._meet_behind(copied, read) if copied else read

    def _meet_behind(self, copied: Sequence[StageOp], read: Read) -> Read:
        return read if all(map(self._is_read_by_warps, copied)) else _NOTHING

    def _ahead(self, op: StageOp) -> list[StageOp]:
        loop = op.parent_op()
        return pipelined_stages(loop) if isinstance(loop, ForOp) else []

    def _follow_loop(self, op: ForOp, read: Read) -> Read:
        if ahead := pipelined_stages(op):
            read = self._write(op, {stage.result for stage in ahead}, read)
            behind = self._follow(op.body.block, _NOTHING)
            return behind if op.axis.extent.data else read
        while True:
            around = read | self._follow(op.body.block, read)
            if around == read:
                return read
            read = around

    def _write(self, op: Operation, written: set[SSAValue | Operation] | set[SSAValue], read: Read) -> Read:
        if not read.isdisjoint(written):
            self.ops.add(op)
        return _NOTHING if op in self.ops else read
