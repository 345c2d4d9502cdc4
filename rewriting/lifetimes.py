"""How long the buffers of a program are needed: what plans memory, and what carries a plan out, ask it."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from ..dialects.uop import LaunchOp, ReshapeOp, buffer_of


def last_readers(program: Block) -> dict[SSAValue, Operation]:
    """Result of a launch with a buffer of its own → the last operation that needs what lies there, through any view,
    and by whatever takes it; the launch itself if none does.

    What the program returns is needed by the return, its last operation.
    """
    readers: dict[SSAValue, Operation] = {}
    for op in program.ops:
        if isinstance(op, LaunchOp):
            owned = zip(op.results, op.reused(), strict=True)
            readers.update((result, op) for result, taken in owned if taken is None)
        if not isinstance(op, ReshapeOp):
            for operand in op.operands:
                if (buffer := buffer_of(operand)) in readers:
                    readers[buffer] = op
    return readers
