"""Reads and writes of elements of buffers: what the ops of several dialects share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class AccessTypes:
    """The types of an access. moved: what is read or written. indices: of each; None where all are `index`."""

    buffer: Attribute
    moved: Attribute
    indices: Sequence[Attribute] | None = None
    mask: Attribute = i1

    def of_indices(self, count: int) -> Sequence[Attribute]:
        return [index] * count if self.indices is None else self.indices


class MaskedAccess(IRDLOperation):
    """Not an op: what may stand in the text of reads and of writes, `… %x[%i, %j] mask %ok options : types`."""

    @classmethod
    def parse_options(cls, parser: Parser) -> Mapping[str, Attribute]:
        """What stands behind the mask, as properties."""
        return NO_PROPERTIES

    def print_options(self, printer: Printer) -> None:
        pass

    @classmethod
    def parse_types(cls, parser: Parser) -> AccessTypes:
        buffer = parse_buffer_type(parser)
        return AccessTypes(buffer, buffer.element_type)


class MaskedRead(MaskedAccess):
    """Not an op: the text `uop.load %x[%i, %j] mask %ok : memref<…>` of ops that read a buffer, where the mask is true.

    What they give has the type of the buffer's elements, or, behind `->`, another.
    """

    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def(IndexType)
    mask = opt_operand_def(i1)
    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def read(
        cls,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        mask: SSAValue | None,
        type: Attribute,
        properties: Mapping[str, Attribute] = NO_PROPERTIES,
    ) -> Self:
        masks = () if mask is None else (mask,)
        return cls.create(
            operands=(buffer, *indices, *masks),
            result_types=(type,),
            properties={**properties, "operandSegmentSizes": segment_sizes(1, len(indices), len(masks))},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        properties = cls.parse_options(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = cls.parse_types(parser)
        op = cls.read(
            parser.resolve_operand(buffer, types.buffer),
            parser.resolve_operands(indices, types.of_indices(len(indices)), position),
            None if mask is None else parser.resolve_operand(mask, types.mask),
            types.moved,
            properties,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        self.print_options(printer)
        print_attributes(printer, self)
        printer.print_string(" : ")
        self.print_types(printer)

    def print_types(self, printer: Printer) -> None:
        printer.print_attribute(self.buffer.type)


class MaskedLoad(MaskedRead):
    """Not an op: reads of one element, or of as many as the op's result has, at one place."""

    @classmethod
    def of(
        cls, buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None = None, type: Attribute | None = None
    ) -> Self:
        return cls.read(buffer, indices, mask, element_of(buffer.type) if type is None else type)

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.indices)
        self.verify_moved(self.result.type)

    def verify_moved(self, type: Attribute) -> None:
        """Whether the op gives a value of this type."""
        if type != element_of(self.buffer.type):
            raise VerifyException(f"load gives {element_of(self.buffer.type)}, not {type}")


class MaskedWrite(MaskedAccess):
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
        properties = cls.parse_operator(parser)
        position = parser.pos
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        options = cls.parse_options(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = cls.parse_types(parser)
        op = cls.write(
            parser.resolve_operand(value, types.moved),
            parser.resolve_operand(buffer, types.buffer),
            parser.resolve_operands(indices, types.of_indices(len(indices)), position),
            None if mask is None else parser.resolve_operand(mask, types.mask),
            {**properties, **options},
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        self.print_operator(printer)
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        self.print_options(printer)
        print_attributes(printer, self)
        printer.print_string(" : ")
        self.print_types(printer)

    @classmethod
    def parse_operator(cls, parser: Parser) -> Mapping[str, Attribute]:
        """What stands in front of the value, as properties: how it is combined with what is there."""
        return NO_PROPERTIES

    def print_operator(self, printer: Printer) -> None:
        pass

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
