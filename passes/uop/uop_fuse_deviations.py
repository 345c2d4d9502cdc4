"""uop-fuse-deviations: a mean and the squared deviations from it, in one walk over long rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...dialects.types import byte_count, byte_width, element_count, element_of, shape_of
from ...dialects.uop import ExpandOp, ReduceAxisOp
from ...rewriting.cse import eliminate_common_subexpressions
from ...rewriting.diagnostics import emit_remark
from ...rewriting.driver import rewrite
from ...rewriting.patterns import Assumption
from .rules.deviations import deviating, deviations
from .uop_fuse_reductions import HELD_ROW, LONG_ROW
from .uop_split_reduce import FEW_ROWS

LONG_COLUMN = 64
"""Elements of a column that the threads of a block hold in registers."""

LAUNCH_BYTES = 4 << 20
"""What a GPU reads of its memory in about the time of a launch. Where the mean is a result of its own, there is one
more, of what is made of the two."""

FEW_RESULTS = 128
"""Results, a block each, that uop-split-reduce splits where nothing but they are needed."""


@dataclass(frozen=True)
class UOpFuseDeviationsPass(ModulePass):
    """Apply the rules of passes/uop/rules/deviations.py to reductions in tensor form, where what is reduced does not
    fit in registers: a variance, and a mean, are then reduced together, and memory is read once for both.

    The mean of all is put together of those of parts, and moves by what they deviate from it, as the sum of squared
    deviations do (Chan, Golub and LeVeque 1983). NaN and infinities are as before, but for sums that are above all
    finite numbers: their mean is finite. Leaves alone: short rows, which are read once and held; deviations from
    anything else, and those of 16-bit floats; means that are results of their own of less than a launch reads.

    row: the most elements of a row that a block holds in registers. held_row: the most of 4 bytes, of many rows, that
    it holds with shared memory. column: of a column, whose neighbours lie side by side in memory. part: elements that
    a block has of a row that is split, where there are few rows, of which only this is needed.
    """

    name = "uop-fuse-deviations"

    rounding: ClassVar[str] = "means and squared deviations are those of parts, put together"

    row: int = LONG_ROW
    held_row: int = HELD_ROW
    column: int = LONG_COLUMN
    part: int = 4096

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if not isinstance(function, FuncOp):
                continue
            found = [each for block in function.body.blocks for each in block.ops if self._pays(each)]
            if not found:
                continue
            for each in found:
                emit_remark(each, "squared deviations are reduced in one walk with the mean")
            rules = deviations(self._pays)
            while rewrite(function, rules, assuming=(Assumption.ROUNDING,)).fired:
                eliminate_common_subexpressions(function)

    def _pays(self, op: object) -> bool:
        """Whether it is a sum of squared deviations of more elements than registers hold."""
        if not isinstance(op, ReduceAxisOp) or (found := deviating(op)) is None:
            return False
        type = op.operands[0].type
        shape, axes = shape_of(type), op.axis_list()
        innermost = max((axis for axis, extent in enumerate(shape) if extent > 1), default=0)
        # Of few rows, each is shared by several blocks.
        is_held = element_count(shape_of(op.results[0].type)) > FEW_ROWS and byte_width(element_of(type)) <= 4
        row = max(self.row, self.held_row) if is_held else self.row
        row = min(row, 2 * self.part - 1) if _is_split(op) else row
        if element_count([shape[axis] for axis in axes]) <= (row if innermost in axes else self.column):
            return False
        is_result = any(not isinstance(use.operation, ExpandOp) for use in found.mean.uses)
        return not is_result or byte_count(found.value.type) >= LAUNCH_BYTES


def _is_split(op: ReduceAxisOp) -> bool:
    """Whether several blocks have parts of a row, so that none could hold it for another walk: where there are few
    rows, of which only this is needed."""
    square = op.operands[0].owner
    assert isinstance(square, Operation)
    difference = square.operands[0]
    is_only = all(use.operation is square for use in difference.uses) and square.results[0].has_one_use()
    return is_only and element_count(shape_of(op.results[0].type)) <= FEW_RESULTS
