"""Sorting, choosing by order, and searching against eager PyTorch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from aten_oracle import ALL, FLOATS, INTEGERS, NUMBERS, check, run, sample, special

aten: Any = torch.ops.aten


def different(dtype: torch.dtype) -> torch.Tensor:
    """No two elements are equal, so that places are certain."""
    order = torch.randperm(120, generator=torch.Generator().manual_seed(0)).reshape(4, 30)
    return (order - (0 if dtype == torch.uint8 else 60)).to(dtype)


def with_nans(dtype: torch.dtype) -> torch.Tensor:
    """Rows with one NaN, with three, and with none."""
    values = different(dtype)
    values[1, 3] = math.nan
    values[0, :3] = math.nan
    values[0, 5] = math.inf
    return values


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("descending", [False, True])
def test_sort(dtype: torch.dtype, descending: bool) -> None:
    """Ties, NaN, infinities and both zeros; no elements and one."""
    values = [
        special(dtype).repeat(2),
        *(sample(dtype, shape) for shape in [(3, 17, 4), (1,), (), (0,), (3, 0), (0, 3)]),
    ]
    for x in values:
        for dim in range(-1, x.ndim - 1):
            check(aten.sort.stable, x, stable=True, dim=dim, descending=descending)
            check(aten.argsort.stable, x, stable=True, dim=dim, descending=descending)


def test_forms_of_sort() -> None:
    x = different(torch.float32)
    check(aten.sort.default, x)
    check(aten.sort.default, x, 0, True)
    check(aten.argsort.default, x, 0)
    check(aten.msort.default, x)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_choice_by_order(dtype: torch.dtype) -> None:
    x = different(dtype)
    for k in (0, 1, 5, 30):
        check(aten.topk.default, x, k, 1, True)
        check(aten.topk.default, x, k, -1, False)
    check(aten.topk.default, x, 3, 0)
    check(aten.topk.default, x[0, 0], 1)
    (values, _), (wanted, _) = run(aten.topk.default, x, 7, 1, True, False)
    assert torch.equal(torch.as_tensor(values).to(dtype), wanted.sort(1, descending=True).values)
    for keepdim in (False, True):
        check(aten.kthvalue.default, x, 3, 1, keepdim)
        check(aten.median.dim, x, 1, keepdim)
        check(aten.nanmedian.dim, x, 0, keepdim)
    check(aten.kthvalue.default, x[0, 0], 1)
    check(aten.median.dim, x[0, 0], 0)
    check(aten.median.default, x)
    check(aten.nanmedian.default, x[:, :5])


@pytest.mark.parametrize("dtype", FLOATS)
def test_medians_of_nans(dtype: torch.dtype) -> None:
    x = with_nans(dtype)
    for overload in (aten.median, aten.nanmedian):
        check(overload.dim, x, 1)
        check(overload.default, x)
        check(overload.default, x[0, :3])
        check(overload.default, x[:0])
    check(aten.topk.default, x[1:], 4, 1)
    check(aten.kthvalue.default, x[1:], 29, 1)


@pytest.mark.parametrize("dtype", ALL)
def test_mode(dtype: torch.dtype) -> None:
    """Of the places of the most frequent element PyTorch gives any."""
    for x in (sample(dtype, (5, 12)), torch.randint(0, 3, (5, 12)).to(dtype)):
        for dim in (0, 1):
            (values, places), (wanted, _) = run(aten.mode.default, x, dim)
            assert torch.equal(torch.as_tensor(values).to(dtype), wanted)
            chosen = x.gather(dim, torch.as_tensor(places).unsqueeze(dim)).squeeze(dim)
            assert torch.equal(chosen, wanted)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_membership(dtype: torch.dtype) -> None:
    x, tests = sample(dtype, (3, 5)), sample(dtype, (2, 4), 1)
    for invert in (False, True):
        check(aten.isin.Tensor_Tensor, x, tests, invert=invert)
        check(aten.isin.Tensor_Tensor, special(dtype), special(dtype)[1:], invert=invert)
        check(aten.isin.Tensor_Tensor, x, tests[:0], invert=invert)
        check(aten.isin.Tensor_Scalar, x, 1, invert=invert)
    check(aten.isin.Scalar_Tensor, 1, tests)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_bisection(dtype: torch.dtype) -> None:
    """NaNs, too, which PyTorch looks for, and in, as this does."""
    sequence = special(dtype).sort().values
    values = torch.cat([special(dtype), sample(dtype, (7,), 5)])
    for right in (False, True):
        for count in (0, 1, 2, 3, len(sequence)):
            check(aten.bucketize.Tensor, values, sequence[:count], right=right)
            check(aten.searchsorted.Tensor, sequence[:count], values.reshape(-1, 1), right=right, out_int32=True)
    rows, x = sample(dtype, (3, 9), 8), sample(dtype, (3, 5))
    check(aten.searchsorted.Tensor, rows.sort(-1).values, x, right=True)
    for side in ("left", "right"):
        check(aten.searchsorted.Tensor, rows, x, sorter=rows.argsort(-1), side=side)
    check(aten.searchsorted.Scalar, sequence, 1.5)
    check(aten.bucketize.Scalar, 2, sequence)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_histogram(dtype: torch.dtype) -> None:
    """Elements on the edges of bins, and outside."""
    x = torch.randint(0, 50, (200,), generator=torch.Generator().manual_seed(0)).to(dtype) / 7
    check(aten.histc.default, x, 7)
    check(aten.histc.default, x, 20, 2, 2)
    check(aten.histc.default, x[:0], 3)
    check(aten.histc.default, x[:1], 3)
    x[3:5] = torch.tensor([math.nan, math.inf])
    check(aten.histc.default, x, 13, 0.3, 6.1)


def test_counts() -> None:
    x = torch.tensor([1, 2, 3, 1, 0, 9, 2])
    check(aten.bincount.default, x)
    check(aten.bincount.default, x, sample(torch.float64, (7,)), 12, ulps=4)
    for scale in (False, True):
        for padding in (-1, 1):
            gradient = sample(torch.float32, (7, 3))
            check(aten.embedding_dense_backward.default, gradient, x, 10, padding, scale, ulps=8)
    gradient = sample(torch.float16, (2, 7, 3))
    check(aten.embedding_dense_backward.default, gradient, x.repeat(2, 1), 10, 1, False, ulps=8)


def test_integers_have_no_median_of_nothing() -> None:
    for dtype in INTEGERS:
        with pytest.raises(Exception, match="nothing has no median"):
            check(aten.median.default, sample(dtype, (0,)))
