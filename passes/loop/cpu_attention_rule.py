"""Attention on a CPU: one walk over the keys, whose scores are a tile in registers, and then in the first cache."""

from __future__ import annotations

from collections.abc import Container
from math import prod

from ...dialects.axes import AxisKind
from ...dialects.schedule import Factor, Staging
from .attention_shape import AttentionShape
from .cpu_product_rule import TASKS, WIDE_LANES
from .kernel_shape import Access, KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

SCORES = 16
"""Vectors of scores that a step computes, half of the registers of a machine that has 32 of them; half as many where it
has 16. Enough to hide the latency of a sum."""

ROWS = 8
"""Queries side by side that share what is read of keys and values: measured, a tenth faster than 4."""

SUMS = 64
"""Vectors that hold sums of values. What registers do not hold of them is kept in the first cache."""

TASK_ROWS = 128
"""Queries of a task, at least: each packs its keys, which takes as long as the scores of 5 to 10 queries."""

MOST_VECTORS = 4
"""Of keys in a step: of few queries, lest what is packed of them fill the first cache."""

PACKED_QUERIES = 2
"""Queries that share a key, for each vector that it is made of, from which on it pays to pack it: sums of lanes take
shuffles for each query, packing for each vector (measured: 8 of depth 64, 3 of 32, 2 of 16)."""

PRODUCTS = 128
"""Vectors of products of queries and keys in a step where keys are not packed: more would not be in registers."""


def cpu_attention_schedule(shape: KernelShape, attention: AttentionShape, lanes: int) -> Choice:
    """Lanes along the keys, and then along the channels of the values: scores of some queries and keys are a product,
    whose maxima and exponentials are vectors, and the sums of values are another of what came of it.

    Keys of many queries, or of more than registers hold, are packed, transposed. Others are read as they lie, with
    lanes along the depth, and the sums of these lanes are those along the keys. Tasks are heads, and runs of queries
    where there are few of these.
    """
    extents = {axis: max(1, extent) for axis, extent in shape.extents.items()}
    channels, keys = extents[attention.channels], extents[attention.keys]
    scores = SCORES if lanes >= WIDE_LANES else SCORES // 2
    lanes = min(lanes, power_of_two_above(channels))
    parts = ceil_div(ceil_div(channels, lanes), SUMS)
    vectors = ceil_div(channels, lanes * parts)
    row = max(reversed(attention.rows), key=lambda axis: extents[axis], default=None)
    rows = 1 if row is None else min(ROWS, extents[row], scores // 2, max(1, SUMS // vectors))
    runs = ceil_div(extents[attention.depth], lanes)
    sharing = prod(extents[axis] for axis in attention.rows)
    registers = 2 * scores
    is_packed = not _lie_along_depth(attention) or (
        sharing > 1 and (sharing >= PACKED_QUERIES * runs or rows * runs > registers)
    )
    most = min(MOST_VECTORS, scores // rows) if is_packed else PRODUCTS // (rows * runs * lanes)
    together = max(1, min(most, ceil_div(keys, lanes)))

    tasks = parts * prod(extents[axis] for axis in attention.batch)
    axes: Axes = {}
    # Runs of queries last: a causal mask leaves more to do for the later ones.
    for axis in sorted(attention.rows, key=lambda axis: axis == row):
        count = rows if axis == row else 1
        steps = ceil_div(extents[axis], count)
        blocks = min(steps if count == 1 else max(1, extents[axis] // TASK_ROWS), ceil_div(TASKS, tasks))
        tasks *= blocks
        axes[axis] = factors_of(
            (blocks, AxisKind.BLOCK), (ceil_div(steps, blocks), AxisKind.LOOP), (count, AxisKind.REGISTER)
        )
    axes[attention.channels] = factors_of(
        (parts, AxisKind.BLOCK), (vectors, AxisKind.REGISTER), (lanes, AxisKind.REGISTER)
    )
    axes[attention.keys] = [
        *factors_of((ceil_div(keys, together * lanes), AxisKind.LOOP), (together, AxisKind.REGISTER)),
        Factor(lanes, AxisKind.REGISTER, of=attention.channels),
    ]
    stage: tuple[Staging, ...] = ()
    if is_packed:
        panels = _panels(attention)
        stage = tuple(panels.values()) + _narrow(attention, panels)
        how = "".join(f", %{staging.buffer} packed" for staging in stage)
    else:
        loops = ceil_div(runs, registers)
        axes[attention.depth] = factors_of(
            (loops, AxisKind.LOOP), (ceil_div(runs, loops), AxisKind.REGISTER), (lanes, AxisKind.REGISTER)
        )
        how = f", summed over vectors along {attention.depth}"
    along = "" if row is None else f" along {row}"
    reason = f"attention: scores of {rows}{along} x {together} vectors of {lanes} along {attention.keys}{how}"
    return Choice(schedule_of(shape, axes, stage), reason)


def _lie_along_depth(attention: AttentionShape) -> bool:
    """Whether the elements of a key lie side by side."""
    return any((access.indices[-1] or {}).get(attention.depth) == 1 for access in attention.key if access.indices)


def _panels(attention: AttentionShape) -> dict[str, Staging]:
    """What keys are made of that lies along the depth, by buffer: transposed, so that lanes find their keys side by
    side."""
    panels: dict[str, Staging] = {}
    for access in attention.key:
        along = [place for place, axes in enumerate(access.index_axes) if attention.keys in axes]
        if access.is_linear and len(along) == 1 and along[0] != len(access.indices) - 1:
            panels[access.buffer] = Staging(access.buffer, along=along[0])
    return panels


def _narrow(attention: AttentionShape, panels: Container[str]) -> tuple[Staging, ...]:
    """Queries of 16 bits, which are made wider while they are packed: each is multiplied with all keys.

    Those that lie in the buffer of the keys are not packed: a buffer is staged in one way.
    """

    def is_narrow(access: Access) -> bool:
        return access.is_linear and access.element_bytes < 4 and attention.depth in access.axes

    buffers = dict.fromkeys(access.buffer for access in attention.query if is_narrow(access))
    return tuple(Staging(buffer) for buffer in buffers if buffer not in panels)
