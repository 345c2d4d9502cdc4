"""Schedules of attention without matrix instructions: of f32, and of few queries with many keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...dialects.axes import WARP, AxisKind
from ...dialects.schedule import Factor, Staging
from .attention_shape import AttentionShape
from .kernel_shape import Access, KernelShape
from .product_rule import REGISTERS
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

VECTOR_BYTES, WORD_BYTES = 16, 4
"""What a lane reads of a key at once: the most, and the least where elements are narrower."""

MOST_ELEMENTS = 12
"""Elements of a key that a lane holds, if a warp has lanes enough. With fewer, a score is added up by more lanes, each
of which then computes its exponential; with more, there is room for fewer rows."""

FEW_ROWS = 8
"""Rows that one warp takes together where there are no more: keys and values, which are much more, are read once."""

HELD, MOST_HELD = 64, 128
"""Elements of queries and of sums that a lane holds for all of its rows: by itself, and of few rows."""

SCORES = 32
"""Scores that a lane holds at once."""

MOST_KEYS = 8
"""Keys that a lane reads at once. Sums are rescaled once for all of them."""

WARPS = 4
"""Warps of a block."""

MANY_TILES = 512
"""Rows, as many as a warp takes together, with which each warp has rows of its own; of fewer, which would leave
multiprocessors of a large GPU without warps, the warps of a block share the keys."""

THREAD_REGISTERS = 256
"""Registers that are given to a thread at the most: 255, in units of 8."""

SLAB_KEYS = 32
"""Keys of a slab."""

SLAB_BYTES = 40 * 1024
"""Shared memory for the slabs."""


@dataclass(frozen=True)
class _Lanes:
    """How lanes hold keys and values: `lanes` of them, each runs of `width` neighbours."""

    lanes: int
    width: int

    @property
    def apart(self) -> int:
        """Keys that the lanes of a warp hold at once."""
        return WARP // self.lanes

    def elements(self, extent: int) -> int:
        """Of a key or value that a lane holds."""
        return ceil_div(extent, self.lanes * self.width) * self.width

    def factors(self, extent: int, of: str | None = None) -> list[Factor]:
        """The factors of an axis; of: the axis whose lanes they are."""
        factors = factors_of(
            (ceil_div(extent, self.lanes * self.width), AxisKind.REGISTER),
            (self.lanes, AxisKind.LANE),
            (self.width, AxisKind.REGISTER),
        )
        return [Factor(f.extent, f.kind, of if f.kind is AxisKind.LANE else None) for f in factors]


def attention_rows_schedule(shape: KernelShape, attention: AttentionShape) -> Choice:
    """Some lanes hold a key, and then a value: the same lanes, so that a weight is computed where it is needed. Other
    lanes of the warp hold other keys, and have sums of their own until the end.

    Of many rows each warp has some, for which it walks all keys, and the block stages them. Of few rows the warps of a
    block share the keys.
    """
    extents = {axis: max(1, extent) for axis, extent in shape.extents.items()}
    depth, channels, keys = (extents[axis] for axis in (attention.depth, attention.channels, attention.keys))
    lanes = _lanes(shape, attention, depth, channels)
    held = lanes.elements(depth) + lanes.elements(channels)
    each = _rows_of_a_warp(extents, attention.rows, held)
    rows = prod(each.values())
    some = min(MOST_KEYS, power_of_two_above(ceil_div(keys, lanes.apart)))
    while some > 1 and (some * rows > SCORES or some * held > MOST_HELD):
        some //= 2

    axes: Axes = {
        axis: factors_of((ceil_div(extents[axis], count), AxisKind.BLOCK), (count, AxisKind.REGISTER))
        for axis, count in each.items()
    }
    tiles = prod(extents[axis] for axis in attention.batch)
    tiles *= prod(ceil_div(extents[axis], count) for axis, count in each.items())
    of_many = [axis for axis, count in each.items() if ceil_div(extents[axis], count) >= WARPS]
    stage: tuple[Staging, ...] = ()
    if tiles >= MANY_TILES and of_many:
        warps, row = WARPS, of_many[-1]
        count = each[row]
        blocks = ceil_div(extents[row], warps * count)
        axes[row] = factors_of((blocks, AxisKind.BLOCK), (warps, AxisKind.WARP), (count, AxisKind.REGISTER))
        inner = ceil_div(SLAB_KEYS, some * lanes.apart)
        steps = ceil_div(keys, inner * some * lanes.apart)
        stage = _stage(attention, inner * some * lanes.apart * (depth + channels), steps)
        axes[attention.keys] = factors_of(
            (steps, AxisKind.LOOP), (inner, AxisKind.LOOP), (some, AxisKind.REGISTER), (lanes.apart, AxisKind.LANE)
        )
        how = f"{warps} warps of {rows} rows a block, {steps} steps of {'staged ' if stage else ''}keys"
    else:
        warps = min(WARPS, power_of_two_above(ceil_div(keys, some * lanes.apart)))
        steps = ceil_div(keys, warps * some * lanes.apart)
        axes[attention.keys] = factors_of(
            (steps, AxisKind.LOOP), (warps, AxisKind.WARP), (some, AxisKind.REGISTER), (lanes.apart, AxisKind.LANE)
        )
        how = f"{warps} warps share the keys of {rows} rows, {steps} steps"
    axes[attention.channels] = lanes.factors(channels)
    axes[attention.depth] = lanes.factors(depth, of=attention.channels)
    # Threads are numbered by what warps have first, then by the keys of lanes, then along a key.
    outer = [*attention.batch, *attention.rows, attention.keys, attention.channels]
    # ptxas would not give a thread all the registers that there are for it, and spill.
    resident = max(1, REGISTERS // (THREAD_REGISTERS * warps * WARP))
    reason = f"attention: {lanes.lanes} lanes a key in runs of {lanes.width}, {how}"
    return Choice(schedule_of(shape, axes, stage, outer=outer, min_blocks=resident), reason)


def _lanes(shape: KernelShape, attention: AttentionShape, depth: int, channels: int) -> _Lanes:
    """As few lanes as hold a key in few enough registers, with runs as long as make up keys and values exactly; else
    single elements, of which some lanes have none."""
    loads = ((attention.depth, (*attention.query, *attention.key)), (attention.channels, attention.value))
    sizes = [access.element_bytes for axis, accesses in loads for access in accesses if access.contiguous_axis == axis]
    size = max(sizes, default=VECTOR_BYTES)
    longest = max(depth, channels)
    fewest = 1
    while fewest < WARP and ceil_div(longest, fewest) > MOST_ELEMENTS:
        fewest *= 2
    lanes = fewest
    while lanes <= WARP:
        width = max(1, VECTOR_BYTES // size)
        while width >= max(1, WORD_BYTES // size):
            if depth % (lanes * width) == 0 and channels % (lanes * width) == 0:
                return _Lanes(lanes, width)
            width //= 2
        lanes *= 2
    return _Lanes(fewest, 1)


def _rows_of_a_warp(extents: Mapping[str, int], rows: Sequence[str], held: int) -> dict[str, int]:
    """Rows that a warp takes together along each axis, the innermost first; held: elements that a lane holds of one."""
    most = FEW_ROWS
    budget = MOST_HELD if prod(extents[axis] for axis in rows) <= FEW_ROWS else HELD
    while most > 1 and most * held > budget:
        most //= 2
    each: dict[str, int] = {}
    for axis in reversed(rows):
        each[axis] = min(most, power_of_two_above(extents[axis]))
        most //= each[axis]
    return each


def _stage(attention: AttentionShape, elements: int, steps: int) -> tuple[Staging, ...]:
    """Slabs of so many elements of keys and values, copied ahead where there is room for that; none without room."""
    staged: dict[str, Access] = {
        access.buffer: access for access in (*attention.key, *attention.value) if access.is_linear
    }
    size = elements * max((access.element_bytes for access in staged.values()), default=1)
    buffers = min(2, steps, SLAB_BYTES // size)
    return tuple(Staging(buffer, buffers, buffers > 1) for buffer in staged) if buffers else ()
