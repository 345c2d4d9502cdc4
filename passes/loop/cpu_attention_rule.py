"""Attention on a CPU: one walk over the keys, whose channels are vectors in registers."""

from __future__ import annotations

from ...dialects.axes import AxisKind
from .attention_shape import AttentionShape
from .kernel_shape import KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

SUMS = 16
"""Vectors that hold sums of values while keys go by: half of the registers, where a machine has 32."""

MOST_SUMS = 64
"""What registers do not hold is kept in the first cache. With more the channels are cut, and the scores are computed
for each part."""

ROWS = 4
"""Queries side by side: each has a chain of exponentials that the next key waits for, and reads what the others do."""


def cpu_attention_schedule(shape: KernelShape, attention: AttentionShape, lanes: int) -> Choice:
    """Vectors along the channels of the values, and along the depth of the scores, which no value has together; some
    queries that share keys, or else heads, side by side."""
    channels, depth = (max(1, shape.extents[axis]) for axis in (attention.channels, attention.depth))
    lanes = min(lanes, power_of_two_above(channels))
    vectors, steps = ceil_div(channels, lanes), ceil_div(depth, lanes)
    parts = ceil_div(vectors, MOST_SUMS)
    vectors = ceil_div(vectors, parts)
    loops = ceil_div(steps, SUMS)
    axes: Axes = {
        attention.channels: factors_of(
            (parts, AxisKind.BLOCK), (vectors, AxisKind.REGISTER), (lanes, AxisKind.REGISTER)
        ),
        attention.depth: factors_of(
            (loops, AxisKind.LOOP), (ceil_div(steps, loops), AxisKind.REGISTER), (lanes, AxisKind.REGISTER)
        ),
        attention.keys: factors_of((max(1, shape.extents[attention.keys]), AxisKind.LOOP)),
    }
    others = (*attention.batch, *attention.rows)
    rows = next((axis for axis in reversed(others) if shape.extents[axis] >= ROWS), None)
    count = 1 if rows is None else max(1, min(ROWS, SUMS // vectors))
    if rows is not None and count > 1:
        axes[rows] = factors_of((ceil_div(shape.extents[rows], count), AxisKind.BLOCK), (count, AxisKind.REGISTER))
    beside = f", {count} along {rows} side by side" if count > 1 else ""
    reason = f"attention: {vectors} vectors of {lanes} along {attention.channels}{beside}"
    return Choice(schedule_of(shape, axes), reason)
