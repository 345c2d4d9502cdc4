"""Masks of reads and writes that are always true or always false."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects import tile
from ....dialects.uop import AluOp, AndOp, CastOp, LoadOp, StoreOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import BOOL, OpPattern, variables
from ....rewriting.ranges import RangeAnalysis
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
    vector, along = _vector(op)
    return builder.insert(tile.ReadOp.of(op.buffer, op.indices, op.result.type, vector=vector, along=along)).results[0]


def write_without_mask(builder: RewriteBuilder, op: StoreOp | tile.WriteOp) -> Sequence[SSAValue]:
    """The write without its mask, or nothing where the mask is false."""
    if not _constant_mask(op):
        return ()
    if isinstance(op, StoreOp):
        builder.insert(StoreOp.of(op.value, op.buffer, op.indices))
    else:
        vector, along = _vector(op)
        builder.insert(tile.WriteOp.of(op.value, op.buffer, op.indices, vector=vector, along=along))
    return ()


def is_zero_elsewhere(x: SSAValue, c: SSAValue) -> bool:
    """Whether x is read under a mask that needs all of c, so that it is 0 where c is false; or cast from what is."""
    owner = x.owner
    while isinstance(owner, CastOp):
        owner = owner.input.owner
    if not isinstance(owner, LoadOp | tile.ReadOp) or owner.mask is None:
        return False
    needed = _parts(owner.mask)
    return c in needed or all(part in needed for part in _parts(c) if not isinstance(part.owner, AndOp))


def _parts(condition: SSAValue) -> set[SSAValue]:
    """The condition, and what it is a conjunction of."""
    parts: set[SSAValue] = set()
    stack = [condition]
    while stack:
        part = stack.pop()
        if part not in parts:
            parts.add(part)
            if isinstance(part.owner, AndOp):
                stack += part.owner.operands
    return parts


def has_divided_index(op: LoadOp | StoreOp) -> bool:
    """Whether an access has a mask, and an index that may be simpler where the mask is true."""
    if op.mask is None:
        return False
    stack = list(op.indices)
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, AluOp):
            if owner.row().name in ("floordiv", "floormod", "min", "max"):
                return True
            stack += owner.operands
    return False


def narrowed(builder: RewriteBuilder, value: SSAValue, ranges: RangeAnalysis) -> SSAValue:
    """The index as it may be computed within these ranges."""
    owner = value.owner
    if not isinstance(owner, AluOp) or owner.row().arity != 2:
        return value
    range, (x, y) = ranges.of(value), owner.operands
    if range is None:
        return value
    if range.min == range.max:
        return builder.constant_like(range.min, value)
    a, b = ranges.of(x), ranges.of(y)
    if a is None or b is None:
        return value
    name = owner.row().name
    if name == "floormod" and b.min == b.max > 0 and (multiple := a.min // b.min) == a.max // b.min:
        return builder.alu("add", narrowed(builder, x, ranges), builder.constant_like(-multiple * b.min, x))
    if name in ("min", "max") and (a.max <= b.min or b.max <= a.min):
        return narrowed(builder, x if (a.max <= b.min) == (name == "min") else y, ranges)
    operands = [narrowed(builder, operand, ranges) for operand in (x, y)]
    if operands[0] is x and operands[1] is y:
        return value
    return builder.alu(name, *operands)


def within_mask(builder: RewriteBuilder, op: LoadOp | StoreOp) -> Sequence[SSAValue] | None:
    """The access with indices that are the same wherever the mask is true; elsewhere, nothing is accessed."""
    assert op.mask is not None
    ranges = RangeAnalysis().given(op.mask)
    indices = [narrowed(builder, index, ranges) for index in op.indices]
    if all(new is old for new, old in zip(indices, op.indices, strict=True)):
        return None
    if isinstance(op, LoadOp):
        return builder.insert(LoadOp.of(op.buffer, indices, op.mask)).results
    builder.insert(StoreOp.of(op.value, op.buffer, indices, op.mask))
    return ()


MASKS = Rules(
    where[c, x, 0].when(is_zero_elsewhere) >> x,
    and_[c, x].when(is_zero_elsewhere) >> x,
    where[c, add[x, 0], 0].when(is_zero_elsewhere) >> add[x, 0],
    load[...].when(has_constant_mask) >> read_without_mask,
    read[...].when(has_constant_mask) >> read_without_mask,
    store[...].when(has_constant_mask) >> write_without_mask,
    write[...].when(has_constant_mask) >> write_without_mask,
    load[...].when(has_divided_index) >> within_mask,
    store[...].when(has_divided_index) >> within_mask,
)


def _vector(op: tile.ReadOp | tile.WriteOp) -> tuple[int | None, int | None]:
    """The width of an access's vectors and the dimension along which they go."""
    return (
        None if op.vector is None else op.vector.value.data,
        None if op.along is None else op.along.value.data,
    )
