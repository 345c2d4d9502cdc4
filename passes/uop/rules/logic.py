"""Rules of bools and of bits."""

from xdsl.ir import Operation, SSAValue

from ....dialects.monoids import Number
from ....dialects.uop import AluOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import BITS, BOOL, INTEGER, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import and_, eq, max, min, ne, not_, or_, shl, shr, xor

x, y = variables("x y", BITS)
p, q = variables("p q", BOOL)
(n,) = variables("n", INTEGER)
a, b = constants("a b")


def fold_bits(builder: RewriteBuilder, op: Operation, n: SSAValue, a: Number, b: Number) -> SSAValue:
    """`(n ∘ a) ∘ b` as `n ∘ (a ∘ b)`"""
    assert isinstance(op, AluOp)
    name = op.row().name
    return builder.alu(name, n, builder.alu(name, builder.constant_like(a, n), builder.constant_like(b, n)))


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
    and_[x, and_[x, y]] >> and_[x, y],
    or_[x, or_[x, y]] >> or_[x, y],
    and_[x, or_[x, y]] >> x,
    or_[x, and_[x, y]] >> x,
    and_[p, or_[not_[p], q]] >> and_[p, q],
    or_[p, and_[not_[p], q]] >> or_[p, q],
    and_[not_[p], or_[p, q]] >> and_[not_[p], q],
    or_[not_[p], and_[p, q]] >> or_[not_[p], q],
    and_[n, not_[n]] >> 0,
    or_[n, not_[n]] >> -1,
    xor[xor[x, y], y] >> x,
    xor[p, not_[p]] >> True,
    # One not for two.
    and_[not_[x], not_[y]] >> not_[or_[x, y]],
    or_[not_[x], not_[y]] >> not_[and_[x, y]],
    xor[not_[x], y] >> not_[xor[x, y]],
    eq[not_[p], q] >> ne[p, q],
    ne[not_[p], q] >> eq[p, q],
    # Constants come together.
    *(op[op[n, a], b] >> fold_bits for op in (and_, or_, xor)),
    # Widths are below 64, and what is shifted out stays out.
    *(op[op[n, a], b].when(a >= 0, b >= 0, a < 64, b < 64) >> op[n, a + b] for op in (shl, shr)),
    # One spelling.
    max[p, q] >> or_[p, q],
    min[p, q] >> and_[p, q],
)
