"""Identities of arithmetic. Those that hold for floats hold for −0.0, infinities and NaN."""

from ....rewriting.patterns import FLOAT, INTEGER, SIGNED, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import (
    abs,
    add,
    and_,
    div,
    eq,
    floordiv,
    floormod,
    max,
    min,
    mul,
    ne,
    neg,
    or_,
    shl,
    shr,
    sub,
    truncdiv,
    truncmod,
    xor,
)
from .folding import is_no_constant

x, y = variables("x y")
n, m = variables("n m", INTEGER)
(s,) = variables("s", SIGNED)
(u,) = variables("u", FLOAT)
(a,) = constants("a")

NEUTRAL = Rules(
    add[n, 0] >> n,
    add[u, -0.0] >> u,  # −0.0 + 0.0 is 0.0
    sub[x, 0] >> x,
    mul[x, 1] >> x,
    div[x, 1] >> x,
    floordiv[n, 1] >> n,
    truncdiv[n, 1] >> n,
    shl[n, 0] >> n,
    shr[n, 0] >> n,
)

ABSORBING = Rules(
    mul[n, 0] >> 0,  # of a float: not of NaN, infinities and negative numbers
    floormod[n, 1] >> 0,
    truncmod[n, 1] >> 0,
    shl[0, n] >> 0,
)

SELF = Rules(
    sub[n, n] >> 0,
    max[x, x] >> x,
    min[x, x] >> x,
    floordiv[n, n].when(n.min > 0) >> 1,
    floormod[n, n].when(n.min > 0) >> 0,
)

SIGNS = Rules(
    neg[neg[x]] >> x,
    add[x, neg[y]] >> sub[x, y],
    sub[x, neg[y]] >> add[x, y],
    neg[sub[n, m]] >> sub[m, n],  # of floats: 0.0 for x − x
    mul[u, -1] >> neg[u],
    abs[abs[x]] >> abs[x],
    abs[neg[s]] >> abs[s],
    abs[neg[u]] >> abs[u],
    abs[n].when(n.min >= 0) >> n,
)

CANCELLING = Rules(
    add[sub[n, m], m] >> n,
    sub[add[n, m], m] >> n,
    sub[n, add[n, m]] >> neg[m],
)

CONSTANTS_LAST = Rules(
    *(op.ordered[a, x].when(is_no_constant) >> op[x, a] for op in (add, mul, eq, ne, and_, or_, xor)),
    *(op.ordered[a, n].when(is_no_constant) >> op[n, a] for op in (min, max)),  # of floats, ±0 depends on the order
)
"""One order for what can stand in two, so that equal values become the same value."""

IDENTITIES = Rules(NEUTRAL, ABSORBING, SELF, SIGNS, CANCELLING, CONSTANTS_LAST)
