"""Lowerings of scans give what PyTorch gives, for every element type that it takes."""

import math

import pytest
import torch
from aten_oracle import ALL, FLOATS, check, check_composite, sample

aten = torch.ops.aten

EXTREMA = (aten.cummax.default, aten.cummin.default)


@pytest.mark.parametrize("dtype", ALL)
def test_scans_along_one_axis(dtype: torch.dtype) -> None:
    for shape in [(3, 7), (1, 4), (4, 1), (0, 3), (3, 0)]:
        x = sample(dtype, shape)
        for dim in (0, -1):
            check_composite(aten.cumsum.default, x, dim)
            check_composite(aten.cumprod.default, x, dim)
            for overload in EXTREMA:
                check(overload, x, dim)
    for overload in (aten.cumsum.default, aten.cumprod.default, *EXTREMA):
        check(overload, sample(dtype, ()), 0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.int32, torch.int64])
def test_the_type_of_the_result_is_that_of_the_sum(dtype: torch.dtype) -> None:
    check_composite(aten.cumsum.default, sample(torch.int8, (3, 5)), 1, dtype=dtype)
    check_composite(aten.cumprod.default, sample(torch.bool, (3, 5)), 0, dtype=dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_scans_see_nan_infinity_and_minus_zero(dtype: torch.dtype) -> None:
    inf, nan = math.inf, math.nan
    rows = [[1, nan, 3, -inf], [inf, 2, 1, -inf], [-inf, -inf, 2, 0], [-0.0, 0.0, -0.0, 0.0], [nan, inf, nan, 1]]
    x = torch.tensor(rows, dtype=dtype)
    for dim in (0, 1):
        check(aten.cumsum.default, x, dim)
        check(aten.cumprod.default, x, dim)
        check_composite(aten.logcumsumexp.default, x, dim)
        for overload in EXTREMA:
            check(overload, x, dim)
    check(aten.cumsum.default, torch.tensor([-0.0], dtype=dtype), 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_logcumsumexp(dtype: torch.dtype) -> None:
    for shape in [(3, 17), (), (0, 2), (1, 2)]:
        check_composite(aten.logcumsumexp.default, sample(dtype, shape), 0)
    # Neither sums of exp overflow, nor does what is far below the maximum.
    check_composite(aten.logcumsumexp.default, torch.tensor([-1000.0, 5.0, 1000.0, 999.0, -1000.0], dtype=dtype), 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_the_last_of_equals_is_the_place(dtype: torch.dtype) -> None:
    x = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0]]).to(dtype)
    for overload in EXTREMA:
        check(overload, x, 1)
        check(overload, x, 0)
