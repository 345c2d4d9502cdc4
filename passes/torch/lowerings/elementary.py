"""Elementary functions of one tensor."""

from __future__ import annotations

import math

from ....dialects.types import is_bool, is_float, type_name
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, bool_tensor

_FLOAT_FUNCTIONS = (
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
)
"""Overloads that are named as their op; integers and bools become floats first."""


@lowering(*_FLOAT_FUNCTIONS)
def float_function(b: Lowering, self: Tensor) -> Tensor:
    return self.cast(b.element).alu(b.op.overload.data)


_ROUNDINGS = ("floor", "ceil", "round", "trunc")


@lowering(*_ROUNDINGS)
def rounding(b: Lowering, self: Tensor) -> Tensor:
    return self.alu(b.op.overload.data) if is_float(self.element) else self


@lowering("round.decimals")
def round_decimals(b: Lowering, self: Tensor, *, decimals: int = 0) -> Tensor:
    if not is_float(self.element):
        return self
    x = self.cast(b.compute)
    scale = float(10 ** abs(decimals))
    if decimals == 0:
        return x.alu("round")
    return (x * scale).alu("round") / scale if decimals > 0 else (x / scale).alu("round") * scale


@lowering("neg")
def neg(b: Lowering, self: Tensor) -> Tensor:
    return -self


@lowering("abs")
def abs_(b: Lowering, self: Tensor) -> Tensor:
    return self if is_bool(self.element) else self.alu("abs")


@lowering("sign", "sgn")
def sign(b: Lowering, self: Tensor) -> Tensor:
    return self if is_bool(self.element) else self.alu("sign")


@lowering("signbit")
def signbit(b: Lowering, self: Tensor) -> Tensor:
    """Whether the sign is negative, of −0 too: the sign of 1 ÷ x tells the zeros apart."""
    if is_bool(self.element):
        return self.like(False)
    if not is_float(self.element):
        return self < 0
    return (self < 0) | (self.equal(0.0) & (1.0 / self < 0))


@lowering("frac")
def frac(b: Lowering, self: Tensor) -> Tensor:
    x = self.cast(b.compute)
    return x - x.alu("trunc")


@lowering("square")
def square(b: Lowering, self: Tensor) -> Tensor:
    x = self.cast(b.element)
    return x * x


@lowering("deg2rad")
def deg2rad(b: Lowering, self: Tensor) -> Tensor:
    return self.cast(b.compute) * 0.017453292519943295


@lowering("rad2deg")
def rad2deg(b: Lowering, self: Tensor) -> Tensor:
    return self.cast(b.compute) * 57.29577951308232


@lowering("angle")
def angle(b: Lowering, self: Tensor) -> Tensor:
    """Of a real number: 0, π where it is negative, NaN where it is NaN."""
    x = self.cast(b.element)
    return x.alu("isnan").where(x, (x < 0).where(math.pi, x.like(0)))


@lowering("logit")
def logit(b: Lowering, self: Tensor, eps: float | None = None) -> Tensor:
    x = self.cast(b.compute)
    if eps is not None:
        x = (x < eps).where(eps, (x > 1 - eps).where(1 - eps, x))
    return (x / (1.0 - x)).log()


@lowering("isnan")
def isnan(b: Lowering, self: Tensor) -> Tensor:
    return self.alu("isnan") if is_float(self.element) else b.full(self.shape, False)


@lowering("isinf")
def isinf(b: Lowering, self: Tensor) -> Tensor:
    return self.alu("isinf") if is_float(self.element) else b.full(self.shape, False)


@lowering("isfinite")
def isfinite(b: Lowering, self: Tensor) -> Tensor:
    if not is_float(self.element):
        return b.full(self.shape, True)
    return ~(self.alu("isnan") | self.alu("isinf"))


@lowering("isposinf")
def isposinf(b: Lowering, self: Tensor) -> Tensor:
    return self.equal(float("inf")) if is_float(self.element) else b.full(self.shape, False)


@lowering("isneginf")
def isneginf(b: Lowering, self: Tensor) -> Tensor:
    return self.equal(float("-inf")) if is_float(self.element) else b.full(self.shape, False)


GREATEST_FINITE = {
    "f64": 1.7976931348623157e308,
    "f32": 3.4028234663852886e38,
    "f16": 65504.0,
    "bf16": 3.3895313892515355e38,
}


@lowering("nan_to_num")
def nan_to_num(
    b: Lowering, self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    if not is_float(self.element):
        return self
    x = self
    greatest = GREATEST_FINITE[type_name(x.element)]
    high = greatest if posinf is None else posinf
    low = -greatest if neginf is None else neginf
    x = x.alu("isnan").where(0.0 if nan is None else nan, x)
    return x.equal(float("inf")).where(high, x.equal(float("-inf")).where(low, x))


@lowering("bitwise_not")
def bitwise_not(b: Lowering, self: Tensor) -> Tensor:
    return ~self


@lowering("logical_not")
def logical_not(b: Lowering, self: Tensor) -> Tensor:
    return ~bool_tensor(self)
