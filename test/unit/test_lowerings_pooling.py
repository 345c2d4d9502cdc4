"""Pools against eager PyTorch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from aten_oracle import check, check_composite, sample

aten: Any = torch.ops.aten

# (shape, kernel_size, stride, padding, ceil_mode, count_include_pad)
AVERAGES: list[tuple[Any, ...]] = [
    ((2, 3, 7), [3], [2], [1], False, True),
    ((2, 3, 8), [3], [2], [1], True, False),
    ((1, 2, 7, 6), [3, 2], [], [0, 0], False, True),
    ((2, 7, 6), [3, 2], [2, 1], [1, 1], False, False),
    ((1, 2, 7, 8), [3, 3], [2, 2], [1, 1], True, True),
    ((1, 2, 7, 8), [2, 3], [3, 4], [1, 0], True, False),
    ((1, 1, 1, 1), [1, 1], [1, 1], [0, 0], False, True),
    ((1, 2, 4, 5, 6), [2, 3, 2], [1, 2, 3], [1, 1, 0], True, True),
    ((2, 4, 5, 6), [2, 3, 2], [2, 2, 2], [0, 1, 1], True, False),
]


@pytest.mark.parametrize("case", AVERAGES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64])
def test_average_pools(case: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, kernel, stride, padding, *options = case
    overload = getattr(aten, f"avg_pool{len(kernel)}d").default
    if (len(kernel) == 3 and dtype in (torch.float16, torch.bfloat16)) or (len(kernel) == 1 and dtype == torch.int64):
        return  # PyTorch has none on the CPU
    x = sample(dtype, shape)
    test = check if dtype == torch.int64 else check_composite
    test(overload, x, kernel, stride, padding, *options)
    if len(kernel) > 1:
        test(overload, x, kernel, stride, padding, *options, 3)
        test(overload, x, kernel, stride, padding, *options, -2)


@pytest.mark.parametrize("case", [case for case in AVERAGES if len(case[1]) > 1], ids=str)
def test_average_pool_backward(case: tuple[Any, ...]) -> None:
    shape, kernel, stride, padding, *options = case
    x = sample(torch.float32, shape)
    forward = getattr(aten, f"avg_pool{len(kernel)}d").default(x, kernel, stride, padding, *options)
    overload = getattr(aten, f"avg_pool{len(kernel)}d_backward").default
    for divisor in (None, 3):
        check_composite(
            overload, sample(torch.float32, forward.shape, 1), x, kernel, stride, padding, *options, divisor
        )


# (shape, kernel_size, stride, padding, dilation, ceil_mode)
GREATEST: list[tuple[Any, ...]] = [
    ((2, 3, 7), [3], [2], [1], [1], False),
    ((1, 2, 8), [2], [3], [0], [3], True),
    ((1, 2, 7, 6), [3, 2], [], [0, 0], [1, 1], False),
    ((2, 7, 6), [3, 2], [2, 1], [1, 1], [1, 1], False),
    ((1, 2, 7, 8), [3, 3], [2, 2], [1, 1], [2, 1], True),
    ((1, 2, 7, 8), [2, 3], [3, 4], [1, 0], [1, 2], True),
    ((1, 1, 1, 1), [1, 1], [1, 1], [0, 0], [1, 1], False),
    ((1, 2, 4, 5, 6), [2, 3, 2], [1, 2, 3], [1, 1, 0], [1, 1, 2], True),
]


@pytest.mark.parametrize("case", GREATEST, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.int8, torch.uint8])
def test_max_pools(case: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, kernel, *options = case
    rank = len(kernel)
    if rank == 1 and not dtype.is_floating_point:
        return  # PyTorch has none on the CPU
    x = sample(dtype, shape)
    check(getattr(aten, f"max_pool{rank}d").default, x, kernel, *options)
    check(getattr(aten, f"max_pool{rank}d_with_indices").default, x, kernel, *options)


@pytest.mark.parametrize("padding", [0, 1])
def test_max_pools_of_special_values(padding: int) -> None:
    """NaN wins, the last one; of equal elements the first; −∞ is an element, padding is none."""
    x = sample(torch.float32, (1, 1, 8, 8)).round()
    x[..., :4, :4] = -math.inf
    x[..., 5:, 5:] = math.nan
    x[..., 5:, :2] = math.inf
    for options in ([2, 2], [padding, padding], [1, 1], True), ([1, 2], [padding, padding], [2, 1], False):
        check(aten.max_pool2d_with_indices.default, x, [3, 3], *options)
    check(
        aten.max_pool2d_with_indices.default,
        torch.full((1, 1, 3, 3), torch.iinfo(torch.int8).min).char(),
        [2, 2],
        [1, 1],
        [1, 1],
    )
    check(aten.adaptive_max_pool2d.default, x, [3, 5])


@pytest.mark.parametrize("case", [case for case in GREATEST if len(case[1]) > 1], ids=str)
def test_max_pool_backward(case: tuple[Any, ...]) -> None:
    shape, kernel, *options = case
    x = sample(torch.float32, shape)
    rank = len(kernel)
    values, indices = getattr(aten, f"max_pool{rank}d_with_indices").default(x, kernel, *options)
    grad = sample(torch.float32, values.shape, 1)
    check(getattr(aten, f"max_pool{rank}d_with_indices_backward").default, grad, x, kernel, *options, indices, ulps=16)


ADAPTIVE: list[tuple[Any, ...]] = [
    ((2, 3, 7), [3]),
    ((3, 12), [4]),
    ((1, 2, 7, 6), [3, 4]),
    ((2, 7, 6), [1, 1]),
    ((1, 2, 8, 6), [2, 3]),
    ((1, 2, 2, 3), [5, 7]),
    ((1, 1, 1, 1), [1, 3]),
    ((1, 2, 4, 5, 6), [3, 2, 4]),
    ((1, 2, 3, 5), [2, 0]),
]


@pytest.mark.parametrize("case", ADAPTIVE, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_adaptive_pools(case: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, size = case
    rank = len(size)
    x = sample(dtype, shape)
    average = aten.adaptive_avg_pool1d if rank == 1 else getattr(aten, f"_adaptive_avg_pool{rank}d")
    if rank != 3 or dtype != torch.float16:
        check_composite(average.default, x, size)
    check(getattr(aten, f"adaptive_max_pool{rank}d").default, x, size)


@pytest.mark.parametrize("case", [case for case in ADAPTIVE[:-1] if len(case[1]) > 1], ids=str)
def test_adaptive_average_pool_backward(case: tuple[Any, ...]) -> None:
    shape, size = case
    x = sample(torch.float32, shape)
    grad = sample(torch.float32, (*shape[: -len(size)], *size), 1)
    check_composite(getattr(aten, f"_adaptive_avg_pool{len(size)}d_backward").default, grad, x)
