"""The pass `choose-cpu-schedule`."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.schedule import Staging
from ...dialects.uop import KernelOp
from ...rewriting.diagnostics import PassError
from ..tile.tile_pack import pack_kernel
from ..tile.tile_stage import Unstaged
from .cpu_schedule_rules import choose_for_cpu
from .schedule_choice import StageRule, choose_schedules
from .schedule_pins import parse_pins


@dataclass(frozen=True)
class ChooseCPUSchedulePass(ModulePass):
    """Write a default `#tile.schedule` for a CPU on each kernel in loop form, from its shape and the machine's vectors.

    Block factors are tasks, register factors vectors and how many of them there are side by side, loop factors the
    steps between. Lanes go along the axis that the data lies along: the innermost of an elementwise kernel, a row or
    columns of a reduction, the columns, rows or the reduced axis of a product (cpu_product_rule.py).
    Leaves alone: kernels that have a schedule, and kernels that are not in loop form.

    vector_bytes: bytes of a vector of the machine, 16, 32 or 64.
    schedule: what the user decides, as choose-schedule takes it; `stage` is what tile-pack makes of it.
    Refused: what cannot be read or carried out.
    """

    name = "choose-cpu-schedule"

    vector_bytes: int = 16
    schedule: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parse_pins(self.schedule)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        choose_schedules(op, parse_pins(self.schedule), lambda shape: choose_for_cpu(shape, self.vector_bytes), _PACKED)


def _pack(kernel: KernelOp, stagings: Sequence[Staging]) -> list[Unstaged]:
    """Pack as tile-pack does. Raises `PassError` for what only shared memory has."""
    for staging in stagings:
        of_gpus = staging.asynchronous or staging.swizzle or staging.prepared or staging.reread
        if staging.buffers != 1 or of_gpus:
            raise PassError(
                f"kernel @{kernel.sym_name.data}: the schedule stages `{staging}`, but a CPU copies a panel by loads "
                "and stores, and then reads it",
                kernel,
                "`prepared`, `reread`, `buffers`, `async` and `swizzle` are for shared memory of GPUs: leave them out",
            )
    return pack_kernel(kernel, stagings)


_PACKED = StageRule(
    _pack,
    "what is packed is read at indices that are linear in the axes; a panel, of all that a task reads or of a step of "
    "a loop around others, takes at most 896 KiB: more tasks or smaller tiles make it smaller",
)
