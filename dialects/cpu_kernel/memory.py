"""Memory of a kernel: a task's arrays, loads and stores of scalars and vectors."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnitAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..layouts import memory_space
from ..syntax import (
    number,
    parse_access,
    parse_attributes,
    parse_mask,
    print_access,
    print_attributes,
    print_mask,
)
from ..types import element_of, index, is_memref, is_value_type, shape_of, with_element


@irdl_op_definition
class AllocOp(IRDLOperation):
    """An array of this task, whose elements are undefined at first: `cpu_kernel.alloc : memref<4096xf32, "local">`."""

    name = "cpu_kernel.alloc"

    result = result_def(MemRefType.constr())

    assembly_format = "attr-dict `:` type($result)"

    @staticmethod
    def of(type: MemRefType) -> AllocOp:
        return AllocOp.create(result_types=(type,))

    def verify_(self) -> None:
        type = self.result.type
        if memory_space(type) != "local" or len(type.get_shape()) != 1 or not is_value_type(type):
            raise VerifyException(f'an array of a task is flat and in "local", unlike {type}')


def _verify_moved(op: LoadOp | StoreOp, moved: Attribute) -> None:
    buffer, place, mask = op.buffer.type, op.place.type, op.mask
    assert is_memref(buffer)
    if len(buffer.get_shape()) != 1:
        raise VerifyException("a buffer is flat")
    if element_of(moved) != buffer.element_type:
        raise VerifyException(f"a buffer of {buffer.element_type} does not hold {moved}")
    lanes = shape_of(moved)
    if element_of(place) != index or shape_of(place) not in ((), lanes):
        raise VerifyException(f"{moved} is at an index, or an index for each lane, not at {place}")
    if mask is not None and mask.type not in (i1, with_element(moved, i1)):
        raise VerifyException(f"the mask of {moved} is one bool, or one for each lane, not {mask.type}")
    if op.count is not None:
        if not lanes or shape_of(place):
            raise VerifyException("`count` says how many lanes of a vector lie side by side in memory")
        if not 0 < op.count.value.data < lanes[0]:
            raise VerifyException(f"of {lanes[0]} lanes, `count` is at least 1 and not all")


def _options(count: int | None) -> dict[str, Attribute]:
    return {} if count is None else {"count": number(count)}


def _print_place(printer: Printer, op: LoadOp | StoreOp) -> None:
    print_access(printer, op.buffer, [op.place])
    if op.count is not None:
        printer.print_string(f" count {op.count.value.data}")
    print_mask(printer, op.mask)


def _print_types(printer: Printer, op: LoadOp | StoreOp, first: Attribute, second: Attribute) -> None:
    """`: memref<…> -> f32`, and the types of the index and the mask where they are vectors."""
    print_attributes(printer, op)
    printer.print_string(" : ")
    printer.print_attribute(first)
    printer.print_string(" -> ")
    printer.print_attribute(second)
    printer.print_string("" if not shape_of(op.place.type) else " each")
    if op.mask is not None and shape_of(op.mask.type):
        printer.print_string(" lanewise")


def _place_type(parser: Parser, moved: Attribute) -> Attribute:
    return with_element(moved, index) if parser.parse_optional_keyword("each") else index


def _mask_type(parser: Parser, moved: Attribute) -> Attribute:
    return with_element(moved, i1) if parser.parse_optional_keyword("lanewise") else i1


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Load a scalar or a vector: `cpu_kernel.load %x[%i] count 8 mask %ok : memref<1024xf32> -> vector<16xf32>`.

    place: where the first lane is, the others behind it; `each`, an index for each lane.
    count: so many lanes are loaded, the others are 0.
    mask: 0 is loaded where it is false, for all lanes or, `lanewise`, for each.
    What is not loaded need not be in the buffer.
    """

    name = "cpu_kernel.load"

    buffer = operand_def(MemRefType.constr())
    place = operand_def()
    mask = opt_operand_def()
    count = opt_prop_def(IntegerAttr)
    result = result_def()

    traits = traits_def(MemoryReadEffect())

    @staticmethod
    def of(
        buffer: SSAValue, place: SSAValue, type: Attribute, mask: SSAValue | None = None, count: int | None = None
    ) -> LoadOp:
        masks = () if mask is None else (mask,)
        return LoadOp.create(operands=(buffer, place, *masks), result_types=(type,), properties=_options(count))

    def verify_(self) -> None:
        _verify_moved(self, self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        buffer, (place,) = parse_access(parser)
        count = parser.parse_integer() if parser.parse_optional_keyword("count") else None
        mask = parse_mask(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        buffer_type = parser.parse_type()
        parser.parse_punctuation("->")
        type = parser.parse_type()
        place_type, mask_type = _place_type(parser, type), _mask_type(parser, type)
        op = cls.of(
            parser.resolve_operand(buffer, buffer_type),
            parser.resolve_operand(place, place_type),
            type,
            None if mask is None else parser.resolve_operand(mask, mask_type),
            count,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_place(printer, self)
        _print_types(printer, self, self.buffer.type, self.result.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Store a scalar or a vector: `cpu_kernel.store %v, %out[%i] count 8 mask %ok stream : vector<16xf32> ->
    memref<1024xf32>`.

    place, count, mask: as of a load; what they leave out stays as it is.
    stream: nobody reads it soon, so it need not stay in a cache.
    """

    name = "cpu_kernel.store"

    value = operand_def()
    buffer = operand_def(MemRefType.constr())
    place = operand_def()
    mask = opt_operand_def()
    count = opt_prop_def(IntegerAttr)
    stream = opt_prop_def(UnitAttr)

    traits = traits_def(MemoryWriteEffect())

    @staticmethod
    def of(
        value: SSAValue,
        buffer: SSAValue,
        place: SSAValue,
        mask: SSAValue | None = None,
        count: int | None = None,
        stream: bool = False,
    ) -> StoreOp:
        masks = () if mask is None else (mask,)
        properties = _options(count)
        if stream:
            properties["stream"] = UnitAttr()
        return StoreOp.create(operands=(value, buffer, place, *masks), properties=properties)

    def verify_(self) -> None:
        _verify_moved(self, self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer, (place,) = parse_access(parser)
        count = parser.parse_integer() if parser.parse_optional_keyword("count") else None
        mask = parse_mask(parser)
        stream = parser.parse_optional_keyword("stream") is not None
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation("->")
        buffer_type = parser.parse_type()
        place_type, mask_type = _place_type(parser, type), _mask_type(parser, type)
        op = cls.of(
            parser.resolve_operand(value, type),
            parser.resolve_operand(buffer, buffer_type),
            parser.resolve_operand(place, place_type),
            None if mask is None else parser.resolve_operand(mask, mask_type),
            count,
            stream,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        _print_place(printer, self)
        printer.print_string("" if self.stream is None else " stream")
        _print_types(printer, self, self.value.type, self.buffer.type)
