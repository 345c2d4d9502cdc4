"""1 + erf u in f32, as gelu asks for it, from one power of 2.

By itself erf is a polynomial near 0 and 1 less an exponential further out, and takes twice as many instructions for
both. In the sum with 1 only the absolute error counts, and 1 − erf |u| is 2 to the power of |u| · q(|u|) for a smooth
q: `COEFFICIENTS` are the polynomial of degree 9 with the least error of the power on [0, 4], relative to itself where
it is above 1/1000. It is wrong by less than 4.5e-8 in f32, beside the two units in the last place that the GPU's `ex2`
may be off. For u < 0 the power is the result itself, right to 6e-6 of itself down to 1e-6, where rounding erf u to f32
has lost most of it. Beyond 4 the exponent falls without end: infinities give 0 and 2, and NaN stays.
test/unit/test_approximations.py measures the bounds.
"""

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import FLOAT, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, erf

(u,) = variables("u", FLOAT)

COEFFICIENTS = (
    -1.0849148566194344e-06,
    2.1987318177707493e-05,
    -0.00019178922229912132,
    0.0009192019351758063,
    -0.0023370927665382624,
    0.00010024814400821924,
    0.027737844735383987,
    -0.14831796288490295,
    -0.9184406995773315,
    -1.627907395362854,
)
"""Of q, the highest power first."""


def from_power_of_2(builder: RewriteBuilder, u: SSAValue) -> SSAValue:
    """1 − erf |u| where u < 0, else 2 less that."""
    size = builder.alu("abs", u)
    exponent = builder.constant_like(COEFFICIENTS[0], u)
    for coefficient in COEFFICIENTS[1:]:
        exponent = builder.alu("add", builder.alu("mul", exponent, size), builder.constant_like(coefficient, u))
    power = builder.alu("exp2", builder.alu("mul", exponent, size))
    is_negative = builder.alu("lt", u, builder.constant_like(0.0, u))
    return builder.alu("where", is_negative, power, builder.alu("sub", builder.constant_like(2.0, u), power))


ERROR_FUNCTION = Rules((add[1, erf[u]].when(u.dtype == f32) >> from_power_of_2).up_to_rounding())
