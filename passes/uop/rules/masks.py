"""Masks of reads and writes that are always true or always false."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects import tile
from ....dialects.uop import AndOp, LoadOp, StoreOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import BOOL, OpPattern, variables
from ....rewriting.rules import Rules
from ....rewriting.values import number_of
from ....rewriting.vocabulary import add, and_, load, store, where

(x,) = variables("x")
(c,) = variables("c", BOOL)

read = OpPattern("read", tile.ReadOp)
write = OpPattern("write", tile.WriteOp)


def _constant_mask(op: LoadOp | StoreOp | tile.ReadOp | tile.WriteOp) -> bool | None:
    mask = op.mask
    if mask is None or not isinstance(mask.owner, Operation):
        return None
    number = number_of(mask.owner)
    return None if number is None else bool(number)


def has_constant_mask(op: LoadOp | StoreOp | tile.ReadOp | tile.WriteOp) -> bool:
    """Whether the mask is known."""
    return _constant_mask(op) is not None


def read_without_mask(builder: RewriteBuilder, op: LoadOp | tile.ReadOp) -> SSAValue | None:
    """The read without its mask, or the 0 that it gives where the mask is false."""
    if not _constant_mask(op):
        return builder.number(0, op.result.type)
    if isinstance(op, LoadOp):
        return builder.insert(LoadOp.of(op.buffer, op.indices)).results[0]
    vector = None if op.vector is None else op.vector.value.data
    return builder.insert(tile.ReadOp.of(op.buffer, op.indices, op.result.type, vector=vector)).results[0]


def write_without_mask(builder: RewriteBuilder, op: StoreOp | tile.WriteOp) -> Sequence[SSAValue]:
    """The write without its mask, or nothing where the mask is false."""
    if not _constant_mask(op):
        return ()
    if isinstance(op, StoreOp):
        builder.insert(StoreOp.of(op.value, op.buffer, op.indices))
    else:
        vector = None if op.vector is None else op.vector.value.data
        builder.insert(tile.WriteOp.of(op.value, op.buffer, op.indices, vector=vector))
    return ()


def is_zero_elsewhere(x: SSAValue, c: SSAValue) -> bool:
    """Whether x is read under a mask that needs c, so that it is 0 where c is false."""
    owner = x.owner
    if not isinstance(owner, LoadOp | tile.ReadOp) or owner.mask is None:
        return False
    stack: list[SSAValue] = [owner.mask]
    while stack:
        mask = stack.pop()
        if mask is c:
            return True
        if isinstance(mask.owner, AndOp):
            stack += mask.owner.operands
    return False


MASKS = Rules(
    where[c, x, 0].when(is_zero_elsewhere) >> x,
    and_[c, x].when(is_zero_elsewhere) >> x,
    where[c, add[x, 0], 0].when(is_zero_elsewhere) >> add[x, 0],
    load[...].when(has_constant_mask) >> read_without_mask,
    read[...].when(has_constant_mask) >> read_without_mask,
    store[...].when(has_constant_mask) >> write_without_mask,
    write[...].when(has_constant_mask) >> write_without_mask,
)
