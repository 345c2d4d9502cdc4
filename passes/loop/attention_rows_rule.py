"""Schedules of attention without matrix instructions: of f32, and of few queries with many keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...dialects.axes import WARP, AxisKind
from ...dialects.schedule import Factor, Staging
from ..tile.bank_conflicts import warp_wavefronts
from .attention_shape import AttentionShape
from .kernel_shape import Access, KernelShape
from .product_rule import REGISTERS
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

VECTOR_BYTES, WORD_BYTES = 16, 4
"""What a lane reads of a key at once: the most, and the least where elements are narrower."""

ROWS, FEW_ROWS = 4, 8
"""Rows that a warp takes together, and how many it takes where there are no more: keys and values, which are much more
than queries then, are read once."""

MOST_ELEMENTS = 16
"""Elements of a key that a lane holds where it walks many keys; else half as many. With fewer, a score is added up by
more lanes, each of which then computes its exponential; with more, there are more sums to put together in the end."""

LONG = 256
"""Elements of keys from which on a lane holds no more than half as many: what it reads has more addresses."""

MOST_HELD = 128
"""Elements of queries and of sums that a lane holds for all of its rows."""

SCORES = 16
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

SLAB_BYTES = 48 * 1024
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
    all_rows = prod(extents[axis] for axis in attention.rows)
    rows = power_of_two_above(all_rows) if all_rows <= FEW_ROWS else ROWS
    tiles = prod(extents[axis] for axis in attention.batch) * ceil_div(all_rows, rows)
    most = MOST_ELEMENTS if tiles >= MANY_TILES and max(depth, channels) < LONG else MOST_ELEMENTS // 2
    lanes = _lanes(shape, attention, min(most, MOST_HELD // (2 * rows)))
    held = lanes.elements(depth) + lanes.elements(channels)
    each = _rows_of_a_warp(extents, attention.rows, min(rows, max(1, MOST_HELD // held)))
    rows = prod(each.values())
    some = min(MOST_KEYS, power_of_two_above(ceil_div(keys, lanes.apart)))
    while some > 1 and (some * rows > SCORES or some * held > MOST_HELD):
        some //= 2

    axes: Axes = {
        axis: factors_of((ceil_div(extents[axis], count), AxisKind.BLOCK), (count, AxisKind.REGISTER))
        for axis, count in each.items()
    }
    of_many = [axis for axis, count in each.items() if ceil_div(extents[axis], count) >= WARPS]
    stage: tuple[Staging, ...] = ()
    if tiles >= MANY_TILES and of_many:
        warps, row = WARPS, of_many[-1]
        count = each[row]
        blocks = ceil_div(extents[row], warps * count)
        axes[row] = factors_of((blocks, AxisKind.BLOCK), (warps, AxisKind.WARP), (count, AxisKind.REGISTER))
        slabs = _slabs(shape, attention, lanes)
        inner = ceil_div(SLAB_KEYS, some * lanes.apart)
        while inner > 1 and 2 * sum(slab.size(inner * some * lanes.apart) for slab in slabs) > SLAB_BYTES:
            inner //= 2
        steps = ceil_div(keys, inner * some * lanes.apart)
        stage = _stage(slabs, inner * some * lanes.apart, steps)
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


def _lanes(shape: KernelShape, attention: AttentionShape, most: int) -> _Lanes:
    """As few lanes as hold `most` elements of a key each, with runs as long as make up keys and values exactly; else
    single elements, of which some lanes have none."""
    depth, channels = (max(1, shape.extents[axis]) for axis in (attention.depth, attention.channels))
    loads = ((attention.depth, (*attention.query, *attention.key)), (attention.channels, attention.value))
    sizes = [access.element_bytes for axis, accesses in loads for access in accesses if access.contiguous_axis == axis]
    size = max(sizes, default=VECTOR_BYTES)
    longest = max(depth, channels)
    fewest = 1
    while fewest < WARP and ceil_div(longest, fewest) > most:
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


def _rows_of_a_warp(extents: Mapping[str, int], rows: Sequence[str], most: int) -> dict[str, int]:
    """Rows that a warp takes together along each axis, the innermost first: a power of two, at most so many."""
    most = 1 << (most.bit_length() - 1)
    each: dict[str, int] = {}
    for axis in reversed(rows):
        each[axis] = min(most, power_of_two_above(extents[axis]))
        most //= each[axis]
    return each


@dataclass(frozen=True)
class _Slab:
    """A part of what keys or values are made of, for a number of keys: `row` elements of each, and `pad` behind it."""

    access: Access
    row: int
    pad: int

    def size(self, keys: int) -> int:
        """In bytes."""
        return keys * (self.row + self.pad) * self.access.element_bytes


def _slabs(shape: KernelShape, attention: AttentionShape, lanes: _Lanes) -> list[_Slab]:
    return [
        _Slab(access, row := shape.extents[axis], _padding(lanes, row, access.element_bytes))
        for axis, accesses in ((attention.depth, attention.key), (attention.channels, attention.value))
        for access in accesses
        if access.is_linear and access.contiguous_axis == axis
    ]


def _stage(slabs: Sequence[_Slab], keys: int, steps: int) -> tuple[Staging, ...]:
    """So many keys, copied ahead where there is room for that; nothing without room."""
    buffers = min(2, steps, SLAB_BYTES // max(1, sum(slab.size(keys) for slab in slabs)))
    staged = {slab.access.buffer: slab.pad for slab in slabs if buffers}
    return tuple(Staging(buffer, buffers, buffers > 1, pad) for buffer, pad in staged.items())


def _padding(lanes: _Lanes, extent: int, size: int) -> int:
    """Elements added to each key of a slab, so that the lanes of a warp read runs of keys from different banks."""
    run = lanes.width * size
    unit = max(1, VECTOR_BYTES // size)  # keys stay aligned
    return min(
        range(0, 128 // size, unit),
        key=lambda pad: warp_wavefronts((lanes.apart, lanes.lanes), ((extent + pad) * size, run), run),
    )
