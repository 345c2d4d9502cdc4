"""Where a thread is, and when it may leave."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..axes import THREAD_KINDS, AxisAttr, AxisKind
from ..syntax import (
    parse_attributes,
    print_attributes,
)
from ..types import (
    element_of,
    index,
    shape_of,
)


@irdl_op_definition
class AxisOp(IRDLOperation):
    """The position of this thread along one factor of an axis: `%ti = tile.axis i = 8 thread : index`.

    A block, warp, thread or lane factor gives one index; a register factor gives the indices that the thread holds,
    0, 1, …, along
    one dimension of a vector (`vector<2x1xindex>`), every other dimension of which has extent 1.
    """

    name = "tile.axis"

    axis = prop_def(AxisAttr)
    result = result_def()

    traits = traits_def(Pure())

    @staticmethod
    def of(axis: str, extent: int, kind: AxisKind, type: Attribute = index) -> AxisOp:
        return AxisOp.create(properties={"axis": AxisAttr(axis, extent, kind)}, result_types=(type,))

    @property
    def extent(self) -> int:
        return self.axis.extent.data

    @property
    def dimension(self) -> int | None:
        """The dimension of vectors that a register factor is; None of another one."""
        shape = shape_of(self.result.type)
        return max(range(len(shape)), key=lambda d: shape[d]) if shape else None

    def verify_(self) -> None:
        kind, type = self.axis.axis_kind, self.result.type
        if kind is AxisKind.REGISTER:
            shape = shape_of(type)
            if element_of(type) != index or sorted(shape) != [1] * (len(shape) - 1) + [self.extent]:
                raise VerifyException(
                    f"a register axis of {self.extent} is a vector of index with that one extent, not {type}"
                )
        elif kind is not AxisKind.BLOCK and kind not in THREAD_KINDS:
            raise VerifyException(
                "tile.axis is a block, warp, thread, lane or register factor; serial factors are loops"
            )
        elif type != index:
            raise VerifyException(f"only a register axis gives a vector, not this one: {type}")

    @classmethod
    def parse(cls, parser: Parser) -> AxisOp:
        axis = AxisAttr.parse_body(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        return cls.create(properties={"axis": axis}, result_types=(parser.parse_type(),), attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.axis.print_body(printer)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class LeaveUnlessOp(IRDLOperation):
    """`tile.leave_unless %needed`: the blocks for which the condition is false do nothing from here on, for nobody asks
    for what they compute. All threads of a block have the same condition.

    In a loop, the warps for which it is false do nothing in the rest of the step, for which the state stays as it is.
    All lanes of a warp have the same condition, and threads of different warps do not meet behind it.
    """

    name = "tile.leave_unless"
    assembly_format = "$needed attr-dict"

    needed = operand_def(i1)

    @staticmethod
    def of(needed: SSAValue) -> LeaveUnlessOp:
        return LeaveUnlessOp.create(operands=(needed,))
