"""Running combinations along one axis. Floats of 16 bits are combined in f32, bools and integers added up in i64."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute

from ....dialects.types import is_bool, ui8
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, along, scanned

_MONOIDS = {"cumsum": "add", "cumprod": "mul", "logcumsumexp": "logaddexp"}


@lowering("cumsum", "cumprod")
def running(b: Lowering, self: Tensor, dim: int, *, dtype: Attribute | None = None) -> Tensor:
    return _scan(_MONOIDS[b.op.overload.data], [self.cast(b.element).cast(b.compute)], dim)[0]


@lowering("logcumsumexp")
def logcumsumexp(b: Lowering, self: Tensor, dim: int) -> Tensor:
    return _scan(_MONOIDS[b.op.overload.data], [self.cast(b.compute)], dim)[0]


@lowering("cummax", "cummin")
def running_extremum(b: Lowering, self: Tensor, dim: int) -> list[Tensor]:
    """The greatest (least) element so far, and the last place of it; NaN is greatest, and least."""
    element = self.element
    x = self.cast(ui8) if is_bool(element) else self  # the monoid is one of numbers
    places = along(b.iota(x.shape[x.axis(dim)], i64), x.axis(dim), x.shape) if x.rank else b.full((), 0, i64)
    values, indices = _scan(f"arg{b.op.overload.data[3:]}_last", [x, places], dim)
    return [values.cast(element), indices]


def _scan(monoid: str, tensors: Sequence[Tensor], dim: int) -> list[Tensor]:
    x = tensors[0]
    if x.rank == 0:
        row = [tensor.reshape((1,)) for tensor in tensors]
        return [tensor.reshape(()) for tensor in _scan(monoid, row, 0)]
    return scanned(monoid, tensors, x.axis(dim))
