"""What a task costs, roughly: whether it is worth waking a thread for."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Block, Operation, SSAValue

from ....dialects.cpu_kernel import ForOp, IfOp, LoadOp, StoreOp, TransposeOp
from ....dialects.monoids import Number
from ....dialects.uop import AluOp, CastOp, MaxOp, MinOp, constant_value
from .vector_scope import lanes_of

THREAD_NANOSECONDS = 2000
"""Work that pays for a thread of its own: twice what it takes to start and join threads that wait (measured: 0.5 to
1 µs)."""

_NANOSECONDS = 0.25
"""One operation on a vector or a scalar, at 4 GHz."""

_DEAR = frozenset(("div", "floordiv", "floormod", "truncdiv", "truncmod", "sqrt", "rsqrt", "reciprocal", "rcp"))

_CHEAP = frozenset(
    (
        "neg abs sign floor ceil round trunc not isnan isinf add sub mul min max and or xor shl shr eq ne lt le gt ge "
        "where fma"
    ).split()
)


def task_grain(body: Block, tasks: int) -> int:
    """Tasks that are worth a thread of their own."""
    cost = _cost(body) * _NANOSECONDS
    return max(1, min(tasks, -(-THREAD_NANOSECONDS // max(1, int(cost)))))


def _number(value: SSAValue) -> Number | None:
    """A constant, or that at which a limit is clipped."""
    clip = value.owner
    return constant_value(clip.operands[1] if isinstance(clip, MinOp | MaxOp) else value)


def _cost(block: Block) -> float:
    """Operations of a block; of a branch, those of its dearer part."""
    total = 0.0
    for op in block.ops:
        if (operations := _operations(type(op))) is not None:
            total += operations
        elif isinstance(op, ForOp):
            first, last = _number(op.start), _number(op.end)
            steps = 1.0
            if isinstance(first, int) and isinstance(last, int):
                steps = max(0, last - first) / op.step.value.data
            total += steps * _cost(op.body.block)
        elif isinstance(op, IfOp):
            total += max(_cost(part) for region in op.regions for part in region.blocks)
        elif isinstance(op, LoadOp | StoreOp):
            total += max(1, lanes_of(op.place.type))
        elif isinstance(op, TransposeOp):
            total += 2 * op.lanes.value.data
    return total


@cache
def _operations(cls: type[Operation]) -> int | None:
    """Operations that each op of a class is, or None where that differs from one to another."""
    if cls in (ForOp, IfOp, LoadOp, StoreOp, TransposeOp):
        return None
    if issubclass(cls, AluOp):
        name = cls.row().name
        return 1 if name in _CHEAP else 5 if name in _DEAR else 20
    return int(cls is CastOp)
