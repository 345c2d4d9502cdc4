"""Rules of f32 that keep an error bound instead of every bit, where that takes far fewer instructions.

eᵗ is 2 to the power of t · log₂e, for which GPUs have an instruction (`ex2`). Rounding the product makes 2ˣ wrong by
|t| · 2⁻²⁴ of itself, so `exp` stays where its own value is what is wanted. Here it is not:

- `exp(x − max x)` is at most 1, and is added to a sum that is at least 1: |t| · eᵗ · 2⁻²⁴ is below 2.3e-8 for t ≤ 0.
- In a softmax the same is one multiply-add, x · log₂e + c, where c is −max x · log₂e. What c is rounded by, δ, makes
  each term of a row and their sum 2^δ times as great, and goes out of the quotients. The exponents are rounded once, as
  x − max x was: relative to |t| · log₂e + |δ|, of which the second part is no more than the first, since x and max x
  are at least |max x| · 2⁻²⁴ apart; that of the maximum is δ exactly. |δ| is at most 64 up to a maximum of 2³⁰. Beyond,
  x − max x is the exponent of 2: other terms than the greatest are at most 2⁻¹²⁸ then, and should be smaller still.
  Where the sum is that of an online softmax, which has no such factor, the row's reciprocal takes it: 2^−δ.
- `1 / (1 + exp(u))` moves by less than |u| / (1 + e^|u|) · 2⁻²⁴, which is below 1.7e-8; where the result is near 0, by
  |u| · 2⁻²⁴ of itself.

A sum of `exp(x − max x)` is at least 1 and at most as many as there are elements, times 2^δ: it has a reciprocal, and a
product with that is wrong by one and a half units in the last place at most (N. J. Higham, "Accuracy and Stability of
Numerical Algorithms", §2). NaN and infinities are as before. test/unit/test_approximations.py measures the bounds.
"""

from math import prod

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ....dialects.monoids import LOG2_E
from ....dialects.uop import WhereOp
from ....rewriting.patterns import FLOAT, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import abs, add, div, exp, exp2, fma, le, mul, neg, rcp, reciprocal, sub, where
from .exponentials import Exponential, maximum_of, sum_of_exponentials, varies
from .reductions import extents_of, is_number
from .row_factors import cancels

u, v, w, x, y = variables("u v w x y", FLOAT)

MOST_ROUNDED = 2.0**30
"""The greatest number whose multiple by log₂e is rounded by no more than 64, where 2⁶⁴ is far from overflow."""

LEAST_ROW = 192
"""Elements of a row of which each lane of a warp has 6: what they save is more than what is computed once a row."""

power = where[le[abs[v], MOST_ROUNDED], LOG2_E, 1]
shift = mul[v, neg[power]]


def is_at_most_zero(u: SSAValue, v: SSAValue) -> bool:
    """Whether u − v is an element less the greatest: never above 0 (or NaN)."""
    return maximum_of(u, v) is not None


def is_sum_of_exponentials(u: SSAValue, v: SSAValue) -> bool:
    """Whether v is a sum of exp(x − max x) over the ranges of the maximum, and u varies along one of them, or is
    another of the sums that are formed with it, of which there may be several. Or v is 1 in some rows."""
    choice = v.owner
    if isinstance(choice, WhereOp) and is_number(choice.operands[1], 1.0):
        v = choice.operands[2]
    total = sum_of_exponentials(v)
    return total is not None and (u.owner is total or varies(u, total.over))


def is_divided_by_its_sum(result: SSAValue, u: SSAValue, v: SSAValue) -> bool:
    """Whether rows are not short, and a factor of the exponentials of those that share the base v does not matter."""
    maximum = maximum_of(u, v)
    return maximum is not None and prod(extents_of(maximum.over)) >= LEAST_ROW and cancels(result, v)


def is_of_online_softmax(u: SSAValue, v: SSAValue, x: SSAValue, y: SSAValue) -> bool:
    """Whether y is exp(u − v), and v and x are the maximum of u and the sum of such, of one reduction."""
    total = sum_of_exponentials(x)
    return total is not None and total is maximum_of(u, v) and Exponential.of(y) is not None


APPROXIMATIONS = Rules(
    (exp[sub[u, v]].when(u.dtype == f32, is_divided_by_its_sum) >> exp2[fma[u, power, shift]]).up_to_rounding(),
    (exp[sub[u, v]].when(u.dtype == f32, is_at_most_zero) >> exp2[mul[sub[u, v], LOG2_E]]).up_to_rounding(),
    (reciprocal[add[1, exp[neg[u]]]].when(u.dtype == f32) >> rcp[add[1, exp2[mul[u, -LOG2_E]]]]).up_to_rounding(),
    (reciprocal[add[1, exp[u]]].when(u.dtype == f32) >> rcp[add[1, exp2[mul[u, LOG2_E]]]]).up_to_rounding(),
    (
        div[y @ exp2[mul[sub[u, v], w]], x].when(u.dtype == f32, y.one_use, is_of_online_softmax)
        >> mul[exp2[fma[u, power, shift]], mul[exp2[neg[fma[v, power, shift]]], reciprocal[x]]]
    ).up_to_rounding(),
    (div[u, v].when(u.dtype == f32, is_sum_of_exponentials) >> mul[u, reciprocal[v]]).up_to_rounding(),
)
