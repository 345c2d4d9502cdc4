"""What may be done to an op without asking what it means: remove it if unused, merge it with an equal one,
move it."""

from functools import cache

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect

from ..dialects import tile
from ..dialects.uop import LoadOp, RangeOp

READS = (LoadOp, tile.ReadOp)
"""Reads of one buffer, their first operand."""

_READERS = (*READS, tile.StageOp)

_IDENTITIES = (RangeOp, tile.AxisOp)
"""Ops that stand for one axis or one factor of it: two that look alike are not the same."""


@cache
def is_pure(op: type[Operation]) -> bool:
    """Whether ops of this class compute their results from their operands and properties, and do nothing
    else."""
    return any(isinstance(trait, Pure) for trait in op.traits) and not issubclass(op, _IDENTITIES)


@cache
def is_removable(op: type[Operation]) -> bool:
    """Whether an op of this class is dead when its results are unused.

    A tile.axis is not: it is a factor of its kernel's schedule, used or not.
    """
    return is_pure(op) or issubclass(op, (*READS, RangeOp))


@cache
def has_recursive_effects(op: type[Operation]) -> bool:
    """Whether ops of this class do what the ops inside them do, and nothing else."""
    return any(isinstance(trait, RecursiveMemoryEffect) for trait in op.traits)


@cache
def _is_terminator(op: type[Operation]) -> bool:
    return any(isinstance(trait, IsTerminator) for trait in op.traits)


def has_no_effect(op: Operation) -> bool:
    """Whether nothing but the results of `op` tells that it was there."""
    if is_removable(type(op)):
        return True
    if not has_recursive_effects(type(op)):
        return False
    return all(
        _is_terminator(type(inner)) or has_no_effect(inner)
        for region in op.regions
        for block in region.blocks
        for inner in reversed(block.ops)  # what has an effect tends to come last
    )


def is_only_read(buffer: SSAValue) -> bool:
    """Whether nothing that sees `buffer` writes it, so that two reads of one place give the same.

    Buffers do not overlap: a kernel's arguments are different tensors.
    """
    return isinstance(buffer.type, MemRefType) and all(
        isinstance(use.operation, _READERS) and use.index == 0 for use in buffer.uses
    )
