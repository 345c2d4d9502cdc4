"""Special functions against PyTorch: where functions turn, at poles, at ends of the domain, far out."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# (mpmath, which PyTorch brings, has no types)

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from aten_oracle import check, run, to_numpy

aten: Any = torch.ops.aten

POINTS = [0.0, -0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 7.0, 11.9, 12.1, 30.0, 100.0, 1e4]
NEGATIVE = [-0.25, -0.5, -1.5, -2.75, -7.1, -20.3]
ENDS = [math.inf, -math.inf, math.nan]


def close(overload: Any, points: list[float], *before: Any, error: float = 2e-13, half: bool = True) -> None:
    """f64 within `error` of PyTorch's f64; f32 and f16 within two units of PyTorch's f64 rounded to them."""
    x = torch.tensor(points, dtype=torch.float64)
    kinds = [(torch.float64, error), (torch.float32, 2.0**-22), (torch.float16, 2.0**-10)]
    for dtype, tolerance in kinds if half else kinds[:2]:  # some of PyTorch's have no f16
        argument = x.to(dtype)
        (actual,), _ = run(overload, *before, argument)
        expected = overload(*before, argument.double()).to(dtype)
        np.testing.assert_allclose(actual, to_numpy(expected), rtol=tolerance, atol=tolerance)


def test_gamma() -> None:
    close(aten.lgamma.default, [*POINTS, *NEGATIVE, 1e-30, -3.0, math.inf, math.nan])
    close(aten.digamma.default, [*POINTS, *NEGATIVE, 1e-3, -4.0, math.inf, math.nan])


@pytest.mark.parametrize("n", range(5))
def test_derivatives_of_digamma(n: int) -> None:
    negative = NEGATIVE if n < 2 else []  # PyTorch's own sum goes astray there
    # PyTorch's trigamma is off by 1e-9.
    close(aten.polygamma.default, [*POINTS[2:], *negative, math.inf, math.nan], n, error=1e-9 if n == 1 else 2e-13)


@pytest.mark.parametrize("n", [2, 3])
def test_derivatives_below_zero(n: int) -> None:
    """By the recurrence ψ⁽ⁿ⁾(x + 1) = ψ⁽ⁿ⁾(x) + (−1)ⁿ n! ÷ xⁿ⁺¹."""
    x = torch.tensor(NEGATIVE, dtype=torch.float64)
    (at,), _ = run(aten.polygamma.default, n, x)
    (after,), _ = run(aten.polygamma.default, n, x + 1)
    step = (-1.0) ** n * math.factorial(n) / to_numpy(x) ** (n + 1)
    np.testing.assert_allclose(after, at + step, rtol=1e-11)


def test_error_function() -> None:
    close(aten.special_erfcx.default, [*POINTS, *NEGATIVE, 9.99, 10.01, -26.0, *ENDS], half=False)
    close(aten.erfinv.default, [0.0, 1e-30, 1e-3, 0.3, 0.5, 0.51, 0.9, 0.999, -0.7, 1.0, -1.0, 1.5, math.nan])
    close(
        aten.special_ndtri.default, [0.0, 1e-5, 1e-3, 0.2, 0.4, 0.5, 0.7, 0.999, 1.0, 1.5, -0.5, math.nan], half=False
    )
    check(aten.special_ndtri.default, torch.tensor([1e-300, 1e-38], dtype=torch.float64), ulps=64)


@pytest.mark.parametrize("name", ["i0", "special_i0e", "special_i1", "special_i1e"])
def test_bessel(name: str) -> None:
    overload = getattr(aten, name).default
    close(overload, [*POINTS[:-2], *NEGATIVE, 19.9, 20.1, 60.0, math.inf if name.endswith("e") else 1.0, math.nan])


def test_spherical_bessel() -> None:
    close(aten.special_spherical_bessel_j0.default, [*POINTS, *NEGATIVE, 0.49, 0.51, *ENDS], half=False)


@pytest.mark.parametrize("kind", ["j", "y"])
@pytest.mark.parametrize("order", [0, 1])
def test_bessel_of_the_first_and_second_kind(kind: str, order: int) -> None:
    """PyTorch's own are off by 3 · 10⁻⁷ around 5."""
    negative = [-0.5, -7.1, -26.0] if kind == "j" else []
    points = [0.25, 0.5, 1.0, 2.5, 3.8317, 5.0, 7.0, 12.1, 24.9, 25.1, 100.0, 1e4, *negative]
    function = mpmath.besselj if kind == "j" else mpmath.bessely
    exact = np.array([float(function(order, point)) for point in points])
    overload = getattr(aten, f"special_bessel_{kind}{order}").default
    (actual,), _ = run(overload, torch.tensor(points, dtype=torch.float64))
    np.testing.assert_allclose(actual, exact, rtol=2e-15, atol=2e-15)
    close(overload, [1e-5, 0.0, -0.0, -1e-5, *ENDS], half=False)


@pytest.mark.parametrize("name", ["modified_bessel_k", "scaled_modified_bessel_k"])
@pytest.mark.parametrize("order", [0, 1])
def test_modified_bessel_of_the_second_kind(name: str, order: int) -> None:
    points = [1e-5, *POINTS, 0.99, 1.01, 7.9, 8.1, 700.0, math.inf, math.nan, -1.0]
    close(getattr(aten, f"special_{name}{order}").default, points, half=False)


@pytest.mark.parametrize("letter", "tuvw")
@pytest.mark.parametrize("prefix", ["", "shifted_"])
def test_chebyshev(letter: str, prefix: str) -> None:
    function = getattr(aten, f"special_{prefix}chebyshev_polynomial_{letter}")
    x = torch.tensor([0.0, 0.3, -0.3, 0.999, -0.999, 1.0, -1.0, 1.5, -1.5, 3.0], dtype=torch.float64).reshape(-1, 1)
    n = torch.tensor([0.0, 1.0, 2.0, 5.0, 6.0, 7.0, 9.0, 2.9, -1.0], dtype=torch.float64)
    (actual,), (expected,) = run(function.default, x, n)
    np.testing.assert_allclose(actual, to_numpy(expected), rtol=1e-11, atol=1e-12)
    (actual,), _ = run(function.default, x.float(), n.float())
    np.testing.assert_allclose(actual, to_numpy(function.default(x.float().double(), n)), rtol=2e-7, atol=1e-7)
    (actual,), (expected,) = run(function.n_scalar, x, 5)
    np.testing.assert_allclose(actual, to_numpy(expected), rtol=1e-11, atol=1e-12)
