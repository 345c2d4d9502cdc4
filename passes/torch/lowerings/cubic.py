"""Cubic convolution: the weights of four neighbours of a place, as PyTorch interpolates (A = −0.75)."""

from __future__ import annotations

from .tensor import Tensor

_A = -0.75


def cubic_weights(part: Tensor) -> list[Tensor]:
    """For the elements 1 in front of a place's, its own, and 1 and 2 behind it; `part`: how far the place is behind its
    element, from 0 to 1."""
    rest = 1.0 - part
    return [_far(part + 1.0), _near(part), _near(rest), _far(rest + 1.0)]


def _near(x: Tensor) -> Tensor:
    """At a distance of at most 1."""
    return (x * (_A + 2) - (_A + 3)) * x * x + 1.0


def _far(x: Tensor) -> Tensor:
    """At a distance from 1 to 2."""
    return ((x * _A - 5 * _A) * x + 8 * _A) * x - 4 * _A
