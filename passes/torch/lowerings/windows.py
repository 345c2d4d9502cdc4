"""Windows: what convolutions, pools and their gradients read.

Window `o` of an axis has the elements `o · stride + k · dilation − padding`, one for each tap `k`; those outside the
axis are zeros. No element is copied: windows are movement, and become index arithmetic and a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1

from .errors import Unsupported
from .tensor import Tensor, full


@dataclass(frozen=True)
class Window:
    """The windows of one axis: how many taps each has, how far apart windows and taps are, and what stands in front."""

    taps: int
    stride: int = 1
    dilation: int = 1
    padding: int = 0

    @property
    def reach(self) -> int:
        """From the first element of a window to its last."""
        return (self.taps - 1) * self.dilation

    def needed(self, count: int) -> int:
        """Elements that `count` windows walk over."""
        return (count - 1) * self.stride + self.reach + 1 if count else 0


def windows_of(
    sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int], paddings: Sequence[int]
) -> list[Window]:
    """One for each axis; a list of one number holds for all of them, an empty list of strides means the sizes.

    Raises `Unsupported` for numbers that no window has.
    """
    rank = len(sizes)
    strides = strides or sizes
    values = [list(x) * (rank if len(x) == 1 else 1) for x in (strides, dilations, paddings)]
    if any(len(x) != rank for x in values) or min(*sizes, *values[0], *values[1], 1) < 1:
        raise Unsupported(f"windows of {list(sizes)} with strides {list(strides)} and dilations {list(dilations)}")
    return [Window(*numbers) for numbers in zip(sizes, *values, strict=True)]


def windowed(x: Tensor, windows: Sequence[Window], counts: Sequence[int]) -> Tensor:
    """… × axes → … × counts × taps: `counts[d]` windows of each of the last axes, zeros outside."""
    first = x.rank - len(windows)
    for d in reversed(range(len(windows))):
        axis, window = first + d, windows[d]
        high = window.needed(counts[d]) - x.shape[axis] - window.padding
        x = resized(x, axis, window.padding, high)
        x = x.window(axis, (counts[d], window.taps), (window.stride, window.dilation))
    places = range(first, x.rank)
    return x.permute([*range(first), *places[::2], *places[1::2]])


def inside(x: Tensor, windows: Sequence[Window], counts: Sequence[int]) -> Tensor:
    """Whether an element of the windows of the last axes of `x` is an element of `x`: counts × taps, of bools."""
    return windowed(_everywhere(x, len(windows)), windows, counts)


def scattered(x: Tensor, windows: Sequence[Window], extents: Sequence[int]) -> Tensor:
    """The windows of which each element of an axis is part: … × counts → … × extents × taps.

    x: one value for each window. result: at place `p` and tap `k` the value of the window whose tap `k` is element `p`,
    zero where there is none. Taps are in reverse order.
    """
    first = x.rank - len(windows)
    for d, window in enumerate(windows):
        x = spread(x, first + d, window.stride)
        low = window.reach - window.padding
        high = extents[d] + window.reach - low - x.shape[first + d]
        x = resized(x, first + d, low, high)
    return windowed(x, [Window(window.taps, dilation=window.dilation) for window in windows], extents)


def has_window(x: Tensor, windows: Sequence[Window], extents: Sequence[int]) -> Tensor:
    """Whether `scattered` has a window there: extents × taps, of bools."""
    return scattered(_everywhere(x, len(windows)), windows, extents)


def _everywhere(x: Tensor, rank: int) -> Tensor:
    """True, in the shape of the last axes of `x`."""
    return full(x.builder, x.shape[x.rank - rank :], True, i1)


def spread(x: Tensor, axis: int, step: int) -> Tensor:
    """`step` − 1 zeros between neighbours of an axis."""
    count = x.shape[axis]
    if step == 1 or count <= 1:
        return x
    wide = x.unsqueeze(axis + 1).pad(axis + 1, 0, step - 1)
    return wide.reshape((*x.shape[:axis], count * step, *x.shape[axis + 1 :])).shrink(axis, 0, (count - 1) * step + 1)


def resized(x: Tensor, axis: int, low: int, high: int) -> Tensor:
    """Zeros in front of and behind an axis; negative numbers cut elements."""
    kept = x.shape[axis] - max(-low, 0) - max(-high, 0)
    if kept < 0:  # more is cut than there is: what is left are zeros
        shape = (*x.shape[:axis], max(x.shape[axis] + low + high, 0), *x.shape[axis + 1 :])
        return full(x.builder, shape, 0, x.element)
    return x.shrink(axis, max(-low, 0), kept).pad(axis, max(low, 0), max(high, 0))
