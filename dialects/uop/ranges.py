"""Range form: movement has become index arithmetic, and a reduction binds the ranges it goes over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType, MemRefType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ..axes import AxisAttr
from ..limits import UNLIMITED, Limited, Limits, parse_limits, print_limits
from ..monoids import MonoidAttr
from ..syntax import (
    parse_access,
    parse_attributes,
    parse_mask,
    parse_operands,
    parse_types,
    print_access,
    print_attributes,
    print_mask,
    print_operands,
    print_types,
    segment_sizes,
)
from ..types import index, is_memref, is_value_type, shape_of
from .reduction import verify_monoid_operands


@irdl_op_definition
class RangeOp(Limited):
    """`%i = uop.range i = 16`: an index that takes the values 0 … extent − 1; it has a name and an extent, no kind.

    What uses it says what it is: a reduction binds it, a store leaves it parallel. Two ranges are never merged; two of
    one name walk the same logical axis.
    With limits, `%k = uop.range k = 4096 from %lo to %hi`, only the positions in [lo, hi) have to be computed.
    """

    name = "uop.range"

    axis = prop_def(AxisAttr)
    result = result_def(IndexType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def of(axis: str, extent: int, limits: Limits = UNLIMITED) -> RangeOp:
        return RangeOp.create(
            operands=limits.values,
            properties={"axis": AxisAttr(axis, extent), "operandSegmentSizes": segment_sizes(*limits.sizes)},
            result_types=(index,),
        )

    @property
    def extent(self) -> int:
        return self.axis.extent.data

    def verify_(self) -> None:
        if self.axis.axis_kind is not None:
            raise VerifyException("a range has no kind: what uses it says what it is")

    @classmethod
    def parse(cls, parser: Parser) -> RangeOp:
        axis = AxisAttr.parse_body(parser)
        limits = parse_limits(parser)
        return cls.create(
            operands=limits.values,
            properties={"axis": axis, "operandSegmentSizes": segment_sizes(*limits.sizes)},
            result_types=(index,),
            attributes=parse_attributes(parser),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.axis.print_body(printer)
        print_limits(printer, self.limits)
        print_attributes(printer, self)


def verify_access(op: IRDLOperation, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    """One index for each dimension of the buffer, which holds elements of uop."""
    if not is_value_type(buffer.type):
        raise VerifyException(f"{op.name} is not defined for a buffer of type {buffer.type}")
    rank = len(shape_of(buffer.type))
    if len(indices) != rank:
        raise VerifyException(f"{op.name} gives {len(indices)} indices to a buffer of rank {rank}")


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Read one element: `uop.load %x[%i, %j] mask %ok : memref<64x1000xf32>`; 0 (or false) where the mask is false.

    Buffers are not written while a kernel reads them, so a load is pure within it.
    """

    name = "uop.load"

    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def(IndexType)
    mask = opt_operand_def(i1)
    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    @staticmethod
    def of(buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None = None) -> LoadOp:
        assert is_memref(buffer.type)
        masks = () if mask is None else (mask,)
        return LoadOp.create(
            operands=(buffer, *indices, *masks),
            result_types=(buffer.type.element_type,),
            properties={"operandSegmentSizes": segment_sizes(1, len(indices), len(masks))},
        )

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.indices)
        assert is_memref(self.buffer.type)
        if self.result.type != self.buffer.type.element_type:
            raise VerifyException(f"load gives {self.buffer.type.element_type}, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        position = parser.pos
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not is_memref(type):
            parser.raise_error("expected the type of the buffer: a memref")
        op = cls.of(
            parser.resolve_operand(buffer, type),
            parser.resolve_operands(indices, [index] * len(indices), position),
            None if mask is None else parser.resolve_operand(mask, i1),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Write one element: `uop.store %v, %out[%i, %j] mask %ok : memref<64x1000xf32>`; nothing where the mask is
    false."""

    name = "uop.store"

    value = operand_def()
    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def(IndexType)
    mask = opt_operand_def(i1)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())

    @staticmethod
    def of(value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None = None) -> StoreOp:
        masks = () if mask is None else (mask,)
        return StoreOp.create(
            operands=(value, buffer, *indices, *masks),
            properties={"operandSegmentSizes": segment_sizes(1, 1, len(indices), len(masks))},
        )

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.indices)
        assert is_memref(self.buffer.type)
        if self.value.type != self.buffer.type.element_type:
            raise VerifyException(f"store writes {self.buffer.type.element_type}, not {self.value.type}")

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        position = parser.pos
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not is_memref(type):
            parser.raise_error("expected the type of the buffer: a memref")
        op = cls.of(
            parser.resolve_operand(value, type.element_type),
            parser.resolve_operand(buffer, type),
            parser.resolve_operands(indices, [index] * len(indices), position),
            None if mask is None else parser.resolve_operand(mask, i1),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)


class CombineOver(IRDLOperation):
    """Not an op: what reductions and scans over ranges, loops and threads share. Text: `%s = uop.reduce add %x over %j,
    %k : f32`."""

    monoid = prop_def(MonoidAttr)
    inputs = var_operand_def()
    over = var_operand_def(IndexType)
    outputs = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    @classmethod
    def of(cls, monoid: str, inputs: Sequence[SSAValue], over: Sequence[SSAValue]) -> Self:
        return cls.create(
            operands=(*inputs, *over),
            result_types=[value.type for value in inputs],
            properties={
                "monoid": MonoidAttr(monoid),
                "operandSegmentSizes": segment_sizes(len(inputs), len(over)),
            },
        )

    def verify_over(self, expected: str, accepts: Callable[[SSAValue], bool]) -> None:
        """At least one value to go over, all of them `expected`; results of the types of the inputs."""
        verify_monoid_operands(self, self.monoid, self.inputs)
        if not self.over:
            raise VerifyException(f"{self.name} goes over at least one value")
        if not all(map(accepts, self.over)):
            raise VerifyException(f"{self.name} goes over {expected}")
        if [value.type for value in self.inputs] != [result.type for result in self.outputs]:
            raise VerifyException(f"{self.name} keeps the types of its inputs")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        monoid = MonoidAttr.parse_keyword(parser)
        position = parser.pos
        inputs = parse_operands(parser)
        parser.parse_keyword("over")
        over = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types: Sequence[Attribute] = parse_types(parser)
        op = cls.of(
            monoid.data,
            parser.resolve_operands(inputs, types, position),
            parser.resolve_operands(over, [index] * len(over), position),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.monoid.data} ")
        print_operands(printer, self.inputs)
        printer.print_string(" over ")
        print_operands(printer, self.over)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_types(printer, [value.type for value in self.inputs])


@irdl_op_definition
class ReduceOp(CombineOver):
    """Combine over ranges: `%s = uop.reduce add %x over %j, %k : f32`. It binds the ranges: its result does not
    depend on them.

    inputs: one scalar for each of the monoid's values. results: the same types. An empty range gives the identity.
    """

    name = "uop.reduce"

    def verify_(self) -> None:
        self.verify_over("the results of uop.range", lambda value: isinstance(value.owner, RangeOp))
        if any(shape_of(value.type) for value in self.inputs):
            raise VerifyException("uop.reduce combines scalars")


class ScanOver(CombineOver):
    """Not an op: what scans over a range and over a loop share."""

    def verify_scan(self, expected: str, accepts: Callable[[SSAValue], bool]) -> None:
        """Scalars over one value, which is `expected`."""
        self.verify_over(expected, accepts)
        if len(self.over) != 1:
            raise VerifyException(f"{self.name} goes over one axis, not {len(self.over)}")
        if any(shape_of(value.type) for value in self.inputs):
            raise VerifyException(f"{self.name} combines scalars")


@irdl_op_definition
class ScanOp(ScanOver):
    """Running combination over a range: `%s = uop.scan add %x over %j : f32` combines what `%x` is at 0 … j.

    It does not bind the range: its result depends on it, as its inputs may.
    inputs: one scalar for each of the monoid's values. results: the same types.
    """

    name = "uop.scan"

    def verify_(self) -> None:
        self.verify_scan("the result of uop.range", lambda value: isinstance(value.owner, RangeOp))
