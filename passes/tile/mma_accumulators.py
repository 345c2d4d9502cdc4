"""The lanes and registers that hold the accumulators of a matrix instruction, and what varies with them."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ...dialects.atoms import ATOMS, COLUMN_LANES, ROW_LANES, Atom
from ...dialects.axes import AxisKind
from ...dialects.loop import ForOp
from ...dialects.schedule import MatrixFactors
from ...dialects.tile import AxisOp, ReadOp, ReduceAcrossOp, StageOp, TakeAcrossOp
from ...dialects.types import element_of, index, shape_of
from ...dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, KernelOp
from ...rewriting.diagnostics import PassError
from .linear import unexpanded

REBUILT = (AluOp, AxisOp, BitcastOp, CastOp, ConstOp, ExpandOp, ReadOp, StageOp)
"""What an operand is made of that can be computed in another view."""


@dataclass
class Accumulators:
    """The axes of the lanes and registers that hold accumulators.

    columns: the axis by which the lanes and registers along columns go: of two products in a chain, that of the last.
    whole: the loop over the instruction, or that around it whose steps `tile.mma` takes in, too.
    repeats: register dimensions that repeat the instruction, with their extents.
    """

    kernel: KernelOp
    matrix: MatrixFactors
    columns: str
    whole: ForOp
    row_lane: SSAValue
    column_lane: SSAValue
    row_register: SSAValue
    column_register: SSAValue
    registers: dict[int, AxisOp]
    repeats: tuple[int, ...]
    of_rows: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """What `is_of_rows` knows."""

    @staticmethod
    def of(kernel: KernelOp, matrix: MatrixFactors, columns: str, loop: ForOp, whole: ForOp) -> Accumulators:
        shapes = {shape_of(result.type) for result in loop.results if shape_of(result.type)[-1:] != (1,)}
        shape = shapes.pop() if len(shapes) == 1 else ()
        registers: dict[int, AxisOp] = {}
        lanes: dict[tuple[str, int], SSAValue] = {}
        for op in kernel.body.block.ops:
            if isinstance(op, AxisOp):
                if len(dimensions := shape_of(op.result.type)) == len(shape) > 0:
                    # Those of operands' views stand behind.
                    registers.setdefault(max(range(len(dimensions)), key=lambda d: dimensions[d]), op)
                elif op.axis.axis_kind is AxisKind.LANE:
                    lanes[op.axis.axis.data, op.extent] = op.result
        row_lane, column_lane = lanes.get((matrix.row, ROW_LANES)), lanes.get((columns, COLUMN_LANES))
        rank = len(shape)
        places = registers.get(rank - 2), registers.get(rank - 1)
        names = [None if op is None else op.axis.axis.data for op in places]
        if row_lane is None or column_lane is None or shape[-2:] != (2, 2) or names != [matrix.row, columns]:
            raise refused(loop, "its accumulators do not lie in lanes and registers as an instruction's do")
        row, column = places
        assert row is not None
        assert column is not None
        repeats = shape[:-2]
        while repeats and repeats[-1] == 1:  # where A and B have other dimensions
            repeats = repeats[:-1]
        row_register, column_register = row.result, column.result
        return Accumulators(
            kernel, matrix, columns, whole, row_lane, column_lane, row_register, column_register, registers, repeats
        )

    @property
    def steps(self) -> tuple[int, ...]:
        """The extent of the steps along K beyond those of one instruction, if `tile.mma` takes such."""
        return () if self.whole.axis.axis_kind is AxisKind.MMA else (self.whole.axis.extent.data,)

    @property
    def lead(self) -> tuple[int, ...]:
        """The dimensions of operands in front of their fragments."""
        return (*self.repeats, *self.steps)

    @property
    def atom(self) -> Atom:
        return ATOMS[self.matrix.atom]

    def axes_of(self, value: SSAValue, loop: ForOp) -> set[str]:
        """Which of the rows and columns of an instruction a value varies with."""
        leaves = {self.row_lane, self.row_register}, {self.column_lane, self.column_register}
        found: set[str] = set()
        seen, stack = {value}, [value]
        while stack:
            top = stack.pop()
            for axis, own in zip((self.matrix.row, self.matrix.column), leaves, strict=True):
                if top in own:
                    found.add(axis)
            owner = top.owner
            if isinstance(owner, TakeAcrossOp):
                found.update(self._axes_of_registers(top))
                continue
            if self.is_of_rows(top):
                found.add(self.matrix.row)
                continue
            if isinstance(owner, Operation):
                if not isinstance(owner, REBUILT):
                    raise refused(loop, "a factor is made of the result of a loop or of a reduction")
                new = [x for x in owner.operands if x not in seen]
                seen.update(new)
                stack += new
        return found

    def is_of_rows(self, value: SSAValue) -> bool:
        """Whether a value is one for each row, of what the lanes along columns have together."""
        stack = [value]
        while stack:
            top = stack[-1]
            owner = top.owner
            if top in self.of_rows:
                stack.pop()
            elif isinstance(owner, AluOp | CastOp) and element_of(top.type) != index:
                missing = [operand for operand in owner.operands if operand not in self.of_rows]
                if missing:
                    stack += missing
                    continue
                others = [operand for operand in owner.operands if not self.of_rows[operand]]
                are_constant = all(isinstance(unexpanded(operand).owner, ConstOp) for operand in others)
                self.of_rows[top] = are_constant and len(others) < len(owner.operands)
            else:
                is_combined = isinstance(owner, ReduceAcrossOp) and self.column_lane in owner.over
                self.of_rows[top] = is_combined and self._goes_along_rows(top)
        return self.of_rows[value]

    def _goes_along_rows(self, value: SSAValue) -> bool:
        """Whether no registers of a value go along another axis than rows."""
        shape = shape_of(value.type)
        registers = (op for dimension, op in self.registers.items() if shape[dimension] > 1)
        return all(op.axis.axis.data == self.matrix.row for op in registers)

    def _axes_of_registers(self, value: SSAValue) -> set[str]:
        """Which rows and columns the registers of a value go along; so do its lanes."""
        *_, rows, columns = shape_of(value.type)
        extents = {self.matrix.row: rows, self.matrix.column: columns}
        return {axis for axis, extent in extents.items() if extent > 1}


def refused(loop: ForOp, reason: str) -> PassError:
    return PassError(
        f"the loop over {loop.axis.axis.data} is no matrix instruction: {reason}",
        loop,
        "bind its axes to loop, thread and register factors instead of mma",
    )
