"""Exponentials less a running maximum by one multiply-add (dialects/exponents.py), of scores however great."""

from __future__ import annotations

from math import log2
from typing import cast

import numpy as np
import pytest
from test_monoids import INFINITY, NAN, Evaluator, Typed, columns
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from uop.dialects.exponents import MOST_POWER, Exponents
from uop.runtime.interpret.arrays import Array, constant


def value(array: Array) -> SSAValue:
    return cast(SSAValue, Typed(f32, array))


def array(of: SSAValue) -> Array:
    return cast(Typed, of).array


def in_steps(exponents: Exponents, scores: Array, terms: Array) -> tuple[Array, Array]:
    """The maximum of the scaled scores, and the average of the terms, each score a step of its own."""
    b = Evaluator()
    running, shift = (np.full(scores.shape[1], x, np.float32) for x in (exponents.lowest, exponents.greatest_shift))
    sums = np.zeros((2, scores.shape[1]), np.float32)
    for score, term in zip(scores, terms, strict=True):
        before, running = shift, array(b.alu("max", value(running), value(score)))
        power, new = exponents.shifts(b, value(running))
        shift = array(new)
        weight = array(exponents.exp(b, value(score), power, new))
        with np.errstate(all="ignore"):
            sums = sums * array(exponents.rescaling(b, value(before), new)) + np.stack([weight, weight * term])
    with np.errstate(all="ignore"):
        return array(exponents.maximum(b, value(running))), sums[1] / sums[0]


@pytest.mark.parametrize("scale", [0.125, 64**-0.5 * 1.3, 0.5 / log2(np.e), 3e-5, 300.0])
def test_average_of_any_scores(scale: float) -> None:
    """Around where powers become powers of 2, with all that no softmax may stumble over."""
    exponents = Exponents(scale)
    edge = MOST_POWER / (scale * log2(np.e))
    numbers = (
        NAN,
        INFINITY,
        -INFINITY,
        0.0,
        3.0 / scale,
        *(s * edge * f for s in (1, -1) for f in (0.51, 0.999, 1.01)),
    )
    scores = columns(f32, (*numbers, 1e4 * edge, -1e4 * edge), 4).array
    terms = np.broadcast_to(constant(1.0, f32) * np.array([[0.5], [-3.0], [2.0], [1.25]], np.float32), scores.shape)
    largest, average = in_steps(exponents, scores, terms)
    with np.errstate(all="ignore"):
        scaled = scores.astype(np.float64) * scale
        np.testing.assert_allclose(largest, scaled.max(0), 1e-6)
        weights = np.exp(scaled - scaled.max(0))
        np.testing.assert_allclose(average, (weights * terms).sum(0) / weights.sum(0), 1e-4, 1e-4)


def test_rounding_does_not_add_up() -> None:
    """Equal scores have equal weights, whatever step they are of."""
    scores = np.full((4096, 3), [[1.1e4, -9.99e7, 1.3e9]], np.float32)
    terms = np.broadcast_to(np.arange(4096, dtype=np.float32)[:, None] / 4096, scores.shape)
    _, average = in_steps(Exponents(0.125), scores, terms)
    np.testing.assert_allclose(average, 4095 / 8192, 1e-4)
