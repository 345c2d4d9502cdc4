"""The pass `choose-schedule`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..tile.tile_stage import stage_kernel
from .schedule_choice import StageRule, choose_schedules
from .schedule_pins import parse_pins
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
        choose_schedules(op, parse_pins(self.schedule), choose, _SHARED)


_SHARED = StageRule(
    stage_kernel,
    "what is staged is read inside a reduced axis that has a loop factor, or only behind it, at indices that are "
    "linear in the axes, and fits: fewer buffers or smaller tiles take less",
)
"""Slabs in the shared memory of a GPU."""
