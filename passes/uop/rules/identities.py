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
    fma,
    max,
    min,
    mul,
    ne,
    neg,
    or_,
    pow,
    shl,
    shr,
    sub,
    truncdiv,
    truncmod,
    xor,
)
from .folding import is_no_constant

x, y = variables("x y")
n, m, k = variables("n m k", INTEGER)
(s,) = variables("s", SIGNED)
u, v = variables("u v", FLOAT)
(a,) = constants("a")

NEUTRAL = Rules(
    add[n, 0] >> n,
    add[u, -0.0] >> u,  # −0.0 + 0.0 is 0.0
    sub[x, 0] >> x,
    mul[x, 1] >> x,
    fma[u, 1, v] >> add[u, v],
    fma[1, u, v] >> add[u, v],
    fma[u, v, -0.0] >> mul[u, v],
    div[x, 1] >> x,
    pow[x, 1] >> x,
    floordiv[n, 1] >> n,
    truncdiv[n, 1] >> n,
    shl[n, 0] >> n,
    shr[n, 0] >> n,
)

ABSORBING = Rules(
    mul[n, 0] >> 0,  # of a float: not of NaN, infinities and negative numbers
    floormod[n, 1] >> 0,
    truncmod[n, 1] >> 0,
    truncdiv[0, n].when(n.min > 0) >> 0,
    floordiv[0, n].when(n.min > 0) >> 0,
    truncmod[0, n].when(n.min > 0) >> 0,
    floormod[0, n].when(n.min > 0) >> 0,
    shl[0, n] >> 0,
    shr[0, n] >> 0,
    pow[x, 0] >> 1,  # of NaN as well
    pow[1, n] >> 1,
)

SELF = Rules(
    sub[n, n] >> 0,
    max[x, x] >> x,
    min[x, x] >> x,
    floordiv[n, n].when(n.min > 0) >> 1,
    floormod[n, n].when(n.min > 0) >> 0,
    truncdiv[n, n].when(n.min > 0) >> 1,
    truncmod[n, n].when(n.min > 0) >> 0,
    max[n, max[n, m]] >> max[n, m],  # of floats, ±0 depends on the order
    min[n, min[n, m]] >> min[n, m],
    max.ordered[max.ordered[x, y], y] >> max[x, y],
    max.ordered[x, max.ordered[x, y]] >> max[x, y],
    min.ordered[min.ordered[x, y], y] >> min[x, y],
    min.ordered[x, min.ordered[x, y]] >> min[x, y],
    max[n, min[n, m]] >> n,
    min[n, max[n, m]] >> n,
)

SIGNS = Rules(
    neg[neg[x]] >> x,
    add[x, neg[y]] >> sub[x, y],
    sub[x, neg[y]] >> add[x, y],
    neg[sub[n, m]] >> sub[m, n],  # of floats: 0.0 for x − x
    sub[0, n] >> neg[n],
    sub[-0.0, u] >> neg[u],
    mul[x, -1] >> neg[x],
    mul[neg[x], neg[y]] >> mul[x, y],
    mul[neg[x], a] >> mul[x, -a],
    neg[mul[x, a]] >> mul[x, -a],
    div[neg[u], neg[v]] >> div[u, v],
    div[neg[u], a] >> div[u, -a],
    sub[sub[n, m], n] >> neg[m],
    abs[abs[x]] >> abs[x],
    abs[neg[s]] >> abs[s],
    abs[neg[u]] >> abs[u],
    abs[n].when(n.min >= 0) >> n,
)

CANCELLING = Rules(
    add[sub[n, m], m] >> n,
    sub[add[n, m], m] >> n,
    sub[n, add[n, m]] >> neg[m],
    sub[n, sub[n, m]] >> m,
    sub[add[n, m], add[n, k]] >> sub[m, k],
    sub[sub[n, m], sub[n, k]] >> sub[k, m],
    add[sub[n, m], sub[m, k]] >> sub[n, k],
)

CONSTANTS_LAST = Rules(
    *(op.ordered[a, x].when(is_no_constant) >> op[x, a] for op in (add, mul, eq, ne, and_, or_, xor)),
    *(op.ordered[a, n].when(is_no_constant) >> op[n, a] for op in (min, max)),  # of floats, ±0 depends on the order
)
"""One order for what can stand in two, so that equal values become the same value."""

IDENTITIES = Rules(NEUTRAL, ABSORBING, SELF, SIGNS, CANCELLING, CONSTANTS_LAST)
