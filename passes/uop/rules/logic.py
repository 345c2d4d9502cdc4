"""Rules of bools and of bits."""

from ....rewriting.patterns import BITS, BOOL, INTEGER, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import and_, eq, max, min, ne, not_, or_, xor

(x,) = variables("x", BITS)
p, q = variables("p q", BOOL)
(n,) = variables("n", INTEGER)

LOGIC = Rules(
    # Constants.
    and_[p, True] >> p,
    and_[p, False] >> False,
    or_[p, True] >> True,
    or_[p, False] >> p,
    xor[p, True] >> not_[p],
    xor[p, False] >> p,
    eq[p, True] >> p,
    eq[p, False] >> not_[p],
    ne[p, True] >> not_[p],
    ne[p, False] >> p,
    and_[n, 0] >> 0,
    and_[n, -1] >> n,
    or_[n, 0] >> n,
    or_[n, -1] >> -1,
    xor[n, 0] >> n,
    xor[n, -1] >> not_[n],
    # One value twice.
    and_[x, x] >> x,
    or_[x, x] >> x,
    xor[p, p] >> False,
    xor[n, n] >> 0,
    not_[not_[x]] >> x,
    and_[p, not_[p]] >> False,
    or_[p, not_[p]] >> True,
    and_[p, and_[p, q]] >> and_[p, q],
    or_[p, or_[p, q]] >> or_[p, q],
    # One spelling.
    max[p, q] >> or_[p, q],
    min[p, q] >> and_[p, q],
)
