"""Writes at indices that are data against eager PyTorch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from aten_oracle import ALL, NUMBERS, check, check_composite, sample

from uop.passes.torch.lowerings import Unsupported
from uop.rewriting.diagnostics import PassError

aten: Any = torch.ops.aten

PLACES = torch.randint(0, 5, (3, 7, 6), generator=torch.Generator().manual_seed(0))
"""Some of them name one place twice, some places are not named."""

MASK = torch.rand(4, 5, 6, generator=torch.Generator().manual_seed(0)) > 0.5
ROWS = torch.tensor([True, False, False, True])
COLUMNS = torch.tensor([True, False, False, True, True])


def close(dtype: torch.dtype) -> dict[str, Any]:
    """Sums in another order than PyTorch's."""
    return {"ulps": 64} if dtype.is_floating_point else {}


@pytest.mark.parametrize("dtype", ALL)
def test_scatter(dtype: torch.dtype) -> None:
    x, source = sample(dtype, (4, 5, 6)), sample(dtype, (4, 8, 6), 1)
    for places in (PLACES, PLACES[:, :2], PLACES[:, :0]):
        check(aten.scatter.src, x, 1, places, source)
        check(aten.scatter.value, x, -2, places, 1)
        check(aten.scatter_add.default, x, 1, places, source, **close(dtype))
    scalar = torch.tensor(1).to(dtype)
    check(aten.scatter.src, scalar, 0, torch.tensor(0), torch.tensor(0).to(dtype))
    check(aten.scatter_add.default, scalar, 0, torch.tensor([0]), torch.zeros(1, dtype=dtype))
    check(aten.scatter.src, x[:0], 0, PLACES[:0], source)


def test_indices_of_no_elements_have_any_shape() -> None:
    x, nothing = sample(torch.float32, (5,)), torch.zeros(2, 0, dtype=torch.int64)
    check(aten.gather.default, x, 0, nothing)
    check(aten.scatter.src, x, 0, nothing, torch.zeros(2, 0))
    check(aten.scatter_add.default, x, 0, nothing, torch.zeros(2, 0))
    check(aten.scatter_reduce.two, x, 0, nothing, torch.zeros(2, 0), "amax", include_self=False)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_scatter_with_a_reduction(dtype: torch.dtype) -> None:
    x, source = sample(dtype, (4, 5, 6)), sample(dtype, (4, 8, 6), 1)
    rows = torch.tensor([1, 1, 4])
    for reduce in ("add", "multiply"):
        check(aten.scatter.reduce, x, 1, PLACES[:, :2], source, reduce=reduce, **close(dtype))
        check(aten.scatter.value_reduce, x, 1, PLACES[:, :2], 2, reduce=reduce, **close(dtype))
    if dtype in (torch.float16, torch.bfloat16):
        return  # PyTorch rounds after each element
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include_self in (True, False):
            check(aten.scatter_reduce.two, x, 1, PLACES, source, reduce, include_self=include_self, **close(dtype))
            if reduce != "sum":
                options = {"include_self": include_self, **close(dtype)}
                check(aten.index_reduce.default, x, 1, rows, source[:, :3], reduce, **options)
    scalar = torch.tensor(3).to(dtype)
    check(aten.scatter_reduce.two, scalar, 0, torch.tensor(0), scalar, "sum")


def test_scatters_keep_special_values() -> None:
    """NaN and infinities go where they belong, and what nothing is added to keeps its sign."""
    x = torch.tensor([-0.0, 0.0, math.nan, math.inf, 1.0, -0.0, -0.0, 2.0])
    values = torch.tensor([1.0, -1.0, -0.0, -math.inf, math.nan, 5.0])
    places = torch.tensor([0, 0, 1, 3, 4, 7])
    for overload in (aten.index_add.default, aten.index_copy.default):
        check(overload, x, 0, places, values)
    for reduce in ("sum", "prod", "amax", "amin", "mean"):
        for include_self in (True, False):
            signed = reduce in ("sum", "mean")  # either zero is the greatest of both
            check(aten.scatter_reduce.two, x, 0, places, values, reduce, include_self=include_self, signed_zeros=signed)


@pytest.mark.parametrize("dtype", ALL)
def test_slices(dtype: torch.dtype) -> None:
    x, source = sample(dtype, (4, 5, 6)), sample(dtype, (4, 8, 6), 1)
    rows = torch.tensor([1, 1, 4])
    check(aten.index_add.default, x, 1, rows, source[:, :3], **close(dtype))
    for alpha in (2, False):
        check(aten.index_add.default, x, 1, rows.int(), source[:, :3], alpha=alpha, **close(dtype))
    check(aten.index_copy.default, x, 1, torch.tensor([1, 3, 1]), source[:, :3])
    check(aten.index_copy.default, x, 1, torch.tensor([0, 1, 2, 3, 1]), source[:, :5])
    check(aten.index_copy.default, x[0, 0, 0], 0, torch.tensor(0), source[0, 0, 0])
    check(aten.index_fill.int_Scalar, x, 1, torch.tensor([1, -1, 1]), 1)
    check(aten.index_fill.int_Tensor, x, 2, torch.tensor([1, -1, 1, 0, 2]), source[0, 0, 0])
    check(aten.index_fill.int_Scalar, x[0, 0, 0], 0, torch.tensor(0), 1)
    check(aten.diagonal_scatter.default, x, source[:3, 0, :4].T.reshape(3, 4).repeat(2, 1))
    check(aten.diagonal_scatter.default, x, source[:, 0, :3], -2, 1, 2)
    check(aten.diagonal_scatter.default, x, source[:, 0, :4], 2, -2, 2)
    check(aten.diagonal_scatter.default, x, source[:, 0, :0], 9, -2, 2)
    check(aten.as_strided_scatter.default, x, source[:3, 0, :4], [3, 4], [7, 2], 3)
    check(aten.put.default, x, torch.tensor([3, -2, 5]), source[0, 0, :3])
    check(aten.put.default, x, torch.tensor([3, 3, 5]), source[0, 0, :3], True, **close(dtype))


