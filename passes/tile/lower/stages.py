"""tile.stage of slabs with one buffer: all threads copy, then meet at a barrier."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from ....dialects.gpu_kernel import AsyncCommitOp, AsyncWaitOp
from ....dialects.loop import ForOp
from ....dialects.tile import AxisOp, StageOp
from ....dialects.types import element_of
from ....dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp
from ....rewriting.diagnostics import PassError
from .indices import ZERO
from .lowering import Lowering
from .pipelines import Pipeline, pipelined_stages
from .scopes import Scope
from .transposed_copies import slab_copy

VALUE_OPS = (AluOp, AxisOp, BitcastOp, CastOp, ConstOp, ExpandOp)
"""Ops that touch no memory but registers: they may stand between the stages of one group."""


@dataclass
class StageGroup:
    """Stages that follow each other in a block: their copies share one barrier, behind the last or in the loop that
    follows."""

    lowering: Lowering
    scope: Scope
    open: bool = False
    asynchronous: bool = False

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

    def close_before(self, op: Operation | None) -> None:
        """Wait for the group's copies when `op`, or the end of the block, does not belong to it.

        A loop whose slabs are copied ahead takes them over, if it can: see `join`.
        """
        if not isinstance(op, (StageOp, *VALUE_OPS)) and not (isinstance(op, ForOp) and pipelined_stages(op)):
            self.close()

    def join(self, pipeline: Pipeline) -> None:
        """Leave the copies to the first group of a pipeline's, for which its first step waits, and meets at a
        barrier."""
        if self.asynchronous and not pipeline.is_asynchronous:
            self.close()
        self.open = self.asynchronous = False

    def close(self) -> None:
        """Wait for the group's copies, if there are any."""
        if not self.open:
            return
        if self.asynchronous:
            self.scope.insert(AsyncCommitOp.create())
            self.scope.insert(AsyncWaitOp.of(0))
        self.lowering.barrier(self.scope)
        self.open = self.asynchronous = False
