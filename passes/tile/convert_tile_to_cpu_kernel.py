"""convert-tile-to-cpu-kernel: everything that tile form leaves open is decided, for a CPU."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects import cpu_kernel
from ...dialects.cpu_kernel.control import VECTOR_BYTES
from ...dialects.loop import ForOp, YieldOp
from ...dialects.tile import AxisOp, LeaveUnlessOp, ReadOp, StageOp, TakeAcrossOp, WriteOp
from ...dialects.traversal import ops_inside
from ...dialects.types import byte_width, element_of, index, is_vector, shape_of
from ...dialects.uop import AddOp, AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, KernelOp, MulOp, ReduceAxisOp
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import PassError
from ...rewriting.interval_arithmetic import Interval
from ...rewriting.linear import LinearForm
from ...rewriting.locations import UNKNOWN
from .launches import launches_of, output_count
from .linear import negative_form
from .lower.indices import Indices
from .lower.lowering import flat_types
from .lower.values import Value, Values
from .lower_cpu.accesses import lower_read, lower_write
from .lower_cpu.costs import task_grain
from .lower_cpu.lanes import choose_lanes
from .lower_cpu.loops import lower_loop
from .lower_cpu.lowering import ONLY, CPULowering, Place
from .lower_cpu.reductions import lower_reduce_axis
from .lower_cpu.stages import lower_stage
from .lower_cpu.takes import keep_taken, lower_take
from .lower_cpu.tasks import lower_tasks
from .lower_cpu.vector_scope import VectorScope

_HELP = "run convert-loop-to-tile first, with a schedule for a CPU (choose-schedule{target=cpu})"


@dataclass(frozen=True)
class ConvertTileToCPUKernelPass(ModulePass):
    """Tile form (`uop.kernel` with a schedule) → `cpu_kernel.kernel`, for a machine's vectors.

    - Block axes become the digits of a task's number; what follows `tile.leave_unless` stands in a branch.
    - Register tiles become scalars and vectors, all written out. Lanes go along the register dimension along which
      most accesses find their elements side by side, as many as the widest element leaves room for, and along others
      that no value has together with that, or that sums over it have (the keys of attention, whose scores are sums over
      the depth); accesses with other strides give each lane its own index.
    - Loops carry vectors. The steps of a loop, or of a block axis, in which the masks of ragged axes may not hold are
      apart: all others have no masks, and the last knows how many lanes it has. A loop that carries more vectors than
      there are registers is one for each part of them.
    - A product that is added to what a loop carries is one fused operation.
    - Stages become arrays of the task, filled vector by vector, by way of transposed squares where lanes need it.

    Leaves alone: the program, kernels without a schedule. Refused: threads, lanes and matrix instructions of GPUs.

    vector_bytes: bytes of a vector of the machine, 16, 32 or 64.
    """

    name = "convert-tile-to-cpu-kernel"

    vector_bytes: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.vector_bytes not in VECTOR_BYTES:
            raise PassError(f"no machine has vectors of {self.vector_bytes} bytes", None, "one of 16, 32, 64")
        launches = launches_of(op)
        for kernel in list(op.ops):
            if isinstance(kernel, KernelOp) and kernel.schedule is not None:
                outputs = output_count(kernel, launches.get(kernel.sym_name.data))
                lowered = _lower_kernel(kernel, self.vector_bytes, outputs)
                op.body.block.insert_op_before(lowered, kernel)
                op.body.block.erase_op(kernel)


def _lower_kernel(kernel: KernelOp, vector_bytes: int, outputs: int) -> cpu_kernel.KernelOp:
    most_lanes = vector_bytes // _widest_bytes(kernel)
    lowered = _lower_with(kernel, vector_bytes, most_lanes, outputs)
    if lowered is None:  # Indices of 64 bits are wider than what else the kernel has.
        lowered = _lower_with(kernel, vector_bytes, min(most_lanes, vector_bytes // 8), outputs)
    assert lowered is not None
    return lowered


def _lower_with(kernel: KernelOp, vector_bytes: int, most_lanes: int, outputs: int) -> cpu_kernel.KernelOp | None:
    """The kernel with at most so many lanes; None where its vectors of indices do not fit."""
    arguments = kernel.body.block.args
    block = Block(arg_types=flat_types(kernel, _HELP))
    body = Region(block)
    root = VectorScope(block)
    root.location = kernel.location
    indices = Indices(root)
    dimensions, lanes = choose_lanes(kernel, most_lanes)
    registers = 32 if vector_bytes >= 64 else 16
    lowering = CPULowering(kernel, root, indices, Values(indices), lanes, dimensions, registers, _ragged(kernel))
    for old, new in zip(arguments, block.args, strict=True):
        new.name_hint = old.name_hint
        lowering.buffers[old] = new
    axes = [op for op in kernel.body.block.ops if isinstance(op, AxisOp)]
    for axis in axes:
        if shape_of(axis.result.type):
            lowering.set_position(axis)
    tasks = lower_tasks(lowering, axes, lambda scope: _lower_block(lowering, scope, kernel.body.block))
    erase_unused(block, (cpu_kernel.LoadOp,))
    bits = _index_bits(body, indices)
    if bits * lanes > 8 * vector_bytes:
        return None
    lowered = cpu_kernel.KernelOp.of(
        kernel.sym_name.data,
        body,
        outputs=outputs,
        tasks=tasks,
        grain=task_grain(block, tasks),
        vector_bytes=vector_bytes,
        index_bits=bits,
    )
    lowered.location = kernel.location
    lowered.attributes.update(kernel.attributes)
    return lowered


# What vectors are made of.


def _widest_bytes(kernel: KernelOp) -> int:
    """Bytes of the widest element that vectors hold: f32 where there are narrower ones, which are computed in it."""
    elements = {element_of(x.type) for op in ops_inside(kernel.body) for x in op.results if shape_of(x.type)}
    elements |= {element_of(x.type) for op in ops_inside(kernel.body) for x in op.operands if shape_of(x.type)}
    return max((byte_width(element) for element in elements if element != index), default=4)


def _ragged(kernel: KernelOp) -> list[LinearForm]:
    forms = [
        negative_form(op.results[0]) for op in ops_inside(kernel.body) if isinstance(op, AluOp) and op.row().compares
    ]
    return [form for form in forms if form is not None]


_NARROW = Interval(-(2**31), 2**31 - 1)


def _index_bits(body: Region, indices: Indices) -> int:
    """32 where every vector of indices is proved to fit."""
    for op in ops_inside(body):
        for result in op.results:
            if is_vector(result.type) and result.type.element_type == index:
                interval = indices.intervals.of(result)
                if interval is None or not _NARROW.contains(interval):
                    return 64
    return 32


# Ops.


def _lower_block(lowering: CPULowering, scope: VectorScope, block: Block) -> None:
    with ExitStack() as branches:
        for op in block.ops:
            with scope.at(scope.location if op.location == UNKNOWN else op.location):
                if isinstance(op, LeaveUnlessOp):
                    branch = cpu_kernel.IfOp.of(lowering.vector_at(scope, op.needed, ONLY))
                    behind = branches.enter_context(scope.inside(branch, branch.then.block))
                else:
                    _lower_op(lowering, scope, op)
                    behind = scope
            scope = behind


def _lower_op(lowering: CPULowering, scope: VectorScope, op: Operation) -> None:
    match op:
        case AluOp() | CastOp() | BitcastOp() | ConstOp() | ExpandOp():
            _lower_elementwise(lowering, scope, op)
        case AxisOp() if op.result in lowering.parts:
            pass
        case YieldOp():
            pass
        case ReadOp():
            lower_read(lowering, scope, op)
        case WriteOp():
            lower_write(lowering, scope, op)
        case StageOp():
            lower_stage(lowering, scope, op)
        case ForOp():
            lower_loop(lowering, scope, op, _lower_block)
        case ReduceAxisOp():
            lower_reduce_axis(lowering, scope, op)
        case TakeAcrossOp():
            lower_take(lowering, scope, op)
        case AxisOp():
            raise PassError(
                f"axis {op.axis.axis.data} has a factor `{op.extent} {op.axis.axis_kind}`, which a CPU has not",
                op,
                "bind axes to block, loop, unroll and register factors",
            )
        case _:
            raise PassError(f"{op.name} is not carried out on a CPU", op, _HELP)
    for result in op.results:
        keep_taken(lowering, scope, result)


def _lower_elementwise(lowering: CPULowering, scope: VectorScope, op: Operation) -> None:
    (result,) = op.results
    parts: dict[Place, Value] = {}
    shape = shape_of(result.type)
    for place in lowering.places(shape):
        operands = [lowering.at(scope, x, shape, place) for x in op.operands]
        fused = _fused(scope, op, operands)
        parts[place] = lowering.elements.apply(scope, op, operands, ()) if fused is None else fused
    lowering.set(result, parts)


def _fused(scope: VectorScope, op: Operation, operands: Sequence[Value]) -> SSAValue | None:
    """A product that is added to what a loop carries, rounded once; None of another op."""
    if not isinstance(op, AddOp) or element_of(op.result.type) not in (f32, f64):
        return None
    for state, product in (operands, reversed(operands)):
        if not isinstance(state, BlockArgument) or not isinstance(product, OpResult):
            continue
        if isinstance(product.op, MulOp) and isinstance(state.owner.parent_op(), cpu_kernel.ForOp):
            return scope.alu("fma", *product.op.operands, state)
    return None
