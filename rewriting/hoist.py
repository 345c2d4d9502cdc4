"""Loop-invariant code motion: what does not change in a loop is computed before it."""

from xdsl.ir import Block, Operation

from ..dialects import loop
from ..dialects.traversal import ops_inside
from .effects import is_pure
from .listeners import report_count


def hoist_invariants(root: Operation) -> int:
    """Move pure ops without regions in front of the outermost `loop.for` or `loop.reduce` that does not
    change them.

    How many moved. Reads of buffers stay: holding what they give costs registers, which is for a schedule to
    choose.
    """
    moved = 0
    ops = [op for region in root.regions for op in ops_inside(region) if op.regions]
    loops = [op for op in ops if isinstance(op, loop.ForOp | loop.ReduceOp)]
    # Inner loops first: what leaves one may leave the next.
    for op in reversed(loops):
        before = op.parent
        if before is None:
            continue
        body = op.body.block
        for inner in body.ops:
            if not inner.regions and is_pure(type(inner)) and not _is_defined_in(inner, body):
                body.detach_op(inner)
                before.insert_op_before(inner, op)
                moved += 1
    report_count("invariants moved out of loops", moved)
    return moved


def _is_defined_in(op: Operation, body: Block) -> bool:
    """Whether an operand of `op`, which stands in `body`, comes from there: its argument or another op's
    result."""
    for operand in op._operands:  # pyright: ignore[reportPrivateUsage]  # the view costs twice as much
        owner = operand.owner
        if (owner if isinstance(owner, Block) else owner.parent) is body:
            return True
    return False
