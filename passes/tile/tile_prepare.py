"""tile-prepare: what is computed of each element of a slab is computed once for the block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.axes import THREAD_KINDS, AxisKind
from ...dialects.loop import ForOp
from ...dialects.tile import AxisOp, LeaveUnlessOp, ReadOp, StageOp, WriteOp
from ...dialects.types import broadcast_shape, element_of, index, shape_of, with_shape
from ...dialects.uop import AluOp, CastOp, ExpandOp, KernelOp
from ...rewriting.backward_slices import backward_slice
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from .accesses import kernels_of
from .held_alike import is_held_alike
from .linear import linear_form
from .places import builder_before
from .tile_builder import TileBuilder
from .tile_stage import staged_arguments


class TilePreparePass(ModulePass):
    """Compute what is made of the elements of slabs once for the block, where the schedule says `prepared`.

    The threads that hold columns of a product all multiply the same rows. What the rows are computed of, a
    normalisation of what lies in their slab, each of these threads would compute for itself. Instead they share the
    steps that the slab has: in front of the loop over these, each computes its part, and writes it to where it read it
    from. Behind that write the slab holds what is multiplied.

    Leaves alone, with a remark: slabs that several reads or loops use, from whose elements several values are computed,
    none, or one of another type; steps that the threads cannot share evenly.
    """

    name = "tile-prepare"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if kernel.schedule is None:
                continue
            stagings = [staging for staging in kernel.schedule.data.stage if staging.prepared]
            for argument in staged_arguments(kernel, stagings):
                for stage in [use.operation for use in argument.uses if isinstance(use.operation, StageOp)]:
                    operand = _operand_of(kernel, stage)
                    if isinstance(operand, str):
                        emit_remark(stage, f"%{argument.name_hint} is not prepared here: {operand}")
                    else:
                        operand.prepare()
                        erase_unused(kernel.body.block)


@dataclass(frozen=True)
class _Operand:
    """A value that the steps of a loop make of one element of a slab each, which several threads do alike.

    ops: that compute it in the loop, of what was read. threads: the axes along which threads have the same.
    held: the shape of the vectors of a thread's steps.
    """

    read: ReadOp
    loop: ForOp
    value: SSAValue
    ops: Sequence[Operation]
    threads: Sequence[AxisOp]
    held: Sequence[int]

    def prepare(self) -> None:
        """Compute it in front of the loop, and read it there."""
        builder = builder_before(self.loop)
        values: dict[SSAValue, SSAValue] = {self.loop.index: self._steps(builder)}
        for op in self.ops:
            with builder.at(op.location):
                values[op.results[0]] = _again(builder, op, [values.get(value, value) for value in op.operands])
        with builder.at(self.read.location):
            indices = [values.get(value, value) for value in self.read.indices]
            prepared = values[self.value]
            shape = broadcast_shape([shape_of(value.type) for value in (prepared, *indices)])
            assert shape is not None
            builder.insert(WriteOp.of(builder.fit(prepared, shape), self.read.buffer, indices))
        again = ReadOp.of(self.read.buffer, self.read.indices, self.value.type)
        again.result.name_hint = self.value.name_hint
        builder_before(self.read).insert(again)
        self.value.replace_all_uses_with(again.result)

    def _steps(self, builder: TileBuilder) -> SSAValue:
        """The steps that a thread computes: neighbours, behind those of the threads before it."""
        assert builder.parent is not None
        builder.parent.location = self.read.location
        position: SSAValue | None = None
        stride = share = prod(self.held)
        for axis in reversed(self.threads):
            position = builder.parent.add_term(position, axis.result, stride)
            stride *= axis.extent
        assert position is not None
        if share == 1:
            return position
        name = self.loop.axis.axis.data
        axis = builder.parent.insert(AxisOp.of(name, share, AxisKind.REGISTER, with_shape(index, self.held)))
        axis.result.name_hint = f"r{name}"
        return builder.parent.alu("add", position, axis.result)


def _operand_of(kernel: KernelOp, stage: StageOp) -> _Operand | str:
    """What is computed of each element of a slab, or why that is not found."""
    reads = [use.operation for use in stage.result.uses]
    if len(reads) != 1 or not isinstance(read := reads[0], ReadOp):
        return "it is read at several places"
    loop = read.parent_op()
    if not isinstance(loop, ForOp) or loop.parent is not stage.parent or loop.limits.values:
        return "it is not read in a loop over its steps"
    if loop.parent is not None and any(isinstance(op, LeaveUnlessOp) for op in loop.parent.ops):
        return "warps leave steps for themselves, and cannot wait for others"
    around = {axis for value in read.indices if (form := linear_form(value)) for axis in form.terms}
    if loop.index not in around:
        return "all steps of the loop read the same"
    axes = [op for op in kernel.body.block.ops if isinstance(op, AxisOp) and op.axis.axis_kind in THREAD_KINDS]
    threads = [axis for axis in axes if axis.result not in around and axis.extent > 1]
    ops = _computed_alike(read, loop, threads)
    value = _last_before_all(read.result, ops)
    if value is read.result:
        return "nothing is computed of its elements alone"
    if value.type != read.result.type:
        return f"its elements are {element_of(stage.result.type)}, and {value.type} is computed of {read.result.type}"
    steps, shared = loop.axis.extent.data, prod(axis.extent for axis in threads)
    if shared == 1 or steps % shared:
        return f"{steps} steps are not shared evenly by {shared} threads"
    shape = shape_of(read.result.type) or _any_shape(kernel)
    dimension = max((d for d, extent in enumerate(shape) if extent == 1), default=None)
    if steps > shared and dimension is None:
        return "its registers leave no dimension for the steps of a thread"
    held = [steps // shared if d == dimension else 1 for d in range(len(shape))]
    needed = set(backward_slice([value]))
    return _Operand(read, loop, value, [op for op in ops if op in needed], threads, held)


def _any_shape(kernel: KernelOp) -> tuple[int, ...]:
    """The shape of one element as a vector of the kernel's rank."""
    axes = [op for op in kernel.body.block.ops if isinstance(op, AxisOp) and op.axis.axis_kind is AxisKind.REGISTER]
    return (1,) * max((len(shape_of(axis.result.type)) for axis in axes), default=1)


