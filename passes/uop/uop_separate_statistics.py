"""uop-separate-statistics: what a product needs to know of whole rows is reduced over ranges of its own."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.uop import KernelOp, ReduceOp
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.uses import replace_uses
from .free_ranges import FreeRanges, Ranges, another_range, over_ranges
from .rules.reductions import dependents


class UOpSeparateStatisticsPass(ModulePass):
    """In kernels in range form: reductions that another one needs, over the same range, and that depend on fewer ranges
    than it does, get a range of their own.

    Mean and variance of a row, which its product with a matrix needs, walk the row in front of the product. Nothing of
    the row is kept until then, and the threads that walk it are others than those that hold tiles of it: two axes of
    the schedule, therefore two ranges. Those of phases that walk the same data in the same way (a softmax) stay one.

    Leaves alone: everything else; kernels that are not in range form.
    """

    name = "uop-separate-statistics"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, KernelOp):
                _separate(kernel)


def _separate(kernel: KernelOp) -> None:
    block = kernel.body.block
    reductions = [op for op in block.ops if isinstance(op, ReduceOp)]
    if len(reductions) < 2:
        return
    free = FreeRanges()
    statistics: dict[ReduceOp, Ranges] = {}
    for op in reductions:
        around = free.of(op.results)
        for other in reductions:
            shared = frozenset(op.over) & frozenset(other.over)
            if shared and free.of(other.results) < around and dependents(op.inputs, other.results):
                statistics[other] = statistics.get(other, frozenset()) | shared
    own: dict[SSAValue, SSAValue] = {}
    for op in [each for each in reductions if each in statistics]:
        builder = Builder(block, before=op)
        with builder.at(op.location):
            for range in op.over:
                if range in statistics[op] and range not in own:
                    own[range] = another_range(builder, range)
            copy = over_ranges(builder, free, op, own)
        for old, new in zip(op.results, copy.results, strict=True):
            new.name_hint = old.name_hint
            replace_uses(old, new)
    erase_unused(block)
