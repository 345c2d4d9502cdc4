"""Rules of conditions that hold together: what follows from another condition goes.

Comparisons of one integer with constants come as `lt`, `ge`, `eq` and `ne` (`compares.py`).
"""

from ....rewriting.patterns import BOOL, INTEGER, Guard, Term, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import and_, eq, ge, lt, ne, or_

(p,) = variables("p", BOOL)
(n,) = variables("n", INTEGER)
a, b = constants("a b")

Pair = tuple[Term, Term, Guard, Term | bool]

BOTH: tuple[Pair, ...] = (
    (lt[n, a], lt[n, b], a <= b, lt[n, a]),
    (ge[n, a], ge[n, b], a >= b, ge[n, a]),
    (lt[n, a], ge[n, b], a <= b, False),
    (eq[n, a], eq[n, b], a != b, False),
    (eq[n, a], ne[n, b], a != b, eq[n, a]),
    (eq[n, a], lt[n, b], a < b, eq[n, a]),
    (eq[n, a], lt[n, b], a >= b, False),
    (eq[n, a], ge[n, b], a >= b, eq[n, a]),
    (eq[n, a], ge[n, b], a < b, False),
    (ne[n, a], lt[n, b], a >= b, lt[n, b]),
    (ne[n, a], ge[n, b], a < b, ge[n, b]),
)
"""Two conditions, when one says something about the other, and what both are together."""

EITHER: tuple[Pair, ...] = (
    (lt[n, a], lt[n, b], a >= b, lt[n, a]),
    (ge[n, a], ge[n, b], a <= b, ge[n, a]),
    (lt[n, a], ge[n, b], a >= b, True),
    (ne[n, a], ne[n, b], a != b, True),
    (eq[n, a], lt[n, b], a < b, lt[n, b]),
    (eq[n, a], ge[n, b], a >= b, ge[n, b]),
    (ne[n, a], lt[n, b], a >= b, ne[n, a]),
    (ne[n, a], lt[n, b], a < b, True),
    (ne[n, a], ge[n, b], a < b, ne[n, a]),
    (ne[n, a], ge[n, b], a >= b, True),
)
"""Two conditions, and what one of them at least is."""

CONDITIONS = Rules(
    *(and_[x, y].when(guard) >> both for x, y, guard, both in BOTH),
    *(and_[and_[p, x], y].when(guard) >> (False if both is False else and_[p, both]) for x, y, guard, both in BOTH),
    *(and_[and_[p, y], x].when(guard) >> and_[p, both] for x, y, guard, both in BOTH if isinstance(both, Term)),
    *(or_[x, y].when(guard) >> either for x, y, guard, either in EITHER),
)
