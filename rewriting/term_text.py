"""Values as short text, `add(mul(%i, 4), %j)`: what `--debug-rewrites` shows of a rewrite."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ..dialects.uop import AluOp
from .patterns import AnyOf, Capture, Operand, Term
from .values import number_of, plain_value

MAX_DEPTH = 8
"""How many ops deep a text goes at most."""


def term_depth(operand: Operand | None) -> int:
    """How many ops deep a pattern goes."""
    if isinstance(operand, Capture):
        return term_depth(operand.term)
    if isinstance(operand, AnyOf):
        return max(map(term_depth, operand.options))
    if not isinstance(operand, Term):
        return 0
    inside = (*(operand.operands or ()), *(pattern for _, pattern in operand.named))
    return 1 + max(map(term_depth, inside), default=0)


def op_text(op: Operation, depth: int, inside: Collection[Operation] = ()) -> str:
    """`add(%x, 1)`: an op, and what it is computed from, so many ops deep and wherever an op is one of `inside`.

    Below, names stand for values; those that have none are shown with what they are computed from in turn.

    Properties of ops that are no arithmetic follow the operands: `reduce_axis(%x, monoid=add, axes=(2,))`.
    """
    parts = [_text(operand, depth, inside, MAX_DEPTH) for operand in op.operands]
    parts += _properties(op)
    return f"{_name(op)}({', '.join(parts)})"


def value_text(value: SSAValue, inside: Collection[Operation] = ()) -> str:
    """A value: its number or its name, or the op that gives it, expanded where it is one of `inside`."""
    return _text(value, 1, inside, MAX_DEPTH)


def _text(value: SSAValue, depth: int, inside: Collection[Operation], left: int) -> str:
    owner = value.owner
    if isinstance(owner, Block):
        assert isinstance(value, BlockArgument)
        return f"%{value.name_hint or f'arg{value.index}'}"
    if (number := number_of(owner)) is not None:
        return str(number).lower() if isinstance(number, bool) else str(number)
    # The last level is there for values that have no name; a range or a tile axis has one, and nothing in it to see.
    is_shown = owner in inside or depth > 1 or (depth == 1 and value.name_hint is None)
    if left > 0 and is_shown and (owner.operands or value.name_hint is None):
        below = depth if owner in inside else depth - 1
        parts = [_text(operand, below, inside, left - 1) for operand in owner.operands]
        return f"{_name(owner)}({', '.join((*parts, *_properties(owner)))})"
    return f"{_name(owner)}(…)" if value.name_hint is None else f"%{value.name_hint}"


def _name(op: Operation) -> str:
    return op.name.removeprefix("uop.")


def _properties(op: Operation) -> list[str]:
    if isinstance(op, AluOp):
        return []
    shown = (item for item in op.properties.items() if not item[0].endswith("SegmentSizes"))
    return [f"{name}={plain_value(attribute)}" for name, attribute in shown]
