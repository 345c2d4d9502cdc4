"""Masks of reads and writes that are always true or always false."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects import tile
from ....dialects.uop import LoadOp, StoreOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import OpPattern
from ....rewriting.rules import Rules
from ....rewriting.values import number_of
from ....rewriting.vocabulary import load, store

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


MASKS = Rules(
    load[...].when(has_constant_mask) >> read_without_mask,
    read[...].when(has_constant_mask) >> read_without_mask,
    store[...].when(has_constant_mask) >> write_without_mask,
    write[...].when(has_constant_mask) >> write_without_mask,
)
