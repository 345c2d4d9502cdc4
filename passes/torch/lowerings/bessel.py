"""Bessel functions, as sums over an angle or a hyperbolic angle, computed in f64 and rounded once.

Their integral representations (Abramowitz and Stegun, Handbook of Mathematical Functions, by the numbers in each
docstring) go over whole periods or to where nothing is left, so the trapezoidal rule has an error that falls
exponentially with the number of points (Trefethen and Weideman, The exponentially convergent trapezoidal rule, 2014).
All are exact to 10⁻¹⁵ where PyTorch's J and Y, on CPUs, are off by 3 · 10⁻⁷ around 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import f64

from .lowering import Lowering
from .special import INFINITY, modified_bessel, polynomial, rounded_lowering
from .tensor import Tensor

# Of the first and the second kind.

FAR = 25.0
"""From here on the asymptotic series, whose least term is e^(−2 · 25)."""

POINTS = 128
"""Of a whole period: the error is that of J of order 128 − 64 below `FAR`, 10⁻¹⁹."""

TERMS = 32
"""Of the sums over even or odd orders that the second kind takes."""

EULER = 0.5772156649015329


def angle_sum(x: Tensor, order: int, weights: Sequence[float]) -> Tensor:
    """The mean over a period of weight(θ) · cos(x sin θ), or of weight(θ) · sin(x sin θ) for order 1.

    weights: at θ = 0, 2π/N, … up to π/2. In the other quarters both factors repeat, or both change their sign.
    """
    total = x.like(0.0)
    for k, weight in enumerate(weights):
        sine = math.sin(2 * math.pi * k / POINTS)
        wave = (x * sine).alu("sin" if order else "cos")
        times = 2 if k in (0, POINTS // 4) else 4
        total = total + wave * (weight * times / POINTS)
    return total


def quarter() -> list[float]:
    """The angles from 0 to π/2."""
    return [2 * math.pi * k / POINTS for k in range(POINTS // 4 + 1)]


def first_kind_near(x: Tensor, order: int) -> Tensor:
    """J₀ and J₁, 9.1.18 and 9.1.21."""
    return angle_sum(x, order, [math.sin(angle) if order else 1.0 for angle in quarter()])


def second_kind_near(x: Tensor, order: int) -> Tensor:
    """Y₀ and Y₁, 9.1.88 and its derivative: sums of J of all even or odd orders, each a mean over the angle."""
    logarithm, j = (x * 0.5).log(), first_kind_near(x, order)
    if order == 0:
        weights = [sum((-1) ** k * math.cos(2 * k * angle) / k for k in range(1, TERMS)) for angle in quarter()]
        return (logarithm + EULER) * j * (2 / math.pi) - angle_sum(x, 0, weights) * (4 / math.pi)
    weights = [
        sum((-1) ** k * (2 * k + 1) / (k * (k + 1)) * math.sin((2 * k + 1) * angle) for k in range(1, TERMS))
        for angle in quarter()
    ]
    mean = angle_sum(x, 1, weights)
    j0 = first_kind_near(x, 0)
    return ((logarithm + (EULER - 1)) * j - j0 / x - mean) * (2 / math.pi)


def far_parts(x: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """J and Y for great x, 9.2.5 to 9.2.10, with the angle x − (½ν + ¼)π by its sine and cosine."""
    coefficients = [1.0]
    for k in range(1, 24):
        coefficients.append(coefficients[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    inverse = 1.0 / x
    p = polynomial(inverse * inverse, [c * (-1) ** k for k, c in enumerate(coefficients[0::2])])
    q = polynomial(inverse * inverse, [c * (-1) ** k for k, c in enumerate(coefficients[1::2])]) * inverse
    sine, cosine = x.alu("sin"), x.alu("cos")
    if order == 0:
        cosine, sine = sine + cosine, sine - cosine
    else:
        cosine, sine = sine - cosine, -(sine + cosine)
    scale = (1.0 / (x * math.pi)).alu("sqrt")
    return scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)


def first_kind(x: Tensor, order: int) -> Tensor:
    size = x.alu("abs")
    near = size < FAR
    result = near.where(first_kind_near(near.where(size, 0.0), order), far_parts(size, order)[0])
    return (x < 0).where(-result, result) if order else result


def second_kind(x: Tensor, order: int) -> Tensor:
    """−∞ at 0, NaN below."""
    near = x < FAR
    result = near.where(second_kind_near(near.where(x, 1.0), order), far_parts(x, order)[1])
    return x.equal(0.0).where(-INFINITY, (x < 0).where(math.nan, result))


@rounded_lowering("special_bessel_j0")
def bessel_j0(b: Lowering, self: Tensor) -> Tensor:
    return first_kind(self.cast(f64), 0)


@rounded_lowering("special_bessel_j1")
def bessel_j1(b: Lowering, self: Tensor) -> Tensor:
    return first_kind(self.cast(f64), 1)


@rounded_lowering("special_bessel_y0")
def bessel_y0(b: Lowering, self: Tensor) -> Tensor:
    return second_kind(self.cast(f64), 0)


@rounded_lowering("special_bessel_y1")
def bessel_y1(b: Lowering, self: Tensor) -> Tensor:
    return second_kind(self.cast(f64), 1)


# Modified, of the second kind.


def modified_second_kind(x: Tensor, order: int, scaled: bool) -> Tensor:
    """K₀ or K₁, times exp x where `scaled`: 9.6.24 from 1 on, 9.6.11 and 9.6.13 below; ∞ at 0, NaN below."""
    near = x < 1
    small, large = near.where(x, 1.0), near.where(1.0, x)
    far = hyperbolic_sum(large, order)
    series = modified_second_kind_near(small, order)
    result = near.where(series * small.exp(), far) if scaled else near.where(series, far * (-large).exp())
    result = x.equal(INFINITY).where(0.0, result)
    return x.equal(0.0).where(INFINITY, (x < 0).where(math.nan, result))


def hyperbolic_sum(x: Tensor, order: int) -> Tensor:
    """exp x · K: the integral of exp(−x (cosh t − 1)) · cosh νt, for x from 1 on.

    The integrand is as wide as 1/√x, and so is the step; 20 of them leave less than 10⁻¹⁶.
    """
    step = (0.7 / x.alu("sqrt")).minimum(0.25)
    total = x.like(0.5)
    for k in range(1, 21):
        t = step * float(k)
        half = (t * 0.5).alu("sinh")
        element = (x * half * half * -2.0).exp()
        total = total + (element * t.alu("cosh") if order else element)
    return total * step


def modified_second_kind_near(x: Tensor, order: int) -> Tensor:
    """By the series of Iᵥ and one with the harmonic numbers, ψ(k + 1) = −γ + 1 + ½ + … + 1/k."""
    square = x * x * 0.25
    logarithm = (x * 0.5).log()
    harmonic = [sum(1 / i for i in range(1, k + 1)) for k in range(16)]
    if order == 0:
        terms = [harmonic[k] / math.factorial(k) ** 2 for k in range(15)]
        return polynomial(square, terms) - (logarithm + EULER) * modified_bessel(x, 0, scaled=False)
    terms = [
        (harmonic[k] + harmonic[k + 1] - 2 * EULER) / (math.factorial(k) * math.factorial(k + 1)) for k in range(15)
    ]
    return 1.0 / x + logarithm * modified_bessel(x, 1, scaled=False) - x * 0.25 * polynomial(square, terms)


@rounded_lowering("special_modified_bessel_k0")
def modified_bessel_k0(b: Lowering, self: Tensor) -> Tensor:
    return modified_second_kind(self.cast(f64), 0, scaled=False)


@rounded_lowering("special_modified_bessel_k1")
def modified_bessel_k1(b: Lowering, self: Tensor) -> Tensor:
    return modified_second_kind(self.cast(f64), 1, scaled=False)


@rounded_lowering("special_scaled_modified_bessel_k0")
def scaled_modified_bessel_k0(b: Lowering, x: Tensor) -> Tensor:
    return modified_second_kind(x.cast(f64), 0, scaled=True)


@rounded_lowering("special_scaled_modified_bessel_k1")
def scaled_modified_bessel_k1(b: Lowering, x: Tensor) -> Tensor:
    return modified_second_kind(x.cast(f64), 1, scaled=True)
