"""tile-drop-masks: drop masks that change nothing."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.uop import AluOp, KernelOp
from ...rewriting.dead import erase_unused
from ...rewriting.driver import Order, rewrite
from ...rewriting.patterns import variables
from ...rewriting.rules import Rules
from ...rewriting.vocabulary import where
from ..known_values import KnownValues
from .accesses import accesses_of, kernels_of, replace_access
from .linear import always_holds, conjuncts


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
        evaluation = KnownValues({one: False})
        x, y = evaluation.of(value), evaluation.of(otherwise)
        if x is None or y is None or x.tobytes() != y.tobytes():
            return False
    return True


x, y = variables("x y")
DROPPED = Rules(where[..., x, y].when(changes_nothing) >> x)
"""Choices that are none; in one sweep, for each is found out by evaluating all that it depends on."""
