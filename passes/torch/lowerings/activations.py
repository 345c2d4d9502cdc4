"""Activation functions, each computed in f32 or f64 and rounded once, in the order of PyTorch's own kernels."""

from __future__ import annotations

import math

from ....dialects.monoids import Number
from ....dialects.types import is_bool
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor


@lowering("relu")
def relu(b: Lowering, self: Tensor) -> Tensor:
    if is_bool(self.element):
        raise Unsupported("bools have no relu")
    return self.maximum(0)


@lowering("relu6")
def relu6(b: Lowering, self: Tensor) -> Tensor:
    return self.maximum(0).minimum(6)


@lowering("hardtanh")
def hardtanh(b: Lowering, self: Tensor, min_val: Number = -1, max_val: Number = 1) -> Tensor:
    return self.maximum(min_val).minimum(max_val)


@lowering("leaky_relu")
def leaky_relu(b: Lowering, self: Tensor, negative_slope: Number = 0.01) -> Tensor:
    x = self.cast(b.compute)
    return (x > 0).where(x, x * negative_slope)


@lowering("prelu", "_prelu_kernel")
def prelu(b: Lowering, self: Tensor, weight: Tensor) -> Tensor:
    """`weight` has one number for all, or one for each element of axis 1; of `_prelu_kernel` it broadcasts."""
    x, w = self.cast(b.compute), weight.cast(b.compute)
    if w.rank == 1 and x.rank > 1:
        w = w.reshape((w.count, *(1,) * (x.rank - 2)))
    return (x > 0).where(x, x * w)


@lowering("threshold")
def threshold(b: Lowering, self: Tensor, threshold: Number, value: Number) -> Tensor:
    return (self <= threshold).where(value, self)


@lowering("elu")
def elu(b: Lowering, self: Tensor, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> Tensor:
    x = self.cast(b.compute)
    below = _scaled(_scaled(x, input_scale).alu("expm1"), alpha * scale)
    return (x <= 0).where(below, _scaled(x, scale))


@lowering("celu")
def celu(b: Lowering, self: Tensor, alpha: Number = 1.0) -> Tensor:
    x = self.cast(b.compute)
    return (x <= 0).where(_scaled(_scaled(x, 1 / alpha).alu("expm1"), alpha), x)


@lowering("selu")
def selu(b: Lowering, self: Tensor) -> Tensor:
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    x = self.cast(b.compute)
    return (x <= 0).where(x.alu("expm1") * (alpha * scale), x * scale)


@lowering("gelu")
def gelu(b: Lowering, self: Tensor, *, approximate: str = "none") -> Tensor:
    x = self.cast(b.compute)
    if approximate == "none":
        return x * 0.5 * (1.0 + (x * math.sqrt(0.5)).alu("erf"))
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))
        return 0.5 * x * (1.0 + inner.alu("tanh"))
    raise Unsupported(f"approximate {approximate!r} is not 'none' or 'tanh'")


@lowering("sigmoid")
def sigmoid(b: Lowering, self: Tensor) -> Tensor:
    return 1.0 / (1.0 + (-self.cast(b.compute)).exp())


@lowering("silu")
def silu(b: Lowering, self: Tensor) -> Tensor:
    return self.cast(b.compute) * sigmoid(b, self)


@lowering("softplus")
def softplus(b: Lowering, self: Tensor, beta: Number = 1, threshold: Number = 20) -> Tensor:
    return _softplus(self.cast(b.compute), beta, threshold)


@lowering("mish")
def mish(b: Lowering, self: Tensor) -> Tensor:
    x = self.cast(b.compute)
    return x * x.exp().alu("log1p").alu("tanh")


@lowering("hardsigmoid")
def hardsigmoid(b: Lowering, self: Tensor) -> Tensor:
    return (self.cast(b.compute) + 3.0).maximum(0.0).minimum(6.0) / 6.0


@lowering("hardswish")
def hardswish(b: Lowering, self: Tensor) -> Tensor:
    x = self.cast(b.compute)
    return x * (x + 3.0).maximum(0.0).minimum(6.0) / 6.0


@lowering("log_sigmoid_forward")
def log_sigmoid_forward(b: Lowering, self: Tensor) -> tuple[Tensor, None]:
    """The second result is a buffer for the backward pass."""
    return _log_sigmoid(self.cast(b.compute)), None


@lowering("log_sigmoid")
def log_sigmoid(b: Lowering, self: Tensor) -> Tensor:
    return _log_sigmoid(self.cast(b.compute))


@lowering("hardshrink")
def hardshrink(b: Lowering, self: Tensor, lambd: Number = 0.5) -> Tensor:
    return ((self >= -lambd) & (self <= lambd)).where(0, self)


@lowering("softshrink")
def softshrink(b: Lowering, self: Tensor, lambd: Number = 0.5) -> Tensor:
    """Zero inside ±lambd, as 0 · x so that NaN stays."""
    x = self.cast(b.compute)
    return (x > lambd).where(x - lambd, (x < -lambd).where(x + lambd, x * 0.0))


@lowering("glu")
def glu(b: Lowering, self: Tensor, dim: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of the second."""
    half = self.shape[self.axis(dim)] // 2
    x = self.cast(b.compute)
    return x.shrink(dim, 0, half) * (1.0 / (1.0 + (-x.shrink(dim, half, half)).exp()))


def _scaled(x: Tensor, factor: Number) -> Tensor:
    return x if factor == 1 else x * factor


def _softplus(x: Tensor, beta: Number, threshold: Number) -> Tensor:
    scaled = _scaled(x, beta)
    smooth = scaled.exp().alu("log1p")
    return (scaled > threshold).where(x, smooth if beta == 1 else smooth / beta)


def _log_sigmoid(x: Tensor) -> Tensor:
    """min(0, x) − log1p(exp(−|x|)), which neither overflows nor cancels."""
    return x.minimum(0.0) - (-x.alu("abs")).exp().alu("log1p")
