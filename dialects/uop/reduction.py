"""Reductions, scans and data-dependent access of the tensor form. A register tile (vector) reduces with the same op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import FunctionType, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..monoids import MonoidAttr
from ..syntax import (
    integer_values,
    integers,
    parse_attributes,
    parse_integers,
    parse_operands,
    print_attributes,
    print_integers,
    print_operands,
)
from ..types import element_of, is_integer, is_value_type, shape_of, with_shape
from .movement import Integers, verify_axes

OpT = TypeVar("OpT", bound=IRDLOperation)


def verify_monoid_operands(
    op: IRDLOperation, monoid: MonoidAttr, values: Sequence[SSAValue], *, wider: bool = False
) -> None:
    """As many values as the monoid is wide, of one shape, with elements in its domain.

    wider: of a monoid with two stages, each of the other values may have more elements than the first, along dimensions
    in which that has one, or in any if that is a scalar.
    """
    row = monoid.monoid
    if len(values) != row.width:
        raise VerifyException(f"{op.name} {row.name} takes {row.width} values, not {len(values)}")
    known = all(is_value_type(value.type) for value in values)
    if not known or not row.accepts([element_of(value.type) for value in values]):
        types = ", ".join(str(value.type) for value in values)
        raise VerifyException(f"the monoid {row.name} is not defined for {types}")
    shapes = [shape_of(value.type) for value in values]
    if wider and row.stages is not None and all(_is_wider(shape, shapes[0]) for shape in shapes):
        return
    if any(shape != shapes[0] for shape in shapes):
        raise VerifyException(f"the operands of {op.name} have different shapes")


def _is_wider(shape: tuple[int, ...], than: tuple[int, ...]) -> bool:
    return not than or (len(shape) == len(than) and all(m in (1, n) for n, m in zip(shape, than, strict=True)))


def parse_function_type(parser: Parser) -> FunctionType:
    type = parser.parse_type()
    if not isinstance(type, FunctionType):
        parser.raise_error("expected types of operands and results: `(…) -> …`")
    return type


def parse_typed(
    op: type[OpT],
    parser: Parser,
    operands: Sequence[UnresolvedOperand],
    position: int,
    properties: Mapping[str, Attribute],
) -> OpT:
    """The op whose text ends in attributes and the types of its operands and results. position: of the operands"""
    attributes = parse_attributes(parser)
    parser.parse_punctuation(":")
    type = parse_function_type(parser)
    return op.create(
        operands=parser.resolve_operands(operands, type.inputs.data, position),
        result_types=type.outputs.data,
        properties=properties,
        attributes=attributes,
    )


@irdl_op_definition
class ReduceAxisOp(IRDLOperation):
    """Combine along `axes` with a monoid, keeping each reduced axis at extent 1.

    inputs: one value for each of the monoid's, tensors or vectors of one shape.
    results: the same types with extent 1 along `axes`.
    An empty axis gives the monoid's identity.
    """

    name = "uop.reduce_axis"

    monoid = prop_def(MonoidAttr)
    axes = prop_def(Integers)
    inputs = var_operand_def()
    outputs = var_result_def()

    traits = traits_def(Pure())

    @staticmethod
    def of(monoid: str, inputs: Sequence[SSAValue], axes: Sequence[int]) -> ReduceAxisOp:
        shape = [1 if axis in axes else n for axis, n in enumerate(shape_of(inputs[0].type))]
        return ReduceAxisOp.create(
            operands=inputs,
            result_types=[with_shape(value.type, shape) for value in inputs],
            properties={"monoid": MonoidAttr(monoid), "axes": integers(axes)},
        )

    def axis_list(self) -> tuple[int, ...]:
        return integer_values(self.axes)

    def verify_(self) -> None:
        verify_monoid_operands(self, self.monoid, self.operands)
        shape = shape_of(self.operands[0].type)
        verify_axes(self.axis_list(), len(shape))
        reduced = [1 if axis in self.axis_list() else n for axis, n in enumerate(shape)]
        for value, result in zip(self.operands, self.results, strict=True):
            if result.type != with_shape(value.type, reduced):
                raise VerifyException(f"reduce_axis gives {with_shape(value.type, reduced)}, not {result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> ReduceAxisOp:
        monoid = MonoidAttr.parse_keyword(parser)
        position = parser.pos
        operands = parse_operands(parser)
        parser.parse_keyword("axes")
        axes = parse_integers(parser)
        return parse_typed(cls, parser, operands, position, {"monoid": monoid, "axes": axes})

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.monoid.data} ")
        print_operands(printer, self.operands)
        printer.print_string(" axes ")
        print_integers(printer, self.axis_list())
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_function_type([x.type for x in self.operands], [x.type for x in self.results])


def _axis_of(op: ScanAxisOp | GatherOp | ScatterOp, rank: int) -> int:
    axis = op.axis.value.data
    if not 0 <= axis < rank:
        raise VerifyException(f"axis {axis} is no axis of a tensor of rank {rank}")
    return axis


@irdl_op_definition
class ScanAxisOp(IRDLOperation):
    """Running combination along one axis: element `i` of the result combines elements 0 … i.

    inputs: one tensor for each of the monoid's values, of one shape. results: the same types.
    """

    name = "uop.scan_axis"

    monoid = prop_def(MonoidAttr)
    axis = prop_def(IntegerAttr)
    inputs = var_operand_def(TensorType.constr())
    outputs = var_result_def(TensorType.constr())

    traits = traits_def(Pure())

    def verify_(self) -> None:
        verify_monoid_operands(self, self.monoid, self.operands)
        _axis_of(self, len(shape_of(self.operands[0].type)))
        for value, result in zip(self.operands, self.results, strict=True):
            if value.type != result.type:
                raise VerifyException(f"scan_axis keeps the type {value.type}, not {result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> ScanAxisOp:
        monoid = MonoidAttr.parse_keyword(parser)
        position = parser.pos
        operands = parse_operands(parser)
        axis = _parse_axis(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.create(
            operands=parser.resolve_operands(operands, types, position),
            result_types=types,
            properties={"monoid": monoid, "axis": axis},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.monoid.data} ")
        print_operands(printer, self.operands)
        printer.print_string(f" axis {self.axis.value.data}")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list([x.type for x in self.operands], printer.print_attribute)


def _parse_axis(parser: Parser) -> IntegerAttr:
    parser.parse_keyword("axis")
    return IntegerAttr(parser.parse_integer(allow_boolean=False), i64)


@irdl_op_definition
class GatherOp(IRDLOperation):
    """Elements chosen by index along one axis: `result[… i …] = input[… indices[… i …] …]`.

    input: tensor of rank n. indices: integer tensor of rank n, equal to `input` in every other axis.
    result: the shape of `indices`, the elements of `input`. Negative indices are not counted from the end; an index
      outside the axis is out of bounds: interpreters refuse it, compiled programs give 0.
    """

    name = "uop.gather"

    axis = prop_def(IntegerAttr)
    input = operand_def(TensorType.constr())
    indices = operand_def(TensorType.constr())
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, indices = shape_of(self.input.type), shape_of(self.indices.type)
        axis = _axis_of(self, len(source))
        if not is_integer(element_of(self.indices.type)):
            raise VerifyException(f"indices are integers, not {self.indices.type}")
        _verify_other_axes(source, indices, axis)
        if self.result.type != with_shape(self.input.type, indices):
            raise VerifyException(f"gather gives {with_shape(self.input.type, indices)}, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> GatherOp:
        position = parser.pos
        operands = parse_operands(parser)
        axis = _parse_axis(parser)
        return parse_typed(cls, parser, operands, position, {"axis": axis})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        printer.print_string(f" axis {self.axis.value.data}")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_function_type([x.type for x in self.operands], [self.result.type])


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """`input` with `updates` put at, or combined into, chosen places of one axis.

    For each element of `updates`: `result[… indices[… i …] …]` becomes the update, or with a monoid the combination
    of what is there and the update; the order of combinations is open. Without a monoid the last of several updates of
    one place stays.
    input: tensor of rank n. indices, updates: tensors of one shape, of rank n, no larger than `input` in every other
      axis. The index −1 names no place: its update is dropped. Other negative indices are not counted from the end; an
      index outside the axis is out of bounds: interpreters refuse it, compiled programs drop its update.
    """

    name = "uop.scatter"

    monoid = opt_prop_def(MonoidAttr)
    axis = prop_def(IntegerAttr)
    input = operand_def(TensorType.constr())
    indices = operand_def(TensorType.constr())
    updates = operand_def(TensorType.constr())
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, indices = shape_of(self.input.type), shape_of(self.indices.type)
        axis = _axis_of(self, len(source))
        if not is_integer(element_of(self.indices.type)):
            raise VerifyException(f"indices are integers, not {self.indices.type}")
        _verify_other_axes(source, indices, axis, smaller=True)
        if self.updates.type != with_shape(self.input.type, indices):
            raise VerifyException(f"updates have type {with_shape(self.input.type, indices)}, not {self.updates.type}")
        if self.monoid is not None:
            verify_monoid_operands(self, self.monoid, [self.updates])
        if self.result.type != self.input.type:
            raise VerifyException(f"scatter keeps the type {self.input.type}, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> ScatterOp:
        properties: dict[str, Attribute] = {}
        position = parser.pos
        first = parser.parse_optional_unresolved_operand()
        if first is None:
            properties["monoid"] = MonoidAttr.parse_keyword(parser)
            position = parser.pos
            operands = parse_operands(parser)
        else:
            parser.parse_punctuation(",")
            operands = [first, *parse_operands(parser)]
        properties["axis"] = _parse_axis(parser)
        return parse_typed(cls, parser, operands, position, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" " if self.monoid is None else f" {self.monoid.data} ")
        print_operands(printer, self.operands)
        printer.print_string(f" axis {self.axis.value.data}")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_function_type([x.type for x in self.operands], [self.result.type])


def _verify_other_axes(source: Sequence[int], indices: Sequence[int], axis: int, *, smaller: bool = False) -> None:
    if len(indices) != len(source):
        raise VerifyException(f"indices have rank {len(indices)}, the input {len(source)}")
    for d, (n, m) in enumerate(zip(source, indices, strict=True)):
        if d != axis and (m > n if smaller else m != n):
            raise VerifyException(f"indices have extent {m} in axis {d}, the input {n}")
