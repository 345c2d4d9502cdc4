"""Rules of floats that keep every bit: division by powers of two, whole numbers, what has no sign or is never NaN, what
has few bits already."""

from math import frexp

from xdsl.ir import SSAValue

from ....dialects.monoids import Number
from ....dialects.types import bit_width, element_of
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import FLOAT, INTEGER, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import (
    abs,
    cast,
    ceil,
    div,
    exp,
    exp2,
    floor,
    isinf,
    isnan,
    mul,
    neg,
    reciprocal,
    round,
    to_tf32,
    trunc,
)

u, v = variables("u v", FLOAT)
(n,) = variables("n", INTEGER)
(a,) = constants("a")

WHOLE = (floor, ceil, round, trunc)
"""Ops that give whole numbers, and leave whole numbers as they are."""


def is_power_of_two(a: Number) -> bool:
    """Whether a is ±2ⁿ such that a and 1 ÷ a are normal numbers of every float type: dividing is multiplying."""
    significand, exponent = frexp(a)
    return significand in (0.5, -0.5) and -14 <= exponent - 1 <= 14


def multiply_by_reciprocal(builder: RewriteBuilder, u: SSAValue, a: Number) -> SSAValue:
    """`u · (1 ÷ a)`"""
    return builder.alu("mul", u, builder.constant_like(1 / a, u))


def has_16_bits(u: SSAValue) -> bool:
    """Whether u is of f16 or bf16, whose numbers TF32 holds."""
    return bit_width(element_of(u.type)) == 16


REALS = Rules(
    div[u, a].when(is_power_of_two) >> multiply_by_reciprocal,
    div[1, u] >> reciprocal[u],
    reciprocal[neg[u]] >> neg[reciprocal[u]],
    *(outer[v @ inner[u]] >> v for outer in WHOLE for inner in WHOLE),
    *(op[v @ cast[n]] >> v for op in WHOLE),  # ∞, where f16 cannot hold n, stays as well
    to_tf32[v @ cast[u]].when(has_16_bits) >> v,
    to_tf32[v @ to_tf32[u]] >> v,
    abs[v @ exp[u]] >> v,
    abs[v @ exp2[u]] >> v,
    abs[v @ mul[u, u]] >> v,
    isnan[neg[u]] >> isnan[u],
    isnan[abs[u]] >> isnan[u],
    isinf[neg[u]] >> isinf[u],
    isinf[abs[u]] >> isinf[u],
    isnan[cast[n]] >> False,
)
