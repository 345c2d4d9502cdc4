"""Interpolation of images that become smaller without aliasing: each element the weighted mean of all that it covers.

Source: `_compute_indices_weights_aa` in `aten/src/ATen/native/cpu/UpSampleKernel.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .cubic import far, near
from .interpolation import axis_scales, check_is_float, step_between
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, along


@lowering("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")
def upsample_aa(
    b: Lowering,
    self: Tensor,
    output_size: list[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    return _resampled(b, self, align_corners, [scales_h, scales_w])


@lowering("_upsample_bilinear2d_aa.vec", "_upsample_bicubic2d_aa.vec")
def upsample_aa_vec(
    b: Lowering, input: Tensor, output_size: list[int] | None, align_corners: bool, scale_factors: list[float] | None
) -> Tensor:
    return _resampled(b, input, align_corners, axis_scales(input, output_size, scale_factors))


def _resampled(b: Lowering, x: Tensor, align_corners: bool, scales: Sequence[float | None]) -> Tensor:
    """One axis after the other, the last first."""
    check_is_float(x)
    x = x.cast(b.compute)
    for axis in (3, 2):
        x = _along(
            b, x, axis, b.shape[axis], step_between(x.shape[axis], b.shape[axis], align_corners, scales[axis - 2])
        )
    return x


def _along(b: Lowering, x: Tensor, axis: int, count: int, step: float) -> Tensor:
    """An axis resampled to `count` elements, `step` of the input apart."""
    extent = x.shape[axis]
    cubic = "bicubic" in b.op.overload.data
    support = (2.0 if cubic else 1.0) * max(step, 1.0)
    center = ((b.iota(count, b.compute) + 0.5) * step).reshape((count, 1)).expand((count, extent))
    places = along(b.iota(extent, b.compute), 1, (count, extent))
    first, last = (center - support + 0.5).alu("trunc"), (center + support + 0.5).alu("trunc")
    covered = (places >= first) & (places < last)
    distance = ((places - center + 0.5) * (1.0 / max(step, 1.0))).alu("abs")
    if cubic:
        weights = (distance < 1.0).where(near(distance, -0.5), (distance < 2.0).where(far(distance, -0.5), 0.0))
    else:
        weights = (distance < 1.0).where(1.0 - distance, 0.0)
    weights = covered.where(weights, 0.0)
    weights = weights / weights.sum([1])
    last_axis = x.move_axis(axis, -1).unsqueeze(-2)
    taken = covered.where(last_axis * weights, 0.0)
    return taken.sum([taken.rank - 1]).squeeze([-1]).reshape((*last_axis.shape[:-2], count)).move_axis(-1, axis)
