"""Functions that neither C nor CUDA has for every type, by series and identities, computed in f64 and rounded once.

Formulas are those of Abramowitz and Stegun, Handbook of Mathematical Functions, by the numbers in each docstring.
Coefficients are computed here. In f64 all are within a few units of 10⁻¹⁴ of the greatest value; on GPUs with few f64
units they cost more than f32 would.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from xdsl.dialects.builtin import f64

from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor

INFINITY = float("inf")

BERNOULLI = [Fraction(n, d) for n, d in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6))]
"""B₂, B₄, …"""

SHIFT = 12
"""Arguments are moved up by this before an asymptotic series: from ½ on, seven terms then leave less than 10⁻¹⁶."""


def rounded_lowering(*overloads: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Register a function that computes in f64 as the lowering of overloads whose results may be narrower."""

    def register(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @functools.wraps(function)
        def rounded(b: Lowering, *args: object, **arguments: object) -> Tensor:
            return function(b, *args, **arguments).cast(b.compute)

        lowering(*overloads)(rounded)
        return function

    return register


def polynomial(x: Tensor, coefficients: Sequence[float | Fraction]) -> Tensor:
    """c₀ + c₁ x + c₂ x² + …, by Horner's rule."""
    *rest, last = map(float, coefficients)
    result = x.like(last)
    for coefficient in reversed(rest):
        result = result * x + coefficient
    return result


def _distance_to_integer(x: Tensor) -> Tensor:
    """x − the nearest integer: sines and tangents of π x are those of it, but for sign, and exact near 0."""
    return x - x.alu("round")


# The gamma function and its derivatives.


@rounded_lowering("lgamma")
def lgamma(b: Lowering, self: Tensor) -> Tensor:
    """ln |Γ(x)|: 6.1.41 from ½ on, below it by reflection, 6.1.17."""
    x = self.cast(f64)
    low = x < 0.5
    z = low.where(1.0 - x, x)
    near = z < float(SHIFT)
    product = near.where(z, 1.0)
    for step in range(1, SHIFT):
        product = product * near.where(z + float(step), 1.0)
    w = near.where(z + float(SHIFT), z)
    terms = [number / (2 * k * (2 * k - 1)) for k, number in enumerate(BERNOULLI, 1)]
    tail = polynomial(1.0 / (w * w), terms) / w
    direct = (w - 0.5) * w.log() - w + 0.5 * math.log(2 * math.pi) + tail - product.log()
    sine = (_distance_to_integer(x) * math.pi).alu("sin").alu("abs")
    result = low.where((math.pi / sine).log() - direct, direct)
    return x.alu("isinf").where(INFINITY, result)


@rounded_lowering("digamma", "special_digamma")
def digamma(b: Lowering, self: Tensor) -> Tensor:
    """6.3.18 and 6.3.7; ∓∞ at ±0 and NaN at the other poles, as PyTorch has it."""
    x = self.cast(f64)
    result = polygamma_of(x, 0)
    pole = (x < 0) & x.equal(x.alu("floor"))
    return x.equal(0.0).where(-1.0 / x, pole.where(math.nan, result))


@rounded_lowering("polygamma", "special_polygamma")
def polygamma(b: Lowering, n: int, self: Tensor) -> Tensor:
    """The n-th derivative of digamma; infinite at its poles."""
    return digamma(b, self) if n == 0 else polygamma_of(self.cast(f64), n)


def polygamma_of(x: Tensor, n: int) -> Tensor:
    """ψ⁽ⁿ⁾: 6.4.11 and 6.4.6 from ½ on, below it by reflection, 6.4.7."""
    low = x < 0.5
    z = low.where(1.0 - x, x)
    w = z + float(SHIFT)
    sign = -1.0 if n % 2 == 0 else 1.0
    factorial = float(math.factorial(n))
    finite = (1.0 / z).alu("pow", float(n + 1))
    for step in range(1, SHIFT):
        finite = finite + (1.0 / (z + float(step))).alu("pow", float(n + 1))
    first = -w.log() if n == 0 else (1.0 / w).alu("pow", float(n)) * float(math.factorial(n - 1))
    inverse = 1.0 / w
    terms = [number * math.factorial(2 * k + n - 1) / math.factorial(2 * k) for k, number in enumerate(BERNOULLI, 1)]
    tail = polynomial(inverse * inverse, terms) * inverse * inverse
    scale = inverse.alu("pow", float(n)) if n else inverse.like(1.0)
    direct = (finite * factorial + first + (inverse * (0.5 * factorial) + tail) * scale) * sign
    angle = _distance_to_integer(x) * math.pi
    cotangent = angle.alu("cos") / angle.alu("sin")
    derivative = polynomial(cotangent, cotangent_derivative(n)) * math.pi ** (n + 1)
    reflected = (direct if n % 2 == 0 else -direct) - derivative
    result = low.where(reflected, direct)
    if n == 0:
        return x.equal(INFINITY).where(INFINITY, result)
    pole = (x < 0.5) & x.equal(x.alu("floor"))
    # PyTorch sums the higher derivatives in a way that gives NaN at the limit, 0.
    return pole.where(sign * INFINITY, x.equal(INFINITY).where(0.0 if n == 1 else math.nan, result))


def cotangent_derivative(n: int) -> list[int]:
    """Coefficients of the n-th derivative of the cotangent as a polynomial in it: c′ = −(1 + c²)."""
    coefficients = [0, 1]
    for _ in range(n):
        slope = [power * c for power, c in enumerate(coefficients)][1:]
        coefficients = [
            -sum(slope[i] for i in (power, power - 2) if 0 <= i < len(slope)) for power in range(len(slope) + 2)
        ]
    return coefficients


# The error function.


@rounded_lowering("special_erfcx")
def erfcx(b: Lowering, self: Tensor) -> Tensor:
    """exp(x²) · erfc(x); from 10 on 7.1.23."""
    x = self.cast(f64)
    square = x * x
    terms = [1.0]
    for k in range(1, 13):
        terms.append(-terms[-1] * (2 * k - 1) / 2)
    far = polynomial(1.0 / square, terms) / (x * math.sqrt(math.pi))
    return (x < 10).where(square.exp() * x.alu("erfc"), far)


@rounded_lowering("erfinv", "special_erfinv")
def erfinv(b: Lowering, self: Tensor) -> Tensor:
    y = self.cast(f64)
    size = y.alu("abs")
    x = inverse_error_function(size, 1.0 - size)
    return y.equal(0.0).where(y, (y < 0).where(-x, x))


@rounded_lowering("special_ndtri")
def ndtri(b: Lowering, self: Tensor) -> Tensor:
    """The argument at which the normal distribution function has a value from 0 to 1."""
    p = self.cast(f64)
    tail = 2.0 * p.minimum(1.0 - p)
    x = inverse_error_function(1.0 - tail, tail) * math.sqrt(2)
    return (p < 0.5).where(-x, x)


def inverse_error_function(y: Tensor, complement: Tensor) -> Tensor:
    """The x ≥ 0 of erf(x) = y, given 1 − y as well, which is the exact one of both near 1.

    A first value by Winitzki (A handy approximation for the error function and its inverse, 2008), then Newton's steps:
    on erf below ½, on the logarithm of erfc above.
    """
    c = 0.147
    logarithm = (y < 0.5).where((-(y * y)).alu("log1p"), (complement * (2.0 - complement)).log())
    t = logarithm * 0.5 + 2 / (math.pi * c)
    x = ((logarithm * (-1 / c)) / ((t * t - logarithm * (1 / c)).alu("sqrt") + t)).alu("sqrt")
    small, large = x, x
    for _ in range(4):
        small = small - (small.alu("erf") - y) * (small * small).exp() * (math.sqrt(math.pi) / 2)
        rest = large.alu("erfc")
        slope = (-(large * large)).exp() * (2 / math.sqrt(math.pi)) / rest
        large = large + (rest.log() - complement.log()) / slope
    result = (y < 0.5).where(small, large)
    return complement.equal(0.0).where(INFINITY, (complement < 0).where(math.nan, result))


# Bessel functions.


@rounded_lowering("i0", "special_i0", "special_modified_bessel_i0")
def i0(b: Lowering, self: Tensor) -> Tensor:
    return modified_bessel(self.cast(f64), 0, scaled=False)


@rounded_lowering("special_i0e")
def i0e(b: Lowering, self: Tensor) -> Tensor:
    return modified_bessel(self.cast(f64), 0, scaled=True)


@rounded_lowering("special_i1", "special_modified_bessel_i1")
def i1(b: Lowering, self: Tensor) -> Tensor:
    return modified_bessel(self.cast(f64), 1, scaled=False)


@rounded_lowering("special_i1e")
def i1e(b: Lowering, self: Tensor) -> Tensor:
    return modified_bessel(self.cast(f64), 1, scaled=True)


def modified_bessel(x: Tensor, order: int, scaled: bool) -> Tensor:
    """I₀ or I₁, times exp(−|x|) where `scaled`: 9.6.10 below 20, 9.7.1 from there on."""
    size = x.alu("abs")
    near = size < 20
    bounded = near.where(size, 20.0)
    ascending = [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(45)]
    series = polynomial(bounded * bounded * 0.25, ascending)
    if order:
        series = series * bounded * 0.5
    descending = [1.0]
    for k in range(1, 25):
        descending.append(-descending[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    far = polynomial(1.0 / size, descending) / (size * (2 * math.pi)).alu("sqrt")
    if scaled:
        series = series * (-bounded).exp()
    else:
        far = far * size.exp()
        far = size.equal(INFINITY).where(INFINITY, far)
    result = near.where(series, far)
    return (x < 0).where(-result, result) if order else result


@rounded_lowering("special_spherical_bessel_j0")
def spherical_bessel_j0(b: Lowering, x: Tensor) -> Tensor:
    """sin x ÷ x, by 10.1.2 near 0."""
    z = x.cast(f64)
    terms = [(-1) ** k / math.factorial(2 * k + 1) for k in range(8)]
    result = (z.alu("abs") < 0.5).where(polynomial(z * z, terms), z.alu("sin") / z)
    return z.alu("isinf").where(0.0, result)
