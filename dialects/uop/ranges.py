"""Range form: movement has become index arithmetic, and a reduction binds the ranges it goes over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
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

from ..accesses import MaskedLoad, MaskedWrite, verify_access
from ..axes import AxisAttr
from ..limits import UNLIMITED, Limited, Limits, parse_limits, print_limits
from ..monoids import MonoidAttr
from ..syntax import (
    parse_attributes,
    parse_operands,
    parse_types,
    print_attributes,
    print_operands,
    print_types,
    segment_sizes,
)
from ..types import element_of, index, shape_of
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


@irdl_op_definition
class LoadOp(MaskedLoad):
    """Read one element: `uop.load %x[%i, %j] mask %ok : memref<64x1000xf32>`; 0 (or false) where the mask is false.

    Buffers are not written while a kernel reads them, so a load is pure within it.
    """

    name = "uop.load"

    traits = traits_def(MemoryReadEffect())


@irdl_op_definition
class StoreOp(MaskedWrite):
    """Write one element: `uop.store %v, %out[%i, %j] mask %ok : memref<64x1000xf32>`; nothing where the mask is
    false."""

    name = "uop.store"

    traits = traits_def(MemoryWriteEffect())

    @staticmethod
    def of(value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None = None) -> StoreOp:
        return StoreOp.write(value, buffer, indices, mask)

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.indices)
        if self.value.type != element_of(self.buffer.type):
            raise VerifyException(f"store writes {element_of(self.buffer.type)}, not {self.value.type}")


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
