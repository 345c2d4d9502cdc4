"""The pass `choose-schedule`."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.dataclass import dataclass
from ...dialects.schedule import ScheduleAttr, Staging
from ...dialects.tile import StageOp
from ...dialects.uop import KernelOp
from ...rewriting.diagnostics import PassError, emit_remark
from ..tile.tile_drop_masks import TileDropMasksPass
from ..tile.tile_stage import Unstaged, stage_kernel, staged_arguments
from .convert_loop_to_tile import ConvertLoopToTilePass
from .kernel_shape import KernelShape, shape_of_kernel
from .schedule_checks import check_schedule
from .schedule_parts import Choice
from .schedule_pins import Pin, parse_pins
from .schedule_rules import choose


@dataclass(frozen=True)
class ChooseSchedulePass(ModulePass):
    """Write a default `#tile.schedule` on each kernel in loop form, from its shape alone.

    Elementwise kernels get coalesced threads and 16-byte accesses, transposes squares of registers; rows are reduced
    by a thread, a warp or a block by their length, long ones held with shared memory (long_row_rule.py); columns by
    threads side by side; a scanned axis is walked by one thread; products get block, thread and register tiles over
    staged, double-buffered slabs, those of 16-bit floats matrix instructions (matrix_rule.py); products of a few rows
    by a matrix read it once, in vectors (vector_product_rule.py). Attention gets tiles of queries and of keys, with
    matrix instructions (attention_rule.py) or lanes that hold a key and then a value (attention_rows_rule.py).
    The tiles of products that have few of them are small, and the warps of a block sum slices (product_cost.py).
    Products without matrix instructions say how many blocks a multiprocessor should hold, so that their sums have the
    registers that they need, and that what they multiply is computed once for the block where it is computed
    (`prepared`, product_rule.py).
    Leaves alone: kernels that have a schedule, and kernels that are not in loop form.

    schedule: what the user decides, each as it stands in `#tile.schedule<…>`: `k = 4 loop * 16 loop` binds one axis of
    every kernel, `@forward_1: i = 8 block, stage = [%x]` of one, which goes before. The rest is chosen as without it;
      but `min_blocks`, `group`, `align` and `slots` are left out where axes are pinned and they are not.
    Refused: what cannot be read or carried out.
    """

    name = "choose-schedule"

    schedule: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parse_pins(self.schedule)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        choose_schedules(op, parse_pins(self.schedule), choose)


@dataclass(frozen=True)
class StageRule:
    """What a target does with `stage` of a schedule.

    stage: carries it out on a kernel in tile form; the reads that are left alone. help: what can be staged
    """

    stage: Callable[[KernelOp, Sequence[Staging]], list[Unstaged]]
    help: str


_SHARED = StageRule(
    stage_kernel,
    "what is staged is read inside a reduced axis that has a loop factor, or only behind it, at indices that are "
    "linear in the axes, and fits: fewer buffers or smaller tiles take less",
)
"""Slabs in the shared memory of a GPU."""


def choose_schedules(
    module: ModuleOp, pins: Sequence[Pin], rule: Callable[[KernelShape], Choice], staging: StageRule = _SHARED
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
