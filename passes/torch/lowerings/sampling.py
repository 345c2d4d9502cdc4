"""Sampling of an image at places that are data: `F.grid_sample`. Source: `aten/src/ATen/native/GridSampler.h`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

from xdsl.dialects.builtin import i64

from .cubic import cubic_weights
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor

_BILINEAR, _NEAREST, _BICUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)


@lowering("grid_sampler_2d", "grid_sampler_3d")
def grid_sampler(
    b: Lowering, input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """input: N × C × …, grid: N × places × rank, the last axis of the input first, from −1 to 1: N × C × places."""
    if interpolation_mode not in range(3) or padding_mode not in range(3):
        raise Unsupported(f"interpolation_mode {interpolation_mode} with padding_mode {padding_mode}")
    places = grid.cast(b.compute)
    extents = input.shape[2:]
    axes = [_Axis(extent, padding_mode, align_corners) for extent in extents]
    points = [axis.unnormalized(places.select(-1, len(axes) - 1 - d).unsqueeze(1)) for d, axis in enumerate(axes)]
    if interpolation_mode == _NEAREST:
        near = [axis.padded(x).alu("round") for axis, x in zip(axes, points, strict=True)]
        return _values(b, input, axes, near)
    corners: list[list[tuple[Tensor, Tensor]]] = []
    for axis, x in zip(axes, points, strict=True):
        if interpolation_mode == _BILINEAR:
            x = axis.padded(x)
            first = x.alu("floor")
            corners.append([(first, first + 1.0 - x), (first + 1.0, x - first)])
        else:
            first = x.alu("floor")
            weights = cubic_weights(x - first)
            corners.append([(axis.padded(first + (j - 1.0)), weight) for j, weight in enumerate(weights)])
    terms: list[Tensor] = []
    for chosen in product(*corners):
        weight = reduce(Tensor.__mul__, [weight for _, weight in chosen])
        terms.append(_values(b, input, axes, [place for place, _ in chosen]) * weight)
    return reduce(Tensor.__add__, terms)


def _values(b: Lowering, input: Tensor, axes: Sequence[_Axis], places: Sequence[Tensor]) -> Tensor:
    """The elements at whole places, 0 for those outside; places are N × 1 × …, of floats."""
    there: Tensor | None = None
    flat: Tensor | None = None
    for axis, place in zip(axes, places, strict=True):
        here = (place >= 0.0) & (place <= axis.extent - 1.0)  # not of NaN
        there = here if there is None else there & here
        whole = here.where(place, 0.0).cast(i64)
        flat = whole if flat is None else flat * axis.extent + whole
    assert there is not None, "an image has axes"
    assert flat is not None
    batch, channels, *extents = input.shape
    shape = (batch, channels, *flat.shape[2:])
    merged = input.reshape((batch, channels, prod(extents)))
    index = flat.expand(shape).reshape((batch, channels, prod(shape[2:])))
    return there.where(merged.gather(2, index).reshape(shape).cast(b.compute), 0.0)


class _Axis:
    """How coordinates of one axis of the image become places on it."""

    def __init__(self, extent: int, padding_mode: int, align_corners: bool) -> None:
        self.extent = extent
        self.padding_mode = padding_mode
        self.align_corners = align_corners

    def unnormalized(self, x: Tensor) -> Tensor:
        """From −1 … 1 to places, 0 the middle of the first element."""
        if self.align_corners:
            return (x + 1.0) / 2.0 * (self.extent - 1.0)
        return ((x + 1.0) * float(self.extent) - 1.0) / 2.0

    def padded(self, x: Tensor) -> Tensor:
        """A place outside moved inside, as the padding asks; NaN to 0."""
        if self.padding_mode == _ZEROS:
            return x
        if self.padding_mode == _REFLECTION:
            x = self._reflected(x)
        return x.alu("isnan").where(0.0, x.maximum(0.0).minimum(self.extent - 1.0))

    def _reflected(self, x: Tensor) -> Tensor:
        """Mirrored at the middles of the outer elements, or at their edges, as often as it takes."""
        low = 0.0 if self.align_corners else -0.5
        span = self.extent - 1.0 if self.align_corners else float(self.extent)
        if span == 0:
            return x.like(0.0)
        distance = (x - low).alu("abs")
        rest = distance.alu("truncmod", span)
        odd = (distance / span).alu("floor").alu("truncmod", 2.0).alu("ne", 0.0)
        return odd.where(span - rest + low, rest + low)
