"""Rules of quotients and remainders of sums: what their terms and the divisor have in common, and dividends that are
one of two numbers.

Division is floor division, so that all of this holds of negative numbers as well.
"""

from ....rewriting.patterns import INDEX, constants, gcd, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, floordiv, floormod, mul, sub

i, j, k = variables("i j k", INDEX)
a, b, c, d = constants("a b c d")
h = gcd(d, a, b)

COMMON_FACTORS = Rules(
    floordiv[add[add[mul[i, a], k], mul[j, b]], d].when(d > 0, k.min >= 0, k.max < h)
    >> floordiv[add[mul[i, a // h], mul[j, b // h]], d // h],
    # Only where a product goes for the one that comes.
    floormod[add[mul[i, a], mul[j, b]], d].when(d > 0, a > 1, b % a == 0, d % a == 0)
    >> mul[floormod[add[i, mul[j, b // a]], d // a], a],
    floormod[add[add[mul[i, a], mul[j, b]], c], d].when(d > 0, a > 1, b % a == 0, c % a == 0, d % a == 0)
    >> mul[floormod[add[add[i, mul[j, b // a]], c // a], d // a], a],
)
"""Both are divided by it; what is less than it does not count in a quotient, and multiplies a remainder."""

TWO_NUMBERS = Rules(
    floordiv[i, a].when(a > 1, i.max == i.min + 1, i.max % a == 0) >> add[i, i.max // a - i.max],
    floormod[i, a].when(a > 1, i.max == i.min + 1, i.max % a == 0) >> mul[sub[i.max, i], a - 1],
    *(
        divide[add[mul[i, a], b], c].when(c > 0, i.max == i.min + 1)
        >> add[mul[i, high - low], low - (high - low) * i.min]
        for divide, low, high in (
            (floordiv, (i.min * a + b) // c, (i.max * a + b) // c),
            (floormod, (i.min * a + b) % c, (i.max * a + b) % c),
        )
    ),
    *(
        divide[mul[i, a], c].when(c > 0, i.max == i.min + 1) >> add[mul[i, high - low], low - (high - low) * i.min]
        for divide, low, high in (
            (floordiv, i.min * a // c, i.max * a // c),
            (floormod, i.min * a % c, i.max * a % c),
        )
    ),
)
"""What has two numbers only is linear, and so is anything that is computed from it."""

DIVIDENDS = Rules(COMMON_FACTORS, TWO_NUMBERS)
