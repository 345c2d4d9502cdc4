"""Kernels, from tensor form to tile form."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i64,
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
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..schedule import ScheduleAttr
from ..syntax import (
    integer_values,
    integers,
    parse_arguments,
    parse_attributes,
    parse_integers,
    parse_optional_results,
    parse_types,
    print_arguments,
    print_attributes,
    print_integers,
    print_operands,
    print_optional_results,
    print_types,
)
from ..types import is_memref, is_tensor, shape_of


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
    """What a kernel in tensor form computes.

    parts: into how many equal parts each dimension of the first result is cut, `uop.yield %x parts [1, 1, 2]`: they are
    computed one beside the other, where elements move from one to another.
    """

    name = "uop.yield"

    parts = opt_prop_def(DenseArrayBase.constr(i64))
    arguments = var_operand_def(TensorType.constr())

    traits = traits_def(IsTerminator())

    @staticmethod
    def of(values: Sequence[SSAValue], parts: Sequence[int] = ()) -> YieldOp:
        properties = {"parts": integers(parts)} if parts else {}
        return YieldOp.create(operands=values, properties=properties)

    @property
    def part_counts(self) -> tuple[int, ...]:
        """As `parts`; empty where nothing is cut."""
        return () if self.parts is None else integer_values(self.parts)

    def verify_(self) -> None:
        for value in self.operands[:1] if self.part_counts else ():
            shape = shape_of(value.type)
            if len(shape) != len(self.part_counts) or any(
                count < 1 or extent % count for extent, count in zip(shape, self.part_counts, strict=True)
            ):
                raise VerifyException(f"{value.type} is not cut into {list(self.part_counts)} equal parts")

    @classmethod
    def parse(cls, parser: Parser) -> YieldOp:
        position = parser.pos
        first = parser.parse_optional_unresolved_operand()
        operands = [] if first is None else [first]
        while operands and parser.parse_optional_punctuation(","):
            operands.append(parser.parse_unresolved_operand())
        parts: Sequence[int] = ()
        if operands and parser.parse_optional_keyword("parts"):
            parts = integer_values(parse_integers(parser))
        attributes = parse_attributes(parser)
        types: list[Attribute] = []
        if operands:
            parser.parse_punctuation(":")
            types = parse_types(parser)
        op = cls.of(parser.resolve_operands(operands, types, position), parts)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            print_operands(printer, self.operands)
        if self.part_counts:
            printer.print_string(" parts ")
            print_integers(printer, self.part_counts)
        print_attributes(printer, self)
        if self.operands:
            printer.print_string(" : ")
            print_types(printer, [value.type for value in self.operands])
