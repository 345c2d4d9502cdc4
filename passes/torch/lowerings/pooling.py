"""Pools: windows of the last axes, each reduced to its mean or its greatest element. Floats of 16 bits are averaged in
f32."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i64

from ....dialects.types import element_count, integer_bounds, is_float
from .adaptive_windows import adaptive_windowed, adaptive_windows
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, along
from .windows import Window, has_window, inside, scattered, windowed, windows_of


@lowering("avg_pool1d")
def avg_pool1d(
    b: Lowering,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int] = [],
    padding: list[int] = [0],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    return avg_pool(b, self, kernel_size, stride, padding, ceil_mode, count_include_pad)


@lowering("avg_pool2d", "avg_pool3d")
def avg_pool(
    b: Lowering,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int] = [],
    padding: list[int] = [0],
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The sum of each window, divided by the number of its elements: those of the padding count if
    `count_include_pad`, those outside of the padding, which `ceil_mode` adds, never."""
    windows = _windows(b, kernel_size, stride, [1], padding)
    counts = b.shape[-len(windows) :]
    sums = _reduced(windowed(self.cast(b.compute), windows, counts), len(windows))
    return _mean(sums, _divisors(sums, self.shape, windows, count_include_pad, divisor_override))


def _windows(
    b: Lowering, kernel_size: Sequence[int], stride: Sequence[int], dilation: Sequence[int], padding: Sequence[int]
) -> list[Window]:
    """One for each axis that the overload's name says."""
    name = b.op.overload.data
    rank = int(name[name.index("pool") + 4])
    sizes = list(kernel_size) * (rank if len(kernel_size) == 1 else 1)
    return windows_of(sizes, stride, dilation, padding)


def _reduced(x: Tensor, rank: int, monoid: str = "add") -> Tensor:
    """… × counts × taps reduced over the taps."""
    return x.reduce(monoid, range(x.rank - rank, x.rank)).reshape(x.shape[: x.rank - rank])


def _mean(sums: Tensor, divisor: int | Tensor) -> Tensor:
    """Sums of integers are divided as C does."""
    divided = divisor.cast(sums.element) if isinstance(divisor, Tensor) else divisor
    return sums / divided if is_float(sums.element) else sums.alu("truncdiv", divided)


def _divisors(
    sums: Tensor, shape: Sequence[int], windows: Sequence[Window], count_include_pad: bool, override: int | None
) -> int | Tensor:
    """What the sums are divided by: a number, or where windows differ an i64 tensor of the shape `sums` ends in.

    shape: of the input of the pool.
    """
    if override is not None:
        if override == 0:
            raise Unsupported("divisor_override is 0")
        return override
    counts, extents = (shape[-len(windows) :] for shape in (sums.shape, shape))
    number = 1
    result: Tensor | None = None
    for d, (window, count, extent) in enumerate(zip(windows, counts, extents, strict=True)):
        extra = window.padding if count_include_pad else 0
        bounds = [
            (max(o * window.stride - window.padding, -extra), min(_end(window, o), extent + extra))
            for o in range(count)
        ]
        lengths = {end - start for start, end in bounds}
        if len(lengths) <= 1:
            number *= next(iter(lengths), 1)
            continue
        start = Tensor(sums.builder, sums.builder.iota(count, i64)) * window.stride - window.padding
        length = (start + window.taps).minimum(extent + extra) - start.maximum(-extra)
        length = along(length, d, counts)
        result = length if result is None else result * length
    return number if result is None else result * number if number != 1 else result


def _end(window: Window, place: int) -> int:
    """Behind the last element of a window without dilation."""
    return place * window.stride - window.padding + window.taps


@lowering("avg_pool2d_backward", "avg_pool3d_backward")
def avg_pool_backward(
    b: Lowering,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """Each element gets a part of the gradient of each window that it is in."""
    windows = _windows(b, kernel_size, stride, [1], padding)
    grad = grad_output.cast(b.compute)
    parts = _mean(grad, _divisors(grad, self.shape, windows, count_include_pad, divisor_override))
    return _reduced(scattered(parts, windows, self.shape[-len(windows) :]), len(windows))


@lowering("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(
    b: Lowering,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int] = [],
    padding: list[int] = [0],
    dilation: list[int] = [1],
    ceil_mode: bool = False,
) -> Tensor:
    windows = _windows(b, kernel_size, stride, dilation, padding)
    counts = b.shape[-len(windows) :]
    x = windowed(self.cast(b.compute), windows, counts)
    return _reduced(_candidates(x, inside(self, windows, counts)), len(windows), "max")


@lowering("max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool_with_indices(
    b: Lowering,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int] = [],
    padding: list[int] = [0],
    dilation: list[int] = [1],
    ceil_mode: bool = False,
) -> list[Tensor | None]:
    """The second results are the places of the greatest elements in the flattened last axes of the input."""
    windows = _windows(b, kernel_size, stride, dilation, padding)
    counts = b.shape[-len(windows) :]
    x = windowed(self.cast(b.compute), windows, counts)
    places = windowed(_places(self, len(windows)), windows, counts)
    return _greatest(b, self, x, places, inside(self, windows, counts))


