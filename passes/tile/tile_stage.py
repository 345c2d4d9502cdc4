"""tile-stage: carry out `stage` of the schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.axes import AxisKind
from ...dialects.layouts import slab_type, span_of
from ...dialects.loop import ForOp
from ...dialects.schedule import Staging
from ...dialects.tile import ReadOp, StageOp
from ...dialects.types import byte_width, element_of, shape_of
from ...dialects.uop import KernelOp
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import PassError, emit_remark
from ...rewriting.driver import Order, rewrite
from ...rewriting.linear import LinearForm
from ...rewriting.locations import fuse_locations
from .accesses import accesses_of, kernels_of, replace_access
from .linear import bounds_of, conjuncts, is_of_block, linear_form, negative_form
from .places import build_form, builder_before
from .slab_limits import SlabLimit, limit_of, mask_by_choices
from .tile_drop_masks import DROPPED

SHARED_BYTES = 80 * 1024
"""Shared memory of a block of which a multiprocessor of every architecture has room for two."""


@dataclass(frozen=True)
class TileStagePass(ModulePass):
    """Copy the slabs that `stage = [%x …]` of the schedule names to shared memory, and read them there.

    For each read of a named buffer inside a serial reduction, the slab is what the block reads of the buffer in
    one step of the reduction's outermost serial loop, and is staged at the top of that loop's body. With two serial
    factors (`k = 2 loop * 32 loop`) that is a piece of 32 steps; with one (`k = 64 loop`) it is one step, which
    threads share but no later step reads again; with none that has steps (`k = 32 unroll`, or an instruction's) it is
    what the block reads in one step of the next reduction around that the read varies with or, if there is none, all
    that the block reads, staged in front. Of a buffer that is only read behind such a loop (the bias of a
    product) the slab is all that the block reads, staged in front of the loop. `%x over k` is staged in loops over k
    only: what others read of it is not shared.

    The slab is found from the linear forms of the indices: terms over blocks and over loops that are open at that
    place give its origin, the others its extents. Outside the buffer a slab is 0, so a staged read loses the
    conditions of its mask that say no more than that its index is inside the buffer; it keeps the others. One that ends
    the buffer at a number which the block knows in front of the loop, as the length of a sequence, becomes the limit of
    the slab (passes/tile/slab_limits.py): in the mask, or of a choice between the read and 0.

    Leaves alone, with a remark: other reads outside serial reductions, indices that are not linear, rows that are no
    whole number of the units that `swizzle` permutes, slabs for which `shared_bytes` has no room. Leaves alone: reads
    of buffers that the schedule does not name.

    shared_bytes: what the slabs of a kernel may take.
    """

    name = "tile-stage"

    shared_bytes: int = SHARED_BYTES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if kernel.schedule is not None and kernel.schedule.data.stage:
                for left in stage_kernel(kernel, kernel.schedule.data.stage, self.shared_bytes):
                    emit_remark(left.read, f"%{left.buffer} is not staged here: {left.reason}")
                erase_unused(kernel.body.block)


@dataclass(frozen=True)
class Unstaged:
    """A read that was left alone though its buffer is to be staged."""

    read: ReadOp
    buffer: str
    reason: str


def staged_arguments(kernel: KernelOp, stagings: Sequence[Staging]) -> list[BlockArgument]:
    """The kernel's arguments that are staged. Raises `PassError` for a buffer that it does not have."""
    buffers = {argument.name_hint: argument for argument in kernel.body.block.args}
    for staging in stagings:
        if staging.buffer not in buffers:
            names = ", ".join(f"%{name}" for name in buffers)
            raise PassError(f"the schedule stages %{staging.buffer}, but the kernel's buffers are {names}", kernel)
    return [buffers[staging.buffer] for staging in stagings]


def stage_kernel(
    kernel: KernelOp,
    stagings: Sequence[Staging],
    shared_bytes: int = SHARED_BYTES,
    places: Callable[[ReadOp, Staging], Sequence[ForOp | None]] | None = None,
) -> list[Unstaged]:
    """Stage the slabs of a kernel in tile form; the reads of these buffers that are left alone.

    places: where what a read needs may be staged, the first place whose slab has room: for each step of a loop, or,
    None, for all of the block; nowhere where the read is to be left alone. Without it that is as the pass says.
    """
    arguments = staged_arguments(kernel, stagings)
    taken = sum(_bytes(op.result.type, op.buffers.value.data) for op in kernel.body.walk() if isinstance(op, StageOp))
    stages: dict[_Slab, StageOp] = {}
    unstaged: list[Unstaged] = []

    def places_of(read: ReadOp, staging: Staging) -> Sequence[ForOp | None]:
        return [_step_of(read, _reduction_around(read))] if places is None else places(read, staging)

    masked = [
        mask_by_choices(read, places_of(read, staging))
        for staging, argument in zip(stagings, arguments, strict=True)
        for read in _reads_of(kernel, staging, argument)
    ]
    if any(masked):
        rewrite(kernel, DROPPED, order=Order.ONE_SWEEP)
    for staging, argument in zip(stagings, arguments, strict=True):
        reads = _reads_of(kernel, staging, argument)
        behind = places is None and all(_loop_before(read) for read in reads)
        for read in reads:
            if places is None and not behind and not _reduction_around(read):
                unstaged.append(Unstaged(read, staging.buffer, "the read is in no serial loop of a reduction"))
                continue
            around = places_of(read, staging)
            if not around:
                continue
            slab = _slab_with_room(read, around, staging, stages, taken, shared_bytes)
            if isinstance(slab, str):
                unstaged.append(Unstaged(read, staging.buffer, slab))
                continue
            if slab not in stages:
                taken += _bytes(slab.type, staging.buffers)
                stages[slab] = _insert_stage(slab, read, staging)
            _read_staged(read, slab, stages[slab])
    return unstaged


def _reads_of(kernel: KernelOp, staging: Staging, buffer: SSAValue) -> list[ReadOp]:
    """The reads of a buffer that a staging is about."""
    reads = [read for read in accesses_of(kernel) if isinstance(read, ReadOp) and read.buffer is buffer]
    return [read for read in reads if staging.over is None or _is_over(read, staging.over)]


@dataclass(frozen=True)
class _Slab:
    """A box of a buffer that one step of `loop` needs, or a whole block: `type` is the slab's, `origin` where it
    begins, `limit` where the buffer ends for it."""

    buffer: SSAValue
    loop: ForOp | None
    origin: tuple[LinearForm, ...]
    type: MemRefType
    limit: SlabLimit | None


def _slab_with_room(
    read: ReadOp,
    loops: Sequence[ForOp | None],
    staging: Staging,
    stages: Mapping[_Slab, StageOp],
    taken: int,
    shared_bytes: int,
) -> _Slab | str:
    """The first of the slabs that these loops give for which there is room, or why there is none."""
    reasons: list[str] = []
    for loop in loops:
        slab = _slab_of(read, loop, staging)
        if isinstance(slab, str):
            return slab
        size = 0 if slab in stages else _bytes(slab.type, staging.buffers)
        if taken + size <= shared_bytes:
            return slab
        reasons.append(f"the slab takes {size} bytes, and {taken} of the {shared_bytes} bytes that there are are taken")
    return reasons[-1]


def _slab_of(read: ReadOp, loop: ForOp | None, staging: Staging) -> _Slab | str:
    """The slab that a read needs, or why there is none."""
    origin: list[LinearForm] = []
    shape: list[int] = []
    for dimension, value in enumerate(read.indices):
        form = linear_form(value)
        if form is None:
            return f"index {dimension} is not linear in axes and loops"
        inner = _inner_part(form, loop)
        reach = bounds_of(inner)
        origin.append(form - inner + LinearForm({}, reach.low))
        shape.append(reach.high - reach.low + 1)
    try:
        type = slab_type(element_of(read.buffer.type), shape, staging.pad, staging.swizzle, staging.along)
    except ValueError as error:
        return str(error)
    return _Slab(read.buffer, loop, tuple(origin), type, limit_of(read, loop))


def _reduction_around(op: Operation) -> list[ForOp]:
    """The serial loops of the innermost reduction that the op is in, outermost first."""
    loop = op.parent_op()
    while isinstance(loop, ForOp) and not loop.results:
        loop = loop.parent_op()
    if not isinstance(loop, ForOp):
        return []
    loops = [loop]
    while isinstance(outer := loop.parent_op(), ForOp) and loop.inits and tuple(loop.inits) == tuple(outer.carried):
        loop = outer
        loops.insert(0, loop)
    return loops


def _is_over(read: ReadOp, axis: str) -> bool:
    """Whether a read stands in a loop over an axis."""
    loop = read.parent_op()
    while isinstance(loop, ForOp) and loop.axis.axis.data != axis:
        loop = loop.parent_op()
    return isinstance(loop, ForOp)


def _step_of(read: ReadOp, loops: Sequence[ForOp]) -> ForOp | None:
    """The loop of whose steps each has its slab: of the loops of the innermost reduction, the outermost that has steps;
    where none has, that of the next reduction around that the read varies with."""
    climbed = False
    while loops:
        # Loops that are written out, or are one instruction, have no steps.
        loop = next((loop for loop in loops if loop.axis.axis_kind is AxisKind.LOOP), None)
        if loop is not None and not (climbed and is_alike(read, loop)):
            return loop
        loops, climbed = _reduction_around(loops[0]), True
    return None


def is_alike(read: ReadOp, loop: ForOp) -> bool:
    """Whether what is read is the same in all steps of a loop."""
    forms = [linear_form(value) for value in read.indices]
    return all(form is not None and loop.index not in form.terms for form in forms)


def _loop_before(read: ReadOp) -> ForOp | None:
    """The first loop of the kernel, if it is a reduction's and the read stands behind it, in no loop."""
    if not isinstance(read.parent_op(), KernelOp) or read.parent is None:
        return None
    first = next(op for op in read.parent.ops if op is read or isinstance(op, ForOp))
    return first if isinstance(first, ForOp) and first.results else None


def _inner_part(form: LinearForm, loop: ForOp | None) -> LinearForm:
    """The terms of a form that vary while a slab staged at the top of the body of `loop` is used."""
    return LinearForm({leaf: c for leaf, c in form.terms.items() if not _is_fixed(leaf, loop)})


def _is_fixed(leaf: SSAValue, loop: ForOp | None) -> bool:
    """Whether a leaf is one number for the block in one step of `loop`: a block axis, or an open loop's index."""
    if is_of_block(leaf):
        return True
    around: Operation | None = loop
    while isinstance(around, ForOp):
        if leaf is around.index:
            return True
        around = around.parent_op()
    return False


def _bytes(type: MemRefType, buffers: int) -> int:
    return span_of(type) * byte_width(type.element_type) * buffers


def _insert_stage(slab: _Slab, read: ReadOp, staging: Staging) -> StageOp:
    """Stage the slab at the top of its loop's body, behind what is staged there; without a loop, in front of the one
    that the read stands behind, or is in."""
    if slab.loop is None:
        before: Operation | None = _loop_before(read) or read
        while before is not None and not isinstance(before.parent_op(), KernelOp):
            before = before.parent_op()
    else:
        body = slab.loop.body.block
        staged = [op for op in body.ops if isinstance(op, StageOp)]
        before = staged[-1].next_op if staged else body.first_op
    assert before is not None
    builder = builder_before(before)
    builder.location = read.location
    origin = [build_form(builder, form, ()) for form in slab.origin]
    limit = None if slab.limit is None else (slab.limit.dimension, slab.limit.build(builder, slab.buffer))
    stage = builder.insert(StageOp.of(slab.buffer, origin, slab.type, staging.buffers, staging.asynchronous, limit))
    stage.result.name_hint = f"{staging.buffer}_s"
    return stage


def _read_staged(read: ReadOp, slab: _Slab, stage: StageOp) -> None:
    """Read the slab instead of the buffer."""
    forms = [linear_form(value) for value in read.indices]
    builder = builder_before(read)
    indices: list[SSAValue] = []
    conditions = [] if read.mask is None else conjuncts(read.mask)
    if slab.limit is not None:
        conditions.remove(slab.limit.condition)
    for value, form, origin, extent in zip(read.indices, forms, slab.origin, shape_of(read.buffer.type), strict=True):
        assert form is not None
        indices.append(build_form(builder, form - origin, shape_of(value.type)))
        conditions = [condition for condition in conditions if not _says_inside(condition, form, extent)]
    stage.location = fuse_locations((stage.location, read.location))
    replace_access(read, buffer=stage.result, indices=indices, conditions=conditions)


def _says_inside(condition: SSAValue, index: LinearForm, extent: int) -> bool:
    """Whether the condition holds wherever 0 ≤ index < extent."""
    form = negative_form(condition)
    if form is None:
        return False
    above, below = form - index, form + index
    return (not above.terms and above.constant <= -extent) or (not below.terms and below.constant <= -1)
