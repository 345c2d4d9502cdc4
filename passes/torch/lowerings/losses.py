"""Losses that PyTorch's decompositions compute otherwise than PyTorch does."""

from __future__ import annotations

from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor

_NONE, _MEAN = 0, 1
"""`at::Reduction`; the third is the sum."""


@lowering("soft_margin_loss")
def soft_margin_loss(b: Lowering, self: Tensor, target: Tensor, reduction: int = _MEAN) -> Tensor:
    """log(1 + exp(−self · target)), rounded to the element type after each step: exp of an f16 overflows."""
    x = (-self.cast(b.element) * target.cast(b.element)).exp().alu("log1p")
    if reduction == _NONE:
        return x
    x = x.cast(b.compute)
    axes = list(range(x.rank))
    return (x.mean(axes) if reduction == _MEAN else x.sum(axes)).reshape(())
