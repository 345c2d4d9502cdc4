"""What the lanes of a warp do together: shuffles and matrix instructions."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..atoms import ATOMS
from ..syntax import parse_attributes, print_attributes, print_operands
from ..tile import MatrixOp
from ..types import index, is_element_type, shape_of


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """The value that another lane of the warp holds: `gpu_kernel.shuffle xor %v, %lanes : f32`.

    From lane `l`: `xor` gives that of `l xor lanes`, `down` of `l + lanes`, `up` of `l − lanes`, `idx` of `lanes`.
    All 32 lanes take part.
    """

    name = "gpu_kernel.shuffle"

    MODES: ClassVar = ("xor", "down", "up", "idx")

    mode = prop_def(StringAttr)
    value = operand_def()
    lanes = operand_def(IndexType)
    result = result_def()

    @staticmethod
    def of(mode: str, value: SSAValue, lanes: SSAValue) -> ShuffleOp:
        return ShuffleOp.create(
            operands=(value, lanes), result_types=(value.type,), properties={"mode": StringAttr(mode)}
        )

    def verify_(self) -> None:
        if self.mode.data not in self.MODES:
            raise VerifyException(f"a shuffle is one of {', '.join(self.MODES)}")
        if not is_element_type(self.value.type) or self.value.type != self.result.type:
            raise VerifyException("a shuffle moves a scalar")

    @classmethod
    def parse(cls, parser: Parser) -> ShuffleOp:
        mode = parser.parse_optional_keyword_in(cls.MODES)
        if mode is None:
            parser.raise_error(f"expected one of {', '.join(cls.MODES)}")
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        lanes = parser.parse_unresolved_operand()
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls.of(mode, parser.resolve_operand(value, type), parser.resolve_operand(lanes, index))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.mode.data} ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)


@irdl_op_definition
class MmaOp(MatrixOp):
    """D = C + A · B of one matrix instruction: `gpu_kernel.mma m16n8k16 %c, %a, %b : vector<4xf32>, vector<8xf16>,
    vector<4xf16>`.

    Each vector is what one lane holds of the matrix, in the register order of the PTX ISA.
    """

    name = "gpu_kernel.mma"

    def verify_(self) -> None:
        super().verify_()
        types = self.a.type, self.b.type, self.accumulator.type
        for type, count in zip(types, ATOMS[self.atom.data].registers, strict=True):
            if shape_of(type) != (count,):
                raise VerifyException(f"a lane holds {count} elements of this operand, not {type}")
