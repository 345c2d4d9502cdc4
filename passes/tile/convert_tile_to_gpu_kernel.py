"""convert-tile-to-gpu-kernel: everything that tile form leaves open is decided."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from ...dialects import gpu_kernel
from ...dialects.gpu_kernel import IfOp
from ...dialects.loop import ForOp, YieldOp
from ...dialects.tile import AxisOp, LeaveUnlessOp, MmaOp, ReadOp, ReduceAcrossOp, ScanAcrossOp, StageOp, WriteOp
from ...dialects.traversal import ops_inside
from ...dialects.types import shape_of
from ...dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, KernelOp, ReduceAxisOp, ReshapeOp, WhereOp
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import PassError
from ...rewriting.index_width import index_bits
from ...rewriting.locations import UNKNOWN
from .launches import launches_of, output_count
from .lower.accesses import lower_read, lower_write
from .lower.barriers import BarrierPlan
from .lower.choices import lower_choice
from .lower.grid import Grid
from .lower.indices import Indices
from .lower.loops import lower_loop
from .lower.lowering import Lowering, flat_types
from .lower.matrices import lower_matrix_read, lower_mma
from .lower.reductions import lower_reduce_across, lower_reduce_axis, uses_shared_memory
from .lower.row_writes import RowWrite
from .lower.scans import lower_scan_across, scan_uses_shared_memory
from .lower.scopes import Scope
from .lower.slots import SlottedValues
from .lower.stages import StageGroup
from .lower.values import Values
from .lower.warp_slabs import is_read_by_warps


@dataclass(frozen=True)
class ConvertTileToGPUKernelPass(ModulePass):
    """Tile form (`uop.kernel` with a schedule) → `gpu_kernel.kernel`, for an architecture.

    - Block and thread axes become digits of the block's and the thread's number. What follows `tile.leave_unless`
      stands in a branch; loops with limits end at an index that is found when the kernel runs.
    - Buffers become flat. Indices are linear forms with bounds: they fold, divide by truncation where the dividend
      is certainly not negative, and stand outside of the loops in which they do not change.
    - Vectors become register arrays under unrolled loops, where they are read, carried, reduced, or used more than
      once; all other elements are computed where they are used.
    - With `slots` in the schedule, a part of each register tile lies in shared memory.
    - Stages become copies by all threads, in vectors as wide as divisibility proves; with several buffers they run
      ahead of their loop. Barriers stand where shared memory would be read too early or overwritten too soon, and
      nowhere else.
    - Reductions and scans over threads become shuffles, and shared memory for what is beyond a warp; where only the
      first threads write what follows, only their warps go on.
    - Matrix products become instructions of a warp on runs of its register arrays, which are flat in such a kernel;
      accumulators are put together to runs of 16 bytes through shared memory before they are stored.

    Leaves alone: the program, kernels without a schedule. Refused: schedules that ask for more threads or
    blocks than the architecture has, slabs that do not fit its shared memory.

    arch: what the kernel is for: limits of launches and memory, sizes of asynchronous copies.
    """

    name = "convert-tile-to-gpu-kernel"

    arch: str = gpu_kernel.DEFAULT_ARCHITECTURE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        arch = gpu_kernel.ARCHITECTURES.get(self.arch)
        if arch is None:
            raise PassError(
                f"{self.arch} is no known architecture", None, f"one of {', '.join(gpu_kernel.ARCHITECTURES)}"
            )
        launches = launches_of(op)
        for kernel in list(op.ops):
            if isinstance(kernel, KernelOp) and kernel.schedule is not None:
                lowered = _lower_kernel(kernel, arch, output_count(kernel, launches.get(kernel.sym_name.data)))
                op.body.block.insert_op_before(lowered, kernel)
                op.body.block.erase_op(kernel)


def _lower_kernel(kernel: KernelOp, arch: gpu_kernel.Architecture, outputs: int) -> gpu_kernel.KernelOp:
    arguments = kernel.body.block.args
    block = Block(arg_types=flat_types(kernel, _HELP))
    root = Scope(block)
    root.location = kernel.location
    indices = Indices(root)
    grid = Grid(kernel, arch, root, indices)
    if kernel.schedule is not None and kernel.schedule.data.slots is not None:
        values = SlottedValues(kernel, root, indices, grid, arch.shared_bytes)
    else:
        values = Values(indices, flat=any(_is_of_a_warp(op) for op in ops_inside(kernel.body)))
    lowering = Lowering(kernel, arch, root, indices, values, grid)
    for old, new in zip(arguments, block.args, strict=True):
        new.name_hint = old.name_hint
        lowering.buffers[old] = new
    for axis in kernel.body.block.ops:
        if isinstance(axis, AxisOp):
            _lower_axis(lowering, axis)
    lowering.barriers = BarrierPlan(
        kernel.body.block, partial(_uses_shared_memory, grid), partial(is_read_by_warps, grid)
    ).ops
    _lower_block(lowering, root, kernel.body.block)
    erase_unused(block)

    lowered = gpu_kernel.KernelOp.of(
        kernel.sym_name.data,
        Region(block),
        outputs=outputs,
        grid=grid.blocks,
        block=grid.threads,
        arch=arch.name,
    )
    if grid.min_blocks is not None:
        lowered.properties["min_blocks"] = IntegerAttr(grid.min_blocks, i64)
    lowered.properties["index_bits"] = IntegerAttr(index_bits(lowered, indices.intervals), i64)
    lowered.location = kernel.location
    lowered.attributes.update(kernel.attributes)
    if lowered.shared_bytes > arch.static_shared_bytes:
        # Kernels declare no more: the launch asks for the largest array.
        largest = max(lowered.shared_arrays, key=lambda array: array.bytes)
        largest.properties["dynamic"] = UnitAttr()
    static = lowered.shared_bytes - lowered.dynamic_shared_bytes
    if static > arch.static_shared_bytes or lowered.shared_bytes > arch.shared_bytes:
        raise PassError(
            f"kernel @{kernel.sym_name.data} needs {lowered.shared_bytes} bytes of shared memory, "
            f"{static} of them without the largest array: a block of {arch.name} has at most {arch.shared_bytes}, and "
            f"{arch.static_shared_bytes}",
            kernel,
            f"its schedule is `{kernel.schedule}`: stage less, with fewer buffers or smaller tiles, or let fewer "
            "threads reduce together",
        )
    return lowered


def _is_of_a_warp(op: Operation) -> bool:
    # Classes are compared: isinstance asks abstract classes.
    cls = type(op)
    return cls is MmaOp or (cls is ReadOp and "ldmatrix" in op.properties)


def _uses_shared_memory(grid: Grid, op: ReduceAcrossOp | ScanAcrossOp) -> bool:
    if isinstance(op, ScanAcrossOp):
        return scan_uses_shared_memory(grid, op)
    return uses_shared_memory(grid, op)


_HELP = "run convert-loop-to-tile first"


def _lower_axis(lowering: Lowering, op: AxisOp) -> None:
    shape = shape_of(op.result.type)
    if shape:
        for dimension, extent in enumerate(shape):
            if extent != 1:
                lowering.values.dimension_names.setdefault(dimension, op.result.name_hint or "r")
        return
    position = lowering.grid.bind(op).position
    lowering.values.known[op.result] = position
    if position.constant == 0 and list(position.terms.values()) == [1]:
        (value,) = position.terms
        value.name_hint = op.result.name_hint


def _lower_block(lowering: Lowering, scope: Scope, block: Block, finish: Callable[[Scope], None] | None = None) -> None:
    """finish: what follows the ops of the block, where they are executed."""
    stages = StageGroup(lowering, scope)
    with ExitStack() as branches:
        for op in block.ops:
            stages.close_before(op)
            with scope.at(scope.location if op.location == UNKNOWN else op.location):
                if isinstance(op, ReduceAcrossOp):
                    behind = lower_reduce_across(lowering, scope, op, branches)
                elif isinstance(op, LeaveUnlessOp):
                    (needed,) = lowering.values.scalars(scope, [op.needed])
                    branch = IfOp.of(needed)
                    behind = branches.enter_context(scope.inside(branch, branch.then.block))
                else:
                    _lower_op(lowering, scope, op, stages)
                    behind = scope
            if behind is None:
                break
            scope = behind
        stages.close_before(None)
        if finish is not None:
            finish(scope)


def _lower_op(lowering: Lowering, scope: Scope, op: Operation, stages: StageGroup) -> None:
    match op:
        case AluOp() | CastOp() | BitcastOp():
            if not isinstance(op, WhereOp) or not lower_choice(lowering, scope, op):
                lowering.values.keep(scope, op)
        case AxisOp() | ConstOp() | ExpandOp() | YieldOp():
            pass
        case ReshapeOp():
            lowering.values.keep_as(scope, op.input, op.result)
        case ReadOp():
            (lower_read if op.ldmatrix is None else lower_matrix_read)(lowering, scope, op)
        case WriteOp():
            in_rows = RowWrite.of(lowering, op)
            if in_rows is None or not in_rows.build(lowering, scope):
                lower_write(lowering, scope, op)
            if isinstance(op.buffer.owner, StageOp):
                lowering.barrier(scope)
        case StageOp():
            if op.result not in lowering.slots:
                stages.add(op)
        case ForOp():
            lower_loop(lowering, scope, op, stages, _lower_block)
        case ReduceAxisOp():
            lower_reduce_axis(lowering, scope, op)
        case ScanAcrossOp():
            lower_scan_across(lowering, scope, op)
        case MmaOp():
            lower_mma(lowering, scope, op)
        case _:
            raise PassError(f"{op.name} is no op of tile form", op, _HELP)
