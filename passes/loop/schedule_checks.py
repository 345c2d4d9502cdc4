"""Whether a schedule can be carried out on a kernel in loop form."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.ir import Operation

from ...dialects.atoms import ATOMS
from ...dialects.axes import SERIAL_KINDS, THREAD_KINDS, WARP, AxisKind
from ...dialects.loop import ForOp, ReduceOp, ScanOp, YieldOp
from ...dialects.schedule import Factor, Schedule
from ...dialects.traversal import ops_inside
from ...dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, KernelOp, LoadOp, StoreOp
from ...rewriting.diagnostics import PassError
from ..tile.tile_stage import staged_arguments
from .kernel_shape import shape_of_kernel
from .matrix_chains import why_no_vector_chain, why_not_chained
from .matrix_products import matrix_atom, why_no_matrix
from .row_starts import common_row_start

MAX_THREADS = 1024
"""Threads of one block, on every architecture since 2010."""

_LOOP_FORM = frozenset((BitcastOp, CastOp, ConstOp, LoadOp, StoreOp, ForOp, ReduceOp, ScanOp, YieldOp))
"""The classes of loop form, beside those of ALU ops."""


def loops_of(kernel: KernelOp) -> list[ForOp | ReduceOp]:
    """The loops of a kernel in loop form, in the order of the text. Raises `PassError` for ops that loop form lacks."""
    loops: list[ForOp | ReduceOp] = []
    for op in ops_inside(kernel.body):
        if type(op) not in _LOOP_FORM and not isinstance(op, AluOp):
            raise PassError(
                f"{op.name} does not stand in loop form", op, "convert-uop-to-loop makes loop form of range form"
            )
        if not op.regions:
            continue
        if isinstance(op, ForOp) and (op.axis.axis_kind is not AxisKind.PARALLEL or op.results):
            raise PassError("a loop of loop form is parallel and carries nothing", op)
        if isinstance(op, ForOp | ReduceOp):
            loops.append(op)
    return loops


def axis_extents(kernel: KernelOp) -> dict[str, int]:
    """Axis name → extent, in the order of the text. Raises `PassError` where loops of one axis do not fit."""
    extents: dict[str, int] = {}
    for loop in loops_of(kernel):
        name, extent = loop.axis.axis.data, loop.axis.extent.data
        if extents.setdefault(name, extent) != extent:
            raise PassError(
                f"axis {name} has extent {extents[name]} in one loop and {extent} in another",
                loop,
                "loops of one name walk the same axis: give this one another name",
            )
        outer = loop.parent_op()
        while isinstance(outer, ForOp | ReduceOp):
            if outer.axis.axis.data == name:
                raise PassError(
                    f"a loop over axis {name} stands inside another, so that one position does not say both",
                    loop,
                    "give this one another name",
                )
            outer = outer.parent_op()
    return extents


def axes_text(extents: Mapping[str, int]) -> str:
    """The axes of a kernel as a refusal lists them: `i (64), k (128)`."""
    return ", ".join(f"{axis} ({extent})" for axis, extent in extents.items()) or "none"


def check_schedule(kernel: KernelOp) -> Schedule:
    """The kernel's schedule. Raises `PassError`, which names the kernel, when there is none or when it cannot be
    carried out."""
    if kernel.schedule is None:
        raise PassError(
            f"kernel @{kernel.sym_name.data} has no schedule",
            kernel,
            "run choose-schedule, or write `schedule #tile.schedule<…>` behind the kernel's arguments",
        )
    schedule = kernel.schedule.data
    try:
        _check(schedule, kernel)
    except PassError as error:
        raise PassError(f"kernel @{kernel.sym_name.data}: {error.message}", error.op, error.help) from None
    return schedule


def _check(schedule: Schedule, kernel: KernelOp) -> None:
    extents = axis_extents(kernel)
    for axis in dict(schedule.axes):
        if axis not in extents:
            raise PassError(f"the schedule binds axis {axis}, but the kernel's axes are: {axes_text(extents)}", kernel)
    staged_arguments(kernel, schedule.stage)
    for staging in schedule.stage:
        if staging.over is not None and staging.over not in extents:
            raise PassError(f"the schedule stages `{staging}`, but the kernel's axes are: {axes_text(extents)}", kernel)
    _check_shared(schedule, kernel)
    _check_group(schedule, kernel)
    _check_alignment(schedule, kernel)
    _check_slots(schedule, kernel)
    for loop in loops_of(kernel):
        _check_axis(schedule, loop, loop.axis.axis.data, loop.axis.extent.data)
        for op in loop.body.block.ops:
            if isinstance(op, ScanOp):
                _check_scan(schedule, op)
    if schedule.of_kinds((AxisKind.MMA,)):
        _check_matrix(schedule, kernel)
    _check_threads(schedule, kernel)


def _check_shared(schedule: Schedule, kernel: KernelOp) -> None:
    """Raises `PassError` where a factor shares the threads of an axis that has no such factor, or where a value varies
    with both axes."""
    shared = [(axis, factor) for axis, factors in schedule.axes for factor in factors if factor.of is not None]
    if not shared:
        return
    varies, spread = list(shape_of_kernel(kernel).depends.items()), schedule.spread()
    for axis, factor in shared:
        if factor.kind is AxisKind.REGISTER:
            if reason := why_no_vector_chain(kernel, schedule):
                raise PassError(
                    f"axis {axis} is bound to `{factor}`, whose registers are those of {factor.of}: {reason}",
                    kernel,
                    "registers are shared by the keys and the channels of attention, as their innermost factors",
                )
            continue
        if factor.of == axis or factor.kind not in THREAD_KINDS or spread.shared(factor) is None:
            raise PassError(
                f"axis {axis} is bound to `{factor}`, but axis {factor.of} has not one factor "
                f"`{factor.extent} {factor.kind.value}`",
                kernel,
                "only thread, warp and lane factors are shared, and one of that extent and kind stands at that axis",
            )
        both = next((value for value, axes in varies if {axis, factor.of} <= axes), None)
        if both is not None:
            raise PassError(
                f"axis {axis} is bound to `{factor}`, but a value varies with both axes",
                both.owner if isinstance(both.owner, Operation) else kernel,
                "threads are shared by axes of which one is reduced before the other is needed",
            )


def _check_group(schedule: Schedule, kernel: Operation) -> None:
    """Raises `PassError` where blocks are grouped along an axis that has no whole groups of them."""
    if not schedule.has_whole_groups:
        raise PassError(
            f"the schedule groups the blocks of `{schedule.group}`, but that axis has no single block factor of whole "
            "groups",
            kernel,
            "let the blocks of a group divide the axis's block factor, or leave `group` out",
        )


def _check_alignment(schedule: Schedule, kernel: KernelOp) -> None:
    """Raises `PassError` where the factors of an axis do not reach from in front of its rows to their ends, or where a
    row is not that of a thread."""
    if schedule.align is None:
        return
    axis, elements = schedule.align.axis, schedule.align.elements
    shape = shape_of_kernel(kernel)
    if axis not in shape.extents:
        raise PassError(
            f"the schedule aligns rows along {axis}, but the kernel's axes are: {axes_text(shape.extents)}", kernel
        )
    most = shape.extents[axis] + elements - 1
    covered = prod(factor.extent for factor in schedule.factors(axis))
    if covered < most:
        raise PassError(
            f"rows along {axis} are aligned to {elements} elements, but the factors of that axis cover {covered}",
            kernel,
            f"rows of {shape.extents[axis]} elements begin up to {elements - 1} behind position 0: the product of the "
            f"axis's factors is at least {most}",
        )
    if axis in shape.scanned:
        raise PassError(f"rows along {axis} are aligned, but that axis is scanned", kernel, "leave `align` out")
    for other, _ in common_row_start(shape, axis, elements):
        for factor in schedule.factors(other):
            if factor.extent > 1 and factor.kind not in (AxisKind.BLOCK, *THREAD_KINDS):
                raise PassError(
                    f"rows along {axis} are aligned, but a thread has several rows: {other} = {factor}",
                    kernel,
                    f"bind {other} to block, warp, thread and lane factors, or leave `align` out",
                )


def _check_slots(schedule: Schedule, kernel: KernelOp) -> None:
    """Raises `PassError` where a tile has no steps of which a part can lie in slots."""
    if schedule.slots is None:
        return
    axis, steps = schedule.slots.axis, schedule.slots.steps
    first = dict(schedule.axes).get(axis, (Factor(1, AxisKind.REGISTER),))[0]
    registers = schedule.of_kinds((AxisKind.REGISTER,))
    serial = [str(factor) for _, _, factor in schedule.of_kinds((*SERIAL_KINDS, AxisKind.MMA)) if factor.extent > 1]
    reason = (
        f"the first factor of {axis} is `{first}`"
        if first.kind is not AxisKind.REGISTER or first.extent < steps + 2
        else f"another axis has `{registers[0][2]}`"
        if any(other != axis for other, _, factor in registers if factor.extent > 1)
        else f"there is the serial factor `{serial[0]}`"
        if serial
        else None
    )
    if reason is not None:
        raise PassError(
            f"the schedule lets {steps} steps of {axis} lie in slots, but {reason}",
            kernel,
            f"a row that is read once has `{axis} = N register * …`, with N above {steps + 1}, and no others have "
            "register or serial factors",
        )


def _check_axis(schedule: Schedule, loop: ForOp | ReduceOp, axis: str, extent: int) -> None:
    bound = dict(schedule.axes)
    if axis not in bound:
        raise PassError(f"the schedule does not bind axis {axis}", loop, f"add `{axis} = {extent} loop` to it")
    factors = bound[axis]
    text = " * ".join(map(str, factors))
    covered = prod(factor.extent for factor in factors)
    if covered < extent:
        raise PassError(
            f"axis {axis} has extent {extent}, but its factors {text} cover {covered}",
            loop,
            f"enlarge one of them: the product of a schedule's factors is at least the extent ({extent})",
        )
    for factor in factors:
        if factor.kind is AxisKind.BLOCK and factor.extent > 1 and isinstance(loop, ReduceOp):
            raise PassError(
                f"axis {axis} is reduced and bound to `{factor}`, but blocks do not combine their values",
                loop,
                "bind a reduced axis to loop, unroll, register, thread, warp and lane factors",
            )


def _check_scan(schedule: Schedule, op: ScanOp) -> None:
    axis = op.loop.axis.axis.data
    if op.parent_op() is not op.loop or not isinstance(op.loop, ForOp):
        raise PassError(
            f"a scan over axis {axis} stands in a loop inside of it, or in a reduction",
            op,
            "a scan is carried out by a loop over its axis that it stands in and that reduces nothing",
        )
    tile: Factor | None = None
    for factor in dict(schedule.axes).get(axis, ()):
        if factor.extent == 1:
            continue
        if factor.kind not in (*SERIAL_KINDS, *THREAD_KINDS, AxisKind.REGISTER):
            raise PassError(
                f"axis {axis} is scanned and bound to `{factor}`, but only the threads of one block scan together",
                op,
                "bind a scanned axis to loop, unroll, warp, thread, lane and register factors",
            )
        if factor.kind not in SERIAL_KINDS:
            tile = factor
        elif tile is not None:
            raise PassError(
                f"axis {axis} is scanned and has `{factor}` inside of `{tile}`: the steps of a loop are no neighbours",
                op,
                "let the loop and unroll factors of a scanned axis stand first",
            )


def _check_matrix(schedule: Schedule, kernel: KernelOp) -> None:
    """The mma factors are those of one instruction, and the kernel has the product that it computes."""
    matrix = schedule.matrix
    if matrix is None:
        found = ", ".join(f"{axis} = {factor}" for axis, _, factor in schedule.of_kinds((AxisKind.MMA,)))
        shapes = " or ".join(f"{atom.m}, {atom.n} and {atom.k} ({name})" for name, atom in ATOMS.items())
        raise PassError(
            f"the mma factors {found} are those of no matrix instruction",
            kernel,
            f"three axes have one each, {shapes}: rows, columns and, last, the reduced axis",
        )
    for axis, place, factor in schedule.of_kinds((AxisKind.MMA,)):
        if place != len(schedule.factors(axis)) - 1:
            raise PassError(
                f"axis {axis} has factors behind `{factor}`: one instruction computes neighbours",
                kernel,
                "an mma factor is the innermost of its axis",
            )
    chained = schedule.chained is not None
    reason = (
        why_not_chained(kernel, schedule)
        if chained
        else why_no_matrix(kernel, matrix.row, matrix.column, matrix.reduced)
    )
    if reason is None and not chained and matrix.atom != (atom := matrix_atom(kernel, matrix.reduced)):
        reason = f"its factors are multiplied by {atom}"
    if reason is not None:
        raise PassError(
            f"the schedule asks for {matrix.atom} over rows {matrix.row}, columns {matrix.column} and "
            f"{matrix.reduced}: {reason}",
            kernel,
            "bind these axes to loop, thread and register factors instead",
        )


def _check_threads(schedule: Schedule, kernel: Operation) -> None:
    threads = schedule.threads()
    count = prod(factor.extent for _, factor in threads)
    if count > MAX_THREADS:
        order = ", ".join(f"{axis} = {factor}" for axis, factor in threads)
        raise PassError(
            f"the schedule has {count} threads in a block; at most {MAX_THREADS} fit",
            kernel,
            f"the threads are those of {order}: bind some of these steps to block, loop or register factors",
        )
    lanes = [factor.extent for _, factor in threads if factor.kind is AxisKind.LANE]
    if lanes and prod(lanes) != WARP:
        raise PassError(f"the schedule has {prod(lanes)} lanes; a warp has {WARP}", kernel)
    if any(factor.kind is not AxisKind.LANE for _, factor in threads[len(threads) - len(lanes) :]):
        order = ", ".join(f"{axis} = {factor}" for axis, factor in threads)
        raise PassError(
            f"the lanes of a warp are its fastest threads, but the schedule numbers them {order}",
            kernel,
            "threads are numbered in the order of the schedule's text, the last the fastest: put lane factors last",
        )
    faster = 1
    for axis, factor in reversed(threads):
        if factor.kind is AxisKind.WARP and factor.extent > 1 and faster % WARP:
            raise PassError(
                f"axis {axis} is bound to `{factor}`, but {faster} threads stand behind it: not whole warps of {WARP}",
                kernel,
                "let lane or thread factors behind it make up whole warps, or bind it to threads",
            )
        faster *= factor.extent
