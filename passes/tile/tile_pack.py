"""tile-pack: what a task reads again and again lies together in an array of its own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from .accesses import kernels_of
from .tile_stage import stage_kernel

TASK_BYTES = 896 * 1024
"""What a task packs, at most: most of what it has for arrays, and of the second cache of a core."""


@dataclass(frozen=True)
class TilePackPass(ModulePass):
    """Copy all that a task reads of the buffers that `stage = [%x …]` of the schedule names to arrays of the task.

    What tile-stage does for a step of a reduction in the shared memory of a GPU, for a whole task of a CPU: rows that
    are far apart in a buffer are neighbours in its array, and with `along` so are the elements that lanes read.

    Leaves alone, with a remark: indices that are not linear, boxes for which `task_bytes` has no room. Leaves alone:
    reads of buffers that the schedule does not name.

    task_bytes: what the arrays of a kernel may take.
    """

    name = "tile-pack"

    task_bytes: int = TASK_BYTES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if kernel.schedule is not None and kernel.schedule.data.stage:
                for left in stage_kernel(kernel, kernel.schedule.data.stage, self.task_bytes, once=True):
                    emit_remark(left.read, f"%{left.buffer} is not packed here: {left.reason}")
                erase_unused(kernel.body.block)
