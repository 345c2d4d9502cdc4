"""Rules of comparisons: of one value with itself, decided by intervals, negated, with a term moved across.

A comparison of an integer that wraps around is moved only where the bounds of the sum say that it does not.
"""

from ....rewriting.patterns import BITS, FLOAT, INDEX, INTEGER, constants, gcd, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import (
    add,
    and_,
    eq,
    floordiv,
    ge,
    gt,
    le,
    lt,
    max,
    min,
    mul,
    ne,
    neg,
    not_,
    or_,
    sub,
    xor,
)
from .folding import is_no_constant

x, y = variables("x y")
d, e = variables("d e", BITS)
n, m, k, s = variables("n m k s", INTEGER)
i, j = variables("i j", INDEX)
u, v = variables("u v", FLOAT)
a, b, c = constants("a b c")

SELF = Rules(
    eq[d, d] >> True,  # NaN is not NaN
    le[d, d] >> True,
    ge[d, d] >> True,
    ne[d, d] >> False,
    lt[x, x] >> False,
    gt[x, x] >> False,
)

DECIDED = Rules(
    lt[d, e].when(d.max < e.min) >> True,
    lt[d, e].when(d.min >= e.max) >> False,
    le[d, e].when(d.max <= e.min) >> True,
    le[d, e].when(d.min > e.max) >> False,
    gt[d, e].when(d.min > e.max) >> True,
    gt[d, e].when(d.max <= e.min) >> False,
    ge[d, e].when(d.min >= e.max) >> True,
    ge[d, e].when(d.max < e.min) >> False,
    eq[d, e].when(d.max < e.min) >> False,
    eq[d, e].when(d.min == e.max, d.max == e.min) >> True,
    ne[d, e].when(d.max < e.min) >> True,
    ne[d, e].when(d.min == e.max, d.max == e.min) >> False,
    max[n, m].when(n.min >= m.max) >> n,
    min[n, m].when(n.max <= m.min) >> n,
)

NEGATED = Rules(
    not_[lt[d, e]] >> ge[d, e],  # of floats, both are false for NaN
    not_[le[d, e]] >> gt[d, e],
    not_[gt[d, e]] >> le[d, e],
    not_[ge[d, e]] >> lt[d, e],
    not_[eq[x, y]] >> ne[x, y],
    not_[ne[x, y]] >> eq[x, y],
)

ORDERINGS = (lt, le, gt, ge)
COMPARISONS = (*ORDERINGS, eq, ne)
WITH_CONSTANT = (lt, ge, eq, ne)
"""Comparisons of integers with constants: `le` and `gt` become these."""

MIRRORED = {lt: gt, le: ge, gt: lt, ge: le}
"""What holds of (y, x) where an ordering holds of (x, y)."""

CONSTANT_RIGHT = Rules(*(op[a, x].when(is_no_constant) >> mirrored[x, a] for op, mirrored in MIRRORED.items()))

INTEGER_BOUNDS = Rules(
    le[n, a].when(a < n.max) >> lt[n, a + 1],
    gt[n, a].when(a < n.max) >> ge[n, a + 1],
    lt[n, a].when(n.min == a - 1) >> eq[n, a - 1],
    ge[n, a].when(n.max == a) >> eq[n, a],
    ne[n, a].when(n.min == a, a < n.max) >> ge[n, a + 1],
    ne[n, a].when(n.max == a, n.min < a) >> lt[n, a],
)
"""Integers are below a number, or not below it; at the end of what a value can be, they are or are not it."""

