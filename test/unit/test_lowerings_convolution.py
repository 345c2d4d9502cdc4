"""Convolutions against eager PyTorch: float64 for floats, exact for integers."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from aten_oracle import check, check_composite, sample

aten: Any = torch.ops.aten

# (input, weight, stride, padding, dilation, groups)
CONVOLUTIONS = [
    ((2, 3, 7), (4, 3, 3), [1], [0], [1], 1),
    ((2, 3, 7), (4, 3, 3), [2], [1], [2], 1),
    ((1, 2, 5), (3, 2, 1), [3], [0], [1], 1),
    ((2, 3, 7, 6), (4, 3, 3, 2), [1, 1], [0, 0], [1, 1], 1),
    ((1, 4, 7, 9), (6, 2, 3, 3), [2, 1], [1, 2], [1, 2], 2),
    ((2, 4, 6, 5), (4, 1, 3, 3), [1, 1], [1, 1], [1, 1], 4),
    ((2, 4, 6, 5), (8, 1, 2, 3), [1, 2], [0, 1], [2, 1], 4),
    ((1, 1, 1, 1), (1, 1, 1, 1), [1, 1], [0, 0], [1, 1], 1),
    ((1, 2, 3, 3), (2, 2, 3, 3), [4, 4], [2, 1], [1, 1], 1),
    ((1, 2, 3, 4, 5), (3, 2, 2, 2, 3), [1, 2, 1], [1, 0, 1], [1, 1, 2], 1),
    ((0, 2, 3, 3), (2, 2, 3, 3), [1, 1], [1, 1], [1, 1], 1),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_convolution(case: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, kernel, stride, padding, dilation, groups = case
    x, w, bias = sample(dtype, shape), sample(dtype, kernel, 1), sample(dtype, kernel[:1], 2)
    none = [0] * len(stride)
    check_composite(aten.convolution.default, x, w, None, stride, padding, dilation, False, none, groups)
    check_composite(aten.convolution.default, x, w, bias, stride, padding, dilation, False, none, groups)


def test_convolution_without_a_batch() -> None:
    x, w = sample(torch.float32, (3, 7, 6)), sample(torch.float32, (4, 3, 2, 3), 1)
    check_composite(aten.conv2d.default, x, w)
    check_composite(aten.convolution.default, x.unsqueeze(0), w, None, [1], [1], [2], False, [0], 1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8])
def test_integers_wrap_around(dtype: torch.dtype) -> None:
    x, w = sample(dtype, (1, 4, 5, 5)) * 5, sample(dtype, (4, 2, 3, 3), 1)
    check(aten.convolution.default, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 2)


# (input, weight, stride, padding, dilation, output_padding, groups)
TRANSPOSED = [
    ((2, 3, 5), (3, 4, 3), [1], [0], [1], [0], 1),
    ((2, 3, 5), (3, 4, 3), [2], [1], [2], [1], 1),
    ((1, 4, 3, 4), (4, 3, 3, 2), [2, 3], [1, 0], [1, 1], [1, 2], 1),
    ((1, 4, 3, 4), (4, 3, 3, 2), [3, 1], [2, 1], [1, 3], [0, 0], 2),
    ((1, 4, 3, 3), (4, 1, 2, 2), [2, 2], [0, 0], [1, 1], [0, 0], 4),
    ((1, 2, 1, 1), (2, 1, 3, 3), [2, 2], [1, 1], [1, 1], [1, 0], 1),
    ((1, 2, 2, 3, 2), (2, 3, 2, 2, 3), [2, 1, 2], [0, 1, 1], [1, 1, 1], [1, 0, 0], 1),
]


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_transposed_convolution(case: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, kernel, stride, padding, dilation, output_padding, groups = case
    x, w, bias = sample(dtype, shape), sample(dtype, kernel, 1), sample(dtype, [kernel[1] * groups], 2)
    check_composite(aten.convolution.default, x, w, bias, stride, padding, dilation, True, output_padding, groups)


def test_transposed_convolution_of_integers() -> None:
    x, w = sample(torch.int64, (1, 2, 3, 4)), sample(torch.int64, (2, 3, 2, 3), 1)
    check(aten.convolution.default, x, w, None, [2, 1], [1, 0], [1, 1], True, [1, 0], 1)


def test_infinities_meet_zeros_where_they_do_in_pytorch() -> None:
    """The padding is multiplied; the zeros inside a transposed convolution are not."""
    x = sample(torch.float32, (1, 2, 4, 4))
    w = torch.full((2, 2, 3, 3), math.inf)
    check(aten.convolution.default, x.abs(), w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
    check(aten.convolution.default, x.abs(), w, None, [2, 2], [1, 1], [1, 1], True, [0, 0], 1)
    edge = x.clone()
    edge[..., 0, 0], edge[..., 3, 3] = math.inf, math.nan
    check(aten.convolution.default, edge, w.sign(), None, [1, 1], [1, 1], [2, 2], False, [0, 0], 1, ulps=8)


@pytest.mark.parametrize("case", CONVOLUTIONS[:-1], ids=str)
def test_convolution_backward(case: tuple[Any, ...]) -> None:
    shape, kernel, stride, padding, dilation, groups = case
    x, w = sample(torch.float32, shape), sample(torch.float32, kernel, 1)
    options = (stride, padding, dilation, False, [0] * len(stride), groups)
    grad = sample(torch.float32, aten.convolution.default(x, w, None, *options).shape, 2)
    check_composite(aten.convolution_backward.default, grad, x, w, [kernel[0]], *options, [True, True, True])


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
def test_transposed_convolution_backward(case: tuple[Any, ...]) -> None:
    shape, kernel, stride, padding, dilation, output_padding, groups = case
    x, w = sample(torch.float32, shape), sample(torch.float32, kernel, 1)
    options = (stride, padding, dilation, True, output_padding, groups)
    grad = sample(torch.float32, aten.convolution.default(x, w, None, *options).shape, 2)
    check_composite(aten.convolution_backward.default, grad, x, w, [kernel[1] * groups], *options, [True, True, True])


# (input, kernel_size, dilation, padding, stride)
COLUMNS = [
    ((2, 3, 5, 6), [3, 2], [1, 1], [0, 0], [1, 1]),
    ((1, 2, 7, 6), [3, 2], [2, 3], [1, 2], [2, 3]),
    ((3, 4, 4), [1, 1], [1, 1], [0, 0], [3, 2]),
    ((1, 1, 3, 3), [2, 2], [1, 1], [1, 1], [3, 3]),
]


@pytest.mark.parametrize("case", COLUMNS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_windows_as_columns_and_back(case: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, *options = case
    x = sample(dtype, shape)
    check(aten.im2col.default, x, *options)
    columns = sample(dtype, aten.im2col.default(x, *options).shape, 1)
    check_composite(aten.col2im.default, columns, list(shape[-2:]), *options)
