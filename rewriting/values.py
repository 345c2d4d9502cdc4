"""What rules ask of a value: whether it is one known number, and of what kind its elements are."""

from collections.abc import Callable
from math import copysign
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Data, Operation, SSAValue
from xdsl.traits import ConstantLike

from ..dialects.monoids import Number
from ..dialects.types import FLOAT_TYPES
from ..dialects.uop import ConstOp, ExpandOp


def number_of(op: Operation) -> Number | None:
    """The number that a constant of any dialect gives, expanded or not; None when it is not one number."""
    reader = READERS[type(op)]
    return None if reader is None else reader(op)


def constant_of(value: SSAValue) -> Number | None:
    """The number that a value is, if it is a constant."""
    owner = value.owner
    return number_of(owner) if isinstance(owner, Operation) else None


def _number_of_const(op: Operation) -> Number:
    assert isinstance(op, ConstOp)
    return op.number


def _number_of_expand(op: Operation) -> Number | None:
    while type(op) is ExpandOp:
        owner = op.operands[0].owner
        if not isinstance(owner, Operation):
            return None
        op = owner
    return number_of(op)


def _number_of_constant(op: Operation) -> Number | None:
    """The number of a constant of another dialect."""
    value: Any = op.properties.get("value")
    cls = cast(type[object], type(value))
    if cls is IntegerAttr:
        number: int = value.value.data
        return bool(number) if kind_of_type(value.type) == "bool" else number
    return value.value.data if cls is FloatAttr else None


class _Readers(dict[type[object], Callable[[Operation], Number | None] | None]):
    """Op class → what reads its number; None for what is no constant."""

    def __missing__(self, cls: type[object]) -> Callable[[Operation], Number | None] | None:
        is_constant = issubclass(cls, Operation) and any(isinstance(trait, ConstantLike) for trait in cls.traits)
        self[cls] = _number_of_constant if is_constant else None
        return self[cls]


READERS = _Readers({ConstOp: _number_of_const, ExpandOp: _number_of_expand})


def plain_value(attribute: Attribute) -> object:
    """What an attribute holds, in Python: the number of an integer, the numbers of an array as a tuple, a name."""
    if isinstance(attribute, IntegerAttr | FloatAttr):
        return attribute.value.data
    if isinstance(attribute, DenseArrayBase):
        return tuple(attribute.get_values())
    if isinstance(attribute, ArrayAttr):
        return tuple(map(plain_value, cast(ArrayAttr[Attribute], attribute).data))
    return cast(Data[object], attribute).data if isinstance(attribute, Data) else attribute


def same_number(x: Number, y: Number) -> bool:
    """Equal as constants of one type: +0.0 is not −0.0, and NaN is NaN."""
    if type(x) is not type(y):
        return False
    if isinstance(x, float):
        return (x != x and y != y) or (x == y and copysign(1.0, x) == copysign(1.0, y))
    return x == y


_KINDS: dict[type[Attribute], str] = {IndexType: "index", **dict.fromkeys(FLOAT_TYPES, "float")}

_SHAPED = (TensorType, VectorType, MemRefType)


def kind_of(value: SSAValue) -> str:
    """The kind of the elements of a value."""
    return kind_of_type(value.type)


def kind_of_type(type: Attribute) -> str:
    """`float`, `signed`, `unsigned`, `index` or `bool`; `` for what is none of these."""
    # Classes are compared: isinstance takes five times as long on xDSL's abstract classes.
    type_: Any = type
    cls = type_.__class__
    if cls in _SHAPED:
        type_ = type_.element_type
        cls = type_.__class__
    if cls is IntegerType:
        if type_.width.data == 1:
            return "bool"
        return "unsigned" if type_.signedness.data is Signedness.UNSIGNED else "signed"
    return _KINDS.get(cls, "")
