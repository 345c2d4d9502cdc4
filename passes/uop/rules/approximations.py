"""Rules of f32 that keep an error bound instead of every bit, where that takes far fewer instructions.

eᵗ is 2 to the power of t · log₂e, for which GPUs have an instruction (`ex2`). Rounding the product makes 2ˣ wrong by
|t| · 2⁻²⁴ of itself, so `exp` stays where its own value is what is wanted. Here it is not:

- `exp(x − max x)` is at most 1, and is added to a sum that is at least 1: |t| · eᵗ · 2⁻²⁴ is below 2.3e-8 for t ≤ 0.
- `1 / (1 + exp(u))` moves by less than |u| / (1 + e^|u|) · 2⁻²⁴, which is below 1.7e-8; where the result is near 0, by
  |u| · 2⁻²⁴ of itself.

A sum of `exp(x − max x)` is at least 1 and at most as many as there are elements: it has a reciprocal, and a product
with that is wrong by one and a half units in the last place at most (N. J. Higham, "Accuracy and Stability of
Numerical Algorithms", §2). NaN and infinities are as before. test/unit/test_approximations.py measures the bounds.
"""

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ....dialects.monoids import LOG2_E
from ....dialects.uop import WhereOp
from ....rewriting.patterns import FLOAT, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, div, exp, exp2, mul, neg, rcp, reciprocal, sub
from .exponentials import maximum_of, sum_of_exponentials, varies
from .reductions import is_number

u, v, w = variables("u v w", FLOAT)


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


APPROXIMATIONS = Rules(
    (exp[sub[u, v]].when(u.dtype == f32, is_at_most_zero) >> exp2[mul[sub[u, v], LOG2_E]]).up_to_rounding(),
    (reciprocal[add[1, exp[neg[u]]]].when(u.dtype == f32) >> rcp[add[1, exp2[mul[u, -LOG2_E]]]]).up_to_rounding(),
    (reciprocal[add[1, exp[u]]].when(u.dtype == f32) >> rcp[add[1, exp2[mul[u, LOG2_E]]]]).up_to_rounding(),
    (div[u, v].when(u.dtype == f32, is_sum_of_exponentials) >> mul[u, reciprocal[v]]).up_to_rounding(),
)
