"""Interpolation along the last axes: nearest elements, and sums of neighbours weighted by their distance.

Places are computed as PyTorch's CPU kernels do, in the type that elements are computed in. Source:
`aten/src/ATen/native/UpSample.h` and `cpu/UpSampleKernel.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import Attribute

from ....dialects.types import is_float
from .cubic import cubic_weights
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, along, iota


def axis_scales(self: Tensor, output_size: Sequence[int] | None, scales: Sequence[float] | None) -> list[float | None]:
    """The scale given for each of the last axes; a size that is given wins."""
    if output_size is not None or scales is None:
        return [None] * (self.rank - 2)
    return list(scales)


def check_is_float(x: Tensor) -> None:
    """Refuse the bytes of images, whose weights PyTorch rounds to 16-bit integers, in several ways."""
    if not is_float(x.element):
        raise Unsupported("only floats are interpolated", "write x.float(), and round the result")


def step_between(extent: int, count: int, align_corners: bool, scale: float | None) -> float:
    """How many elements of the input two neighbours of the output are apart."""
    if align_corners:
        return (extent - 1) / (count - 1) if count > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else extent / count


@lowering("upsample_nearest1d", "_upsample_nearest_exact1d")
def upsample_nearest1d(b: Lowering, self: Tensor, output_size: list[int], scales: float | None = None) -> Tensor:
    return _nearest(b, self, [scales])


@lowering("upsample_nearest2d", "_upsample_nearest_exact2d")
def upsample_nearest2d(
    b: Lowering, self: Tensor, output_size: list[int], scales_h: float | None = None, scales_w: float | None = None
) -> Tensor:
    return _nearest(b, self, [scales_h, scales_w])


@lowering("upsample_nearest3d", "_upsample_nearest_exact3d")
def upsample_nearest3d(
    b: Lowering,
    self: Tensor,
    output_size: list[int],
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    return _nearest(b, self, [scales_d, scales_h, scales_w])


@lowering(
    *(f"{name}{d}d.vec" for name in ("upsample_nearest", "_upsample_nearest_exact") for d in (1, 2, 3)),
)
def upsample_nearest_vec(
    b: Lowering, input: Tensor, output_size: list[int] | None, scale_factors: list[float] | None
) -> Tensor:
    return _nearest(b, input, axis_scales(input, output_size, scale_factors))


def _nearest(b: Lowering, x: Tensor, scales: Sequence[float | None]) -> Tensor:
    shift = 0.5 if "exact" in b.op.overload.data else 0.0
    for axis, scale in enumerate(scales, 2):
        x = _nearest_along(x, axis, b.shape[axis], scale, shift, b.compute)
    return x


def _nearest_along(x: Tensor, axis: int, count: int, scale: float | None, shift: float, compute: Attribute) -> Tensor:
    """Element `⌊(o + shift) · ratio⌋` of an axis for each place `o`, at most the last.

    Where the rounded ratio gives the places of a ratio of small numbers a ÷ b, each element is repeated b times and
    every a-th of them taken: movement, not access by data.
    """
    extent = x.shape[axis]
    if extent == count and scale is None:
        return x
    number = np.float64 if compute == f64 else np.float32
    ratio = number(step_between(extent, count, False, scale))
    rounded = np.floor((np.arange(count).astype(number) + number(shift)) * ratio).astype(np.int64)
    half = 2 if shift else 1
    for denominator in (1, 2, 3, 4, 8, 16, count):
        exact = Fraction(step_between(extent, count, False, scale)).limit_denominator(denominator)
        a, repeats = exact.numerator, exact.denominator * half
        start = a if shift else 0
        places = (start + np.arange(count) * a * half) // repeats
        if a > 0 and places.max(initial=0) < extent and np.array_equal(places, rounded):
            before, behind = x.shape[:axis], x.shape[axis + 1 :]
            repeated = x.unsqueeze(axis + 1).expand((*before, extent, repeats, *behind))
            repeated = repeated.reshape((*before, extent * repeats, *behind))
            step = a * half
            return repeated.shrink(axis, start, count, step)
    places = (iota(x.builder, count, compute) + shift if shift else iota(x.builder, count, compute)) * float(ratio)
    return x.take(axis, places.alu("floor").cast(i64).minimum(extent - 1))


@lowering("upsample_linear1d")
def upsample_linear1d(
    b: Lowering, self: Tensor, output_size: list[int], align_corners: bool, scales: float | None = None
) -> Tensor:
    return _linear(b, self, align_corners, [scales])


@lowering("upsample_bilinear2d")
def upsample_bilinear2d(
    b: Lowering,
    self: Tensor,
    output_size: list[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    return _linear(b, self, align_corners, [scales_h, scales_w])


@lowering("upsample_trilinear3d")
def upsample_trilinear3d(
    b: Lowering,
    self: Tensor,
    output_size: list[int],
    align_corners: bool,
    scales_d: float | None = None,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    return _linear(b, self, align_corners, [scales_d, scales_h, scales_w])


@lowering("upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec")
def upsample_linear_vec(
    b: Lowering, input: Tensor, output_size: list[int] | None, align_corners: bool, scale_factors: list[float] | None
) -> Tensor:
    return _linear(b, input, align_corners, axis_scales(input, output_size, scale_factors))


@lowering("upsample_bicubic2d")
def upsample_bicubic2d(
    b: Lowering,
    self: Tensor,
    output_size: list[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    return _cubic(b, self, align_corners, [scales_h, scales_w])


@lowering("upsample_bicubic2d.vec")
def upsample_bicubic2d_vec(
    b: Lowering, input: Tensor, output_size: list[int] | None, align_corners: bool, scale_factors: list[float] | None
) -> Tensor:
    return _cubic(b, input, align_corners, axis_scales(input, output_size, scale_factors))


Neighbours = list[tuple[Tensor, Tensor]]
"""Of each place along an axis of the output: places of the input, and their weights; all of rank 1."""


def _linear(b: Lowering, x: Tensor, align_corners: bool, scales: Sequence[float | None]) -> Tensor:
    check_is_float(x)
    neighbours: list[Neighbours] = []
    for axis, scale in enumerate(scales, 2):
        extent, count = x.shape[axis], b.shape[axis]
        if extent == count:
            places = b.iota(count, i64)
            neighbours.append([(places, b.full((count,), 1, b.compute)), (places, b.full((count,), 0, b.compute))])
            continue
        real = _source(b, extent, count, align_corners, scale).maximum(0)
        place, part = _place_and_part(real, extent)
        neighbours.append([(place, 1.0 - part), ((place + 1).minimum(extent - 1), part)])
    return _weighted(b, x, neighbours)


def _cubic(b: Lowering, x: Tensor, align_corners: bool, scales: Sequence[float | None]) -> Tensor:
    """The places outside the input are those at its border."""
    check_is_float(x)
    neighbours: list[Neighbours] = []
    for axis, scale in enumerate(scales, 2):
        extent = x.shape[axis]
        place, part = _place_and_part(_source(b, extent, b.shape[axis], align_corners, scale), extent)
        neighbours.append(
            [((place + (j - 1)).maximum(0).minimum(extent - 1), w) for j, w in enumerate(cubic_weights(part))]
        )
    return _weighted(b, x, neighbours)


def _source(b: Lowering, extent: int, count: int, align_corners: bool, scale: float | None) -> Tensor:
    """Where each place of the output is on the axis of the input, as a real number."""
    places, step = b.iota(count, b.compute), step_between(extent, count, align_corners, scale)
    return places * step if align_corners else (places + 0.5) * step - 0.5


def _place_and_part(real: Tensor, extent: int) -> tuple[Tensor, Tensor]:
    """The element in front of a place, i64, and how far behind it the place is, from 0 to 1."""
    place = real.alu("floor").cast(i64).minimum(extent - 1)
    return place, (real - place.cast(real.element)).maximum(0).minimum(1)


def _weighted(b: Lowering, x: Tensor, neighbours: Sequence[Neighbours]) -> Tensor:
    """The sum over all combinations of neighbours along the last axes, the last axis innermost."""
    sums: Tensor | None = None
    axis = x.rank - len(neighbours)
    if not neighbours:
        return x.cast(b.compute)
    for place, weight in neighbours[0]:
        term = _weighted(b, x.take(axis, place), neighbours[1:])
        term = along(weight, axis, term.shape) * term
        sums = term if sums is None else sums + term
    assert sums is not None, "there are neighbours"
    return sums
