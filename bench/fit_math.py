"""Fits the polynomials of targets/c_math/float32.py: `python bench/fit_math.py` prints every coefficient of theirs.

A fit is minimax: least squares on Chebyshev points whose weights grow where the error is greatest (C. L. Lawson,
"Contributions to the theory of linear least maximum approximation", 1961). Coefficients are rounded to f32 one by one,
the most significant first, and the rest is fitted again to what the rounding left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def chebyshev(low: float, high: float, count: int = 4000) -> Array:
    """Chebyshev points of an interval, without those so near 0 that a difference quotient there has no digits."""
    x = (low + high) / 2 + (high - low) / 2 * np.cos((np.arange(count) + 0.5) * math.pi / count)
    return x[np.abs(x) > 1e-3]


def least_squares(basis: Array, target: Array) -> Array:
    return np.linalg.lstsq(basis, target, rcond=None)[0]  # pyright: ignore[reportUnknownVariableType]: of two types


def minimax(basis: Array, target: Array, weight: Array, iterations: int = 200) -> tuple[float, Array]:
    """The coefficients that make the greatest |weight · (basis @ coefficients − target)| least, and that error."""
    importance = np.full(len(target), 1 / len(target))
    scale = np.abs(basis).max(0)
    best = (math.inf, np.zeros(basis.shape[1]))
    for _ in range(iterations):
        root = np.sqrt(importance) * weight
        solution = least_squares(basis / scale * root[:, None], target * root) / scale
        error = np.abs(weight * (basis @ solution - target))
        best = min(best, (float(error.max()), solution), key=lambda pair: pair[0])
        importance *= error / error.max() + 1e-12
        importance /= importance.sum()
    return best


def fit(name: str, x: Array, powers: Iterable[int], target: Array, weight: Array) -> None:
    """Print f32 coefficients c with Σ c · x^power ≈ target, the lowest power first."""
    left = list(powers)
    ideal, _ = minimax(np.stack([x**power for power in left], 1), target, weight)
    coefficients: list[float] = []
    rest = target
    while left:
        _, solution = minimax(np.stack([x**power for power in left], 1), rest, weight)
        coefficients.append(float(np.float32(solution[0])))
        rest = rest - coefficients[-1] * x ** left.pop(0)
    print(f"{name}: error {np.abs(weight * rest).max() * 2**24:.4f} ulp of 2^-24, {ideal * 2**24:.4f} before rounding")
    print("  " + ", ".join(short_hex(c) for c in coefficients))


def short_hex(value: float) -> str:
    mantissa, exponent = float.hex(value).split("p")
    return f"{mantissa.rstrip('0')}p{exponent}f"


def main() -> None:
    half = math.log(2) / 2 * 1.0002
    r = chebyshev(-half, half)
    fit("exp_polynomial: e^r = 1 + r + r² q(r)", r, range(5), (np.expm1(r) - r) / r**2, r**2 / np.exp(r))

    r = chebyshev(-0.5001, 0.5001)
    fit("exp2: 2^r = 1 + r p(r)", r, range(6), np.expm1(r * math.log(2)) / r, r / np.exp2(r))

    x = chebyshev(1e-3, 0.625)
    fit("tanh: x + x³ p(x²)", x**2, range(5), (np.tanh(x) - x) / x**3, x**3 / np.tanh(x))

    x = chebyshev(1e-3, 1.125)
    erf = np.array([math.erf(value) for value in x])
    fit("erf, |x| < 9/8: x + x p(x²)", x**2, range(7), erf / x - 1, x / erf)
    x = chebyshev(1.124, 3.94)
    erf = np.array([math.erf(value) for value in x])
    fit("erf, |x| >= 9/8: q(|x| - 2.4375)", x - 2.4375, range(14), erf, 1 / erf)

    f = chebyshev(math.sqrt(0.5) * 0.9999 - 1, math.sqrt(2) * 1.0001 - 1)
    fit(
        "log_tail: ln(1 + f) = f - f²/2 + f³ p(f)", f, range(9), (np.log1p(f) - f + f**2 / 2) / f**3, f**3 / np.log1p(f)
    )

    r = chebyshev(1e-3, math.pi / 4 * 1.01)
    fit("sin_polynomial: r + r³ p(r²)", r**2, range(3), (np.sin(r) - r) / r**3, r**3 / np.sin(r))
    fit("cos_polynomial: 1 - r²/2 + r⁴ p(r²)", r**2, range(3), (np.cos(r) - 1 + r**2 / 2) / r**4, r**4 / np.cos(r))


if __name__ == "__main__":
    main()
