"""Interpolation against eager PyTorch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from aten_oracle import check, check_composite, sample

aten: Any = torch.ops.aten

# (shape, output size, scales)
SIZES = [
    ((1, 2, 5), [10], [None]),
    ((2, 3, 7), [3], [None]),
    ((1, 1, 1), [4], [None]),
    ((1, 2, 4, 3), [8, 6], [None, None]),
    ((1, 2, 4, 3), [4, 3], [None, None]),
    ((2, 1, 7, 5), [11, 3], [None, None]),
    ((2, 1, 9, 6), [13, 9], [1.5, 1.5]),
    ((1, 1, 5, 7), [4, 5], [0.8, 0.77]),
    ((1, 2, 1, 6), [1, 1], [None, None]),
    ((1, 2, 3, 4, 5), [5, 4, 7], [None, None, None]),
    ((1, 1, 2, 3, 4), [4, 6, 8], [2.0, 2.0, 2.0]),
]


@pytest.mark.parametrize("case", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_nearest(case: tuple[Any, ...], dtype: torch.dtype) -> None:
    shape, size, scales = case
    x = sample(dtype, shape)
    for name in ("upsample_nearest", "_upsample_nearest_exact"):
        overload = getattr(aten, f"{name}{len(size)}d")
        check(overload.default, x, size, *scales)
        check(overload.vec, x, size, None)
        if scales[0] is not None:
            check(overload.vec, x, None, scales)


@pytest.mark.parametrize("name", ["upsample_nearest1d", "_upsample_nearest_exact1d"])
def test_nearest_places_round_as_in_pytorch(name: str) -> None:
    """Ratios that f32 does not hold: some places are one less than exact arithmetic has them."""
    for extent, count in [(3, 7), (6, 14), (9, 21), (11, 33), (5, 49), (41, 123), (23, 10), (100, 30)]:
        x = torch.arange(extent, dtype=torch.float32).reshape(1, 1, extent)
        check(getattr(aten, name).default, x, [count])


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("case", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_linear(case: tuple[Any, ...], align_corners: bool, dtype: torch.dtype) -> None:
    shape, size, scales = case
    x = sample(dtype, shape)
    overload = getattr(aten, f"upsample_{['', 'bi', 'tri'][len(size) - 1]}linear{len(size)}d")
    check_composite(overload.default, x, size, align_corners, *scales)
    if scales[0] is not None:
        check_composite(overload.vec, x, None, align_corners, scales)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("case", [case for case in SIZES if len(case[1]) == 2], ids=str)
def test_cubic(case: tuple[Any, ...], align_corners: bool) -> None:
    shape, size, scales = case
    for dtype in (torch.float32, torch.float64, torch.float16):
        check_composite(aten.upsample_bicubic2d.default, sample(dtype, shape), size, align_corners, *scales)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("case", [case for case in SIZES if len(case[1]) == 2], ids=str)
def test_without_aliasing(case: tuple[Any, ...], align_corners: bool) -> None:
    shape, size, scales = case
    for name in ("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"):
        for dtype in (torch.float32, torch.float64):
            check_composite(getattr(aten, name).default, sample(dtype, shape), size, align_corners, *scales)
    x = sample(torch.float32, (1, 1, 9, 9))
    x[..., 0, 0] = math.inf
    check(aten._upsample_bilinear2d_aa.default, x, [4, 3], align_corners, ulps=256)


def test_special_values() -> None:
    x = sample(torch.float32, (1, 1, 4, 4))
    x[..., 0, 0], x[..., 3, 3], x[..., 1, 2] = math.inf, math.nan, -math.inf
    check(aten.upsample_nearest2d.default, x, [8, 8])
    for size in ([8, 8], [4, 4], [4, 7], [7, 7]):
        for align_corners in (False, True):
            check(aten.upsample_bilinear2d.default, x, size, align_corners, ulps=64)
            check(aten.upsample_bicubic2d.default, x, size, align_corners, ulps=1024)


def grid(shape: tuple[int, ...]) -> torch.Tensor:
    """Places inside and outside of the image, on its edges and on its elements."""
    places = sample(torch.float32, shape, 3)
    places.view(-1)[:6] = torch.tensor([-1.0, 1.0, 0.0, -3.7, 0.5, 1e4])
    return places


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding_mode", [0, 1, 2])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_grid_sampler(mode: int, padding_mode: int, align_corners: bool) -> None:
    for shape in ((2, 3, 5, 4), (1, 1, 1, 6)):
        x = sample(torch.float32, shape)
        check(aten.grid_sampler_2d.default, x, grid((shape[0], 3, 4, 2)), mode, padding_mode, align_corners, ulps=2048)
    if mode < 2:
        x = sample(torch.float32, (1, 2, 3, 4, 5))
        check(aten.grid_sampler_3d.default, x, grid((1, 2, 3, 4, 3)), mode, padding_mode, align_corners, ulps=2048)


def test_grid_sampler_of_special_values() -> None:
    """An infinity next to the image's zeros, and a NaN in the grid, which is no place."""
    x = sample(torch.float32, (1, 1, 4, 4))
    x[..., 0, 0] = math.inf
    places = grid((1, 3, 4, 2))
    places[0, 2, 1, 0] = math.nan
    for padding_mode in (1, 2):
        check(aten.grid_sampler_2d.default, x, places, 1, padding_mode, False)
