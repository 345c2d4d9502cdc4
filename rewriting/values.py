"""What rules ask of a value: whether it is one known number, and of what kind its elements are."""

from math import copysign
from typing import Any

from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, Signedness, TensorType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.monoids import Number
from ..dialects.types import FLOAT_TYPES
from ..dialects.uop import ConstOp, ExpandOp


def number_of(op: Operation) -> Number | None:
    """The number that a `uop.const` or `uop.expand` gives; None when it is not one number."""
    while type(op) is ExpandOp:
        owner = op.operands[0].owner
        if not isinstance(owner, Operation):
            return None
        op = owner
    return op.number if isinstance(op, ConstOp) else None


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
    """`float`, `signed`, `unsigned`, `index` or `bool`; `` for what is none of these."""
    # Classes are compared: isinstance takes five times as long on xDSL's abstract classes.
    type_: Any = value.type
    cls = type_.__class__
    if cls in _SHAPED:
        type_ = type_.element_type
        cls = type_.__class__
    if cls is IntegerType:
        if type_.width.data == 1:
            return "bool"
        return "unsigned" if type_.signedness.data is Signedness.UNSIGNED else "signed"
    return _KINDS.get(cls, "")
