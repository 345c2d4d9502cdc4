"""The pass `choose-schedule`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.schedule import ScheduleAttr
from ...dialects.uop import KernelOp
from ...rewriting.diagnostics import emit_remark
from .kernel_shape import shape_of_kernel
from .schedule_rules import choose


@dataclass(frozen=True)
class ChooseSchedulePass(ModulePass):
    """Write a default `#tile.schedule` on each kernel in loop form, from its shape alone.

    Elementwise kernels get coalesced threads and 16-byte accesses, transposes squares of registers; rows are reduced by
    a thread, a warp or a block by their length; columns by threads side by side; a scanned axis is walked by one
    thread; products get block, thread and register tiles over staged, double-buffered slabs, those of 16-bit floats
    matrix instructions (matrix_rule.py); products of a few rows by a matrix read it once, in vectors
    (vector_product_rule.py).
    Leaves alone: kernels that have a schedule, and kernels that are not in loop form.
    """

    name = "choose-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if not isinstance(kernel, KernelOp) or kernel.schedule is not None or kernel.is_tensor_form:
                continue
            choice = choose(shape_of_kernel(kernel))
            kernel.schedule = ScheduleAttr(choice.schedule)
            emit_remark(kernel, f"@{kernel.sym_name.data}: {choice.reason}: {choice.schedule}")
