"""uop-split-groups: an axis of which keys need only the quotient is two axes, one of groups and one inside of them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.uop import FloordivOp, FloormodOp, KernelOp, RangeOp, ReduceOp, constant_value
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from .names import distinct_names


@dataclass(frozen=True)
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
            names = [other.axis.axis.data for other in kernel.body.block.ops if isinstance(other, RangeOp)]
            _split(op, size, distinct_names(names, [op.axis.axis.data])[-1])
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


def _split(op: RangeOp, size: int, name: str) -> None:
    """Two ranges in the place of one, quotients and remainders of which are ranges, too."""
    assert op.parent is not None
    builder = Builder(op.parent, before=op)
    with builder.at(op.location):
        group = builder.insert(RangeOp.of(op.axis.axis.data, op.extent // size)).result
        inside = builder.insert(RangeOp.of(name, size)).result
        group.name_hint, inside.name_hint = op.result.name_hint, name
        number = builder.const(size, op.result.type)
        position = builder.alu("add", builder.alu("mul", group, number), inside)
    for use in list(op.result.uses):
        user = use.operation
        if use.index == 0 and isinstance(user, FloordivOp | FloormodOp) and constant_value(user.operands[1]) == size:
            user.result.replace_all_uses_with(group if isinstance(user, FloordivOp) else inside)
    op.result.replace_all_uses_with(position)
