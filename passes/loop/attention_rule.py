"""Schedules of attention in 16-bit floats: both products by matrix instructions, all that is between in registers."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ...dialects.atoms import ATOMS
from ...dialects.axes import WARP, AxisKind
from ...dialects.schedule import Staging
from .attention_shape import AttentionShape
from .kernel_shape import KernelShape
from .matrix_chains import why_no_chain
from .matrix_rule import FEW_BLOCKS, SHARED_BYTES, SWIZZLE_BYTES
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

WARPS = 4
"""Warps of a block, each with rows of its own: none waits for what another computes but at the barrier of a step."""

KEYS = 64
"""Keys of a step."""

REGISTERS = 168
"""Registers of a lane that hold queries, scores and sums: of the 255 that there are, the rest is for one step's keys or
values, addresses, and what rows have once."""

OTHER_REGISTERS = 72
"""Registers of a lane for all else."""

MASK_REGISTERS = 24
"""Those that more are needed where the last step has keys that there are none of, and where rows have elements that
there are none of."""

LOADED_REGISTERS = 32
"""Those that more are needed where scores have an operand of their own, as a bias or a mask that is data."""

REGISTER_FILE = 64 * 1024
"""Registers of a multiprocessor."""

ATOM = ATOMS["m16n8k16"]


def attention_schedule(shape: KernelShape, attention: AttentionShape) -> Choice | str:
    """A tile of queries a block, of which each warp has 16 or 32; or why not. Few queries, as those of heads that share
    keys, are as much work as 16, but still much less than without the instructions.

    Keys and values come in tiles that are copied ahead, in units of 16 bytes permuted so that neither the copies nor
    the reads of matrices have bank conflicts. Queries are read once, into registers.
    """
    if not attention.rows:
        return "there is one query, of which an instruction takes 16"
    row = max(reversed(attention.rows), key=lambda axis: shape.extents[axis])
    if reason := why_no_chain(attention, row):
        return reason
    for rows, keys, staged in _tiles(shape, attention, row):
        warps = min(WARPS, power_of_two_above(ceil_div(shape.extents[row], rows)))
        blocks = prod(shape.extents[axis] for axis in shape.parallel if axis not in (row, attention.channels))
        blocks *= ceil_div(shape.extents[row], warps * rows)
        if rows > ATOM.m and blocks < FEW_BLOCKS:
            continue
        steps = ceil_div(shape.extents[attention.keys], keys)
        buffers = min(2, steps)
        size = _slab_bytes(shape, attention, warps * rows if staged else 0, keys * buffers)
        if size <= SHARED_BYTES:
            return _schedule(shape, attention, row, (warps, rows, keys, buffers), staged)
    return "no tile of it fits in registers and in shared memory"


def _tiles(shape: KernelShape, attention: AttentionShape, row: str) -> Iterator[tuple[int, int, bool]]:
    """Rows of a warp, keys of a step, and whether queries are staged, for which registers suffice; the best first."""
    depth, channels = (ceil_div(shape.extents[axis], ATOM.k) for axis in (attention.depth, attention.channels))
    room = REGISTERS - LOADED_REGISTERS * _has_loaded_scores(shape, attention)
    most = min(KEYS, ATOM.k * power_of_two_above(ceil_div(shape.extents[attention.keys], ATOM.k)))
    for rows in (2 * ATOM.m, ATOM.m):
        # The fewer keys a step has, the more barriers and rescaled sums; then rather fewer rows.
        steps = dict.fromkeys((most, max(ATOM.k, most // 2), ATOM.k if rows == ATOM.m else most))
        tiles = [(keys, staged) for keys in steps for staged in (True, False)]
        # Beside the masks of a last step there are no registers for the addresses of queries that are not staged.
        tiles.sort(key=lambda tile: not tile[1] and shape.extents[attention.keys] % tile[0] > 0)
        for keys, staged in tiles:
            if _held(rows, keys, depth, channels) <= room and (rows == ATOM.m or rows < 2 * shape.extents[row]):
                yield rows, keys, staged


def _has_loaded_scores(shape: KernelShape, attention: AttentionShape) -> bool:
    """Whether something else is loaded for each score."""
    factors = {access.op for access in (*attention.query, *attention.key, *attention.value)}
    return any(
        attention.keys in access.axes and not access.axes.isdisjoint(attention.rows)
        for access in shape.loads
        if access.op not in factors
    )


def _held(rows: int, keys: int, depth: int, channels: int) -> int:
    """Registers of a lane that hold a warp's tile; depth and channels in units of 16.

    It has 4 of each 16 x 8 elements of f32, and 8 of 16 x 16 queries of 16 bits.
    """
    return rows // ATOM.m * (8 * channels + 8 * (keys // ATOM.k) + 4 * depth)


def _slab_bytes(shape: KernelShape, attention: AttentionShape, rows: int, keys: int) -> int:
    depth, channels = (ATOM.k * ceil_div(shape.extents[axis], ATOM.k) for axis in (attention.depth, attention.channels))
    return 2 * (rows * depth + keys * (depth + channels))


def _schedule(
    shape: KernelShape, attention: AttentionShape, row: str, tile: tuple[int, int, int, int], staged: bool
) -> Choice:
    """tile: warps, rows of each, keys of a step, and their slabs."""
    warps, rows, keys, buffers = tile
    extents = shape.extents
    steps = ceil_div(extents[attention.keys], keys)
    axes: Axes = {
        row: factors_of(
            (ceil_div(extents[row], warps * rows), AxisKind.BLOCK),
            (warps, AxisKind.WARP),
            (rows // ATOM.m, AxisKind.REGISTER),
            (ATOM.m, AxisKind.MMA),
        ),
        attention.channels: factors_of(
            (ceil_div(extents[attention.channels], ATOM.n), AxisKind.REGISTER), (ATOM.n, AxisKind.MMA)
        ),
        attention.keys: factors_of((steps, AxisKind.LOOP), (keys // ATOM.k, AxisKind.REGISTER), (ATOM.k, AxisKind.MMA)),
        attention.depth: factors_of(
            (ceil_div(extents[attention.depth], ATOM.k), AxisKind.UNROLL), (ATOM.k, AxisKind.MMA)
        ),
    }
    unit = SWIZZLE_BYTES // 2
    stage: dict[str, Staging] = {}
    for access in attention.query if staged else ():
        stage[access.buffer] = Staging(access.buffer, 1, True, swizzle=unit)
    for access in (*attention.key, *attention.value):
        stage[access.buffer] = Staging(access.buffer, buffers, True, swizzle=unit)
    reason = (
        f"attention by m16n8k16: {warps} warps of {rows} rows a block, {keys} keys a step, {steps} steps, "
        f"{'staged' if staged else 'unstaged'} queries in registers"
    )
    depth, channels = (ceil_div(extents[axis], ATOM.k) for axis in (attention.depth, attention.channels))
    is_short = any(extents[axis] % ATOM.k for axis in (attention.depth, attention.channels))
    others = OTHER_REGISTERS + MASK_REGISTERS * (bool(extents[attention.keys] % keys) + is_short)
    registers = WARP * WARPS * (_held(rows, keys, depth, channels) + others)
    # Without that, ptxas may prefer one block more to registers, and spill.
    min_blocks = REGISTER_FILE // registers * (WARPS // warps)
    return Choice(schedule_of(shape, axes, tuple(stage.values()), min_blocks=min_blocks), reason)
