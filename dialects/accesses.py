"""Reads and writes of elements of buffers: what the ops of several dialects share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType, MemRefType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .syntax import (
    parse_access,
    parse_attributes,
    parse_mask,
    print_access,
    print_attributes,
    print_mask,
    segment_sizes,
)
from .types import element_of, index, is_memref, is_value_type, shape_of

NO_PROPERTIES: Mapping[str, Attribute] = {}


def verify_access(op: IRDLOperation, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    """One index for each dimension of the buffer, which holds elements of uop."""
    if not is_value_type(buffer.type):
        raise VerifyException(f"{op.name} is not defined for a buffer of type {buffer.type}")
    rank = len(shape_of(buffer.type))
    if len(indices) != rank:
        raise VerifyException(f"{op.name} gives {len(indices)} indices to a buffer of rank {rank}")


class MaskedRead(IRDLOperation):
    """Not an op: the text `uop.load %x[%i, %j] mask %ok : memref<…>` of ops that read a buffer, where the mask is true.

    What they give has the type of the buffer's elements, or, behind `->`, another.
    """

    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def(IndexType)
    mask = opt_operand_def(i1)
    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def of(
        cls, buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None = None, type: Attribute | None = None
    ) -> Self:
        masks = () if mask is None else (mask,)
        return cls.create(
            operands=(buffer, *indices, *masks),
            result_types=(element_of(buffer.type) if type is None else type,),
            properties={"operandSegmentSizes": segment_sizes(1, len(indices), len(masks))},
        )

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.indices)
        self.verify_moved(self.result.type)

    def verify_moved(self, type: Attribute) -> None:
        """Whether the op gives a value of this type."""
        if type != element_of(self.buffer.type):
            raise VerifyException(f"load gives {element_of(self.buffer.type)}, not {type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type, result = cls.parse_types(parser)
        op = cls.of(
            parser.resolve_operand(buffer, type),
            parser.resolve_operands(indices, [index] * len(indices), position),
            None if mask is None else parser.resolve_operand(mask, i1),
            result,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        print_attributes(printer, self)
        printer.print_string(" : ")
        self.print_types(printer)

    @classmethod
    def parse_types(cls, parser: Parser) -> tuple[Attribute, Attribute]:
        """The types of the buffer and the result."""
        buffer = parse_buffer_type(parser)
        return buffer, buffer.element_type

    def print_types(self, printer: Printer) -> None:
        printer.print_attribute(self.buffer.type)


class MaskedWrite(IRDLOperation):
    """Not an op: the text `uop.store %v, %out[%i, %j] mask %ok : memref<…>` of ops that write a buffer, where the mask
    is true."""

    value = operand_def()
    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def(IndexType)
    mask = opt_operand_def(i1)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def write(
        cls,
        value: SSAValue,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        mask: SSAValue | None,
        properties: Mapping[str, Attribute] = NO_PROPERTIES,
    ) -> Self:
        masks = () if mask is None else (mask,)
        return cls.create(
            operands=(value, buffer, *indices, *masks),
            properties={**properties, "operandSegmentSizes": segment_sizes(1, 1, len(indices), len(masks))},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = cls.parse_options(parser)
        position = parser.pos
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        value_type, buffer_type = cls.parse_types(parser)
        op = cls.write(
            parser.resolve_operand(value, value_type),
            parser.resolve_operand(buffer, buffer_type),
            parser.resolve_operands(indices, [index] * len(indices), position),
            None if mask is None else parser.resolve_operand(mask, i1),
            properties,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        self.print_options(printer)
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        print_attributes(printer, self)
        printer.print_string(" : ")
        self.print_types(printer)

    @classmethod
    def parse_options(cls, parser: Parser) -> Mapping[str, Attribute]:
        """What stands in front of the value."""
        return NO_PROPERTIES

    def print_options(self, printer: Printer) -> None:
        pass

    @classmethod
    def parse_types(cls, parser: Parser) -> tuple[Attribute, Attribute]:
        """The types of the value and the buffer."""
        buffer = parse_buffer_type(parser)
        return buffer.element_type, buffer

    def print_types(self, printer: Printer) -> None:
        printer.print_attribute(self.buffer.type)


def parse_buffer_type(parser: Parser) -> MemRefType:
    type = parser.parse_type()
    if not is_memref(type):
        parser.raise_error("expected the type of the buffer: a memref")
    return type


def parse_two_types(parser: Parser) -> tuple[Attribute, Attribute]:
    """`memref<…> -> vector<4xf32>`"""
    first = parser.parse_type()
    parser.parse_punctuation("->")
    return first, parser.parse_type()


def print_two_types(printer: Printer, first: Attribute, second: Attribute) -> None:
    printer.print_attribute(first)
    printer.print_string(" -> ")
    printer.print_attribute(second)
