"""Schedules of attention in 16-bit floats: both products by matrix instructions, all that is between in registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from ...dialects.atoms import ATOMS
from ...dialects.axes import WARP, AxisKind
from ...dialects.schedule import Staging
from ..tile.bank_conflicts import BANK_BYTES, BANKS
from ..tile.tile_stage import SHARED_BYTES
from .attention_shape import AttentionShape
from .kernel_shape import KernelShape
from .matrix_chains import why_no_chain
from .matrix_rule import FEW_BLOCKS, SWIZZLE_BYTES
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

WARPS = 4
"""Warps of a block, each with rows of its own: none waits for what another computes but at the barrier of a step."""

KEYS = 64
"""Keys of a step."""

REGISTERS = 172
"""Registers of a lane that hold queries, scores and sums: of the 255 that there are, the rest is for one step's keys or
values, addresses, and what rows have once."""

MASKED_KEYS = 8
"""Keys of a step that take one register more where the last step has keys that there are none of."""

OTHER_REGISTERS = 72
"""Registers of a lane for all else."""

MASK_REGISTERS = 24
"""Those that more are needed where the last step has keys that there are none of, and where rows have elements that
there are none of."""

LOADED_REGISTERS = 32
"""Those that more are needed where scores have an operand of their own, as a bias or a mask that is data."""

NARROW_REGISTERS = 32
"""Those that more are needed where rows are copied in less than 16 bytes at once."""

UNEVEN_REGISTERS = 8
"""Those that more are needed where a row of a slab goes through the banks more than once, but not a whole number of
times: neighbouring rows have addresses of their own (counted at 80 channels)."""

UNEVEN_MASK_REGISTERS = 80
"""Those that more are needed then for the masks of a last step."""

NUMBER_REGISTERS = 8
"""Those that more are needed for each number that the program tells: a length, or a position, for which indices have
64 bits."""

REGISTER_FILE = 64 * 1024
"""Registers of a multiprocessor."""

ATOM = ATOMS["m16n8k16"]

DECLARED_BYTES = 48 * 1024
"""Shared memory that a kernel has without that its launch asks for it."""

COPIED = 8
"""Elements of 16 bits that are copied at once."""


@dataclass(frozen=True)
class _Tile:
    """What a warp computes in one step.

    staged: whether queries are copied to shared memory first; reread: whether they are read from there in each step.
    depth, channels: in units of 16.
    """

    rows: int
    keys: int
    depth: int
    channels: int
    staged: bool
    reread: bool

    @property
    def held(self) -> int:
        """Registers of a lane that hold the queries, scores and sums: 4 of each 16 x 16 queries, of which it needs one
        unit of the depth at once, and of each 16 x 8 others."""
        queries = 4 if self.reread else 4 * self.depth
        return self.rows // ATOM.m * (8 * self.channels + 8 * (self.keys // ATOM.k) + queries)

    @property
    def is_uneven(self) -> bool:
        """Whether a row of a slab goes through the banks more than once, but not a whole number of times."""
        rows = (units * ATOM.k * 2 for units in (self.depth, self.channels))
        return any(row > BANKS * BANK_BYTES and row % (BANKS * BANK_BYTES) for row in rows)

    def fits_in_shared_memory(self, warps: int, buffers: int) -> bool:
        """Whether the slabs do: a kernel declares all but the largest of its arrays."""
        rows = warps * self.rows if self.staged else 0
        slabs = rows * self.depth, self.keys * buffers * self.depth, self.keys * buffers * self.channels
        unit = 2 * ATOM.k
        return unit * sum(slabs) <= SHARED_BYTES and unit * (sum(slabs) - max(slabs)) <= DECLARED_BYTES


def attention_schedule(shape: KernelShape, attention: AttentionShape) -> Choice | str:
    """A tile of queries a block, of which each warp has 16 or 32; or why not. Few queries, as those of heads that share
    keys, are as much work as 16, but still much less than without the instructions.

    Keys and values come in tiles that are copied ahead, in units of 16 bytes permuted so that neither the copies nor
    the reads of matrices have bank conflicts. Queries are read once, into registers, or in each step where these do not
    suffice.
    """
    if not attention.rows:
        return "there is one query, of which an instruction takes 16"
    row = max(reversed(attention.rows), key=lambda axis: shape.extents[axis])
    if reason := why_no_chain(attention, row):
        return reason
    for tile in _tiles(shape, attention, row):
        warps = min(WARPS, power_of_two_above(ceil_div(shape.extents[row], tile.rows)))
        blocks = prod(shape.extents[axis] for axis in shape.parallel if axis not in (row, attention.channels))
        blocks *= ceil_div(shape.extents[row], warps * tile.rows)
        if tile.rows > ATOM.m and blocks < FEW_BLOCKS:
            continue
        buffers = min(2, ceil_div(shape.extents[attention.keys], tile.keys))
        if tile.fits_in_shared_memory(warps, buffers):
            return _schedule(shape, attention, row, tile, (warps, buffers))
    return "no tile of it fits in registers and in shared memory"


def _tiles(shape: KernelShape, attention: AttentionShape, row: str) -> Iterator[_Tile]:
    """Those for which registers suffice; the best first."""
    depth, channels = (ceil_div(shape.extents[axis], ATOM.k) for axis in (attention.depth, attention.channels))

    def is_ragged(tile: _Tile) -> bool:
        return shape.extents[attention.keys] % tile.keys > 0

    room = REGISTERS - LOADED_REGISTERS * _has_loaded_scores(shape, attention)
    room -= NUMBER_REGISTERS * len({access.buffer for access in shape.loads if not access.axes})
    if any(shape.extents[axis] % COPIED for axis in (attention.depth, attention.channels)):
        room -= NARROW_REGISTERS
    most = min(KEYS, ATOM.k * power_of_two_above(ceil_div(shape.extents[attention.keys], ATOM.k)))
    for rows in (2 * ATOM.m, ATOM.m):
        # The fewer keys a step has, the more barriers and rescaled sums; then rather fewer rows.
        steps = dict.fromkeys((most, max(ATOM.k, most // 2), ATOM.k if rows == ATOM.m else most))
        queries = (True, False), (False, False), (True, True)
        tiles = [_Tile(rows, keys, depth, channels, *placed) for keys in steps for placed in queries]
        # Beside the masks of a last step there are no registers for the addresses of queries that are not staged.
        tiles.sort(key=lambda tile: not tile.staged and is_ragged(tile))
        for tile in tiles:
            needed = tile.held + is_ragged(tile) * (tile.keys // MASKED_KEYS + UNEVEN_MASK_REGISTERS * tile.is_uneven)
            if needed <= room and (rows == ATOM.m or rows < 2 * shape.extents[row]):
                yield tile


def _has_loaded_scores(shape: KernelShape, attention: AttentionShape) -> bool:
    """Whether something else is loaded for each score."""
    factors = {access.op for access in (*attention.query, *attention.key, *attention.value)}
    return any(
        attention.keys in access.axes and not access.axes.isdisjoint(attention.rows)
        for access in shape.loads
        if access.op not in factors
    )


def _schedule(shape: KernelShape, attention: AttentionShape, row: str, tile: _Tile, numbers: tuple[int, int]) -> Choice:
    """numbers: of warps, and of slabs of keys."""
    (warps, buffers), rows, keys = numbers, tile.rows, tile.keys
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
    for access in attention.query if tile.staged else ():
        stage[access.buffer] = Staging(access.buffer, 1, True, swizzle=unit, reread=tile.reread)
    for access in (*attention.key, *attention.value):
        stage[access.buffer] = Staging(access.buffer, buffers, True, swizzle=unit)
    reason = (
        f"attention by m16n8k16: {warps} warps of {rows} rows a block, {keys} keys a step, {steps} steps, "
        f"{'staged' if tile.staged else 'unstaged'} queries {'read in each' if tile.reread else 'in registers'}"
    )
    is_short = any(extents[axis] % ATOM.k for axis in (attention.depth, attention.channels))
    others = OTHER_REGISTERS + MASK_REGISTERS * (bool(extents[attention.keys] % keys) + is_short)
    registers = WARP * WARPS * (tile.held + others + UNEVEN_REGISTERS * tile.is_uneven)
    # Without that, ptxas may prefer one block more to registers, and spill.
    min_blocks = REGISTER_FILE // registers * (WARPS // warps)
    return Choice(schedule_of(shape, axes, tuple(stage.values()), min_blocks=min_blocks), reason)
