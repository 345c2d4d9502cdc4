"""What the passes of tile form share: the reads and writes of a kernel, and new ones in place of old ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ...dialects.tile import ReadOp, WriteOp
from ...dialects.traversal import ops_inside
from ...dialects.types import shape_of
from ...dialects.uop import KernelOp
from .tile_builder import TileBuilder


def kernels_of(module: ModuleOp) -> Iterator[KernelOp]:
    for op in module.ops:
        if isinstance(op, KernelOp):
            yield op


def accesses_of(kernel: KernelOp) -> list[ReadOp | WriteOp]:
    """The reads and writes of a kernel, in the order of the text."""
    # `isinstance` of every op would take most of the time: it asks an abstract base class.
    accesses = [op for op in ops_inside(kernel.body) if op.__class__ is ReadOp or op.__class__ is WriteOp]
    return cast("list[ReadOp | WriteOp]", accesses)


def value_of(access: ReadOp | WriteOp) -> SSAValue:
    """What is read or written."""
    return access.result if isinstance(access, ReadOp) else access.value


def replace_access(
    access: ReadOp | WriteOp,
    *,
    buffer: SSAValue | None = None,
    indices: Sequence[SSAValue] | None = None,
    conditions: Sequence[SSAValue] | None = None,
    vector: int | None = None,
    along: int | None = None,
) -> ReadOp | WriteOp:
    """The access again with another buffer, indices, mask (the conjunction of `conditions`), or width and
    dimension of vectors, in its place.

    What is not given stays as it is.
    """
    assert access.parent is not None
    if vector is None and access.vector is not None:
        vector = access.vector.value.data
        along = None if access.along is None else access.along.value.data
    mask = access.mask
    if conditions is not None:
        builder = TileBuilder(access.parent, before=access)
        builder.location = access.location
        mask = builder.conjunction(conditions)
        if mask is not None:
            mask = builder.fit(mask, shape_of(value_of(access).type))
    buffer = access.buffer if buffer is None else buffer
    indices = tuple(access.indices) if indices is None else indices
    if isinstance(access, ReadOp):
        new = ReadOp.of(buffer, indices, access.result.type, mask, vector, along=along)
        new.result.name_hint = access.result.name_hint
    else:
        new = WriteOp.of(access.value, buffer, indices, mask, vector, along)
    new.location = access.location
    new.attributes.update(access.attributes)
    access.parent.insert_op_before(new, access)
    for old, result in zip(access.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    access.parent.erase_op(access)
    return new
