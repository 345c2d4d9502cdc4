"""The accesses of a kernel's memory: where each one reads or writes, and under which conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ..dialects import gpu_kernel, tile
from ..dialects.types import shape_of
from ..dialects.uop import LoadOp, StoreOp

Condition = tuple[SSAValue, bool]
"""A bool and what it is."""


@dataclass(frozen=True)
class Access:
    """Elements of a buffer that an op reads or writes.

    indices: one for each dimension. offset: what is added to the last.
    width: elements side by side along the last dimension, of which that is the first.
    conditions: what holds where the access happens, outermost first.
    """

    op: Operation
    buffer: SSAValue
    indices: Sequence[SSAValue]
    conditions: tuple[Condition, ...]
    width: int = 1
    offset: int = 0

    @property
    def extents(self) -> tuple[int, ...]:
        return shape_of(self.buffer.type)

    @property
    def verb(self) -> str:
        return "writes" if _writes(self.op, self.buffer) else "reads"


ACCESSING: frozenset[type[Operation]] = frozenset(
    {
        *(LoadOp, StoreOp, tile.ReadOp, tile.WriteOp),
        *(gpu_kernel.LoadOp, gpu_kernel.StoreOp, gpu_kernel.AtomicOp, gpu_kernel.AsyncCopyOp, gpu_kernel.LdmatrixOp),
    }
)
"""The ops that have accesses. `tile.stage` is none: of a box, what is outside of the buffer is 0, and what reads the
slab is checked against the slab's shape."""


def accesses_of(op: Operation, around: Sequence[Condition] = ()) -> list[Access]:
    """The accesses of an op that stands under the conditions `around`."""
    # Classes are compared first: most ops are arithmetic, and `match` asks abstract classes.
    if type(op) not in ACCESSING:
        return []
    always = tuple(around)
    masked = always
    mask: SSAValue | None = getattr(op, "mask", None)
    if mask is not None:
        masked = (*always, (mask, True))
    match op:
        case LoadOp() | StoreOp() | tile.ReadOp() | tile.WriteOp() | gpu_kernel.AtomicOp():
            return [Access(op, op.buffer, op.indices, masked)]
        case gpu_kernel.LoadOp() | gpu_kernel.StoreOp():
            moved = op.result.type if isinstance(op, gpu_kernel.LoadOp) else op.value.type
            shape = shape_of(moved)
            return [Access(op, op.buffer, op.indices, masked, shape[0] if shape else 1)]
        case gpu_kernel.AsyncCopyOp():
            width = op.width.value.data
            # What is masked is written, too: zeros.
            return [
                Access(op, op.source, [op.source_index], masked, width, op.source_offset.value.data),
                Access(op, op.target, [op.target_index], always, width, op.target_offset.value.data),
            ]
        case gpu_kernel.LdmatrixOp():
            return [Access(op, op.buffer, [op.start], always, op.row, op.offset.value.data)]
        case _:
            return []


def _writes(op: Operation, buffer: SSAValue) -> bool:
    if isinstance(op, gpu_kernel.AsyncCopyOp):
        return buffer is op.target
    return isinstance(op, StoreOp | tile.WriteOp | gpu_kernel.StoreOp | gpu_kernel.AtomicOp)


def walk_accesses(root: Operation) -> Iterator[Access]:
    """The accesses inside `root`, in order, under the conditions of the branches around them."""
    stack: list[tuple[Operation, tuple[Condition, ...]]] = [(root, ())]
    while stack:
        op, around = stack.pop()
        yield from accesses_of(op, around)
        if not op.regions:
            continue
        inner: list[tuple[Operation, tuple[Condition, ...]]] = []
        for number, region in enumerate(op.regions):
            inside = (*around, (op.condition, number == 0)) if isinstance(op, gpu_kernel.IfOp) else around
            inner += [(child, inside) for block in region.blocks for child in block.ops]
        stack += reversed(inner)
