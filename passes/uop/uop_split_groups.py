"""uop-split-groups: an axis of which keys need only the quotient is two axes, one of groups and one inside of them."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.uop import FloordivOp, KernelOp, RangeOp, ReduceOp, constant_value
from ...rewriting.dead import erase_unused
from .split_range import split_range


class UOpSplitGroupsPass(ModulePass):
    """Split ranges of attention in range form that are divided by a number: `h = 32`, of which keys are those of head
    `h // 8`, into `h = 4` and `h1 = 8`. The keys do not vary with the second one then, so that a schedule can let what
    has the same keys share them.

    Leaves alone: kernels without `online_attention`, ranges with limits, ranges that are reduced, and numbers that do
    not divide the extent.
    """

    name = "uop-split-groups"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and not kernel.is_tensor_form:
                _split_ranges(kernel)


def _split_ranges(kernel: KernelOp) -> None:
    ops = list(kernel.body.block.ops)
    reductions = [op for op in ops if isinstance(op, ReduceOp)]
    if not any(op.monoid.data == "online_attention" for op in reductions):
        return
    reduced = {range for op in reductions for range in op.over}
    ranges = [op for op in ops if isinstance(op, RangeOp)]
    for op in ranges:
        if op.result not in reduced and not op.limits.values and (size := _group(op)) is not None:
            split_range(op, size)
    erase_unused(kernel.body.block)


def _group(op: RangeOp) -> int | None:
    """The greatest number that the range is divided by, if it makes whole groups."""
    sizes = [size for use in op.result.uses if (size := _divisor(use.operation, op.result)) is not None]
    return max((size for size in sizes if op.extent % size == 0), default=None)


def _divisor(op: object, dividend: SSAValue) -> int | None:
    if not isinstance(op, FloordivOp) or op.operands[0] is not dividend:
        return None
    number = constant_value(op.operands[1])
    return number if isinstance(number, int) and number > 1 else None