def _places(x: Tensor, rank: int) -> Tensor:
    """The places in the flattened last axes of `x`, in their shape."""
    extents = x.shape[-rank:]
    return Tensor(x.builder, x.builder.iota(element_count(extents), i64)).reshape(extents)


def _candidates(x: Tensor, there: Tensor | None) -> Tensor:
    """`x` with the least number of its type where there is no element."""
    least = float("-inf") if is_float(x.element) else integer_bounds(x.element)[0]
    return x if there is None else there.where(x, least)


def _greatest(b: Lowering, input: Tensor, x: Tensor, places: Tensor, there: Tensor | None) -> list[Tensor | None]:
    """The greatest elements of windows, and their places: of the first, or of the last NaN, as in PyTorch's kernels.

    x: … × counts × taps. places: counts × taps. there: the same shape, None if all elements are in the input.
    """
    rank = places.rank // 2
    if not b.op.results[1].uses:
        return [_reduced(_candidates(x, there), rank, "max"), None]
    count = element_count(input.shape[-rank:])
    x = _candidates(x, there)
    if there is not None:
        places = there.where(places, count)  # behind all others of the same value
    places = places.broadcast_to(x.shape)
    if is_float(x.element):  # of equal elements the least place wins: those of NaN are counted from the end
        places = x.alu("isnan").where(count - 1 - places, places)
    taps = range(x.rank - rank, x.rank)
    values, indices = (
        Tensor(x.builder, value).reshape(x.shape[:-rank])
        for value in x.builder.reduce_axis("argmax", [x.value, places.value], taps)
    )
    if is_float(x.element):
        indices = values.alu("isnan").where(count - 1 - indices, indices)
    return [values, indices]


@lowering("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def max_pool_with_indices_backward(
    b: Lowering,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    """Each element gets the gradients of the windows that chose it."""
    windows = _windows(b, kernel_size, stride, dilation, padding)
    extents = self.shape[-len(windows) :]
    grad = scattered(grad_output.cast(b.compute), windows, extents)
    chosen = scattered(indices, windows, extents)
    places = _places(self, len(windows))
    places = places.reshape((*extents, *(1,) * len(windows)))
    here = chosen.equal(places) & has_window(grad_output, windows, extents)
    return _reduced(here.where(grad, 0), len(windows))


@lowering(
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    *("_adaptive_avg_pool2d", "_adaptive_avg_pool3d"),
)
def adaptive_avg_pool(b: Lowering, self: Tensor, output_size: list[int]) -> Tensor:
    windows = adaptive_windows(self, output_size)
    x, there = adaptive_windowed(self.cast(b.compute), windows)
    sums = _reduced(x if there is None else there.where(x, 0), len(windows))
    return _mean(sums, _adaptive_divisors(sums, self, output_size))


def _adaptive_divisors(sums: Tensor, input: Tensor, output_size: Sequence[int]) -> int | Tensor:
    """The sizes of adaptive windows: a number, or an i64 tensor."""
    windows = adaptive_windows(input, output_size)
    number = prod(window.taps for window in windows if window.is_even)
    result: Tensor | None = None
    for d, window in enumerate(windows):
        if not window.is_even:
            start, end = window.bounds(sums.builder)
            size = along(end - start, d, output_size)
            result = size if result is None else result * size
    return number if result is None else result * number if number != 1 else result


@lowering("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_avg_pool_backward(b: Lowering, grad_output: Tensor, self: Tensor) -> Tensor:
    """Each element gets a part of the gradient of each window that it is in, found among all windows."""
    rank = 2 if "2d" in b.op.overload.data else 3
    counts, extents = grad_output.shape[-rank:], self.shape[-rank:]
    grad = grad_output.cast(b.compute)
    parts = _mean(grad, _adaptive_divisors(grad, self, counts))
    parts = parts.reshape((*grad.shape[:-rank], *(1,) * rank, *counts))
    there: Tensor | None = None
    for d, window in enumerate(adaptive_windows(self, counts)):
        places = along(b.iota(window.extent, i64), d, (*extents, *counts))
        start, end = (along(x, rank + d, (*extents, *counts)) for x in window.bounds(b.builder))
        here = (places >= start) & (places < end)
        there = here if there is None else there & here
    assert there is not None, "a pool has axes"
    return _reduced(there.where(parts, 0), rank)


@lowering("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(b: Lowering, self: Tensor, output_size: list[int]) -> list[Tensor | None]:
    windows = adaptive_windows(self, output_size)
    x, there = adaptive_windowed(self.cast(b.compute), windows)
    places, _ = adaptive_windowed(_places(self, len(windows)), windows)
    return _greatest(b, self, x, places, there)
