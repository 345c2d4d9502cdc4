"""Pieces of text that the ops of several dialects share."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType, UnknownLoc, i32, i64
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer


@cache
def number(value: int) -> IntegerAttr:
    """The property that holds one integer. Making an attribute takes 5 µs, looking one up none."""
    return IntegerAttr(value, i64)


def integers(values: Sequence[int]) -> DenseArrayBase:
    """The property that holds a list of integers."""
    return _integers(tuple(values))


@cache
def _integers(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


@cache
def integer_values(attribute: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """The integers of a list. Unpacking their bytes takes several times as long as looking them up."""
    return attribute.get_values()


def print_integers(printer: Printer, values: Sequence[int]) -> None:
    printer.print_string("[" + ", ".join(map(str, values)) + "]")


def parse_integers(parser: Parser) -> DenseArrayBase:
    """`[1, -2]`"""
    return integers(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False))
    )


@cache
def segment_sizes(*sizes: int) -> DenseArrayBase:
    """`operandSegmentSizes` of an op with several variadic operands; `create` does not set it."""
    return DenseArrayBase.from_list(i32, sizes)


def print_operands(printer: Printer, values: Sequence[SSAValue]) -> None:
    printer.print_list(values, printer.print_ssa_value)


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """`%a, %b`: one or more."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)


def print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    printer.print_list(types, printer.print_attribute)


def parse_types(parser: Parser) -> list[Attribute]:
    """`f32, f32`: one or more."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


def parse_paren_types(parser: Parser) -> list[Attribute]:
    """`(index, vector<4xindex>)`, or `()`."""
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)


def print_paren_types(printer: Printer, types: Sequence[Attribute]) -> None:
    printer.print_string("(")
    print_types(printer, types)
    printer.print_string(")")


def print_attributes(printer: Printer, op: Operation, *, keyword: bool = False) -> None:
    """The discardable attributes of an op, if it has any."""
    if op.attributes:
        if keyword:
            printer.print_string(" attributes")
        printer.print_op_attributes(op.attributes)


def parse_attributes(parser: Parser, *, keyword: bool = False) -> Mapping[str, Attribute]:
    if keyword:
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return attributes.data if attributes is not None else {}
    return parser.parse_optional_attr_dict()


def print_access(printer: Printer, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
    """`%x[%i, %j]`"""
    printer.print_ssa_value(buffer)
    printer.print_string("[")
    print_operands(printer, indices)
    printer.print_string("]")


def parse_access(parser: Parser) -> tuple[UnresolvedOperand, list[UnresolvedOperand]]:
    buffer = parser.parse_unresolved_operand()
    return buffer, parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)


def print_mask(printer: Printer, mask: SSAValue | None) -> None:
    if mask is not None:
        printer.print_string(" mask ")
        printer.print_ssa_value(mask)


def parse_mask(parser: Parser) -> UnresolvedOperand | None:
    return parser.parse_unresolved_operand() if parser.parse_optional_keyword("mask") else None


def _print_location(printer: Printer, argument: BlockArgument) -> None:
    """` loc(…)` where locations are printed and the argument has one."""
    if printer.print_debuginfo and not isinstance(argument.location, UnknownLoc):
        printer.print_string(" ")
        printer.print_attribute(argument.location)


def print_arguments(printer: Printer, region: Region) -> None:
    """`(%x: f32, %y: f32)` of a function-like op."""

    def argument(value: BlockArgument) -> None:
        printer.print_block_argument(value, print_type=False)
        printer.print_string(": ")
        printer.print_attribute(value.type)
        _print_location(printer, value)

    printer.print_string("(")
    printer.print_list(region.block.args, argument)
    printer.print_string(")")


def parse_arguments(parser: Parser) -> list[Parser.Argument]:
    def argument() -> Parser.Argument:
        # `parse_argument` leaves a trailing `loc(…)` unread.
        parsed = parser.parse_argument()
        location = parser.parse_optional_location()
        return parsed if location is None else dataclasses.replace(parsed, location=location)

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)


def print_untyped_argument(printer: Printer, argument: BlockArgument) -> None:
    """`%i`, an argument whose type its op knows, as in the head of a loop."""
    printer.print_block_argument(argument, print_type=False)
    _print_location(printer, argument)


def parse_untyped_argument(parser: Parser) -> Callable[[Attribute], Parser.Argument]:
    """The argument, given its type."""
    name = parser.parse_argument(expect_type=False).name
    location = parser.parse_optional_location()
    return lambda type: Parser.Argument(name, type, location)


def print_optional_results(printer: Printer, types: ArrayAttr[Attribute]) -> None:
    """` -> (tensor<4xf32>)`, or nothing."""
    if types.data:
        printer.print_string(" -> ")
        print_paren_types(printer, types.data)


def parse_optional_results(parser: Parser) -> ArrayAttr[Attribute]:
    return ArrayAttr(parse_paren_types(parser) if parser.parse_optional_punctuation("->") else [])


class UnaryTypeChange(IRDLOperation):
    """Not an op: the text `uop.cast %x : A -> B` of ops with one operand and one result of its own type."""

    @classmethod
    def parse(cls, parser: Parser) -> "UnaryTypeChange":
        operand = parser.parse_unresolved_operand()
        properties = cls.parse_options(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_punctuation("->")
        target = parser.parse_type()
        return cls.create(
            operands=(parser.resolve_operand(operand, source),),
            result_types=(target,),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        self.print_options(printer)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse_options(cls, parser: Parser) -> dict[str, Attribute]:
        """What stands between the operand and the types."""
        return {}

    def print_options(self, printer: Printer) -> None:
        pass
