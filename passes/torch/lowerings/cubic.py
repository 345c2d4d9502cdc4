"""Cubic convolution: how four neighbours of a place count. Source: `aten/src/ATen/native/UpSample.h`."""

from __future__ import annotations

from .tensor import Tensor

_SHARPNESS = -0.75
"""Of PyTorch's interpolation; the slope of the weights at a distance of 1."""


def cubic_weights(part: Tensor) -> list[Tensor]:
    """For the elements 1 in front of a place's, its own, and 1 and 2 behind it; `part`: how far the place is behind its
    element, from 0 to 1."""
    rest = 1.0 - part
    return [far(part + 1.0, _SHARPNESS), near(part, _SHARPNESS), near(rest, _SHARPNESS), far(rest + 1.0, _SHARPNESS)]


def near(x: Tensor, a: float) -> Tensor:
    """At a distance of at most 1."""
    return (x * (a + 2) - (a + 3)) * x * x + 1.0


def far(x: Tensor, a: float) -> Tensor:
    """At a distance from 1 to 2."""
    return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a
