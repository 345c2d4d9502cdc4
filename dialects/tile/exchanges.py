"""Values that threads combine, scan and take from one another."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..axes import THREAD_KINDS, AxisKind
from ..monoids import MonoidAttr
from ..syntax import (
    parse_attributes,
    parse_operands,
    parse_paren_types,
    parse_types,
    print_attributes,
    print_operands,
    print_paren_types,
    print_types,
    segment_sizes,
)
from ..types import (
    index,
    shape_of,
    with_shape,
)
from ..uop.ranges import CombineOver
from ..uop.reduction import verify_monoid_operands
from .positions import AxisOp


@irdl_op_definition
class ReduceAcrossOp(CombineOver):
    """Combine over threads: `tile.reduce_across max %v over %tj : vector<1xf32>`.

    The threads that differ only in the thread axes `over` combine their values, element by element; all of them get
    the result.
    """

    name = "tile.reduce_across"

    def verify_(self) -> None:
        self.verify_over("warp, thread and lane axes", _is_thread_axis)


def _is_thread_axis(value: SSAValue) -> bool:
    return isinstance(value.owner, AxisOp) and value.owner.axis.axis_kind in THREAD_KINDS


def verify_shared_axis(op: IRDLOperation, over: Sequence[SSAValue], type: Attribute) -> list[int]:
    """The factors of an axis that the registers and threads which hold `type` share; the shape of `type` without its
    registers."""
    factors = [value.owner for value in over if isinstance(value.owner, AxisOp)]
    kinds = (AxisKind.REGISTER, *THREAD_KINDS)
    if not factors or len(factors) < len(over) or any(f.axis.axis_kind not in kinds for f in factors):
        raise VerifyException(f"{op.name} goes over register, warp, thread and lane axes, at least one")
    shape = shape_of(type)
    dimensions = [f.dimension for f in factors if f.dimension is not None]
    for factor, dimension in ((f, f.dimension) for f in factors):
        if dimension is not None and (len(shape) <= dimension or shape[dimension] != factor.extent):
            raise VerifyException(f"a register axis of {factor.extent} is no dimension of {type}")
    if sorted(set(dimensions)) != dimensions:
        raise VerifyException("register axes stand in the order of their dimensions")
    return [1 if dimension in dimensions else extent for dimension, extent in enumerate(shape)]


@irdl_op_definition
class ScanAcrossOp(IRDLOperation):
    """Running combination along an axis that registers and threads share: `%s, %last = tile.scan_across add %v from
    %acc over %rj, %lj, %rj_1 : vector<8x4xf32> from vector<1x1xf32>(vector<8x1xindex>, index, vector<1x4xindex>)`.

    over: the factors of the axis, the outermost first: register axes, which are dimensions of the vectors, and thread
      axes. An element's position is the mixed-radix number over them.
    inputs: one value for each of the monoid's, of one shape. before: what stands before the first position, of the
      types of the inputs with extent 1 along the register axes.
    scanned: each element combined with `before` and all elements before it, in order. last: those at the last position,
      of the types of `before`; all threads get them.
    """

    name = "tile.scan_across"

    monoid = prop_def(MonoidAttr)
    inputs = var_operand_def()
    before = var_operand_def()
    over = var_operand_def()
    scanned = var_result_def()
    last = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True), AttrSizedResultSegments(as_property=True))
    traits = traits_def(Pure())

    @staticmethod
    def of(
        monoid: str, inputs: Sequence[SSAValue], before: Sequence[SSAValue], over: Sequence[SSAValue]
    ) -> ScanAcrossOp:
        return ScanAcrossOp.create(
            operands=(*inputs, *before, *over),
            result_types=[value.type for value in (*inputs, *before)],
            properties={
                "monoid": MonoidAttr(monoid),
                "operandSegmentSizes": segment_sizes(len(inputs), len(before), len(over)),
                "resultSegmentSizes": segment_sizes(len(inputs), len(before)),
            },
        )

    @property
    def factors(self) -> list[AxisOp]:
        """The factors of the axis, outermost first."""
        return [value.owner for value in self.over if isinstance(value.owner, AxisOp)]

    def verify_(self) -> None:
        verify_monoid_operands(self, self.monoid, self.inputs)
        kept = verify_shared_axis(self, self.over, self.inputs[0].type)
        begun = [with_shape(value.type, kept) for value in self.inputs]
        if [value.type for value in self.before] != begun:
            raise VerifyException(f"{self.name} begins with values of {', '.join(map(str, begun))}")
        if [result.type for result in self.results] != [value.type for value in (*self.inputs, *self.before)]:
            raise VerifyException(f"{self.name} keeps the types of its inputs, and of what it begins with")

    @classmethod
    def parse(cls, parser: Parser) -> ScanAcrossOp:
        monoid = MonoidAttr.parse_keyword(parser)
        position = parser.pos
        inputs = parse_operands(parser)
        parser.parse_keyword("from")
        before = parse_operands(parser)
        parser.parse_keyword("over")
        over = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = parse_types(parser)
        parser.parse_keyword("from")
        begun = parse_types(parser)
        over_types = parse_paren_types(parser)
        op = cls.of(
            monoid.data,
            parser.resolve_operands(inputs, types, position),
            parser.resolve_operands(before, begun, position),
            parser.resolve_operands(over, over_types, position),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.monoid.data} ")
        print_operands(printer, self.inputs)
        printer.print_string(" from ")
        print_operands(printer, self.before)
        printer.print_string(" over ")
        print_operands(printer, self.over)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_types(printer, [value.type for value in self.inputs])
        printer.print_string(" from ")
        print_types(printer, [value.type for value in self.before])
        print_paren_types(printer, [value.type for value in self.over])


@irdl_op_definition
class TakeAcrossOp(IRDLOperation):
    """What stands at one position along an axis that registers and threads share, for all of them: `tile.take_across %p
    at %k over %rk, %lk, %rk_1 : vector<8x1x2xf32>(index, vector<8x1x1xindex>, index, vector<1x1x2xindex>)`.

    over: as of `tile.scan_across`. place: an index, the mixed-radix number over these factors; alike for the threads
      that differ in them.
    result: the type of the input with extent 1 along the register axes.
    """

    name = "tile.take_across"

    input = operand_def(VectorType.constr())
    place = operand_def(IndexType)
    over = var_operand_def()
    result = result_def(VectorType.constr())

    traits = traits_def(Pure())

    @staticmethod
    def of(input: SSAValue, place: SSAValue, over: Sequence[SSAValue]) -> TakeAcrossOp:
        dimensions = [axis.owner.dimension for axis in over if isinstance(axis.owner, AxisOp)]
        kept = [1 if dimension in dimensions else n for dimension, n in enumerate(shape_of(input.type))]
        return TakeAcrossOp.create(operands=(input, place, *over), result_types=[with_shape(input.type, kept)])

    @property
    def factors(self) -> list[AxisOp]:
        """The factors of the axis, outermost first."""
        return [value.owner for value in self.over if isinstance(value.owner, AxisOp)]

    def verify_(self) -> None:
        kept = verify_shared_axis(self, self.over, self.input.type)
        if self.result.type != with_shape(self.input.type, kept):
            raise VerifyException(f"{self.name} gives {with_shape(self.input.type, kept)}, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> TakeAcrossOp:
        position = parser.pos
        input = parser.parse_unresolved_operand()
        parser.parse_keyword("at")
        place = parser.parse_unresolved_operand()
        parser.parse_keyword("over")
        over = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        over_types = parse_paren_types(parser)
        op = cls.of(
            parser.resolve_operand(input, type),
            parser.resolve_operand(place, index),
            parser.resolve_operands(over, over_types, position),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(" at ")
        printer.print_ssa_value(self.place)
        printer.print_string(" over ")
        print_operands(printer, self.over)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        print_paren_types(printer, [value.type for value in self.over])
