"""Windows as the columns of a matrix, and the sum of columns back into an image: `F.unfold` and `F.fold`."""

from __future__ import annotations

from math import prod

from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor
from .windows import Window, resized, spread, windowed, windows_of


@lowering("im2col")
def im2col(
    b: Lowering, self: Tensor, kernel_size: list[int], dilation: list[int], padding: list[int], stride: list[int]
) -> Tensor:
    """… × C × H × W → … × C · taps × windows."""
    windows = windows_of(_pair(kernel_size), stride, dilation, padding)
    counts = [
        (extent + 2 * window.padding - window.reach - 1) // window.stride + 1
        for extent, window in zip(self.shape[-2:], windows, strict=True)
    ]
    x = windowed(self, windows, counts)
    first = x.rank - 4
    return x.permute([*range(first), *range(first + 2, first + 4), first, first + 1]).reshape(b.shape)


@lowering("col2im")
def col2im(
    b: Lowering,
    self: Tensor,
    output_size: list[int],
    kernel_size: list[int],
    dilation: list[int],
    padding: list[int],
    stride: list[int],
) -> Tensor:
    """… × C · taps × windows → … × C × output_size: each element the sum of its places in the windows."""
    extents = _pair(output_size)
    windows = windows_of(_pair(kernel_size), stride, dilation, padding)
    counts = [
        (extent + 2 * window.padding - window.reach - 1) // window.stride + 1
        for extent, window in zip(extents, windows, strict=True)
    ]
    x = self.cast(b.compute)
    taps = [window.taps for window in windows]
    *batch, rows, _ = x.shape
    x = x.reshape((prod(batch), rows // prod(taps), *taps, *counts)).permute([0, 1, 2, 4, 3, 5])
    for d in (1, 0):
        x = _skewed(x, 2 + 2 * d, windows[d], extents[d])
    return x.sum([3, 5]).reshape(b.shape)


def _skewed(x: Tensor, axis: int, window: Window, extent: int) -> Tensor:
    """taps × windows, two axes from `axis` on, → extent × taps: for each element its value in each tap.

    Windows are spread so that element `p` of tap `k` is at `p + reach − k · dilation`. On one axis of both, of `width`
    places a tap, elements lie 1 apart and taps `width − dilation`.
    """
    width = extent + window.reach
    low = window.reach - window.padding
    x = spread(x, axis + 1, window.stride)
    x = resized(x, axis + 1, low, width - low - x.shape[axis + 1])
    flat = x.reshape((*x.shape[:axis], window.taps * width, *x.shape[axis + 2 :]))
    flat = flat.shrink(axis, window.reach, window.taps * width - window.reach)
    apart = width - window.dilation if window.taps > 1 else 1
    return flat.window(axis, (extent, window.taps), (1, apart))


def _pair(numbers: list[int]) -> list[int]:
    return numbers * 2 if len(numbers) == 1 else numbers
