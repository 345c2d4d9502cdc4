"""Index expressions as linear forms: what staging, vectors and bounds are read off."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.axes import AxisKind
from ...dialects.loop import ForOp
from ...dialects.tile import AxisOp
from ...dialects.types import index
from ...dialects.uop import (
    AddOp,
    AndOp,
    ConstOp,
    ExpandOp,
    FloordivOp,
    FloormodOp,
    GeOp,
    GtOp,
    LeOp,
    LtOp,
    MulOp,
    NegOp,
    SubOp,
    constant_value,
)
from ...rewriting.interval_arithmetic import Interval
from ...rewriting.linear import LinearForm


def bounds_of(form: LinearForm) -> Interval:
    """The least and the greatest value of a form of axes and loops, each leaf taking all of its own."""
    low = high = form.constant
    for leaf, coefficient in form.terms.items():
        reach = coefficient * max(extent_of(leaf) - 1, 0)
        low, high = low + min(reach, 0), high + max(reach, 0)
    return Interval(low, high)


def is_leaf(value: SSAValue) -> bool:
    """A `tile.axis`, the index of a loop, or a quotient or remainder that is one number for a block."""
    owner = value.owner
    if isinstance(owner, Block):
        loop = owner.parent_op()
        return isinstance(loop, ForOp) and value is loop.index
    return isinstance(owner, AxisOp) or is_of_block(value)


def is_of_block(value: SSAValue) -> bool:
    """Whether a leaf is one number for a block: a block axis, or a quotient or remainder of such by a constant, as the
    head of keys that several heads of queries share."""
    owner = value.owner
    if isinstance(owner, AxisOp):
        return owner.axis.axis_kind is AxisKind.BLOCK
    if not isinstance(owner, FloordivOp | FloormodOp) or value.type != index:
        return False
    form, divisor = linear_form(owner.operands[0]), constant_value(owner.operands[1])
    if form is None or not isinstance(divisor, int) or divisor <= 0 or bounds_of(form).low < 0:
        return False
    return all(isinstance(leaf.owner, AxisOp) and is_of_block(leaf) for leaf in form.terms)


def extent_of(leaf: SSAValue) -> int:
    """How many values a leaf takes: 0, 1, …"""
    owner = leaf.owner
    if isinstance(owner, FloordivOp | FloormodOp):
        form, divisor = linear_form(owner.operands[0]), constant_value(owner.operands[1])
        assert form is not None
        assert isinstance(divisor, int)
        greatest = bounds_of(form).high
        return greatest // divisor + 1 if isinstance(owner, FloordivOp) else min(divisor, greatest + 1)
    op = owner.parent_op() if isinstance(owner, Block) else owner
    assert isinstance(op, ForOp | AxisOp)
    return op.axis.extent.data


_LINEAR = frozenset((AddOp, SubOp, MulOp, NegOp, ExpandOp))


def linear_form(value: SSAValue) -> LinearForm | None:
    """`value` as a linear form, seen through `uop.expand`; None when it is not one."""
    forms: dict[SSAValue, LinearForm | None] = {}
    stack = [value]
    while stack:
        top = stack[-1]
        missing = [x for x in _arguments(top) if x not in forms]
        if missing:
            stack += missing
        else:
            stack.pop()
            forms[top] = _combined(top, [forms[x] for x in _arguments(top)])
    return forms[value]


def _arguments(value: SSAValue) -> tuple[SSAValue, ...]:
    owner = value.owner
    if owner.__class__ not in _LINEAR:
        return ()
    assert isinstance(owner, Operation)
    return owner._operands  # pyright: ignore[reportPrivateUsage]  # the view costs twice as much


def _combined(value: SSAValue, forms: list[LinearForm | None]) -> LinearForm | None:
    if is_leaf(value):
        return LinearForm({value: 1})
    owner = value.owner
    if isinstance(owner, ConstOp):
        return LinearForm({}, int(owner.number)) if isinstance(owner.number, int) else None
    if not forms or forms[0] is None or forms[-1] is None:
        return None
    first, last = forms[0], forms[-1]
    if isinstance(owner, ExpandOp):
        return first
    if isinstance(owner, NegOp):
        return first * -1
    if isinstance(owner, AddOp):
        return first + last
    if isinstance(owner, SubOp):
        return first - last
    if not last.terms:
        return first * last.constant
    return None if first.terms else last * first.constant


def unexpanded(value: SSAValue) -> SSAValue:
    """What `uop.expand` repeats to make `value`."""
    while isinstance(value.owner, ExpandOp):
        value = value.owner.input
    return value


def is_zero(value: SSAValue) -> bool:
    """Whether all elements of a value are the constant 0."""
    constant = unexpanded(value).owner
    return isinstance(constant, ConstOp) and constant.number == 0


def conjuncts(condition: SSAValue) -> list[SSAValue]:
    """The conditions, none of them an expansion, whose conjunction `condition` is; in order, each once."""
    found: dict[SSAValue, None] = {}
    stack = [condition]
    while stack:
        value = unexpanded(stack.pop())
        if isinstance(value.owner, AndOp):
            stack += reversed(value.owner.operands)
        else:
            found[value] = None
    return list(found)


def negative_form(condition: SSAValue) -> LinearForm | None:
    """The form that is negative where `condition`, a comparison by size of linear forms, holds; None for others."""
    owner = condition.owner
    if not isinstance(owner, LtOp | LeOp | GtOp | GeOp):
        return None
    first, second = (linear_form(x) for x in owner.operands)
    if first is None or second is None:
        return None
    difference = first - second if isinstance(owner, LtOp | LeOp) else second - first
    return difference if isinstance(owner, LtOp | GtOp) else difference + LinearForm({}, -1)


def always_holds(condition: SSAValue) -> bool:
    """Whether a condition, none of `conjuncts`' expansions, is proved true by the extents of axes and loops."""
    if isinstance(condition.owner, ConstOp):
        return bool(condition.owner.number)
    form = negative_form(condition)
    return form is not None and bounds_of(form).high < 0
