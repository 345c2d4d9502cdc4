"""Chebyshev polynomials of the four kinds, whose degrees are data, in closed form.

With x = cos θ (cosh t where x > 1) and degree n (Abramowitz and Stegun 22.3.15 and 22.3.16; Mason and Handscomb,
Chebyshev Polynomials, 1.2):

    T = cos nθ,  U = sin (n + 1)θ ÷ sin θ,  V = cos (n + ½)θ ÷ cos ½θ,  W = sin (n + ½)θ ÷ sin ½θ

and the same with hyperbolic functions of t. At −x, T and U change by (−1)ⁿ, V becomes (−1)ⁿ W and W (−1)ⁿ V. So only
x ≥ 0 is computed, in f64, where the angle is exact near its ends. Degrees are truncated to whole numbers; negative ones
give 0.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import f64

from .lowering import Lowering, Operand
from .special import rounded_lowering
from .tensor import Tensor

Kind = Callable[[Tensor, Tensor], Tensor]
"""From x ≥ 0 and the degree."""


def first_kind(x: Tensor, n: Tensor) -> Tensor:
    angle, argument = _angles(x)
    return _choose(x, (angle * n).alu("cos"), x.like(1.0), (argument * n).alu("cosh"))


def second_kind(x: Tensor, n: Tensor) -> Tensor:
    angle, argument = _angles(x)
    inner = (angle * (n + 1.0)).alu("sin") / angle.alu("sin")
    outer = (argument * (n + 1.0)).alu("sinh") / argument.alu("sinh")
    return _choose(x, inner, n + 1.0, outer)


def third_kind(x: Tensor, n: Tensor) -> Tensor:
    angle, argument = _angles(x)
    inner = (angle * (n + 0.5)).alu("cos") / (angle * 0.5).alu("cos")
    outer = (argument * (n + 0.5)).alu("cosh") / (argument * 0.5).alu("cosh")
    return _choose(x, inner, x.like(1.0), outer)


def fourth_kind(x: Tensor, n: Tensor) -> Tensor:
    angle, argument = _angles(x)
    inner = (angle * (n + 0.5)).alu("sin") / (angle * 0.5).alu("sin")
    outer = (argument * (n + 0.5)).alu("sinh") / (argument * 0.5).alu("sinh")
    return _choose(x, inner, n * 2.0 + 1.0, outer)


def _angles(x: Tensor) -> tuple[Tensor, Tensor]:
    """θ and t; one of them is NaN and is not chosen."""
    return x.alu("acos"), x.alu("acosh")


def _choose(x: Tensor, inside: Tensor, at_one: Tensor, outside: Tensor) -> Tensor:
    return (x < 1.0).where(inside, x.equal(1.0).where(at_one, outside))


KINDS: dict[str, tuple[Kind, Kind]] = {
    "t": (first_kind, first_kind),
    "u": (second_kind, second_kind),
    "v": (third_kind, fourth_kind),
    "w": (fourth_kind, third_kind),
}
"""The letter of a kind → what it is of x ≥ 0, and, but for the sign, of x < 0."""


def _lowering_of(letter: str, shifted: bool) -> Callable[..., Tensor]:
    positive, negative = KINDS[letter]

    def chebyshev(b: Lowering, x: Operand, n: Operand) -> Tensor:
        place, degree = b.operands([x, n], f64)
        degree = degree.alu("trunc")
        if shifted:
            place = place * 2.0 - 1.0
        below = place < 0
        size = place.alu("abs")
        odd = (degree - (degree * 0.5).alu("floor") * 2.0).equal(1.0)
        result = positive(size, degree)
        if negative is not positive:
            result = below.where(negative(size, degree), result)
        result = (below & odd).where(-result, result)
        return (degree < 0).where(0.0, result)

    return chebyshev


for _letter in KINDS:
    for _prefix in ("", "shifted_"):
        _names = [f"special_{_prefix}chebyshev_polynomial_{_letter}{kind}" for kind in ("", ".x_scalar", ".n_scalar")]
        rounded_lowering(*_names)(_lowering_of(_letter, shifted=bool(_prefix)))
