"""What vectors are made of and taken apart with; the arithmetic on them is uop's."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, VectorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..syntax import (
    UnaryTypeChange,
    integer_values,
    integers,
    number,
    parse_attributes,
    parse_integers,
    print_attributes,
    print_integers,
)
from ..types import element_of, index, shape_of, with_shape


@irdl_op_definition
class SplatOp(UnaryTypeChange):
    """A vector of one scalar: `cpu_kernel.splat %x : f32 -> vector<16xf32>`."""

    name = "cpu_kernel.splat"

    input = operand_def()
    result = result_def(VectorType.constr())

    traits = traits_def(Pure())

    @staticmethod
    def of(value: SSAValue, lanes: int) -> SplatOp:
        return SplatOp.create(operands=(value,), result_types=(with_shape(value.type, (lanes,)),))

    def verify_(self) -> None:
        if shape_of(self.input.type) or element_of(self.result.type) != self.input.type:
            raise VerifyException(f"{self.result.type} is no vector of one {self.input.type}")


@irdl_op_definition
class LanesOp(IRDLOperation):
    """The number of each lane, 0, 1, …: `cpu_kernel.lanes : vector<16xindex>`."""

    name = "cpu_kernel.lanes"

    result = result_def(VectorType.constr())

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    @staticmethod
    def of(lanes: int) -> LanesOp:
        return LanesOp.create(result_types=(with_shape(index, (lanes,)),))

    def verify_(self) -> None:
        if element_of(self.result.type) != index:
            raise VerifyException("the number of a lane is an index")


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """A lane each of two vectors, those of the second counted on: `cpu_kernel.shuffle %a, %b [0, 4, 1, 5] :
    vector<4xf32>`. The result has as many lanes."""

    name = "cpu_kernel.shuffle"

    first = operand_def(VectorType.constr())
    second = operand_def(VectorType.constr())
    lanes = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VectorType.constr())

    traits = traits_def(Pure())

    @staticmethod
    def of(first: SSAValue, second: SSAValue, lanes: Sequence[int]) -> ShuffleOp:
        return ShuffleOp.create(
            operands=(first, second), result_types=(first.type,), properties={"lanes": integers(lanes)}
        )

    def verify_(self) -> None:
        if not self.first.type == self.second.type == self.result.type:
            raise VerifyException("a shuffle takes and gives vectors of one type")
        (count,) = shape_of(self.first.type)
        lanes = integer_values(self.lanes)
        if len(lanes) != count or any(not 0 <= lane < 2 * count for lane in lanes):
            raise VerifyException(f"a shuffle of {count} lanes names {count} of the {2 * count} that it has")

    @classmethod
    def parse(cls, parser: Parser) -> ShuffleOp:
        first = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        second = parser.parse_unresolved_operand()
        lanes = parse_integers(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        return cls.create(
            operands=(parser.resolve_operand(first, type), parser.resolve_operand(second, type)),
            result_types=(type,),
            properties={"lanes": lanes},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.first)
        printer.print_string(", ")
        printer.print_ssa_value(self.second)
        printer.print_string(" ")
        print_integers(printer, integer_values(self.lanes))
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ExtractOp(UnaryTypeChange):
    """A lane of a vector: `cpu_kernel.extract %v [3] : vector<16xf32> -> f32`."""

    name = "cpu_kernel.extract"

    input = operand_def(VectorType.constr())
    lane = prop_def(IntegerAttr)
    result = result_def()

    traits = traits_def(Pure())

    @staticmethod
    def of(value: SSAValue, lane: int) -> ExtractOp:
        return ExtractOp.create(
            operands=(value,), result_types=(element_of(value.type),), properties={"lane": number(lane)}
        )

    def verify_(self) -> None:
        if self.result.type != element_of(self.input.type):
            raise VerifyException(f"a lane of {self.input.type} is no {self.result.type}")
        if not 0 <= self.lane.value.data < shape_of(self.input.type)[0]:
            raise VerifyException(f"{self.input.type} has no lane {self.lane.value.data}")

    @classmethod
    def parse_options(cls, parser: Parser) -> dict[str, Attribute]:
        with parser.in_square_brackets():
            return {"lane": IntegerAttr(parser.parse_integer(allow_boolean=False), i64)}

    def print_options(self, printer: Printer) -> None:
        printer.print_string(f" [{self.lane.value.data}]")
