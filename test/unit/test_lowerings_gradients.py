"""Gradients that stand in exported graphs, distances between rows, and batch norms in training, against PyTorch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from aten_oracle import check_composite, sample

aten: Any = torch.ops.aten

MASKS = [[True, True, True], [True, False, False], [False, True, True]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("normalized", [[5], [3, 5]], ids=str)
def test_layer_norm(normalized: list[int], affine: bool, dtype: torch.dtype) -> None:
    x, dy = sample(dtype, (4, 3, 5)), sample(dtype, (4, 3, 5), seed=1)
    weight = sample(dtype, normalized, seed=2) if affine else None
    _, mean, rstd = aten.native_layer_norm.default(x, normalized, weight, None, 1e-5)
    call = (dy, x, normalized, mean, rstd, weight, None, [True, affine, False])
    check_composite(aten.native_layer_norm_backward.default, *call)


@pytest.mark.parametrize("mask", MASKS, ids=str)
def test_layer_norm_gives_what_is_asked_for(mask: list[bool]) -> None:
    x, weight = sample(torch.float32, (4, 5)), torch.ones(5)
    _, mean, rstd = aten.native_layer_norm.default(x, [5], weight, weight, 1e-5)
    check_composite(aten.native_layer_norm_backward.default, x, x, [5], mean, rstd, weight, weight, mask)


@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(groups: int, mask: list[bool]) -> None:
    x, dy = sample(torch.float32, (2, 6, 3, 5)), sample(torch.float32, (2, 6, 3, 5), seed=1)
    weight = sample(torch.float32, (6,), seed=2)
    _, mean, rstd = aten.native_group_norm.default(x, weight, weight, 2, 6, 15, groups, 1e-5)
    check_composite(aten.native_group_norm_backward.default, dy, x, mean, rstd, weight, 2, 6, 15, groups, mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training: bool, dtype: torch.dtype) -> None:
    x, mean = sample(dtype, (4, 3, 5)), sample(dtype, (3,), seed=1)
    call = (x, mean, mean, mean, mean.abs() + 1, training, 0.1, 1e-5)
    check_composite(aten._native_batch_norm_legit_functional.default, *call)
    check_composite(aten._native_batch_norm_legit.no_stats, x, mean, mean, True, 0.1, 1e-5)


@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 3.0, 2.5, math.inf])
def test_distances(order: float) -> None:
    x, y = sample(torch.float32, (2, 4, 3)), sample(torch.float32, (5, 3), seed=1)
    check_composite(aten._cdist_forward.default, x, y, order, None)
    check_composite(aten.dist.default, x[0, :1], y, order)
    check_composite(aten._pdist_forward.default, x[0], order)
    check_composite(aten._pdist_forward.default, sample(torch.float64, (7, 3)), order)
    check_composite(aten._pdist_forward.default, x[0, :1], order)
