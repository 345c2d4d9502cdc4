"""tile-drop-masks: drop masks that change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.semantics import evaluate, numpy_dtype, round_to_element
from ...dialects.tile import ReadOp
from ...dialects.types import element_of, is_bool, is_float, is_integer
from ...dialects.uop import (
    AluOp,
    AndOp,
    CastOp,
    ConstOp,
    ExpandOp,
    KernelOp,
    MaxOp,
    MinOp,
    MulOp,
    OrOp,
    WhereOp,
)
from ...rewriting.dead import erase_unused
from ...rewriting.driver import Order, rewrite
from ...rewriting.patterns import variables
from ...rewriting.rules import Rules
from ...rewriting.vocabulary import where
from .accesses import accesses_of, kernels_of, replace_access
from .linear import always_holds, conjuncts, unexpanded


@dataclass(frozen=True)
class TileDropMasksPass(ModulePass):
    """Drop masks that change nothing.

    - A condition that the extents of axes and loops prove: `position < extent` where the axis is not ragged.
    - `where(ok, v, identity)` around what a reduction combines, where `v` is the identity, to the last bit,
      whenever `ok` is false. That is found by evaluating `v` with one condition of `ok` false at a time: reads that
      the condition masks are then 0, and everything that follows from constants and these is known.

    What is not known could be anything, infinities and NaN too: 0 · y is 0 only if y is known (or an integer).
    The signs of zeros count: −0 is not the 0 that sums begin with, so the mask around `-x` stays. Functions whose
    last bits differ between libraries (exp, erf, …) are evaluated only at ±0 and ±∞, where C prescribes them.
    """

    name = "tile-drop-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            _drop_proved(kernel)
            rewrite(kernel, DROPPED, order=Order.ONE_SWEEP)
            erase_unused(kernel.body.block)


def _drop_proved(kernel: KernelOp) -> None:
    """Drop the conditions of accesses that always hold."""
    for access in accesses_of(kernel):
        if access.mask is None:
            continue
        conditions = conjuncts(access.mask)
        open_conditions = [condition for condition in conditions if not always_holds(condition)]
        if len(open_conditions) < len(conditions):
            replace_access(access, conditions=open_conditions)


def changes_nothing(op: AluOp) -> bool:
    """Whether a choice gives its second operand whatever its condition is."""
    condition, value, otherwise = op.operands
    for one in conjuncts(condition):
        if always_holds(one):
            continue
        evaluation = _Evaluation(one)
        x, y = evaluation.of(value), evaluation.of(otherwise)
        if x is None or y is None or x.tobytes() != y.tobytes():
            return False
    return True


x, y = variables("x y")
DROPPED = Rules(where[..., x, y].when(changes_nothing) >> x)
"""Choices that are none; in one sweep, for each is found out by evaluating all that it depends on."""


Known = Any
"""A numpy scalar of the value's element type; None when the value is not known."""

_ROUNDED_EXACTLY = frozenset(
    "neg abs sign reciprocal sqrt floor ceil round trunc to_tf32 not isnan isinf add sub mul div min max and or xor "
    "eq ne lt le gt ge where fma".split()
)


class _Evaluation:
    """What is known of values where one condition is false."""

    def __init__(self, condition: SSAValue):
        self.known: dict[SSAValue, Known] = {condition: np.False_}
        self.condition = condition

    def of(self, value: SSAValue) -> Known:
        stack = [value]
        while stack:
            top = stack[-1]
            arguments = _arguments(top)
            missing = [x for x in arguments if x not in self.known]
            if top in self.known:
                stack.pop()
            elif missing:
                stack += missing
            else:
                stack.pop()
                self.known[top] = self._evaluate(top, [self.known[x] for x in arguments])
        return self.known[value]

    def _evaluate(self, value: SSAValue, arguments: list[Known]) -> Known:
        owner, element = value.owner, element_of(value.type)
        if isinstance(owner, ConstOp):
            return _number(owner.number, element)
        if isinstance(owner, ExpandOp):
            return arguments[0]
        if isinstance(owner, ReadOp):
            masked = owner.mask is not None and self.condition in conjuncts(owner.mask)
            return _number(0, element) if masked else None
        if isinstance(owner, CastOp):
            return None if arguments[0] is None else _number(arguments[0], element)
        if isinstance(owner, AluOp):
            return _alu(owner, arguments)
        return None


def _arguments(value: SSAValue) -> tuple[SSAValue, ...]:
    owner = value.owner
    return tuple(owner.operands) if isinstance(owner, AluOp | CastOp | ExpandOp) else ()


def _number(value: Any, element: Any) -> Known:
    with np.errstate(all="ignore"):
        return round_to_element(np, np.asarray(value), element).astype(numpy_dtype(element))[()]


def _alu(op: AluOp, arguments: list[Known]) -> Known:
    element = element_of(op.operands[-1].type)
    if isinstance(op, WhereOp):
        if arguments[0] is None:
            return arguments[1] if unexpanded(op.operands[1]) is unexpanded(op.operands[2]) else None
        return arguments[1] if arguments[0] else arguments[2]
    if isinstance(op, AndOp | OrOp) and is_bool(element):
        decides = isinstance(op, OrOp)
        if any(x is not None and bool(x) is decides for x in arguments):
            return np.bool_(decides)
    if isinstance(op, MulOp) and is_integer(element) and any(x is not None and x == 0 for x in arguments):
        return _number(0, element)
    if any(x is None for x in arguments):
        return None
    row = op.row()
    if isinstance(op, MinOp | MaxOp) and is_float(element) and arguments[0] == arguments[1]:
        if arguments[0].tobytes() != arguments[1].tobytes():
            return None  # of 0 and −0, either
    if row.name not in _ROUNDED_EXACTLY:
        if row.domain != "float" or any(x != 0 and not np.isinf(x) for x in arguments):
            return None
    return evaluate(np, row, element, arguments)[()]
