"""tile.stage of slabs with one buffer: all threads copy, then meet at a barrier, or the lanes of a warp do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from ....dialects.gpu_kernel import AsyncCommitOp, AsyncWaitOp, WarpBarrierOp
from ....dialects.loop import ForOp
from ....dialects.tile import AxisOp, ReadOp, StageOp
from ....dialects.types import element_of
from ....dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp
from ....rewriting.diagnostics import PassError
from .indices import ZERO
from .lowering import Lowering
from .pipelines import Pipeline, pipelined_stages
from .scopes import Scope
from .steps import Steps
from .transposed_copies import slab_copy

VALUE_OPS = (AluOp, AxisOp, BitcastOp, CastOp, ConstOp, ExpandOp)
"""Ops that touch no memory but registers: they may stand between the stages of one group."""


@dataclass
class StageGroup:
    """Stages that follow each other in a block: their copies share one barrier, behind the last or in the loop that
    follows. Where each warp copies what it reads, its lanes alone meet."""

    lowering: Lowering
    scope: Scope
    open: bool = False
    asynchronous: bool = False
    by_warps: bool = True
    """Whether each warp has copied all that it reads."""
    ahead: Pipeline | None = None
    """The pipeline of a loop further down, if its first copies are under way."""

    def add(self, op: StageOp) -> None:
        """Copy the slab of a stage that is not copied ahead of its loop. Raises `PassError` for one that converts."""
        if element_of(op.buffer.type) != element_of(op.result.type):
            raise PassError(
                f"the slab of a buffer of {element_of(op.buffer.type)} has elements of {element_of(op.result.type)}",
                op,
                "copies of a GPU convert nothing: stage the buffer's own elements",
            )
        copy = slab_copy(self.lowering, op)
        copy.declare(self.lowering, 1)
        self.lowering.barrier_before(self.scope, op)
        copy.build(self.lowering, self.scope, ZERO)
        self.open = True
        self.asynchronous |= copy.asynchronous
        self.by_warps &= copy.by_warps(self.lowering)

    def close_before(self, op: Operation | None) -> None:
        """Wait for the group's copies when `op`, or the end of the block, does not belong to it.

        A loop whose slabs are copied ahead takes them over, if it can: see `join`.
        """
        if not isinstance(op, (StageOp, *VALUE_OPS)) and not (isinstance(op, ForOp) and pipelined_stages(op)):
            self.close(op)

    def pipeline_of(self, op: ForOp) -> Pipeline | None:
        """The pipeline of a loop in this block; None when no stage in it has several buffers."""
        return self.ahead if self.ahead is not None and self.ahead.op is op else Pipeline.of(self.lowering, op)

    def join(self, pipeline: Pipeline) -> None:
        """Leave the copies to the first group of a pipeline's, for which its first step waits, and meets at a
        barrier."""
        if self.asynchronous and not pipeline.is_asynchronous:
            self.close()
        self._begin_group()

    def close(self, op: Operation | None = None) -> None:
        """Wait for the group's copies, if there are any, in front of `op`; those of a loop behind it start before."""
        if not self.open:
            return
        if self.asynchronous:
            self.scope.insert(AsyncCommitOp.create())
            self.scope.insert(AsyncWaitOp.of(self._begin_ahead(op)))
        if self.by_warps:
            self.scope.insert(WarpBarrierOp.create())
        else:
            self.lowering.barrier(self.scope)
        self._begin_group()

    def _begin_group(self) -> None:
        self.open, self.asynchronous, self.by_warps = False, False, True

    def _begin_ahead(self, op: Operation | None) -> int:
        """Start the first copies of a loop that only reads of these slabs stand in front of; how many groups they
        are."""
        while isinstance(op, (ReadOp, *VALUE_OPS)):
            op = op.next_op
        if not isinstance(op, ForOp) or op in self.lowering.barriers or self.ahead is not None:
            return 0
        stages = pipelined_stages(op)
        wanted = [*op.limits.values, *(value for stage in stages for value in stage.operands[1:])]
        if not stages or any(stage.asynchronous is None for stage in stages) or not _are_positions(wanted):
            return 0
        self.ahead = pipeline = Pipeline.of(self.lowering, op)
        assert pipeline is not None
        pipeline.begin(self.scope, Steps.of(self.lowering, self.scope, op, pipeline.together))
        return pipeline.groups


def _are_positions(values: Sequence[SSAValue]) -> bool:
    """Whether indices are made of axes and loops alone, so that they are known anywhere in front of their loop."""
    stack, seen = list(values), set(values)
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Block):
            continue
        if not isinstance(owner, VALUE_OPS):
            return False
        new = [operand for operand in owner.operands if operand not in seen]
        seen.update(new)
        stack += new
    return True
