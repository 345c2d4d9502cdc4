"""Padding: axes extended by a number, by their own elements, or cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1, i64

from ....dialects.monoids import Number
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor


@lowering("constant_pad_nd")
def constant_pad_nd(b: Lowering, self: Tensor, pad: list[int], value: Number = 0) -> Tensor:
    """`pad` has the amounts (low, high) of the last axis, then of the one before; negative ones cut."""
    amounts = {self.rank - 1 - i: (pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)}
    x = self
    for axis, (low, high) in amounts.items():
        cut_low, cut_high = max(-low, 0), max(-high, 0)
        x = x.shrink(axis, cut_low, x.shape[axis] - cut_low - cut_high)
    padded = _padded(x, amounts)
    if (value == 0 and math.copysign(1, value) > 0) or padded.shape == x.shape:
        return padded
    inside = _padded(b.full(x.shape, True, i1), amounts)
    return inside.where(padded, value)


@lowering("pad")
def pad(b: Lowering, self: Tensor, pad: list[int], mode: str = "constant", value: float | None = None) -> Tensor:
    if mode != "constant":
        raise Unsupported(
            f"mode {mode!r} is not 'constant'", "call the operation for this mode, such as reflection_pad1d"
        )
    return constant_pad_nd(b, self, pad, 0 if value is None else value)


def _padded(x: Tensor, amounts: dict[int, tuple[int, int]]) -> Tensor:
    """Zeros around `x`, in one op where its sizes are numbers."""
    if x.dims is not None:
        for axis, (low, high) in amounts.items():
            x = x.pad(axis, max(low, 0), max(high, 0))
        return x
    low = [max(amounts.get(axis, (0, 0))[0], 0) for axis in range(x.rank)]
    high = [max(amounts.get(axis, (0, 0))[1], 0) for axis in range(x.rank)]
    return Tensor(x.builder, x.builder.pad(x.value, low, high))


@lowering("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(b: Lowering, self: Tensor, padding: list[int]) -> Tensor:
    """The axis mirrored at its first and its last element."""

    def mirror(place: Tensor, extent: int) -> Tensor:
        return extent - 1 - (extent - 1 - place.alu("abs")).alu("abs")

    return _padded_by(b, self, padding, mirror)


@lowering("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(b: Lowering, self: Tensor, padding: list[int]) -> Tensor:
    """The first and the last element repeated."""
    return _padded_by(b, self, padding, lambda place, extent: place.maximum(0).minimum(extent - 1))


def _padded_by(b: Lowering, x: Tensor, padding: Sequence[int], source: Callable[[Tensor, int], Tensor]) -> Tensor:
    """Axes extended by elements that `source` finds: (place that may lie outside the axis, extent) → place on it."""
    for i in range(len(padding) // 2):
        axis, low, high = x.rank - 1 - i, padding[2 * i], padding[2 * i + 1]
        extent = x.shape[axis]
        places = b.iota(low + extent + high, i64)
        x = x.take(axis, source(places - low if low else places, extent))
    return x
