"""loop: the nest of one kernel, loops as regions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from .axes import AxisAttr, AxisKind
from .limits import UNLIMITED, Limited, Limits, parse_limits, print_limits
from .monoids import MonoidAttr, Number
from .syntax import (
    parse_attributes,
    parse_operands,
    parse_types,
    parse_untyped_argument,
    print_attributes,
    print_operands,
    print_types,
    print_untyped_argument,
    segment_sizes,
)
from .types import element_of, index
from .uop.ranges import ScanOver
from .uop.reduction import verify_monoid_operands


@irdl_op_definition
class ForOp(Limited):
    """One loop: `loop.for %i (i = 16 parallel) { … }`, or over some of its steps: `loop.for %i (i = 16 parallel) from
    %lo to %hi { … }`.

    With state (tile form): `loop.for %k (k = 8 loop) carry (%acc = add : vector<2x2xf32>) { … loop.yield %new : …
    }`. Each group
    of carried values begins at the identity of its monoid, or continues an outer loop's state (`add from %outer`);
    the body
    yields the new state, and all of it changes at once. The results are the last state. Values of a monoid with two
    stages may have more elements than its first, along dimensions in which that has one.

    inits: nothing, or one value for each carried value.
    """

    name = "loop.for"

    axis = prop_def(AxisAttr)
    monoids = prop_def(ArrayAttr[MonoidAttr])
    inits = var_operand_def()
    states = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def of(
        axis: AxisAttr,
        monoids: Sequence[str] = (),
        state_types: Sequence[Attribute] = (),
        inits: Sequence[SSAValue] = (),
        limits: Limits = UNLIMITED,
    ) -> ForOp:
        """The loop with an empty body, whose block takes the index and then the state."""
        body = Region(Block(arg_types=(index, *state_types)))
        return ForOp.around(body, axis, [MonoidAttr(name) for name in monoids], state_types, inits, limits)

    @staticmethod
    def around(
        body: Region,
        axis: AxisAttr,
        monoids: Sequence[MonoidAttr],
        state_types: Sequence[Attribute],
        inits: Sequence[SSAValue],
        limits: Limits,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> ForOp:
        """The loop with this body, whose block takes the index and then the state."""
        return ForOp.create(
            operands=(*inits, *limits.values),
            result_types=state_types,
            properties={
                "axis": axis,
                "monoids": ArrayAttr(monoids),
                "operandSegmentSizes": segment_sizes(len(inits), *limits.sizes),
            },
            attributes=attributes or {},
            regions=[body],
        )

    @property
    def index(self) -> BlockArgument:
        return self.body.block.args[0]

    @property
    def carried(self) -> Sequence[BlockArgument]:
        return self.body.block.args[1:]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The new state that the body yields."""
        last = self.body.block.last_op
        return last.operands if isinstance(last, YieldOp) else ()

    def identities(self) -> list[Number]:
        """The numbers that a loop begins with where it does not continue a state, one for each value of the state."""
        numbers: list[Number] = []
        for monoid in self.monoids.data:
            place = len(numbers)
            carried = self.carried[place : place + monoid.monoid.width]
            numbers += monoid.monoid.identity([element_of(value.type) for value in carried])
        return numbers

    def verify_(self) -> None:
        types = tuple(result.type for result in self.results)
        if self.axis.axis_kind is None:
            raise VerifyException("a loop's axis has a kind")
        if tuple(argument.type for argument in self.body.block.args) != (index, *types):
            raise VerifyException("the body of a loop takes its index and its state")
        if self.inits and tuple(value.type for value in self.inits) != types:
            raise VerifyException("a loop continues values of the types of its state")
        place = 0
        for monoid in self.monoids.data:
            group = self.results[place : place + monoid.monoid.width]
            verify_monoid_operands(self, monoid, group, wider=True)
            place += monoid.monoid.width
        if place != len(types):
            raise VerifyException(f"{len(types)} values are carried, the monoids are {place} wide")
        last = self.body.block.last_op
        if types and not isinstance(last, YieldOp):
            raise VerifyException("a loop that carries state ends in loop.yield")
        if isinstance(last, YieldOp) and tuple(value.type for value in last.operands) != types:
            raise VerifyException("loop.yield gives other types than the loop carries")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        iv, axis, limits = _parse_header(parser)
        names: list[Callable[[Attribute], Parser.Argument]] = []
        monoids: list[MonoidAttr] = []
        inits: list[UnresolvedOperand] = []
        types: list[Attribute] = []
        position = parser.pos

        def group() -> None:
            names.append(parse_untyped_argument(parser))
            while parser.parse_optional_punctuation(","):
                names.append(parse_untyped_argument(parser))
            parser.parse_punctuation("=")
            monoids.append(MonoidAttr.parse_keyword(parser))
            if parser.parse_optional_keyword("from"):
                inits.extend(parse_operands(parser))
            parser.parse_punctuation(":")
            types.extend(parse_types(parser))

        if parser.parse_optional_keyword("carry"):
            with parser.in_parens():
                group()
            while parser.parse_optional_punctuation(","):
                with parser.in_parens():
                    group()
        if len(types) != len(names):
            parser.raise_error(f"{len(names)} values are carried, {len(types)} types are given", position)
        attributes = parse_attributes(parser, keyword=True)
        arguments = [iv(index), *(name(type) for name, type in zip(names, types, strict=True))]
        region = parser.parse_region(arguments)
        values = parser.resolve_operands(inits, types, position) if inits else ()
        return cls.around(region, axis, monoids, types, values, limits, attributes)

    def print(self, printer: Printer) -> None:
        _print_header(printer, self)
        if self.results:
            printer.print_string(" carry ")
            place = 0
            for monoid in self.monoids.data:
                printer.print_string(", (" if place else "(")
                group = slice(place, place + monoid.monoid.width)
                printer.print_list(self.carried[group], lambda value: print_untyped_argument(printer, value))
                printer.print_string(f" = {monoid.data}")
                if self.inits:
                    printer.print_string(" from ")
                    print_operands(printer, self.inits[group])
                printer.print_string(" : ")
                print_types(printer, [value.type for value in self.carried[group]])
                printer.print_string(")")
                place = group.stop
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class ReduceOp(Limited):
    """`%s = loop.reduce %k (k = 64) add : f32 { … loop.yield %element : f32 }`: combine the elements that the body
    yields; with limits, `loop.reduce %k (k = 64) from %lo to %hi add : f32 { … }`, those of some steps.

    In any order: elements may be masked, vectorised, or spread over threads. An empty axis gives the identity.
    """

    name = "loop.reduce"

    axis = prop_def(AxisAttr)
    monoid = prop_def(MonoidAttr)
    outputs = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect())

    @staticmethod
    def of(axis: AxisAttr, monoid: str, types: Sequence[Attribute], limits: Limits = UNLIMITED) -> ReduceOp:
        """The reduction with an empty body, whose block takes the index."""
        return ReduceOp.create(
            operands=limits.values,
            result_types=types,
            properties={
                "axis": axis,
                "monoid": MonoidAttr(monoid),
                "operandSegmentSizes": segment_sizes(*limits.sizes),
            },
            regions=[Region(Block(arg_types=(index,)))],
        )

    @property
    def index(self) -> BlockArgument:
        return self.body.block.args[0]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The element that one step gives."""
        last = self.body.block.last_op
        return last.operands if isinstance(last, YieldOp) else ()

    def verify_(self) -> None:
        if self.axis.axis_kind not in (None, AxisKind.PARALLEL):
            raise VerifyException("how a loop.reduce is carried out is its kernel's schedule: its axis has no kind")
        if tuple(argument.type for argument in self.body.block.args) != (index,):
            raise VerifyException("the body of loop.reduce takes its index")
        verify_monoid_operands(self, self.monoid, self.results)
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body of loop.reduce ends in loop.yield")
        if [value.type for value in last.operands] != [result.type for result in self.results]:
            raise VerifyException("loop.yield gives other types than loop.reduce")

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        iv, axis, limits = _parse_header(parser)
        monoid = MonoidAttr.parse_keyword(parser)
        parser.parse_punctuation(":")
        types = parse_types(parser)
        attributes = parse_attributes(parser, keyword=True)
        region = parser.parse_region([iv(index)])
        return cls.create(
            operands=limits.values,
            result_types=types,
            properties={"axis": axis, "monoid": monoid, "operandSegmentSizes": segment_sizes(*limits.sizes)},
            attributes=attributes,
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        _print_header(printer, self)
        printer.print_string(f" {self.monoid.data} : ")
        print_types(printer, [result.type for result in self.results])
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _parse_header(parser: Parser) -> tuple[Callable[[Attribute], Parser.Argument], AxisAttr, Limits]:
    """`%i (i = 16 parallel) from %lo to %hi`"""
    iv = parse_untyped_argument(parser)
    with parser.in_parens():
        axis = AxisAttr.parse_body(parser)
    return iv, axis, parse_limits(parser)


def _print_header(printer: Printer, op: ForOp | ReduceOp) -> None:
    printer.print_string(" ")
    print_untyped_argument(printer, op.index)
    printer.print_string(" (")
    op.axis.print_body(printer)
    printer.print_string(")")
    print_limits(printer, op.limits)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The new state of a `loop.for`, or the element of a `loop.reduce`."""

    name = "loop.yield"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), HasParent(ForOp, ReduceOp))

    def verify_(self) -> None:
        if not self.operands:
            raise VerifyException("loop.yield gives at least one value; the body of a loop without state has none")

    @classmethod
    def parse(cls, parser: Parser) -> YieldOp:
        position = parser.pos
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = parse_types(parser)
        return cls.create(operands=parser.resolve_operands(operands, types, position), attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_types(printer, [value.type for value in self.operands])


@irdl_op_definition
class ScanOp(ScanOver):
    """Running combination over a loop around it: `%s = loop.scan add %x over %j : f32` combines what `%x` is in the
    steps 0 … j.

    The order in which they are combined is open; the schedule of the loop's axis says how that is carried out.
    inputs: one scalar for each of the monoid's values. results: the same types.
    """

    name = "loop.scan"

    @property
    def loop(self) -> ForOp | ReduceOp:
        """The loop whose steps it combines."""
        (over,) = self.over
        assert isinstance(over, BlockArgument)
        loop = over.block.parent_op()
        assert isinstance(loop, ForOp | ReduceOp)
        return loop

    def verify_(self) -> None:
        self.verify_scan("the index of a loop", _is_index_of_loop)


def _is_index_of_loop(value: SSAValue) -> bool:
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return isinstance(loop, ForOp | ReduceOp) and value is loop.index


Loop = Dialect("loop", [ForOp, ReduceOp, ScanOp, YieldOp], [])
