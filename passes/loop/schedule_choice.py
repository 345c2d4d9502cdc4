"""Schedules that a rule chooses are written on kernels, and what the user pins over them: what `choose-schedule` and
`choose-cpu-schedule` share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.schedule import ScheduleAttr, Staging
from ...dialects.tile import StageOp
from ...dialects.uop import KernelOp
from ...rewriting.diagnostics import PassError, emit_remark
from ..tile.tile_drop_masks import TileDropMasksPass
from ..tile.tile_stage import Unstaged, staged_arguments
from .convert_loop_to_tile import ConvertLoopToTilePass
from .kernel_shape import KernelShape, shape_of_kernel
from .schedule_checks import check_schedule
from .schedule_parts import Choice
from .schedule_pins import Pin


@dataclass(frozen=True)
class StageRule:
    """What a target does with `stage` of a schedule.

    stage: carries it out on a kernel in tile form; the reads that are left alone. help: what can be staged
    """

    stage: Callable[[KernelOp, Sequence[Staging]], list[Unstaged]]
    help: str


def choose_schedules(
    module: ModuleOp, pins: Sequence[Pin], rule: Callable[[KernelShape], Choice], staging: StageRule
) -> None:
    """Write the schedule that `rule` chooses on each kernel in loop form that has none, and what is pinned over it."""
    kernels = [kernel for kernel in module.ops if isinstance(kernel, KernelOp)]
    _check_names(pins, kernels)
    for kernel in kernels:
        of_kernel = [pin for pin in pins if pin.kernel == kernel.sym_name.data]
        if kernel.schedule is not None or kernel.is_tensor_form:
            for pin in of_kernel:
                why = "has a schedule already" if kernel.schedule is not None else "is in tensor form"
                emit_remark(kernel, f"@{kernel.sym_name.data} {why}: `{pin}` is not used")
            continue
        choice = rule(shape_of_kernel(kernel))
        kernel.schedule = ScheduleAttr(choice.schedule)
        said = f"@{kernel.sym_name.data}: {choice.reason}: {choice.schedule}"
        if own := [pin for pin in pins if pin.kernel is None] + of_kernel:
            _pin(kernel, own, staging)
            said += f"; pinned: {', '.join(map(str, own))}: {kernel.schedule.data}"
        emit_remark(kernel, said)


def _check_names(pins: Sequence[Pin], kernels: Sequence[KernelOp]) -> None:
    names = [kernel.sym_name.data for kernel in kernels]
    for pin in pins:
        if pin.kernel is not None and pin.kernel not in names:
            known = ", ".join(f"@{name}" for name in names) or "none"
            raise PassError(f"schedule '@{pin.kernel}: {pin}': no kernel is called that", None, f"there are: {known}")


def _pin(kernel: KernelOp, pins: Sequence[Pin], staging: StageRule) -> None:
    """Put what is pinned in the place of what was chosen, and check that it can be carried out."""
    assert kernel.schedule is not None
    chosen = schedule = kernel.schedule.data
    if any(pin.axes for pin in pins):  # it was chosen for other threads and registers
        schedule = replace(schedule, min_blocks=None, group=None, align=None, slots=None)
    for pin in pins:
        schedule = pin.over(schedule)
    kernel.schedule = ScheduleAttr(schedule)
    try:
        check_schedule(kernel)
        for pin in pins:
            if pin.stage:
                _check_staging(kernel, pin.stage, staging)
    except PassError as error:
        if error.help is None and any(pin.kernel is None for pin in pins):
            name = kernel.sym_name.data
            error.help = f"a schedule is for all kernels unless it begins with the name of one, as in `@{name}: …`"
        error.add_note(f"note: pinned: {', '.join(map(str, pins))}")
        error.add_note(f"note: without that: {chosen}")
        raise


def _check_staging(kernel: KernelOp, stagings: Sequence[Staging], rule: StageRule) -> None:
    """Stage in a copy of the kernel. Raises `PassError` for a buffer of which no read can be staged."""
    copy = kernel.clone()
    module = ModuleOp([copy])
    ConvertLoopToTilePass().apply(Context(), module)
    TileDropMasksPass().apply(Context(), module)
    unstaged = {left.buffer: left.reason for left in rule.stage(copy, stagings)}
    staged = {op.buffer for op in copy.body.walk() if isinstance(op, StageOp)}
    for staging, argument in zip(stagings, staged_arguments(copy, stagings), strict=True):
        if argument not in staged:
            name, reason = kernel.sym_name.data, unstaged.get(staging.buffer, "nothing reads it")
            raise PassError(
                f"kernel @{name}: the schedule stages %{staging.buffer}, which cannot be staged: {reason}",
                kernel,
                rule.help,
            )
