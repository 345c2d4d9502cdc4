"""Rules of comparisons: of one value with itself, decided by intervals, negated, with a constant moved
across."""

from ....rewriting.patterns import BITS, FLOAT, INDEX, INTEGER, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, eq, ge, gt, le, lt, max, min, ne, not_

x, y = variables("x y")
d, e = variables("d e", BITS)
n, m = variables("n m", INTEGER)
(i,) = variables("i", INDEX)
(u,) = variables("u", FLOAT)
a, b = constants("a b")

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

MOVED = Rules(*(op[add[i, a], b] >> op[i, b - a] for op in (lt, le, gt, ge, eq, ne)))
"""An index never wraps around; other integers do."""

COMPARES = Rules(SELF, DECIDED, NEGATED, MOVED)
