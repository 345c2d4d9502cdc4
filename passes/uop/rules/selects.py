"""Rules of `uop.where`."""

from xdsl.ir import Operation, SSAValue

from ....dialects.monoids import Number
from ....dialects.types import bit_width, element_of, with_element
from ....dialects.uop import AluOp, CastOp, WhereOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import BITS, BOOL, FLOAT, INTEGER, SIGNED, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import (
    abs,
    add,
    and_,
    cast,
    eq,
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
    to_tf32,
    where,
)

x, y, z, w = variables("x y z w")
c, p, q = variables("c p q", BOOL)
n, m = variables("n m", INTEGER)
(s,) = variables("s", SIGNED)
e, f = variables("e f", BITS)
u, v = variables("u v", FLOAT)
a, b, d = constants("a b d")

CHOICES = Rules(
    where[True, x, y] >> x,
    where[False, x, y] >> y,
    where[c, x, x] >> x,
    where[c, True, False] >> c,
    where[c, False, True] >> not_[c],
    where[c, p, False] >> and_[c, p],
    where[c, True, p] >> or_[c, p],
    where[c, p, True] >> or_[not_[c], p],
    where[c, False, p] >> and_[not_[c], p],
    where[not_[c], x, y] >> where[c, y, x],
    where[c, where[c, x, y], z] >> where[c, x, z],
    where[c, x, where[c, y, z]] >> where[c, x, z],
    where[ne[x, y], z, w] >> where[eq[x, y], w, z],
    where[c, where[p, x, y], y] >> where[and_[c, p], x, y],
    where[c, x, where[p, x, y]] >> where[or_[c, p], x, y],
    where[c, where[p, x, y], x] >> where[and_[c, not_[p]], y, x],
    where[c, y, where[p, x, y]] >> where[and_[not_[c], p], x, y],
    where[and_[c, p], where[c, x, y], z] >> where[and_[c, p], x, z],
    where[or_[c, p], x, where[c, y, z]] >> where[or_[c, p], x, z],
    where[c, c, p] >> or_[c, p],
    where[c, p, c] >> and_[c, p],
)
"""Choices between two values."""

COMPARED = Rules(
    where[lt[n, m], n, m] >> min[n, m],
    where[le[n, m], n, m] >> min[n, m],
    where[gt[n, m], n, m] >> max[n, m],
    where[ge[n, m], n, m] >> max[n, m],
    where[lt[n, m], m, n] >> max[n, m],
    where[le[n, m], m, n] >> max[n, m],
    where[gt[n, m], m, n] >> min[n, m],
    where[ge[n, m], m, n] >> min[n, m],
    where[eq[e, f], e, f] >> f,  # of floats, not of +0 and −0
    where[lt[s, 0], neg[s], s] >> abs[s],
    where[ge[s, 0], s, neg[s]] >> abs[s],
)
"""Choices that arithmetic makes; of integers: of NaN, neither is less."""

EXCLUSIVE = Rules(
    add[where[c, n, 0], where[c, 0, m]] >> where[c, n, m],
    or_[where[c, n, 0], where[c, 0, m]] >> where[c, n, m],
    add[where[c, n, 0], where[c, m, 0]] >> where[c, add[n, m], 0],
)
"""Sums of choices of which one is 0; of floats, −0 + 0 is not −0."""


def fold_choice(builder: RewriteBuilder, op: Operation) -> SSAValue | None:
    """An op of constants, one of which is a choice between two, as a choice between two results."""
    assert isinstance(op, AluOp)
    results: list[SSAValue] = []
    condition: SSAValue | None = None
    for branch in (1, 2):
        operands: list[SSAValue] = []
        for operand in op.operands:
            if isinstance(operand.owner, WhereOp):
                condition = operand.owner.operands[0]
                operand = operand.owner.operands[branch]
            operands.append(operand)
        results.append(builder.alu(op.row().name, *operands))
    assert condition is not None
    return builder.alu("where", condition, *results)


def cast_choice(builder: RewriteBuilder, result: SSAValue, c: SSAValue, a: Number, b: Number, op: CastOp) -> SSAValue:
    """A choice between two constants in another element type."""
    source = with_element(result.type, element_of(op.input.type))
    branches = (builder.expand(builder.const(number, element_of(source)), source) for number in (a, b))
    target = element_of(result.type)
    return builder.alu("where", c, *(builder.cast(branch, target) for branch in branches))


CONSTANT_CHOICES = Rules(
    *(op[where[c, a, b]] >> fold_choice for op in (neg, not_)),
    *(op.ordered[where[c, a, b], d] >> fold_choice for op in (add, sub, mul, min, max, eq, ne, lt, le, gt, ge)),
    sub[d, where[c, a, b]] >> fold_choice,
    cast[where[c, a, b]] >> cast_choice,
)
"""An op of constants and a choice between constants is a choice between constants."""


def widens_16_bits(u: SSAValue, v: SSAValue) -> bool:
    """Whether v is a float as u is, of f16 or bf16, in more bits."""
    return bit_width(element_of(u.type)) == 16 and bit_width(element_of(v.type)) > 16


WIDENED = Rules(
    where[c, v @ cast[u], 0].when(widens_16_bits) >> cast[where[c, u, 0]],
    where[c, 0, v @ cast[u]].when(widens_16_bits) >> cast[where[c, 0, u]],
    where[c, to_tf32[u], 0] >> to_tf32[where[c, u, 0]],
    where[c, 0, to_tf32[u]] >> to_tf32[where[c, 0, u]],
)
"""A float or 0, chosen in as many bits as it has in memory: matrix instructions take it as it is there."""

SELECTS = Rules(CHOICES, COMPARED, EXCLUSIVE, CONSTANT_CHOICES, WIDENED)
