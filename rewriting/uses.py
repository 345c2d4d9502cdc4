"""Counting the uses of a value, and replacing it in all of them."""

# pyright: reportPrivateUsage=false
# xDSL's own `replace_all_uses_with` goes through views of operands, which take most of the time of a rewrite.

from xdsl.ir import SSAValue
from xdsl.ir.core import SSAValues


def replace_uses(old: SSAValue, new: SSAValue) -> None:
    """Let the users of `old` use `new`, which is another value; it inherits the name if it has none."""
    use = old.first_use
    while use is not None:
        following = use._next_use
        user = use._operation
        operands = list(user._operands)
        operands[use._index] = new
        user._operands = SSAValues(operands)
        new.add_use(use)
        use = following
    old.first_use = None
    if new.name_hint is None:
        new.name_hint = old.name_hint


def use_count(value: SSAValue, limit: int) -> int:
    """How many operands are this value; `limit` where there are more, without looking at them all."""
    count, use = 0, value.first_use
    while use is not None and count < limit:
        count += 1
        use = use._next_use
    return count
