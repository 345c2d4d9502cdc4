"""Rules of index arithmetic. An index never wraps around, so sums and products are exact.

Where a rule says `n`, it holds for integers that wrap around as well.
"""

from xdsl.ir import Operation, SSAValue

from ....rewriting.patterns import INDEX, INTEGER, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.values import number_of
from ....rewriting.vocabulary import add, mul, sub
from .folding import is_no_constant

n, m, k, s = variables("n m k s", INTEGER)
(i,) = variables("i", INDEX)
a, b = constants("a b")


def varies(n: SSAValue) -> bool:
    """Whether n is not one known number: multiples of one stay apart, where quotients and remainders see them."""
    owner = n.owner
    return not isinstance(owner, Operation) or number_of(owner) is None


def is_only_used_here(op: Operation, s: SSAValue) -> bool:
    """Whether nothing but op uses s, and s is computed as often as op: what is shared or stands before a loop
    stays."""
    return s.has_one_use() and isinstance(s.owner, Operation) and s.owner.parent is op.parent


CONSTANTS = Rules(
    sub[n, a].when(a != 0) >> add[n, -a],
    sub[a, add[n, b]] >> sub[a - b, n],
    add[add[n, a], b] >> add[n, a + b],
    add[sub[a, n], b] >> sub[a + b, n],
    sub[a, sub[b, n]] >> add[n, a - b],
    mul[mul[n, a], b] >> mul[n, a * b],
    add[s @ add[n, a], m].when(is_no_constant, is_only_used_here) >> add[add[n, m], a],
    sub[s @ add[n, a], m].when(is_only_used_here) >> add[sub[n, m], a],
    sub[n, s @ add[m, a]].when(is_only_used_here) >> add[sub[n, m], -a],
    mul[s @ add[i, a], b].when(is_only_used_here) >> add[mul[i, b], a * b],
)
"""Constants come together, at the end."""

TERMS = Rules(
    add[n, n] >> mul[n, 2],
    add[mul[n, a], n] >> mul[n, a + 1],
    add[mul[n, a], mul[n, b]] >> mul[n, a + b],
    sub[mul[n, a], n] >> mul[n, a - 1],
    sub[n, mul[n, a]] >> mul[n, 1 - a],
    sub[mul[n, a], mul[n, b]] >> mul[n, a - b],
    add[add[m, n], n] >> add[m, mul[n, 2]],
    add[add[m, mul[n, a]], n] >> add[m, mul[n, a + 1]],
    add[add[m, n], mul[n, a]] >> add[m, mul[n, a + 1]],
    add[add[m, mul[n, a]], mul[n, b]] >> add[m, mul[n, a + b]],
    add[sub[m, mul[n, a]], mul[n, b]] >> add[m, mul[n, b - a]],
    add[sub[m, mul[n, a]], n] >> add[m, mul[n, 1 - a]],
    add[sub[m, n], mul[n, a]] >> add[m, mul[n, a - 1]],
    sub[add[m, mul[n, a]], mul[n, b]] >> add[m, mul[n, a - b]],
    sub[add[m, mul[n, a]], n] >> add[m, mul[n, a - 1]],
    sub[add[m, n], mul[n, a]] >> add[m, mul[n, 1 - a]],
    sub[sub[m, mul[n, a]], mul[n, b]] >> sub[m, mul[n, a + b]],
    sub[sub[m, mul[n, a]], n] >> sub[m, mul[n, a + 1]],
    sub[sub[m, n], mul[n, a]] >> sub[m, mul[n, a + 1]],
    sub[sub[m, n], n] >> sub[m, mul[n, 2]],
    add[add[k, mul[n, a]], add[m, mul[n, b]]] >> add[add[k, m], mul[n, a + b]],
    add[add[k, mul[n, a]], add[m, n]] >> add[add[k, m], mul[n, a + 1]],
    add[add[k, n], add[m, n]] >> add[add[k, m], mul[n, 2]],
)
"""Multiples of one value become one."""

FACTORED = Rules(
    add[mul[n, m], mul[n, k]].when(varies) >> mul[n, add[m, k]],
    sub[mul[n, m], mul[n, k]].when(varies) >> mul[n, sub[m, k]],
)
"""One product for two."""

INDICES = Rules(CONSTANTS, TERMS, FACTORED)
