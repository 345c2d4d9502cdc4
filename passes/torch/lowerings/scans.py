"""Running combinations along one axis."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor

_SUMS_AND_PRODUCTS = {"cumsum": "add", "cumprod": "mul"}


@lowering(*_SUMS_AND_PRODUCTS)
def running(b: Lowering, self: Tensor, dim: int, *, dtype: Attribute | None = None) -> Tensor:
    monoid = _SUMS_AND_PRODUCTS[b.op.overload.data]
    return _scan(monoid, [self.cast(b.element).cast(b.compute)], dim)[0]


def _scan(monoid: str, tensors: Sequence[Tensor], dim: int) -> list[Tensor]:
    x = tensors[0]
    if x.rank == 0:
        return list(tensors)
    results = x.builder.scan(monoid, [tensor.value for tensor in tensors], x.axis(dim))
    return [Tensor(x.builder, value) for value in results]
