"""Pieces that the rules of `choose-schedule` make schedules of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects.axes import AxisKind
from ...dialects.schedule import Alignment, BlockGroup, Factor, Schedule, Slots, Staging
from .kernel_shape import KernelShape

BLOCK_THREADS = 256
"""Threads of a block where nothing else decides: eight warps, of which several blocks fit on a multiprocessor."""

Axes = dict[str, list[Factor]]
"""What a rule binds: axis → factors, outermost first."""


@dataclass(frozen=True)
class Choice:
    """A schedule and the sentence that explains it."""

    schedule: Schedule
    reason: str


def ceil_div(n: int, d: int) -> int:
    return -(-n // d)


def power_of_two_above(n: int) -> int:
    """The least power of two that is at least `n`."""
    return 1 << max(0, n - 1).bit_length()


def factors_of(*parts: tuple[int, AxisKind]) -> list[Factor]:
    """Factors without those of extent 1; one of extent 1 if nothing else is left."""
    kept = [Factor(extent, kind) for extent, kind in parts if extent > 1]
    return kept or [Factor(1, parts[0][1])]


def schedule_of(
    shape: KernelShape,
    axes: Axes,
    stage: tuple[Staging, ...] = (),
    outer: Sequence[str] = (),
    min_blocks: int | None = None,
    group: BlockGroup | None = None,
    align: Alignment | None = None,
    slots: Slots | None = None,
) -> Schedule:
    """All axes of the kernel in the order of its text, but those of `outer` in front, whose threads then are the
    slowest; those that no rule bound go over blocks, or serially if reduced."""
    factors: list[tuple[str, tuple[Factor, ...]]] = []
    for axis in dict.fromkeys((*outer, *shape.extents)):
        extent = shape.extents[axis]
        default = AxisKind.LOOP if axis in shape.reduced else AxisKind.BLOCK
        factors.append((axis, tuple(axes.get(axis) or factors_of((max(1, extent), default)))))
    return Schedule(tuple(factors), stage, min_blocks, group, align, slots)
