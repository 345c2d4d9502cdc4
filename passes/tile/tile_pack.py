"""tile-pack: what a task reads again and again lies together in an array of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.passes import ModulePass

from ...dialects.layouts import span_of
from ...dialects.loop import ForOp
from ...dialects.schedule import Staging
from ...dialects.tile import ReadOp, StageOp
from ...dialects.types import byte_width, element_of, is_float, is_memref, shape_of, with_element
from ...dialects.uop import CastOp, KernelOp
from ...rewriting.backward_slices import backward_slice
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from .accesses import kernels_of
from .places import builder_before
from .tile_stage import Unstaged, is_alike, stage_kernel, staged_arguments

TASK_BYTES = 896 * 1024
"""What a task packs, at most: most of what it has for arrays, and of the second cache of a core."""


@dataclass(frozen=True)
class TilePackPass(ModulePass):
    """Copy all that a task reads of the buffers that `stage = [%x …]` of the schedule names to arrays of the task.

    What tile-stage does for a step of a reduction in the shared memory of a GPU, for a whole task of a CPU: rows that
    are far apart in a buffer are neighbours in its array, and with `along` so are the elements that lanes read. Floats
    that are only read to be made wider are so in the array: the copy converts each once. Where a task has no room for
    all, where a loop ends at a position that is read from memory, or where no other loop repeats it, the array has what
    a step of that loop reads.

    Leaves alone, with a remark: indices that are not linear, boxes for which `task_bytes` has no room. Leaves alone:
    reads of buffers that the schedule does not name, reads that have no registers along a dimension that is to be
    `along`.

    task_bytes: what the arrays of a kernel may take.
    """

    name = "tile-pack"

    task_bytes: int = TASK_BYTES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if kernel.schedule is not None and kernel.schedule.data.stage:
                for left in pack_kernel(kernel, kernel.schedule.data.stage, self.task_bytes):
                    emit_remark(left.read, f"%{left.buffer} is not packed here: {left.reason}")
                _convert_while_packing(kernel, self.task_bytes)
                erase_unused(kernel.body.block)


def pack_kernel(kernel: KernelOp, stagings: Sequence[Staging], task_bytes: int = TASK_BYTES) -> list[Unstaged]:
    """Pack what a task, or a step of one of its loops, reads of these buffers; the reads that are left alone, but those
    of a buffer of which others are packed along another dimension."""
    unstaged = stage_kernel(kernel, stagings, task_bytes, _places)
    for staging, argument in zip(stagings, staged_arguments(kernel, stagings), strict=True):
        users = [use.operation for use in argument.uses]
        read = next((op for op in users if isinstance(op, ReadOp)), None)
        is_packed = any(isinstance(op, StageOp) for op in users)
        if read is not None and not is_packed and not any(left.buffer == staging.buffer for left in unstaged):
            reason = f"no read of it has registers along dimension {staging.along}"
            unstaged.append(Unstaged(read, staging.buffer, reason))
    return unstaged


def _places(read: ReadOp, staging: Staging) -> list[ForOp | None]:
    """The task, and, from the outside, the loops around others whose steps read different elements: from the first on
    that may end early, if there is one, and from the last that no other loop repeats, for its panels are smaller.
    Nothing where `along` is a dimension along which the read has but one element."""
    along = read.indices[staging.along : staging.along + 1] if staging.along is not None else ()
    if any(not shape_of(value.type) for value in along):
        return []
    around: list[ForOp] = []
    parent = read.parent_op()
    while isinstance(parent, ForOp):
        around.insert(0, parent)
        parent = parent.parent_op()
    places: list[ForOp | None] = [None]
    is_repeated = False
    for loop in around[:-1]:
        if is_alike(read, loop):
            is_repeated = True
        elif not is_repeated or (places == [None] and _ends_early(loop)):
            places = [loop]
        else:
            places.append(loop)
    return places


def _ends_early(loop: ForOp) -> bool:
    """Whether limits of the loop are read from memory."""
    return any(isinstance(op, ReadOp) for op in backward_slice(loop.limits.values))


def _convert_while_packing(kernel: KernelOp, task_bytes: int) -> None:
    """Give arrays the element type that all their readers make of what they read, if that is a wider float."""
    stages = [op for op in kernel.body.walk() if isinstance(op, StageOp)]
    taken = sum(_bytes(op) for op in stages)
    for stage in stages:
        reads = [use.operation for use in stage.result.uses]
        readers = {use.operation for read in reads for result in read.results for use in result.uses}
        types = {element_of(reader.results[0].type) for reader in readers if isinstance(reader, CastOp)}
        if len(types) != 1 or not all(isinstance(reader, CastOp) for reader in readers):
            continue
        (element,) = types
        source, slab = element_of(stage.buffer.type), stage.result.type
        assert is_memref(slab)
        grown = _bytes(stage) * (byte_width(element) // byte_width(source) - 1)
        if not (is_float(source) and is_float(element)) or grown <= 0 or taken + grown > task_bytes:
            continue
        taken += grown
        type = MemRefType(element, slab.get_shape(), slab.layout, slab.memory_space)
        builder = builder_before(stage)
        limit = None if stage.limit is None or stage.along is None else (stage.along.value.data, stage.limit)
        wide = builder.insert(StageOp.of(stage.buffer, stage.origin, type, stage.buffers.value.data, limit=limit))
        wide.location = stage.location
        wide.result.name_hint = stage.result.name_hint
        for read in reads:
            assert isinstance(read, ReadOp)
            again = ReadOp.of(wide.result, read.indices, with_element(read.result.type, element), read.mask)
            again.location = read.location
            builder_before(read).insert(again)
            for use in list(read.result.uses):
                use.operation.results[0].replace_all_uses_with(again.result)
                use.operation.detach()
                use.operation.erase()
            read.detach()
            read.erase()
        stage.detach()
        stage.erase()


def _bytes(stage: StageOp) -> int:
    type = stage.result.type
    assert is_memref(type)
    return span_of(type) * byte_width(type.element_type)
