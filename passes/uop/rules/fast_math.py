"""Rules of floats that do not keep every bit: each says what it takes for granted, and is used where
`uop-simplify{fast-math=true}` grants it."""

from ....rewriting.patterns import BOOL, FLOAT, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, cast, div, eq, le, mul, ne, neg, sub, where

u, v, w = variables("u v w", FLOAT)
(p,) = variables("p", BOOL)

FINITE = Rules(
    (add[u, 0] >> u).finite(),  # −0.0 + 0.0 is 0.0
    (mul[u, 0] >> 0).finite(),
    (sub[u, u] >> 0).finite(),
    (neg[sub[u, v]] >> sub[v, u]).finite(),
    (eq[u, u] >> True).finite(),
    (ne[u, u] >> False).finite(),
    (le[u, u] >> True).finite(),
    (mul[cast[p], u] >> where[p, u, 0]).finite(),
    (mul[where[p, u, 0], v] >> where[p, mul[u, v], 0]).finite(),
)

ROUNDED = Rules(
    (add[mul[u, v], mul[u, w]] >> mul[u, add[v, w]]).finite().up_to_rounding(),  # u = ∞, v = 0
    (div[div[u, v], w] >> div[u, mul[v, w]]).finite().up_to_rounding(),  # v · w overflows, u = ∞
    (mul[div[u, v], v] >> u).finite().up_to_rounding(),
)

FAST_MATH = Rules(FINITE, ROUNDED)
