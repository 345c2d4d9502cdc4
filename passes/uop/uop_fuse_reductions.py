"""uop-fuse-reductions: a reduction and one that needs its result, in one walk over their ranges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.uop import KernelOp, LoadOp, ReduceOp, StoreOp
from ...rewriting.builder import Builder
from ...rewriting.cse import eliminate_common_subexpressions
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from ...rewriting.driver import rewrite
from ...rewriting.patterns import Assumption
from ...rewriting.rules import Rules
from ...rewriting.uses import replace_uses
from ..held_values import held_bytes
from .free_ranges import FreeRanges, another_range, over_ranges
from .rules.dependent_reductions import DEPENDENT_REDUCTIONS
from .rules.reductions import dependents, extents_of
from .rules.weighted_sums import WEIGHTED_SUMS

FUSED_REDUCTIONS = Rules(WEIGHTED_SUMS, DEPENDENT_REDUCTIONS)
"""All rules of the pass."""

LONG_ROW = 32768
"""Elements that a block holds in registers, to use them again: 1024 threads of 32."""

HELD_ROW = 65536
"""Elements of 4 bytes that a block holds with the help of shared memory: 512 threads of 128."""

WARP_ROW = 2048
"""Elements that a warp holds in registers: 32 lanes of 64."""


@dataclass(frozen=True)
class UOpFuseReductionsPass(ModulePass):
    """Apply the rules of weighted_sums.py and dependent_reductions.py in passes/uop/rules to kernels in range form,
    where that saves a walk over memory or an exchange between warps.

    A maximum and a sum of exp(x − max x) become one reduction of both, the online softmax. What it saves is a walk over
    rows that a block cannot hold. Where it can, each exponential is computed once and used again, and the two
    reductions stay; but where nothing else needs them (log-sum-exp), one exchange takes the place of two. Terms move by
    less than 2.3e-8, the sum by the rounding of what is rescaled; NaN and infinities are as before.
    With a sum of exponentials times weights they become online attention, where each x is a sum of products itself,
    whatever the length of the rows: the sums of products are then formed once.
    Leaves alone: kernels that are not in range form, all other reductions.

    row: the most elements of a row that a block holds in registers.
    held_row: the most that it holds with shared memory, if it is one value of 4 bytes an element at a time.
    warp_row: the most elements of a row that one warp reduces, for which there is no exchange.
    """

    name = "uop-fuse-reductions"

    rounding: ClassVar[str] = "sums of exponentials are added up in another order, and rescaled"

    row: int = LONG_ROW
    held_row: int = HELD_ROW
    warp_row: int = WARP_ROW

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if not isinstance(kernel, KernelOp) or not self._pays(kernel):
                continue
            if fuse_reductions(kernel):
                monoids = {op.monoid.data for op in kernel.body.block.ops if isinstance(op, ReduceOp)}
                what = "attention is one pass" if "online_attention" in monoids else "maximum and sum are one walk"
                emit_remark(kernel, f"@{kernel.sym_name.data}: {what}, in which sums of exponentials are rescaled")

    def _pays(self, kernel: KernelOp) -> bool:
        """Whether one walk over the rows of the kernel's reductions is less work than two."""
        ops = kernel.body.block.ops
        reductions = [op for op in ops if isinstance(op, ReduceOp)]
        if len(reductions) < 2:
            return False
        if any(op.monoid.data == "max" and _is_of_reductions(op, reductions) for op in reductions):
            return True
        over = reductions[0].over
        elements = prod(extents_of(over))
        stored = [operand for op in ops if isinstance(op, StoreOp) for operand in op.operands]
        if not _vary(stored, over):
            return elements > self.warp_row
        return elements > self.row and (elements > self.held_row or not _is_held(kernel, reductions))


def fuse_reductions(kernel: KernelOp) -> bool:
    """Apply the rules to a kernel until none applies; whether any did."""
    changed = False
    while rewrite(kernel, FUSED_REDUCTIONS, assuming=(Assumption.ROUNDING,)).fired:
        changed = True
        eliminate_common_subexpressions(kernel)  # reductions are joined where they are of the same values
    if changed:
        _separate_ranges(kernel)
    return changed


def _separate_ranges(kernel: KernelOp) -> None:
    """Give a reduction inside of another a range of its own where the other's elements depend on the one it binds: the
    sum of the scores, which stood in front of the loop over the channels, is inside of it now."""
    block, free = kernel.body.block, FreeRanges()
    reductions = [op for op in block.ops if isinstance(op, ReduceOp)]
    for outer in reductions:
        around = free.of(outer.results)
        for inner in reductions:
            taken = [range for range in inner.over if range in around]
            if not taken or inner is outer or not dependents(outer.inputs, inner.results):
                continue
            builder = Builder(block, before=inner)
            with builder.at(inner.location):
                own = {range: another_range(builder, range) for range in taken}
                copy = over_ranges(builder, free, inner, own)
            for old, new in zip(inner.results, copy.results, strict=True):
                replace_uses(old, new)
    erase_unused(block)


def _is_held(kernel: KernelOp, reductions: Sequence[ReduceOp]) -> bool:
    """Whether a block can hold long rows: they lie in memory element by element, and of each only 4 bytes are needed
    again at a time."""
    over, ops = reductions[0].over, list(kernel.body.block.ops)
    if len(over) != 1 or any(op.over != over for op in reductions):
        return False
    if any(isinstance(op, LoadOp) and _vary(op.indices[:-1], over) for op in ops):
        return False
    return held_bytes(ops, lambda value: _vary([value], over)) <= 4


def _is_of_reductions(op: ReduceOp, reductions: Sequence[ReduceOp]) -> bool:
    """Whether each element that the op reduces is computed by a reduction, which every walk would do again."""
    return any(
        dependents(op.inputs, other.results) and dependents(other.inputs, op.over) and other.over != op.over
        for other in reductions
        if other is not op
    )


def _vary(values: Iterable[SSAValue], ranges: Collection[SSAValue]) -> bool:
    """Whether the values vary with one of the ranges, outside of reductions over them."""
    seen: set[SSAValue] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value in ranges:
            return True
        if value not in seen and isinstance(value.owner, Operation) and not isinstance(value.owner, ReduceOp):
            stack += value.owner.operands
        seen.add(value)
    return False
