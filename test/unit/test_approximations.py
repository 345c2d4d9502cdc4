"""The error bounds that approximations.py and error_function.py in passes/uop/rules state, measured against float64;
and NaN and infinities."""

from math import erfc
from typing import Any

import numpy as np
import pytest

from uop.dialects.monoids import LOG2_E
from uop.frontends.capture import capture_expression
from uop.passes.uop.rules.approximations import MOST_ROUNDED
from uop.passes.uop.rules.error_function import COEFFICIENTS
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

Array = np.ndarray[Any, np.dtype[np.float32]]

L = np.float32(LOG2_E)

UNIT = 2.0**-24
"""Half a unit in the last place of 1."""


def floats(step: int) -> Array:
    """Every `step`-th non-negative finite f32, and the greatest."""
    last = 0x7F7FFFFF
    return np.append(np.arange(0, last, step, dtype=np.uint32), np.uint32(last)).view(np.float32)


def check_exponential(t: Array) -> None:
    """exp2(t · log₂e) where t ≤ 0."""
    exact = np.exp(t.astype(np.float64))
    with np.errstate(over="ignore", under="ignore"):
        product = t * L
    error = np.abs(np.exp2(product.astype(np.float64)) - exact)
    assert error.max() < 2.3e-8 * 1.25  # and what log₂e itself is off in f32
    assert np.all(error <= 1.25 * np.abs(t.astype(np.float64)) * UNIT * exact + 4 * np.spacing(exact))


def check_softmax(m: np.float32) -> None:
    """exp2(x · p + c) ÷ exp2(m · p + c), where m is the greatest of a row, and c the product with −m, rounded."""
    below = np.geomspace(1e-6, 3e38, 500).astype(np.float32)
    near = [m]
    with np.errstate(over="ignore"):
        for _ in range(100):
            near.append(np.nextafter(near[-1], -np.float32(np.inf)))
        x = np.concatenate([np.array(near), m - np.linspace(0, 110, 500, dtype=np.float32), m - below])
    p = L if abs(m) <= MOST_ROUNDED else np.float32(1)
    with np.errstate(over="ignore", under="ignore"):
        exponents = (x.astype(np.float64) * p + np.float64(m * -p)).astype(np.float32).astype(np.float64)
        t = x.astype(np.float64) - np.float64(m)
        exact, ratio = np.exp(t), np.exp2(exponents - exponents[0])
    assert abs(exponents[0]) <= 64, m
    error = np.abs(ratio - exact)
    assert error.max() < 2.3e-8 * 1.25, m
    if p == L:
        assert np.all(error <= 2.25 * np.abs(t) * UNIT * exact + 1e-15), m
    else:
        assert error.max() <= 2.0**-128, m


def check_logistic(u: Array) -> None:
    """1 ÷ (1 + exp2(u · log₂e)) for both signs, beside what rounding 1 + e and the quotient does."""
    for x in (u, -u):
        with np.errstate(over="ignore", under="ignore"):
            product = (x * L).astype(np.float64)
            exact = 1 / (1 + np.exp(x.astype(np.float64)))
            error = np.abs(1 / (1 + np.exp2(product)) - exact)
        assert error.max() < 1.7e-8 * 1.25
        assert np.all(error <= 1.25 * np.abs(x.astype(np.float64)) * UNIT * exact + 4 * np.spacing(exact))


def test_bounds() -> None:
    values = floats(1 << 12)
    check_exponential(-values)
    check_logistic(values)


def test_bound_of_a_softmax() -> None:
    edges = [np.nextafter(np.float32(MOST_ROUNDED), np.float32(far)) for far in (0, np.inf)]
    for m in (*np.geomspace(1e-40, 3.4e38, 500).astype(np.float32), *2.0 ** np.arange(-20, 128), *edges):
        check_softmax(np.float32(m))
        check_softmax(np.float32(-m))


@pytest.mark.slow
def test_bounds_of_every_f32() -> None:
    for first in range(1 << 6):
        values = np.arange(first, 0x7F800000, 1 << 6, dtype=np.uint32).view(np.float32)
        check_exponential(-values)
        check_logistic(values)


def test_reciprocal_of_a_sum() -> None:
    """x · (1 ÷ s) for s ≥ 1 is within one and a half units in the last place of x ÷ s, where that is normal."""
    generator = np.random.default_rng(0)
    x = generator.uniform(0, 1, 1 << 20).astype(np.float32)
    s = np.exp2(generator.uniform(0, 60, 1 << 20)).astype(np.float32)
    exact = x.astype(np.float64) / s
    error = np.abs((x * (np.float32(1) / s)).astype(np.float64) - exact)
    assert np.all(error <= 1.5 * np.spacing(exact.astype(np.float32)))


