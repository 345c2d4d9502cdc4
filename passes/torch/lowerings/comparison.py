"""Comparisons, logic, bits, and choices by condition."""

from __future__ import annotations

from ....dialects.monoids import Number
from ....dialects.types import is_bool, is_float
from .errors import Unsupported
from .lowering import Lowering, Operand
from .promotion import result_type
from .registry import lowering
from .tensor import Tensor, bool_tensor

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@lowering(*(f"{name}.{kind}" for name in _COMPARISONS for kind in ("Tensor", "Scalar")))
def compare(b: Lowering, self: Operand, other: Operand) -> Tensor:
    """In the common type of the operands, to which a Python number is rounded."""
    name, _, _ = b.op.overload.data.partition(".")
    x, y = b.operands([self, other], result_type([self, other]))
    return x.alu(name, y)


_LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}


@lowering(*_LOGICAL)
def logical(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    return bool_tensor(self).alu(_LOGICAL[b.op.overload.data], bool_tensor(other))


_BITWISE = {
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "__and__": "and",
    "__or__": "or",
    "__xor__": "xor",
}
_SHIFTS = {"bitwise_left_shift": "shl", "bitwise_right_shift": "shr", "__lshift__": "shl", "__rshift__": "shr"}


@lowering(
    *(f"{name}.{kind}" for name in _BITWISE for kind in ("Tensor", "Scalar")),
    *(f"bitwise_{name}.Scalar_Tensor" for name in ("and", "or", "xor")),
)
def bitwise(b: Lowering, self: Operand, other: Operand) -> Tensor:
    name, _, _ = b.op.overload.data.partition(".")
    x, y = b.operands([self, other], b.element)
    return x.alu(_BITWISE[name], y)


@lowering(
    "bitwise_left_shift.Tensor",
    "bitwise_left_shift.Tensor_Scalar",
    "bitwise_left_shift.Scalar_Tensor",
    "bitwise_right_shift.Tensor",
    "bitwise_right_shift.Tensor_Scalar",
    "bitwise_right_shift.Scalar_Tensor",
    "__lshift__.Tensor",
    "__lshift__.Scalar",
    "__rshift__.Tensor",
    "__rshift__.Scalar",
)
def shift(b: Lowering, self: Operand, other: Operand) -> Tensor:
    name, _, _ = b.op.overload.data.partition(".")
    x, y = b.operands([self, other], b.element)
    return x.alu(_SHIFTS[name], y)


@lowering("maximum", "minimum", "max.other", "min.other")
def extremum(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    x, y = b.operands([self, other], b.element)
    return x.alu(b.op.overload.data[:3], y)


@lowering("fmax", "fmin")
def extremum_of_numbers(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    """The one that is not NaN, where one is."""
    x, y = b.operands([self, other], b.element)
    extreme = x.alu(b.op.overload.data[1:], y)
    if not is_float(x.element):
        return extreme
    return x.alu("isnan").where(y, y.alu("isnan").where(x, extreme))


@lowering("clamp", "clip")
def clamp(b: Lowering, self: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor:
    return _clamped(b, self, min, max)


@lowering("clamp.Tensor")
def clamp_tensor(b: Lowering, self: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    return _clamped(b, self, min, max)


@lowering("clamp_min", "clamp_min.Tensor")
def clamp_min(b: Lowering, self: Tensor, min: Operand) -> Tensor:
    return _clamped(b, self, min, None)


@lowering("clamp_max", "clamp_max.Tensor")
def clamp_max(b: Lowering, self: Tensor, max: Operand) -> Tensor:
    return _clamped(b, self, None, max)


def _clamped(b: Lowering, x: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    """First up to `low`, then down to `high`, which wins where they cross. NaN stays, and a NaN bound wins."""
    bounds = [bound for bound in (low, high) if bound is not None]
    if is_bool(b.element) and not (len(bounds) == 1 and isinstance(bounds[0], Tensor)):
        raise Unsupported("PyTorch clamps bools by one tensor, not by two or by numbers")
    result = x.cast(b.element)
    for bound, op in ((low, "max"), (high, "min")):
        if bound is not None:
            result = result.alu(op, bound.cast(b.element) if isinstance(bound, Tensor) else bound)
    return result


@lowering("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(b: Lowering, condition: Tensor, self: Operand, other: Operand) -> Tensor:
    x, y = b.operands([self, other], b.element)
    return bool_tensor(condition).where(x, y)


@lowering("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b: Lowering, self: Tensor, mask: Tensor, value: Operand) -> Tensor:
    return bool_tensor(mask).where(b.operand(value, b.element), self)
