"""Kernels and the program that launches them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..schedule import ScheduleAttr
from ..syntax import (
    number,
    parse_arguments,
    parse_attributes,
    parse_optional_results,
    parse_types,
    print_arguments,
    print_attributes,
    print_operands,
    print_optional_results,
    print_types,
)
from ..types import is_memref, is_tensor
from .reduction import parse_function_type


@irdl_op_definition
class KernelOp(IRDLOperation):
    """One kernel, from tensor form to tile form.

    Tensor form: a function of tensors that ends in `uop.yield`. From range form on: the outputs' buffers, then the
    inputs', and
    nothing is returned; the body writes the outputs. `schedule`, where chosen, says how each axis is carried out.
    """

    name = "uop.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    # `Operation.result_types` is another thing: hence the name.
    declared_results = prop_def(ArrayAttr, prop_name="result_types")
    schedule = opt_prop_def(ScheduleAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    @staticmethod
    def of(name: str, result_types: Sequence[Attribute], body: Region) -> KernelOp:
        return KernelOp.create(
            properties={"sym_name": StringAttr(name), "result_types": ArrayAttr(result_types)}, regions=[body]
        )

    @property
    def is_tensor_form(self) -> bool:
        return isinstance(self.body.block.last_op, YieldOp)

    def verify_(self) -> None:
        types = [argument.type for argument in self.body.block.args]
        results: tuple[Attribute, ...] = self.declared_results.data
        last = self.body.block.last_op
        if isinstance(last, YieldOp):
            if not all(is_tensor(type) for type in types):
                raise VerifyException("a kernel in tensor form takes tensors")
            if tuple(value.type for value in last.operands) != results:
                raise VerifyException("uop.yield gives other types than the kernel declares")
            return
        if results:
            raise VerifyException("a kernel that declares results ends in uop.yield")
        if not all(is_memref(type) for type in types):
            raise VerifyException("a kernel that does not end in uop.yield takes memrefs")

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        arguments = parse_arguments(parser)
        properties["result_types"] = parse_optional_results(parser)
        if parser.parse_optional_keyword("schedule"):
            properties["schedule"] = parser.parse_attribute()
        attributes = parse_attributes(parser, keyword=True)
        region = parser.parse_region(arguments)
        return cls.create(properties=properties, attributes=attributes, regions=[region])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_arguments(printer, self.body)
        print_optional_results(printer, self.declared_results)
        if self.schedule is not None:
            printer.print_string(" schedule ")
            printer.print_attribute(self.schedule)
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """What a kernel in tensor form computes."""

    name = "uop.yield"

    arguments = var_operand_def(TensorType.constr())

    traits = traits_def(IsTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> YieldOp:
        position = parser.pos
        first = parser.parse_optional_unresolved_operand()
        operands = [] if first is None else [first]
        while operands and parser.parse_optional_punctuation(","):
            operands.append(parser.parse_unresolved_operand())
        attributes = parse_attributes(parser)
        types: list[Attribute] = []
        if operands:
            parser.parse_punctuation(":")
            types = parse_types(parser)
        return cls.create(operands=parser.resolve_operands(operands, types, position), attributes=attributes)

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            print_operands(printer, self.operands)
        print_attributes(printer, self)
        if self.operands:
            printer.print_string(" : ")
            print_types(printer, [value.type for value in self.operands])


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Run a kernel: a line of the program. It has value semantics and stays the same from partition to the printer.

    operands and results: tensors. The kernel takes the results' buffers, then the operands'.
    arena: where memory is planned, each result's offset in bytes in the memory that the function's launches share,
    or `own` for a result with memory of its own: `uop.launch @f(%x) arena [256, own] : …`.
    """

    name = "uop.launch"

    kernel = prop_def(SymbolRefAttr)
    arena = opt_prop_def(ArrayAttr)
    arguments = var_operand_def(TensorType.constr())
    outputs = var_result_def(TensorType.constr())

    @staticmethod
    def of(kernel: str, arguments: Sequence[SSAValue], result_types: Sequence[Attribute]) -> LaunchOp:
        return LaunchOp.create(
            operands=arguments, result_types=result_types, properties={"kernel": SymbolRefAttr(kernel)}
        )

    def verify_(self) -> None:
        if self.kernel.nested_references.data:
            raise VerifyException(f"a kernel is named by one symbol, not {self.kernel}")
        if self.arena is not None:
            if len(self.arena) != len(self.results):
                raise VerifyException(f"{len(self.results)} results have {len(self.arena)} places in the arena")
            if not all(_is_offset(place) or isinstance(place, UnitAttr) for place in self.arena):
                raise VerifyException("a place in the arena is an offset in bytes from 0 on, or own")

    def place(self, offsets: Sequence[int | None]) -> None:
        """Plan the memory of the results: offsets in bytes, None for memory of its own."""
        self.arena = ArrayAttr(UnitAttr() if offset is None else number(offset) for offset in offsets)

    def offsets(self) -> tuple[int | None, ...]:
        """The offset of each result in the arena, None for one with memory of its own."""
        if self.arena is None:
            return (None,) * len(self.results)
        return tuple(place.value.data if isinstance(place, IntegerAttr) else None for place in self.arena)

    @classmethod
    def parse(cls, parser: Parser) -> LaunchOp:
        properties: dict[str, Attribute] = {"kernel": SymbolRefAttr(parser.parse_symbol_name())}
        position = parser.pos
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        if parser.parse_optional_keyword("arena"):
            properties["arena"] = ArrayAttr(
                parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_place(parser))
            )
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parse_function_type(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, type.inputs.data, position),
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel.root_reference.data)
        printer.print_string("(")
        print_operands(printer, self.operands)
        printer.print_string(")")
        if self.arena is not None:
            places = ("own" if offset is None else str(offset) for offset in self.offsets())
            printer.print_string(f" arena [{', '.join(places)}]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_function_type([x.type for x in self.operands], [x.type for x in self.results])


def _is_offset(place: Attribute) -> bool:
    return isinstance(place, IntegerAttr) and place == number(place.value.data) and place.value.data >= 0


def _parse_place(parser: Parser) -> Attribute:
    """`256`, or `own`."""
    return UnitAttr() if parser.parse_optional_keyword("own") else number(parser.parse_integer(allow_boolean=False))
