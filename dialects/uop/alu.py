"""ALU ops: one class per row of the semantics table, for tensors, vectors and scalars alike; casts and constants."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Commutative, ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .. import semantics
from ..monoids import Number, number_attribute
from ..syntax import UnaryTypeChange, parse_attributes, parse_operands, print_attributes, print_operands
from ..types import (
    bit_width,
    element_of,
    index,
    integer_bounds,
    is_element_type,
    is_value_type,
    shape_of,
    with_element,
)


class AluOp(IRDLOperation):
    """An op of the semantics table, elementwise on operands of one type.

    operands: tensor, vector or scalar, all of one type `T`; the first of `where` is `T` with bool elements.
    result: `T`; of a comparison, `T` with bool elements.
    """

    arguments = var_operand_def()
    result = result_def()

    @classmethod
    def row(cls) -> semantics.Semantics:
        """What the op means."""
        return semantics.ALU[cls.name.removeprefix("uop.")]

    @classmethod
    def build_on(cls, *operands: SSAValue) -> AluOp:
        """The op on these operands, its result type inferred."""
        type = operands[-1].type
        return cls.create(operands=operands, result_types=(with_element(type, i1) if cls.row().compares else type,))

    @classmethod
    def operand_types_for(cls, type: Attribute) -> list[Attribute]:
        """Types of the operands when the last has type `type`."""
        row = cls.row()
        types = [type] * row.arity
        if row.name == "where":
            types[0] = with_element(type, i1)
        return types

    def verify_(self) -> None:
        row = self.row()
        if len(self.operands) != row.arity:
            raise VerifyException(f"{self.name} takes {row.arity} operands, not {len(self.operands)}")
        type = self.operands[-1].type
        element = element_of(type)
        if not is_value_type(type) or not row.accepts(element):
            raise VerifyException(f"{self.name} is not defined for {type}: its domain is {row.domain}")
        for operand, expected in zip(self.operands, self.operand_types_for(type), strict=True):
            if operand.type != expected:
                raise VerifyException(f"{self.name} has an operand of type {operand.type} where {expected} is expected")
        expected = with_element(type, i1) if row.compares else type
        if self.results[0].type != expected:
            raise VerifyException(f"{self.name} has result type {self.results[0].type} where {expected} is expected")

    @classmethod
    def parse(cls, parser: Parser) -> AluOp:
        position = parser.pos
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls.build_on(*parser.resolve_operands(operands, cls.operand_types_for(type), position))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[-1].type)


def _define(row: semantics.Semantics) -> type[AluOp]:
    traits = (Pure(), Commutative()) if row.commutative else (Pure(),)
    dialect, _, name = row.name.rpartition(".")
    members = {
        "__doc__": row.summary,
        "__module__": __name__,
        "name": f"{dialect or 'uop'}.{name}",
        "traits": traits_def(*traits),
    }
    class_name = "".join(part.capitalize() for part in name.split("_")) + "Op"
    return irdl_op_definition(type(class_name, (AluOp,), members))


ALU_OPS: dict[str, type[AluOp]] = {name: _define(row) for name, row in semantics.ALU.items()}
"""Op name (of uop, without the dialect) → class."""


def alu_op(row: semantics.Semantics) -> type[AluOp]:
    """An op of another dialect that is like those of the table, where its row stands from now on.

    row: its name has the dialect: `Semantics("mine.double", 1, "number", "x + x", lambda np, x: x + x, {}, smt=…)`
    """
    dialect, _, _ = row.name.rpartition(".")
    if dialect in ("", "uop"):
        raise ValueError(f"{row.name} needs the name of your dialect in front: mine.{row.name.rpartition('.')[2]}")
    semantics.ALU[row.name] = row
    ALU_OPS[row.name] = _define(row)
    return ALU_OPS[row.name]


NegOp = ALU_OPS["neg"]
NotOp = ALU_OPS["not"]
AddOp = ALU_OPS["add"]
SubOp = ALU_OPS["sub"]
MulOp = ALU_OPS["mul"]
DivOp = ALU_OPS["div"]
FloordivOp = ALU_OPS["floordiv"]
FloormodOp = ALU_OPS["floormod"]
TruncdivOp = ALU_OPS["truncdiv"]
TruncmodOp = ALU_OPS["truncmod"]
MinOp = ALU_OPS["min"]
MaxOp = ALU_OPS["max"]
AndOp = ALU_OPS["and"]
OrOp = ALU_OPS["or"]
EqOp = ALU_OPS["eq"]
LtOp = ALU_OPS["lt"]
LeOp = ALU_OPS["le"]
GtOp = ALU_OPS["gt"]
GeOp = ALU_OPS["ge"]
WhereOp = ALU_OPS["where"]


@irdl_op_definition
class ConstOp(IRDLOperation):
    """A scalar constant: `uop.const 1.0 : f32`. Always scalar; `uop.expand` makes a tensor or vector of it.

    The number is exact, infinities, signed zeros and subnormals included. A NaN keeps its sign; it may become quiet,
    and in `f16` it has no payload.
    """

    name = "uop.const"

    value = prop_def(IntegerAttr | FloatAttr)
    result = result_def()

    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def of(cls, value: Number, type: Attribute) -> ConstOp:
        """The number as a constant of an element type."""
        return cls.create(properties={"value": number_attribute(value, type)}, result_types=(type,))

    @property
    def number(self) -> Number:
        """The value as a Python number (a bool for `i1`)."""
        attribute = self.value
        if isinstance(attribute, FloatAttr):
            return attribute.value.data
        return bool(attribute.value.data) if attribute.type == i1 else attribute.value.data

    def verify_(self) -> None:
        type = self.value.type
        if not is_element_type(type):
            raise VerifyException(f"{type} is no element type")
        if type == index and not isinstance(self.value, FloatAttr):
            low, high = integer_bounds(type)
            if not low <= self.value.value.data <= high:
                raise VerifyException(f"{self.value.value.data} does not fit an index, which has 64 bits")
        if self.results[0].type != type:
            raise VerifyException(f"a constant of type {type} has result type {self.results[0].type}")

    @classmethod
    def parse(cls, parser: Parser) -> ConstOp:
        value = parser.parse_attribute()
        if not isa(value, IntegerAttr) and not isa(value, FloatAttr):
            parser.raise_error("expected a number and its type, as in `1.0 : f32`")
        return cls.create(properties={"value": value}, result_types=(value.type,), attributes=parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.value)
        print_attributes(printer, self)


@irdl_op_definition
class CastOp(UnaryTypeChange):
    """Convert to another element type: floats round to nearest even, a float to an integer truncates, to bool is `≠ 0`.

    input and result: one shape, different element types.
    """

    name = "uop.cast"

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        _verify_same_shape(self)


@irdl_op_definition
class BitcastOp(UnaryTypeChange):
    """The same bits read as another element type of the same width."""

    name = "uop.bitcast"

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        _verify_same_shape(self)
        source, target = element_of(self.input.type), element_of(self.result.type)
        if (source == i1) != (target == i1) or bit_width(source) != bit_width(target):
            raise VerifyException(f"{source} and {target} differ in width")


def _verify_same_shape(op: CastOp | BitcastOp) -> None:
    source, target = op.input.type, op.result.type
    if not is_value_type(source) or not is_value_type(target):
        raise VerifyException(f"{op.name} is not defined for {source} -> {target}")
    if with_element(source, element_of(target)) != target:
        raise VerifyException(f"{op.name} keeps the shape, {shape_of(source)}: {source} -> {target}")


def constant_value(value: SSAValue) -> Number | None:
    """The number when `value` is a `uop.const`."""
    owner = value.owner
    return owner.number if isinstance(owner, ConstOp) else None