MOVED = Rules(
    *(op[add[i, a], b] >> op[i, b - a] for op in WITH_CONSTANT),
    lt[sub[a, i], b] >> gt[i, a - b],
    ge[sub[a, i], b] >> le[i, a - b],
    eq[sub[a, n], b] >> eq[n, a - b],
    ne[sub[a, n], b] >> ne[n, a - b],
    *(op[add[i, k], add[j, k]] >> op[i, j] for op in COMPARISONS),
    *(op[add[i, k], k] >> op[i, 0] for op in COMPARISONS),
    *(op[sub[i, j], 0] >> op[i, j] for op in WITH_CONSTANT),
    lt[sub[i, j], 1] >> le[i, j],
    ge[sub[i, j], 1] >> gt[i, j],
    *(op[neg[i], neg[j]] >> mirrored[i, j] for op, mirrored in MIRRORED.items()),
    lt[neg[i], a] >> gt[i, -a],
    ge[neg[i], a] >> le[i, -a],
    eq[neg[n], a] >> eq[n, -a],
    ne[neg[n], a] >> ne[n, -a],
    *(op[add[n, m], add[n, k]] >> op[m, k] for op in (eq, ne)),
    *(op[add[n, a], b] >> op[n, b - a] for op in (eq, ne)),
    *(op[sub[n, m], 0] >> op[n, m] for op in (eq, ne)),
    *(op[neg[n], neg[m]] >> op[n, m] for op in (eq, ne)),
    *(op[not_[d], not_[e]] >> op[d, e] for op in (eq, ne)),
    *(op[xor[n, m], 0] >> op[n, m] for op in (eq, ne)),
    *(op[neg[u], neg[v]] >> mirrored[u, v] for op, mirrored in MIRRORED.items()),
    *(op[neg[u], a] >> mirrored[u, -a] for op, mirrored in MIRRORED.items()),
    *(op[neg[u], neg[v]] >> op[u, v] for op in (eq, ne)),
    *(
        op[s @ add[n, a], b].when(s.min == n.min + a, s.max == n.max + a, n.min <= b - a, b - a <= n.max)
        >> op[n, b - a]
        for op in (lt, ge)
    ),
    lt[s @ sub[n, m], 0].when(s.min == n.min - m.max, s.max == n.max - m.min) >> lt[n, m],
    ge[s @ sub[n, m], 0].when(s.min == n.min - m.max, s.max == n.max - m.min) >> ge[n, m],
    lt[s @ sub[n, m], 1].when(s.min == n.min - m.max, s.max == n.max - m.min) >> le[n, m],
    ge[s @ sub[n, m], 1].when(s.min == n.min - m.max, s.max == n.max - m.min) >> gt[n, m],
)
"""An index never wraps around; other integers do."""

DIVIDED = Rules(
    *(op[mul[i, a], mul[j, a]].when(a > 0) >> op[i, j] for op in COMPARISONS),
    *(op[mul[i, a], mul[j, a]].when(a < 0) >> mirrored[i, j] for op, mirrored in MIRRORED.items()),
    lt[mul[i, a], b].when(a > 0) >> lt[i, -(-b // a)],
    ge[mul[i, a], b].when(a > 0) >> ge[i, -(-b // a)],
    lt[mul[i, a], b].when(a < 0) >> ge[i, -b // -a + 1],
    ge[mul[i, a], b].when(a < 0) >> lt[i, -b // -a + 1],
    lt[add[mul[i, a], j], b].when(a > 0, b % a == 0, j.min >= 0, j.max < a) >> lt[i, b // a],
    ge[add[mul[i, a], j], b].when(a > 0, b % a == 0, j.min >= 0, j.max < a) >> ge[i, b // a],
    eq[mul[i, a], b].when(a != 0, b % a == 0) >> eq[i, b // a],
    ne[mul[i, a], b].when(a != 0, b % a == 0) >> ne[i, b // a],
    eq[mul[i, a], b].when(a != 0, b % a != 0) >> False,
    ne[mul[i, a], b].when(a != 0, b % a != 0) >> True,
    eq[add[mul[i, a], mul[j, b]], c].when(a != 0, c % gcd(a, b) != 0) >> False,
    ne[add[mul[i, a], mul[j, b]], c].when(a != 0, c % gcd(a, b) != 0) >> True,
    lt[floordiv[i, a], b].when(a > 0) >> lt[i, b * a],
    ge[floordiv[i, a], b].when(a > 0) >> ge[i, b * a],
    *(op[s @ mul[n, a], 0].when(a > 0, s.min == n.min * a, s.max == n.max * a) >> op[n, 0] for op in WITH_CONSTANT),
)
"""Both sides of a comparison divided by a number."""

TOGETHER = Rules(
    or_[lt[x, y], eq[x, y]] >> le[x, y],
    or_[gt[x, y], eq[x, y]] >> ge[x, y],
    or_[lt[d, e], gt[d, e]] >> ne[d, e],
    and_[le[x, y], ge[x, y]] >> eq[x, y],
    and_[le[x, y], ne[x, y]] >> lt[x, y],
    and_[ge[x, y], ne[x, y]] >> gt[x, y],
    and_[lt[x, y], le[x, y]] >> lt[x, y],
    and_[gt[x, y], ge[x, y]] >> gt[x, y],
    or_[lt[x, y], le[x, y]] >> le[x, y],
    or_[gt[x, y], ge[x, y]] >> ge[x, y],
    and_[lt[x, y], gt[x, y]] >> False,
    and_[lt[x, y], ge[x, y]] >> False,
    and_[gt[x, y], le[x, y]] >> False,
    and_[eq[x, y], ne[x, y]] >> False,
    or_[lt[d, e], ge[d, e]] >> True,  # of NaN, neither holds
    or_[gt[d, e], le[d, e]] >> True,
    or_[eq[x, y], ne[x, y]] >> True,
)
"""Two comparisons of the same values."""

COMPARES = Rules(SELF, DECIDED, NEGATED, CONSTANT_RIGHT, INTEGER_BOUNDS, MOVED, DIVIDED, TOGETHER)
