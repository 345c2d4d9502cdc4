"""Convolutions: products of windows with a kernel, added up over channels and taps.

x of N × C × … becomes N × O × counts × C/groups × taps, the weight 1 × O × 1 × C/groups × taps. Floats of 16 bits are
multiplied and added up in f32. A zero of the padding times an infinite weight is NaN, as in PyTorch; the zeros that a
transposed convolution has between its elements are never multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence

from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor
from .windows import Window, has_window, scattered, windowed, windows_of


@lowering("convolution")
def convolution(
    b: Lowering,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Tensor:
    """`weight` is of out × in/groups × taps, of a transposed convolution in × out/groups × taps."""
    windows = windows_of(weight.shape[2:], stride, dilation, padding)
    x, w = input.cast(b.compute), weight.cast(b.compute)
    extents = b.shape[len(b.shape) - len(windows) :]
    batched = x if x.rank == w.rank else x.unsqueeze(0)
    if transposed:
        result = _transposed_convolution(batched, w, windows, extents, groups)
    else:
        result = _convolution(batched, w, windows, extents, groups)
    if bias is not None:
        result = result + bias.cast(b.compute).reshape((bias.count, *(1,) * len(windows)))
    return result.reshape(b.shape)


@lowering("conv1d", "conv2d", "conv3d")
def conv(
    b: Lowering,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: list[int] = [1],
    padding: list[int] = [0],
    dilation: list[int] = [1],
    groups: int = 1,
) -> Tensor:
    """`input` may lack the batch."""
    return convolution(b, input, weight, bias, stride, padding, dilation, False, [0], groups)


def _convolution(x: Tensor, w: Tensor, windows: Sequence[Window], counts: Sequence[int], groups: int) -> Tensor:
    """x: N × C × …, w: O × C/groups × taps: N × O × counts."""
    read = _for_each_output(windowed(x, windows, counts), w.shape[0], groups, len(windows))
    return _contract(read * _beside(w, len(windows)), len(windows))


def _transposed_convolution(
    x: Tensor, w: Tensor, windows: Sequence[Window], extents: Sequence[int], groups: int
) -> Tensor:
    """x: N × C × …, w: C × O/groups × taps: N × O × extents, each element of x times w added to its window."""
    rank = len(windows)
    inner, outer = w.shape[:2]
    grouped = w.reshape((groups, inner // groups, outer, *w.shape[2:])).transpose(1, 2)
    w = grouped.reshape((groups * outer, inner // groups, *w.shape[2:])).flip(range(2, 2 + rank))
    read = _for_each_output(scattered(x, windows, extents), groups * outer, groups, rank)
    there = has_window(x, windows, extents)
    there = there.reshape((*extents, 1, *there.shape[rank:]))
    return _contract(there.where(read * _beside(w, rank), 0), rank)


def _for_each_output(read: Tensor, outputs: int, groups: int, rank: int) -> Tensor:
    """N × C × places × taps → N × outputs × places × C/groups × taps: what the outputs of each group read."""
    batch, channels, *rest = read.shape
    inner = channels // groups
    split = read.reshape((batch, groups, 1, inner, *rest))
    split = split.expand((batch, groups, outputs // groups, inner, *rest))
    return split.reshape((batch, outputs, inner, *rest)).move_axis(2, 2 + rank)


def _beside(w: Tensor, rank: int) -> Tensor:
    """O × C/groups × taps → 1 × O × 1 … × C/groups × taps."""
    return w.reshape((1, w.shape[0], *(1,) * rank, *w.shape[1:]))


def _contract(products: Tensor, rank: int) -> Tensor:
    """Added up over channels and taps, the last axes."""
    first = products.rank - rank - 1
    return products.sum(range(first, products.rank)).reshape(products.shape[:first])


@lowering("convolution_backward")
def convolution_backward(
    b: Lowering,
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: list[int] | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    output_mask: list[bool],
) -> list[Tensor | None]:
    """The gradients of input, weight and bias; the input's of a convolution is a transposed one, and the reverse."""
    windows = windows_of(weight.shape[2:], stride, dilation, padding)
    rank = len(windows)
    grad, x, w = grad_output.cast(b.compute), input.cast(b.compute), weight.cast(b.compute)
    of_input: Tensor | None = None
    of_weight: Tensor | None = None
    of_bias: Tensor | None = None
    if output_mask[0] and transposed:
        of_input = _convolution(grad, w, windows, x.shape[2:], groups)
    elif output_mask[0]:
        of_input = _transposed_convolution(grad, w, windows, x.shape[2:], groups)
    if output_mask[1]:
        narrow, wide = (x, grad) if transposed else (grad, x)
        of_weight = _weight_gradient(narrow, wide, windows, groups)
    if output_mask[2]:
        of_bias = grad.sum([0, *range(2, 2 + rank)]).reshape((grad.shape[1],))
    return [of_input, of_weight, of_bias]


def _weight_gradient(outputs: Tensor, inputs: Tensor, windows: Sequence[Window], groups: int) -> Tensor:
    """What each weight was multiplied with, times the output that it was added to, added up over batch and places.

    outputs: N × O × counts. inputs: N × C × …. result: O × C/groups × taps.
    """
    rank = len(windows)
    batch, channels, *counts = outputs.shape
    inner = inputs.shape[1] // groups
    read = windowed(inputs, windows, counts).reshape(
        (batch, groups, 1, inner, *counts, *(window.taps for window in windows))
    )
    shape = (batch, groups, channels // groups, *read.shape[3:])
    read = read.expand(shape).reshape((batch, channels, *shape[3:]))
    given = outputs.reshape((batch, channels, 1, *counts, *(1,) * rank))
    return (read * given).sum([0, *range(3, 3 + rank)]).reshape((channels, inner, *shape[4 + rank :]))
