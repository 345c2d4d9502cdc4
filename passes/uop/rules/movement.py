"""Rules of movement ops: those that do nothing, two in a row, and those of constants."""

from xdsl.ir import SSAValue

from ....dialects.uop import PermuteOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import expand, flip, pad, permute, reshape, shrink, window
from .casts import is_same_type

x, y = variables("x y")
(a,) = constants("a")


def keeps_order(op: PermuteOp) -> bool:
    """Whether a permute leaves every axis where it is."""
    order = op.integers("order")
    return list(order) == sorted(order)


def permute_once(builder: RewriteBuilder, op: PermuteOp, x: SSAValue, y: SSAValue) -> SSAValue:
    """Two permutes as one: axis d of the outer is axis outer[d] of the inner, which is axis inner[outer[d]]
    of x."""
    assert isinstance(y.owner, PermuteOp)
    inner = y.owner.integers("order")
    return builder.permute(x, [inner[axis] for axis in op.integers("order")])


MOVEMENT = Rules(
    expand[x].when(is_same_type) >> x,
    reshape[x].when(is_same_type) >> x,
    pad[x].when(is_same_type) >> x,
    shrink[x].when(is_same_type) >> x,
    permute[x].when(keeps_order) >> x,
    expand[expand[x]] >> expand[x],
    reshape[reshape[x]] >> reshape[x],
    permute[y @ permute[x]] >> permute_once,
    # All elements are one number. (Of a pad, only if it is the number that pads.)
    reshape[a] >> a,
    permute[a] >> a,
    shrink[a] >> a,
    window[a] >> a,
    flip[a] >> a,
    pad[0] >> 0,
    pad[False] >> False,
)
