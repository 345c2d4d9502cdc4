"""Arithmetic of two operands, and powers."""

from __future__ import annotations

import math

from ....dialects.monoids import Number
from ....dialects.types import is_bool, is_float
from ....rewriting.values import constant_of
from .errors import Unsupported
from .lowering import Lowering, Operand
from .registry import lowering
from .tensor import Tensor


@lowering("add.Tensor", "add.Scalar")
def add(b: Lowering, self: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    x, y = _scaled(b, self, other, alpha)
    return x | y if is_bool(x.element) else x + y


@lowering("sub.Tensor", "sub.Scalar", "subtract.Tensor")
def sub(b: Lowering, self: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    x, y = _scaled(b, self, other, alpha)
    return x - y


@lowering("rsub.Tensor", "rsub.Scalar")
def rsub(b: Lowering, self: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    x, y = _scaled(b, other, self, alpha)
    return x - y


def _scaled(b: Lowering, x: Operand, y: Operand, alpha: Number) -> list[Tensor]:
    """`x` and `alpha · y` in the type to add them in."""
    if alpha == 1:
        return b.arithmetic([x, y])
    if is_bool(b.element):
        raise Unsupported("bools are not scaled by `alpha`")
    x, y = b.operands([x, y], b.compute)
    return [x, y * alpha]


@lowering("mul.Tensor", "mul.Scalar", "multiply.Tensor")
def mul(b: Lowering, self: Operand, other: Operand) -> Tensor:
    x, y = b.arithmetic([self, other])
    return x & y if is_bool(x.element) else x * y


@lowering("div.Tensor", "div.Scalar", "divide.Tensor", "true_divide.Tensor")
def div(b: Lowering, self: Operand, other: Operand) -> Tensor:
    x, y = b.arithmetic([self, other])
    return x / y


@lowering("div.Tensor_mode", "div.Scalar_mode")
def div_mode(b: Lowering, self: Operand, other: Operand, *, rounding_mode: str | None) -> Tensor:
    if rounding_mode is None:
        return div(b, self, other)
    if rounding_mode == "floor":
        return floor_divide(b, self, other)
    if rounding_mode != "trunc":
        raise Unsupported(f"rounding_mode {rounding_mode!r} is not 'floor', 'trunc' or None")
    x, y = b.arithmetic(_divisible(b, self, other))
    # The quotient of floats is rounded to their type first: what comes to a whole number so, stays there.
    return (x / y).alu("trunc") if is_float(x.element) else x.alu("truncdiv", y)


@lowering("floor_divide", "floor_divide.Scalar")
def floor_divide(b: Lowering, self: Operand, other: Operand) -> Tensor:
    x, y = b.arithmetic(_divisible(b, self, other))
    return x.alu("floordiv", y)


@lowering("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def remainder(b: Lowering, self: Operand, other: Operand) -> Tensor:
    x, y = b.operands(_divisible(b, self, other), b.element)
    return x.alu("floormod", y)


@lowering("fmod.Tensor", "fmod.Scalar")
def fmod(b: Lowering, self: Operand, other: Operand) -> Tensor:
    x, y = b.operands(_divisible(b, self, other), b.element)
    return x.alu("truncmod", y)


def _divisible(b: Lowering, self: Operand, other: Operand) -> tuple[Operand, Operand]:
    """Both, unless integers are divided by a number that is known to be 0."""
    divisor = constant_of(other.value) if isinstance(other, Tensor) else other
    if divisor == 0 and math.prod(b.shape) and not is_float(b.element):
        raise Unsupported("integers are divided by zero, at which PyTorch raises")
    return self, other


@lowering("ldexp.Tensor")
def ldexp(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    """self · 2^other, in the type of the result (so it is ∞ or 0 where the power is)."""
    x, y = b.operands([self, other], b.compute)
    return x * y.alu("exp2")


@lowering("pow.Tensor_Tensor", "pow.Scalar")
def pow_(b: Lowering, self: Operand, exponent: Operand) -> Tensor:
    if not isinstance(self, Tensor) and self == 1:
        return b.full(b.shape, 1)
    x, y = b.operands([self, exponent], b.element)
    return x.alu("pow", y)


@lowering("pow.Tensor_Scalar")
def pow_scalar(b: Lowering, self: Tensor, exponent: Number) -> Tensor:
    """The exponents that PyTorch computes in another way than by `pow`, and the rest.

    Source: `aten/src/ATen/native/Pow.cpp` and `cpu/PowKernel.cpp`.
    """
    if exponent == 0:
        return b.full(b.shape, 1)
    x = self.cast(b.element)
    if exponent == 1:
        return x
    if exponent == 2:
        return x * x
    if not is_float(x.element):
        return _integer_power(x, exponent)
    if exponent == 0.5:
        return x.alu("sqrt")
    if exponent == -0.5:
        return x.alu("rsqrt")
    if exponent == -1:
        return x.alu("reciprocal")
    if exponent == 3:
        wide = x.cast(b.compute)
        return wide * wide * wide
    if exponent == -2:
        return 1.0 / (x.cast(b.compute) * x.cast(b.compute))
    return x.alu("pow", exponent)


def _integer_power(x: Tensor, exponent: Number) -> Tensor:
    if exponent < 0:
        raise Unsupported("integers have no negative powers")
    return x * x * x if exponent == 3 else x.alu("pow", exponent)


@lowering("atan2")
def atan2(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    x, y = b.operands([self, other], b.element)
    return x.alu("atan2", y)


@lowering("addcmul")
def addcmul(b: Lowering, self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    x, y, z = b.operands([self, tensor1, tensor2], b.compute)
    return x + (y * z if value == 1 else value * y * z)


@lowering("addcdiv")
def addcdiv(b: Lowering, self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    x, y, z = b.operands([self, tensor1, tensor2], b.compute)
    return x + (y / z if value == 1 else value * (y / z))


@lowering("lerp.Scalar", "lerp.Tensor")
def lerp(b: Lowering, self: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """From the nearer end, as PyTorch does, so that the weights 0 and 1 are exact."""
    x, y, w = b.operands([self, end, weight], b.compute)
    near = w.alu("abs") < 0.5
    return near.where(x + w * (y - x), y - (y - x) * (1.0 - w))


@lowering("hypot")
def hypot(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    """Scaled by the greater of both, so that squares do not overflow; an infinity wins over NaN."""
    x, y = (value.alu("abs") for value in b.operands([self, other], b.compute))
    high, low = x.maximum(y), x.minimum(y)
    ratio = high.equal(0.0).where(0.0, low / high)
    length = high * (1.0 + ratio * ratio).alu("sqrt")
    return (x.alu("isinf") | y.alu("isinf")).where(float("inf"), length)


@lowering("copysign.Tensor")
def copysign(b: Lowering, self: Operand, other: Operand) -> Tensor:
    x, y = b.operands([self, other], b.element)
    magnitude = x.alu("abs")
    negative = (y < 0) | (y.equal(0.0) & (1.0 / y < 0))
    return negative.where(-magnitude, magnitude)
