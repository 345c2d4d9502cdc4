"""Rules of quotients and remainders. Division is floor division.

Where a rule says `n`, it holds for integers that wrap around as well; a bound of a product or a sum that is what exact
arithmetic gives says that it did not wrap around.
"""

from math import gcd

from xdsl.ir import SSAValue

from ....dialects.monoids import Number
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import INDEX, INTEGER, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, floordiv, floormod, mul, neg, sub

n, m, p = variables("n m p", INTEGER)
i, j, k = variables("i j k", INDEX)
a, b, c = constants("a b c")


def divide_by_common_factor(builder: RewriteBuilder, i: SSAValue, a: Number, b: Number, c: Number) -> SSAValue | None:
    """(i · a + b) // c with a and c divided by what they have in common: ⌊b ÷ g⌋ is all that b adds."""
    factor = gcd(int(a), int(c))
    if factor == 1:
        return None
    product = builder.alu("mul", i, builder.constant_like(int(a) // factor, i))
    total = builder.alu("add", product, builder.constant_like(int(b) // factor, i))
    return builder.alu("floordiv", total, builder.constant_like(int(c) // factor, i))


QUOTIENTS = Rules(
    floordiv[n, a].when(a > 0, n.min // a == n.max // a) >> n.min // a,
    # Multiples of the divisor, or of a part of it.
    floordiv[mul[i, a], a].when(a != 0) >> i,
    floordiv[mul[i, a], b].when(b > 0, a % b == 0) >> mul[i, a // b],
    floordiv[mul[i, a], b].when(a > 0, b > 0, b % a == 0) >> floordiv[i, b // a],
    floordiv[add[mul[i, a], j], b].when(b > 0, a % b == 0) >> add[mul[i, a // b], floordiv[j, b]],
    floordiv[add[mul[i, a], j], b].when(a > 0, b > 0, b % a == 0, j.min >= 0, j.max < a) >> floordiv[i, b // a],
    floordiv[add[add[mul[i, a], j], k], b].when(b > 0, a % b == 0) >> add[mul[i, a // b], floordiv[add[j, k], b]],
    floordiv[sub[mul[i, a], j], b].when(b > 0, a % b == 0) >> add[mul[i, a // b], floordiv[neg[j], b]],
    floordiv[add[i, a], b].when(b > 0, a % b == 0) >> add[floordiv[i, b], a // b],
    floordiv[add[mul[i, a], b], c].when(a > 0, c > 0) >> divide_by_common_factor,
    floordiv[p @ mul[n, a], a].when(a > 0, p.min == n.min * a, p.max == n.max * a) >> n,
    # One quotient of another.
    floordiv[floordiv[i, a], b].when(a > 0, b > 0) >> floordiv[i, a * b],
    floordiv[floordiv[n, a], b].when(a > 0, b > 0, a * b <= n.max) >> floordiv[n, a * b],
    floordiv[add[floordiv[i, a], b], c].when(a > 0, c > 0) >> floordiv[add[i, a * b], a * c],
    floordiv[floormod[n, a], b].when(a > 0, b > 0, a % b == 0) >> floormod[floordiv[n, b], a // b],
    # Signs.
    floordiv[i, -1] >> neg[i],
    floordiv[i, a].when(a < 0) >> floordiv[neg[i], -a],
)

REMAINDERS = Rules(
    floormod[n, a].when(n.min >= 0, n.max < a) >> n,
    floormod[n, a].when(a > 0, n.min // a == n.max // a) >> add[n, -(n.min // a) * a],
    # Multiples of the divisor, or of a part of it.
    floormod[mul[i, a], b].when(b != 0, a % b == 0) >> 0,
    floormod[mul[i, a], b].when(a > 0, b > 0, b % a == 0) >> mul[floormod[i, b // a], a],
    floormod[add[mul[i, a], j], b].when(b > 0, a % b == 0) >> floormod[j, b],
    floormod[add[mul[i, a], j], b].when(a > 0, b > 0, b % a == 0, j.min >= 0, j.max < a)
    >> add[mul[floormod[i, b // a], a], j],
    floormod[add[add[mul[i, a], j], k], b].when(b > 0, a % b == 0) >> floormod[add[j, k], b],
    floormod[sub[mul[i, a], j], b].when(b > 0, a % b == 0) >> floormod[neg[j], b],
    floormod[sub[j, mul[i, a]], b].when(b > 0, a % b == 0) >> floormod[j, b],
    floormod[add[i, a], b].when(b > 0, a != a % b) >> floormod[add[i, a % b], b],
    floormod[mul[i, a], b].when(b > 0, a != a % b) >> floormod[mul[i, a % b], b],
    floormod[p @ mul[n, a], b].when(a > 0, b > 0, a % b == 0, p.min == n.min * a, p.max == n.max * a) >> 0,
    # A remainder of something with a remainder.
    floormod[floormod[n, a], b].when(a != 0, b > 0, a % b == 0) >> floormod[n, b],
    floormod[add[floormod[i, a], j], b].when(a != 0, b > 0, a % b == 0) >> floormod[add[i, j], b],
    floormod[sub[floormod[i, a], j], b].when(a != 0, b > 0, a % b == 0) >> floormod[sub[i, j], b],
    floormod[sub[j, floormod[i, a]], b].when(a != 0, b > 0, a % b == 0) >> floormod[sub[j, i], b],
    floormod[mul[floormod[i, a], b], c].when(a != 0, c > 0, a * b % c == 0) >> floormod[mul[i, b], c],
    floormod[i, a].when(a < 0) >> neg[floormod[neg[i], -a]],
)

RECOMBINED = Rules(
    add[mul[floordiv[n, a], a], floormod[n, a]].when(a != 0) >> n,
    add[mul[floordiv[i, c], b], floormod[floordiv[i, a], b]].when(a > 0, b > 0, a * b == c) >> floordiv[i, a],
    add[add[j, mul[floordiv[i, c], b]], floormod[floordiv[i, a], b]].when(a > 0, b > 0, a * b == c)
    >> add[j, floordiv[i, a]],
    add[add[j, floormod[floordiv[i, a], b]], mul[floordiv[i, c], b]].when(a > 0, b > 0, a * b == c)
    >> add[j, floordiv[i, a]],
    add[mul[floordiv[i, a], c], mul[floormod[i, a], b]].when(a != 0, a * b == c) >> mul[i, b],
    add[add[j, mul[floordiv[i, a], a]], floormod[i, a]].when(a != 0) >> add[j, i],
    add[add[j, floormod[i, a]], mul[floordiv[i, a], a]].when(a != 0) >> add[j, i],
    add[add[j, mul[floordiv[i, a], c]], mul[floormod[i, a], b]].when(a != 0, a * b == c) >> add[j, mul[i, b]],
    add[add[j, mul[floormod[i, a], b]], mul[floordiv[i, a], c]].when(a != 0, a * b == c) >> add[j, mul[i, b]],
    sub[n, mul[floordiv[n, a], a]].when(a != 0) >> floormod[n, a],
)
"""A quotient and its remainder are the number again."""

DIVISIONS = Rules(QUOTIENTS, REMAINDERS, RECOMBINED)
