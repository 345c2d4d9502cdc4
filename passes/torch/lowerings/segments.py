"""Reductions of consecutive parts of an axis whose ends are data: `torch.segment_reduce`."""

from __future__ import annotations

from xdsl.dialects.builtin import i64

from ....dialects.monoids import MONOIDS, Number
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, full

_MONOIDS = {"sum": "add", "mean": "add", "max": "max", "min": "min", "prod": "mul"}
"""PyTorch's names of reductions → monoids."""


@lowering("segment_reduce")
def segment_reduce(
    b: Lowering,
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number | None = None,
) -> Tensor:
    """The axis in parts: of `lengths`, or between `offsets`. Each part goes over the whole axis.

    PyTorch raises where the lengths do not add up to the axis; a compiled program leaves out what is behind them.
    """
    if reduce not in _MONOIDS:
        raise Unsupported(f"there is no reduction {reduce!r}", f"there are {', '.join(_MONOIDS)}")
    x = data.cast(b.compute)
    if indices is not None:
        raise Unsupported("its indices are not supported", "give lengths or offsets")
    if offsets is not None:
        places = offsets.cast(i64)
        parts = places.shape[-1] - 1
        start, end = places.shrink(-1, 0, parts), places.shrink(-1, 1, parts)
    elif lengths is not None:
        end = lengths.cast(i64).running("add", -1)
        start = end - lengths.cast(i64)
    else:
        raise Unsupported("it has neither lengths nor offsets")
    if end.rank != axis + 1:
        raise Unsupported(f"its parts are those of axis {end.rank - 1}, not {axis}")
    trailing = x.shape[axis + 1 :]
    place = b.iota(x.shape[axis], i64)
    inside = (start.unsqueeze(-1) <= place) & (place < end.unsqueeze(-1))
    monoid = _MONOIDS[reduce]
    (identity,) = MONOIDS[monoid].identity([x.element])
    chosen = inside.reshape((*inside.shape, *(1,) * len(trailing))).where(x.unsqueeze(axis), identity)
    result = chosen.reduce(monoid, [axis + 1]).reshape(b.shape)
    if initial is not None:
        result = result.alu(monoid, initial)
    if reduce != "mean":
        return result
    count = (end - start).reshape((*end.shape, *(1,) * len(trailing))).cast(x.element)
    empty = full(b.builder, (), float("nan") if initial is None else initial, x.element)
    return count.equal(0.0).where(empty, result / count)
