"""How long the buffers of a program are needed: what plans memory, and what carries a plan out, ask it."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from ..dialects.uop import LaunchOp, ReshapeOp


def buffer_of(value: SSAValue) -> SSAValue:
    """The argument or the launch's result that `value` is a view of."""
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.input
    return value


def last_readers(program: Block) -> dict[SSAValue, Operation]:
    """Result of a launch → the last operation that needs it, through any view; the launch itself if none does.

    What the program returns is needed by the return, its last operation.
    """
    readers: dict[SSAValue, Operation] = {}
    for op in program.ops:
        if isinstance(op, LaunchOp):
            readers.update(dict.fromkeys(op.results, op))
        if not isinstance(op, ReshapeOp):
            for operand in op.operands:
                if (buffer := buffer_of(operand)) in readers:
                    readers[buffer] = op
    return readers
