"""Rules of index arithmetic. Division is floor division; an index never wraps around, so products are exact.

Where a rule says `n`, it holds for integers that wrap around as well.
"""

from ....rewriting.patterns import INDEX, INTEGER, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, floordiv, floormod, mul, sub

n, m = variables("n m", INTEGER)
i, j = variables("i j", INDEX)
a, b = constants("a b")

CONSTANTS = Rules(
    sub[n, a].when(a != 0) >> add[n, -a],
    add[add[n, a], b] >> add[n, a + b],
    mul[mul[n, a], b] >> mul[n, a * b],
)
"""Constants come together, at the end."""

TERMS = Rules(
    add[n, n] >> mul[n, 2],
    add[mul[n, a], n] >> mul[n, a + 1],
    add[mul[n, a], mul[n, b]] >> mul[n, a + b],
)

QUOTIENTS = Rules(
    floordiv[mul[i, a], a].when(a != 0) >> i,
    floordiv[mul[i, a], b].when(b > 0, a % b == 0) >> mul[i, a // b],
    floordiv[mul[i, a], b].when(a > 0, b % a == 0) >> floordiv[i, b // a],
    floordiv[add[mul[i, a], j], b].when(b > 0, a % b == 0) >> add[mul[i, a // b], floordiv[j, b]],
    floordiv[add[i, a], b].when(b > 0, a % b == 0) >> add[floordiv[i, b], a // b],
    floordiv[floordiv[i, a], b].when(a > 0, b > 0) >> floordiv[i, a * b],
    floordiv[i, a].when(a > 0, i.min // a == i.max // a) >> i.min // a,
)

REMAINDERS = Rules(
    floormod[mul[i, a], b].when(b != 0, a % b == 0) >> 0,
    floormod[mul[i, a], b].when(a > 0, b > 0, b % a == 0) >> mul[floormod[i, b // a], a],
    floormod[add[mul[i, a], j], b].when(b > 0, a % b == 0) >> floormod[j, b],
    floormod[add[i, a], b].when(b > 0, a % b == 0) >> floormod[i, b],
    floormod[floormod[i, a], b].when(a != 0, b > 0, a % b == 0) >> floormod[i, b],
    floormod[n, a].when(n.min >= 0, n.max < a) >> n,
)

RECOMBINED = Rules(
    add[mul[floordiv[i, a], a], floormod[i, a]].when(a != 0) >> i,
)

INDICES = Rules(CONSTANTS, TERMS, QUOTIENTS, REMAINDERS, RECOMBINED)