def _computed_alike(read: ReadOp, loop: ForOp, threads: Sequence[AxisOp]) -> list[Operation]:
    """The ops of a loop, in order, whose results are the same for threads that differ along these axes, and for
    registers along which the read does not vary."""
    block, shape = loop.body.block, shape_of(read.result.type)
    found = list[Operation]()
    inside: set[SSAValue] = {loop.index}
    for op in block.ops:
        if not isinstance(op, AluOp | CastOp | ExpandOp | ReadOp) or (isinstance(op, ReadOp) and op.ldmatrix):
            continue
        fits = broadcast_shape([shape, shape_of(op.results[0].type)]) == shape
        if fits and all(value in inside or _is_alike(value, block, threads) for value in _inputs(op)):
            found.append(op)
            inside.add(op.results[0])
    return found


def _inputs(op: Operation) -> Sequence[SSAValue]:
    return op.operands[1:] if isinstance(op, ReadOp) else op.operands


def _is_alike(value: SSAValue, block: Block, threads: Sequence[AxisOp]) -> bool:
    """Whether a value from outside of a loop's body is the same for threads that differ along these axes."""
    if value.owner is block or (isinstance(value.owner, Operation) and value.owner.parent is block):
        return False
    form = linear_form(value) if element_of(value.type) == index else None
    if form is not None:
        return not any(axis.result in form.terms for axis in threads)
    return not isinstance(value, BlockArgument) and all(is_held_alike([value], axis) for axis in threads)


def _last_before_all(value: SSAValue, ops: Sequence[Operation]) -> SSAValue:
    """The last value that these ops, in order, compute of one, so that whatever else is made of that is made of it."""
    last = value
    waiting = {value: {use.operation for use in value.uses}}
    made = {value}
    for op in ops:
        if made.isdisjoint(op.operands):
            continue
        for operand in made.intersection(op.operands):
            waiting[operand].discard(op)
        made.add(result := op.results[0])
        waiting[result] = {use.operation for use in result.uses}
        if all(not users for other, users in waiting.items() if other is not result):
            last = result
    return last


def _again(builder: TileBuilder, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    """The op on operands of other shapes."""
    if isinstance(op, ExpandOp):
        return operands[0]  # operands are brought to one shape where they meet
    if isinstance(op, ReadOp):
        count = len(op.indices)
        indices, masks = operands[1 : 1 + count], operands[1 + count :]
        shape = broadcast_shape([shape_of(value.type) for value in (*indices, *masks)])
        assert shape is not None
        mask = builder.fit(masks[0], shape) if masks else None
        read = ReadOp.of(operands[0], _of_shape(builder, indices, shape), with_shape(op.result.type, shape), mask)
        return builder.insert(read).result
    if isinstance(op, CastOp):
        return builder.cast(operands[0], element_of(op.result.type))
    assert isinstance(op, AluOp)
    return builder.alu(op.row().name, *operands)


def _of_shape(builder: TileBuilder, indices: Sequence[SSAValue], shape: tuple[int, ...]) -> list[SSAValue]:
    """Indices of which the last has this shape, where they do not have it together: masks may vary further."""
    together = broadcast_shape([shape_of(value.type) for value in indices])
    return [*indices] if together == shape else [*indices[:-1], builder.fit(indices[-1], shape)]