def check_error_function(u: Array) -> None:
    """1 − erf u as a power of 2, for u ≥ 0."""
    exact = np.array([erfc(float(x)) for x in u])
    exponent = np.full_like(u, COEFFICIENTS[0])
    with np.errstate(over="ignore"):
        for coefficient in COEFFICIENTS[1:]:
            exponent = (exponent.astype(np.float64) * u + np.float32(coefficient)).astype(np.float32)
        exponent = exponent * u
    power = np.exp2(exponent.astype(np.float64))
    error = np.abs(power - exact)
    assert error.max() < 4.5e-8
    seen = exact > 1e-6
    assert (error[seen] / exact[seen]).max() < 6e-6


def test_error_function() -> None:
    check_error_function(np.append(floats(1 << 13), np.linspace(0, 5, 50_000, dtype=np.float32)))


LOGITS = (
    "[1, -inf, 2, 0], [-inf, -inf, -inf, -inf], [inf, 1, 2, 3], [nan, 1, 2, 3], [200, -200, 0, 88], "
    "[3e38, -3e38, 0, 3e38], [-3e38, -inf, -3.1e38, -3e38]"
)
NUMBERS = "inf, -inf, nan, 0, -0.0, 88, -88, 90, -90, 110, -110, 3e38, -3e38, 1e-40"


@pytest.mark.parametrize(
    "code",
    [
        f"torch.softmax(torch.tensor([{LOGITS}], dtype=torch.float32), -1)",
        f"torch.softmax(torch.tensor([{LOGITS}], dtype=torch.float32).repeat(1, 1, 49), -1)",
        f"torch.sigmoid(torch.tensor([{NUMBERS}], dtype=torch.float32))",
        f"F.silu(torch.tensor([{NUMBERS}], dtype=torch.float32))",
        f"1 + torch.erf(torch.tensor([{NUMBERS}], dtype=torch.float32))",
    ],
)
def test_nan_infinities_and_extremes(code: str) -> None:
    """The kernels in the simulator, beside eager PyTorch and float64."""
    code = code.replace("inf", "float('inf')").replace("nan", "float('nan')")
    check(code)


MAGNITUDES = "10.0 ** torch.linspace(-3, 38.4, {rows})[:, None]"
NEAR = "(1 - torch.randint(0, 200, ({rows}, {length})) * 2.0 ** -24)"

SOFTMAXES = {
    # Rows of all magnitudes, around 0 or far from it, also of neighbouring numbers; those that overflow are NaN.
    "around 0": "torch.softmax(torch.randn(40, 193) * (MAGNITUDES), -1)",
    "far above 0": "torch.softmax(torch.randn(40, 193) + MAGNITUDES, -1)",
    "far below 0": "torch.softmax(torch.randn(40, 193) - MAGNITUDES, -1)",
    "neighbours": "torch.softmax(MAGNITUDES * NEAR, -1)",
    "neighbours below 0": "torch.softmax(-(MAGNITUDES) * NEAR, -1)",
    "columns": "torch.softmax((MAGNITUDES * NEAR).T, 0)",
    "in a block": "torch.softmax(torch.randn(3, 3001) + torch.tensor([[1e3], [-1e7], [-3e38]]), -1)",
    "masked": "x = torch.randn(40, 193) * (MAGNITUDES)\ntorch.softmax(x.masked_fill(x > 0, -torch.inf), -1)",
    "f16": "torch.softmax((torch.randn(20, 193) * 1e4).half(), -1)",
    "bf16": "torch.softmax((torch.randn(40, 193) * (MAGNITUDES)).bfloat16(), -1)",
    "times numbers, and rounded": "(torch.softmax(torch.randn(9, 193) * 1e7, -1) * torch.randn(9, 193)).half()",
    "short": "torch.softmax(torch.randn(40, 61) * (MAGNITUDES), -1)",
    "logarithm": "torch.log_softmax(torch.randn(40, 193) - MAGNITUDES, -1)",
}


@pytest.mark.parametrize("name", SOFTMAXES)
def test_softmax_of_all_magnitudes(name: str) -> None:
    code = SOFTMAXES[name].replace("MAGNITUDES", MAGNITUDES).replace("NEAR", NEAR)
    check(code.replace("{rows}", "40").replace("{length}", "193"))


def check(code: str) -> None:
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
