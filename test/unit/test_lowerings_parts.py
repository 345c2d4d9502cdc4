"""Reductions by parts and counts in bins against eager PyTorch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from aten_oracle import check, check_composite, sample

aten: Any = torch.ops.aten

LENGTHS = torch.tensor([2, 0, 4, 1])
OFFSETS = torch.tensor([0, 2, 2, 6, 7])


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("initial", [None, 1, 2.5])
def test_segments(reduce: str, initial: float | None) -> None:
    x = sample(torch.float32, (7, 3))
    x[3, 1] = math.nan
    for dtype in (torch.float32, torch.float64, torch.float16):
        data = x.to(dtype)
        check_composite(aten.segment_reduce.default, data, reduce, lengths=LENGTHS, initial=initial)
        ends = {"lengths": None, "indices": None, "offsets": OFFSETS}
        check_composite(aten.segment_reduce.default, data, reduce, **ends, initial=initial)


def test_segments_of_an_inner_axis() -> None:
    lengths = torch.stack([LENGTHS, LENGTHS.flip(0)])
    check_composite(aten.segment_reduce.default, sample(torch.float32, (2, 7, 3)), "sum", lengths=lengths, axis=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_histogram(dtype: torch.dtype) -> None:
    x, weight = sample(dtype, (5, 8)), sample(dtype, (5, 8), seed=1).abs()
    check_composite(aten.histogram.bin_ct, x, 7)
    check_composite(aten.histogram.bin_ct, x, 6, range=[-1.0, 1.0])
    check_composite(aten.histogram.bin_ct, x, 5, weight=weight, density=True)
    check(aten.histogram.bin_ct, x[:0], 3)
    check(aten.histogram.bin_ct, torch.ones(4, dtype=dtype), 4)
    check(aten.histogram.bin_ct, torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 2.0, 4.0], dtype=dtype), 4)
    check(aten.histogram.bins_tensor, x, torch.tensor([-1.0, 0.0, 0.5, 2.0], dtype=dtype))


@pytest.mark.parametrize(
    "arguments", [{}, {"density": True}, {"range": [-1.0, 1.0, 0.0, 2.0]}, {"weight": torch.rand(4, 6)}]
)
def test_histogram_of_points(arguments: dict[str, Any]) -> None:
    x = sample(torch.float32, (4, 6, 2))
    check_composite(aten._histogramdd_from_bin_cts.default, x, [3, 2], **arguments)
    check_composite(aten._histogramdd_bin_edges.default, x, [3, 2], **arguments)
