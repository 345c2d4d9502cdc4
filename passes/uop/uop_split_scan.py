"""uop-split-scan: long scans become scans of blocks side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from ...dialects.monoids import Monoid
from ...dialects.types import element_count, element_of, is_float, shape_of
from ...dialects.uop import ScanAxisOp
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.uses import replace_uses


@dataclass(frozen=True)
class UOpSplitScanPass(ModulePass):
    """Split `uop.scan_axis` along a long axis, of which there are too few to keep a GPU busy, in three steps:

    1. a scan of each block of `steps` elements, all blocks at once;
    2. a scan of the blocks' last elements, which is split again where it is long;
    3. each element combined with what the blocks before its own give.

    Blelloch, "Prefix sums and their applications" (1990). Sums of floats are rounded in another order for it, and
    less: partial sums are shorter.
    Along the last axis several threads scan a row together, so that only few and very long rows are split.
    Leaves alone: scans of at most four blocks, and those of more rows than `rows` or `few_rows`; products of floats,
    for the product of a block overflows where that of all elements does not (0 · ∞ is NaN).

    steps: how many elements one thread walks. rows: how many threads are enough.
    row_steps, few_rows: the same along the last axis, of the threads of one block.
    """

    name = "uop-split-scan"

    steps: int = 64
    rows: int = 4096
    row_steps: int = 16384
    few_rows: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    self._split_in(block)

    def _split_in(self, block: Block) -> None:
        scans = [op for op in block.ops if isinstance(op, ScanAxisOp) and self._is_split(op)]
        builder = Builder(block)
        for op in scans:
            builder.before = op
            with builder.at(op.location):
                results = self._scan(builder, op.monoid.monoid, list(op.operands), op.axis.value.data)
            for old, new in zip(op.results, results, strict=True):
                replace_uses(old, new)
        if scans:
            erase_unused(block)

    def _is_split(self, op: ScanAxisOp) -> bool:
        type = op.operands[0].type
        overflows = op.monoid.data == "mul" and is_float(element_of(type))
        return self._is_long(shape_of(type), op.axis.value.data) and not overflows

    def _steps(self, shape: Sequence[int], axis: int) -> int:
        """How many elements a block has."""
        return self.row_steps if axis == len(shape) - 1 else self.steps

    def _is_long(self, shape: Sequence[int], axis: int) -> bool:
        extent = shape[axis]
        rows = self.few_rows if axis == len(shape) - 1 else self.rows
        return extent > 4 * self._steps(shape, axis) and element_count(shape) // extent <= rows

    def _scan(self, builder: Builder, monoid: Monoid, values: list[SSAValue], axis: int) -> list[SSAValue]:
        """The scan, split where it is long; calls itself for the blocks' last elements."""
        shape = shape_of(values[0].type)
        if not self._is_long(shape, axis):
            return list(builder.scan_axis(monoid.name, values, axis))
        before, extent, behind = shape[:axis], shape[axis], shape[axis + 1 :]
        steps = self._steps(shape, axis)
        count = -(-extent // steps)
        missing = [count * steps - extent if d == axis else 0 for d in range(len(shape))]
        whole = (*before, count * steps, *behind)
        blocks = (*before, count, steps, *behind)
        # What is padded stands at the end of the last block, and nothing comes behind it.
        padded = [builder.pad(value, [0] * len(shape), missing) for value in values]
        inner = builder.scan_axis(monoid.name, [builder.reshape(value, blocks) for value in padded], axis + 1)

        offsets = [steps - 1 if d == axis + 1 else 0 for d in range(len(blocks))]
        last = [builder.shrink(value, offsets, (*before, count, 1, *behind)) for value in inner]
        totals = self._scan(builder, monoid, [builder.reshape(v, (*before, count, *behind)) for v in last], axis)
        so_far = [
            builder.reshape(value, (*before, count, 1, *behind)) for value in _shifted(builder, monoid, totals, axis)
        ]
        wide = [builder.expand(value, inner_value.type) for value, inner_value in zip(so_far, inner, strict=True)]
        combined = monoid.combine(builder, wide, inner)
        return [builder.shrink(builder.reshape(value, whole), [0] * len(shape), shape) for value in combined]


def _shifted(builder: Builder, monoid: Monoid, values: Sequence[SSAValue], axis: int) -> list[SSAValue]:
    """What stands one place before each element, the monoid's identity before the first."""
    shape = shape_of(values[0].type)
    one = [int(d == axis) for d in range(len(shape))]
    places = builder.reshape(builder.iota(shape[axis], i64), [n if d == axis else 1 for d, n in enumerate(shape)])
    places = builder.expand(places, TensorType(i64, shape))
    is_first = builder.alu("eq", places, builder.constant_like(0, places))
    identity = monoid.identity([element_of(value.type) for value in values])
    return [
        builder.alu(
            "where",
            is_first,
            builder.constant_like(number, value),
            builder.shrink(builder.pad(value, one, [0] * len(shape)), [0] * len(shape), shape),
        )
        for value, number in zip(values, identity, strict=True)
    ]
