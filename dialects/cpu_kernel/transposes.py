"""Squares of elements whose rows become columns, from memory to memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..syntax import number, parse_access, parse_attributes, print_access, print_attributes
from ..types import index, is_memref


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """Copy a square of elements, its rows as columns: `cpu_kernel.transpose %x[%i] rows 512, %s[%j] rows 32 lanes 16 :
    memref<65536xf32> -> memref<1024xf32, "local">`.

    Its rows begin at `source_place` and lie `source_stride` elements apart, its columns at `target_place` and
    `target_stride` apart. A text has one function for all squares of `lanes` elements a side, which need not be
    compiled again for each.
    """

    name = "cpu_kernel.transpose"

    source = operand_def(MemRefType.constr())
    source_place = operand_def(IndexType)
    target = operand_def(MemRefType.constr())
    target_place = operand_def(IndexType)
    source_stride = prop_def(IntegerAttr)
    target_stride = prop_def(IntegerAttr)
    lanes = prop_def(IntegerAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @staticmethod
    def of(
        source: tuple[SSAValue, SSAValue],
        source_stride: int,
        target: tuple[SSAValue, SSAValue],
        target_stride: int,
        lanes: int,
    ) -> TransposeOp:
        """source, target: a buffer, and the place of the square's first element in it."""
        return TransposeOp.create(
            operands=(*source, *target),
            properties={
                "source_stride": number(source_stride),
                "target_stride": number(target_stride),
                "lanes": number(lanes),
            },
        )

    def verify_(self) -> None:
        source, target = self.source.type, self.target.type
        assert is_memref(source)
        assert is_memref(target)
        if len(source.get_shape()) != 1 or len(target.get_shape()) != 1:
            raise VerifyException("a buffer is flat")
        if source.element_type != target.element_type:
            raise VerifyException(f"{source.element_type} cannot be copied to a buffer of {target.element_type}")
        lanes = self.lanes.value.data
        if lanes < 2 or lanes & (lanes - 1):
            raise VerifyException(f"the side of a square is the power of two that a vector has, not {lanes}")

    @classmethod
    def parse(cls, parser: Parser) -> TransposeOp:
        source, (source_place,) = parse_access(parser)
        parser.parse_keyword("rows")
        source_stride = parser.parse_integer()
        parser.parse_punctuation(",")
        target, (target_place,) = parse_access(parser)
        parser.parse_keyword("rows")
        target_stride = parser.parse_integer()
        parser.parse_keyword("lanes")
        lanes = parser.parse_integer()
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_punctuation("->")
        target_type = parser.parse_type()
        op = cls.of(
            (parser.resolve_operand(source, source_type), parser.resolve_operand(source_place, index)),
            source_stride,
            (parser.resolve_operand(target, target_type), parser.resolve_operand(target_place, index)),
            target_stride,
            lanes,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.source, [self.source_place])
        printer.print_string(f" rows {self.source_stride.value.data}, ")
        print_access(printer, self.target, [self.target_place])
        printer.print_string(f" rows {self.target_stride.value.data} lanes {self.lanes.value.data}")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.target.type)


def exchanged_lanes(lanes: int, step: int) -> tuple[Sequence[int], Sequence[int]]:
    """What two shuffles pick of two vectors so that the squares of `step` lanes off their diagonal change places: of
    each run of twice as many lanes the first halves of both, and the second halves."""
    return (
        [lane if not lane & step else lanes + lane - step for lane in range(lanes)],
        [lane + step if not lane & step else lanes + lane for lane in range(lanes)],
    )