@pytest.mark.parametrize("dtype", ALL)
def test_index_put(dtype: torch.dtype) -> None:
    x = sample(dtype, (4, 5, 6))
    places = torch.tensor([[0, 3], [-1, 2]])
    check(aten.index_put.default, x, [None, places, places], sample(dtype, (2, 2), 4))
    check(aten.index_put.default, x, [places, None, places], sample(dtype, (2, 2, 5), 4))
    check_composite(aten.index_put.default, x, [places, None, places], sample(dtype, (5,), 4), True)
    check_composite(aten._unsafe_index_put.default, x, [places], sample(dtype, (2, 2, 5, 6), 4), True)


@pytest.mark.parametrize("dtype", ALL)
def test_index_put_of_masks(dtype: torch.dtype) -> None:
    x, chosen = sample(dtype, (4, 5, 6)), int(MASK.sum())
    check(aten.index_put.default, x, [MASK], sample(dtype, (), 4))
    check(aten.index_put.default, x, [MASK], sample(dtype, (chosen,), 4))
    check(aten.index_put.default, x, [MASK & ~MASK], sample(dtype, (0,), 4))
    check(aten.index_put.default, x, [ROWS], sample(dtype, (6,), 4))
    check(aten.index_put.default, x, [ROWS], sample(dtype, (2, 5, 6), 4))
    check(aten.index_put.default, x, [ROWS], sample(dtype, (1, 5, 6), 4))
    check(aten.index_put.default, x, [None, COLUMNS], sample(dtype, (4, 3, 6), 4))
    check(aten.index_put.default, x, [None, COLUMNS], sample(dtype, (3, 6), 4))
    check(aten.index_put.default, x, [None, COLUMNS], sample(dtype, (4, 1, 1), 4))
    check(aten.index_put.default, x, [None, COLUMNS], sample(dtype, (4, 3, 6), 4), True)
    check(aten.masked_scatter.default, x, MASK, sample(dtype, (150,), 3))
    check(aten.masked_scatter.default, x, MASK[:, :1], sample(dtype, (10, 12), 3))
    check(aten.masked_scatter.default, x, MASK & ~MASK, sample(dtype, (0,), 3))


ONE = torch.tensor([False, False, True, False, False])
BLOCK = torch.tensor([[True, False, False, True, False], [False] * 5, [False, True, False, False, True], [False] * 5])


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(
    ("indices", "values"),
    [
        ([ROWS, torch.tensor([1, 2])], (2, 6)),
        ([ROWS, torch.tensor([1, -2])], ()),
        ([ROWS, torch.tensor([3])], (2, 6)),
        ([ROWS, torch.tensor(3)], ()),
        ([ROWS, ONE], (6,)),
        ([ROWS, ONE], (2, 6)),
        ([ROWS & False, ONE], ()),
        ([ROWS & False, ONE], (0, 6)),
        ([torch.tensor([False, True, True, True]), COLUMNS], (1, 6)),
        ([torch.tensor([False, True, False, False]), ONE], (1,)),
        ([ROWS, None, torch.tensor([0, 5])], (2, 5)),
        ([ROWS, None, torch.tensor([0, 5])], (2, 1)),
        ([None, COLUMNS, torch.tensor([5, 1, 5])], (4, 3)),
        ([BLOCK, torch.tensor([5, 1, 5, 2])], (4,)),
        ([BLOCK, torch.tensor([True, True, False, True, True, False])], ()),
    ],
)
def test_masks_beside_other_indices(
    indices: list[torch.Tensor | None], values: tuple[int, ...], accumulate: bool
) -> None:
    x = sample(torch.float32, (4, 5, 6))
    check(aten.index_put.default, x, indices, sample(torch.float32, values, 1), accumulate, ulps=2 * accumulate)


def test_masked_indices() -> None:
    """Indices may lie anywhere where the mask is false."""
    x, mask = sample(torch.float32, (4, 5)), torch.tensor([True, False, True])
    places = torch.tensor([3, 99, 0])
    check(aten._unsafe_masked_index.default, x, mask[:, None], [places[:, None], torch.tensor([0, 4])], 7.0)
    values = sample(torch.float32, (3, 5), 1)
    check(aten._unsafe_masked_index_put_accumulate.default, x, mask[:, None], [places, None], values, ulps=4)


def test_refusals() -> None:
    """What depends on data is refused by name, with what to do instead."""
    x = sample(torch.float32, (4, 5))
    with pytest.raises((PassError, Unsupported), match=r"masks beside indices of several dimensions.*torch\.where"):
        check(aten.index_put.default, x, [ROWS, torch.tensor([[1, 2]])], torch.tensor(1.0))
    with pytest.raises((PassError, Unsupported), match=r"selection by mask depends on data.*torch\.where"):
        check(aten.index.Tensor, x, [ROWS])


@pytest.mark.parametrize("size", [0, 2, 5, 9])
@pytest.mark.parametrize(
    "tensor", [torch.tensor([[0.0, 1.0, 2.0], [0.0, 0.0, math.nan]]), torch.tensor([True, False]), torch.zeros(0, 2)]
)
def test_nonzero_static(size: int, tensor: torch.Tensor) -> None:
    check(aten.nonzero_static.default, tensor, size=size, fill_value=-7)
