"""Whether threads hold the same values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from ...dialects.tile import AxisOp, ReduceAcrossOp
from ...dialects.uop import KernelOp


def is_held_alike(values: Sequence[SSAValue], axis: AxisOp) -> bool:
    """Whether threads that differ only along the axis are proved to have the same values: they depend on it through
    nothing but reductions over it."""
    stack, seen = list(values), set[SSAValue]()
    while stack:
        value = stack.pop()
        owner = value.owner
        if value in seen:
            continue
        seen.add(value)
        if isinstance(owner, Block):
            if not isinstance(owner.parent_op(), KernelOp):
                return False
        elif owner is axis or owner.regions:
            return False
        elif not (isinstance(owner, ReduceAcrossOp) and axis.result in owner.over):
            stack += owner.operands
    return True
