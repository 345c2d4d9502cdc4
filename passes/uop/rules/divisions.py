"""Rules of quotients and remainders. Division is floor division.

Where a rule says `n`, it holds for integers that wrap around as well; a bound of a product or a sum that is what exact
arithmetic gives says that it did not wrap around.
"""

from ....rewriting.patterns import INDEX, INTEGER, constants, gcd, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, floordiv, floormod, mul, neg, sub

n, m, p = variables("n m p", INTEGER)
i, j, k = variables("i j k", INDEX)
a, b, c, d = constants("a b c d")
g, h = gcd(d, a), gcd(d, a, b)


QUOTIENTS = Rules(
    floordiv[n, a].when(a > 0, n.min // a == n.max // a) >> n.min // a,
    # Multiples of the divisor, or of a part of it.
    floordiv[mul[i, a], a].when(a != 0) >> i,
    floordiv[mul[i, a], b].when(b > 0, a % b == 0) >> mul[i, a // b],
    floordiv[mul[i, a], b].when(a > 0, b > 0, b % a == 0) >> floordiv[i, b // a],
    floordiv[add[mul[i, a], j], b].when(b > 0, a % b == 0) >> add[mul[i, a // b], floordiv[j, b]],
    floordiv[add[add[mul[i, a], j], k], b].when(b > 0, a % b == 0) >> add[mul[i, a // b], floordiv[add[j, k], b]],
    floordiv[sub[mul[i, a], j], b].when(b > 0, a % b == 0) >> add[mul[i, a // b], floordiv[neg[j], b]],
    floordiv[p @ mul[n, a], a].when(a > 0, p.min == n.min * a, p.max == n.max * a) >> n,
    # The second term crosses as many multiples of the divisor wherever the first one stands between two.
    floordiv[add[i, j], a].when(a > 0, ((i % a).min + j.min) // a == ((i % a).max + j.max) // a)
    >> add[floordiv[i, a], ((i % a).min + j.min) // a],
    # A factor that all have; a constant loses what is left of it.
    floordiv[add[mul[i, a], b], d].when(d > 0, g > 1) >> floordiv[add[mul[i, a // g], b // g], d // g],
    floordiv[add[mul[i, a], mul[j, b]], d].when(d > 0, h > 1) >> floordiv[add[mul[i, a // h], mul[j, b // h]], d // h],
    floordiv[add[add[mul[i, a], mul[j, b]], c], d].when(d > 0, h > 1)
    >> floordiv[add[add[mul[i, a // h], mul[j, b // h]], c // h], d // h],
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
    floormod[n, a].when(a != 0, (n % a).min == (n % a).max) >> (n % a).min,
    floormod[n, a].when(n.min >= 0, n.max < a) >> n,
    floormod[n, a].when(a > 0, n.min // a == n.max // a) >> add[n, -(n.min // a) * a],
    # Multiples of the divisor, or of a part of it.
    floormod[mul[i, a], b].when(a > 0, b > 0, b % a == 0) >> mul[floormod[i, b // a], a],
    floormod[add[i, j], a].when(a > 0, i.divisible_by(a)) >> floormod[j, a],
    floormod[sub[i, j], a].when(a > 0, i.divisible_by(a)) >> floormod[neg[j], a],
    floormod[sub[i, j], a].when(a > 0, j.divisible_by(a)) >> floormod[i, a],
    floormod[add[add[mul[i, a], j], k], b].when(b > 0, a % b == 0) >> floormod[add[j, k], b],
    # The second term crosses as many multiples of the divisor wherever the first one stands between two.
    floormod[add[i, j], a].when(a > 0, ((i % a).min + j.min) // a == ((i % a).max + j.max) // a)
    >> add[floormod[i, a], add[j, -(((i % a).min + j.min) // a) * a]],
    # Coefficients and constants that are less than the divisor.
    floormod[add[i, a], b].when(b > 0, a != a % b) >> floormod[add[i, a % b], b],
    floormod[mul[i, a], b].when(b > 0, a != a % b) >> floormod[mul[i, a % b], b],
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
    mul[floordiv[n, a], a].when(a != 0, n.divisible_by(a)) >> n,
)
"""A quotient and its remainder are the number again."""

DIVISIONS = Rules(QUOTIENTS, REMAINDERS, RECOMBINED)
