"""The schedule of products: tiles of the output over blocks and threads, slabs of the operands staged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from ...dialects.axes import WARP, AxisKind
from ...dialects.loop import ReduceOp, YieldOp
from ...dialects.schedule import Factor, Staging
from ...dialects.uop import CastOp, LoadOp, MulOp
from ..tile.bank_conflicts import warp_wavefronts
from .kernel_shape import Access, KernelShape
from .prepared_operands import prepared_loads
from .product_cost import SUM_BYTES, Product, Tiling
from .schedule_parts import BLOCK_THREADS, Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

SHARED_BYTES, SHARED_BUDGET = 48 * 1024, 40 * 1024
"""Bytes of shared memory that a kernel gets without asking, and that the slabs of one block may take of them."""

SECTOR_BYTES = 32

REGISTERS = 65536
"""32-bit registers of a multiprocessor, on every architecture."""

UNASKED_REGISTERS = 64
"""Registers to which ptxas keeps the threads of blocks of 128 to 256 when no number of blocks is given (observed in
NVRTC 13.5)."""


@dataclass(frozen=True)
class Side:
    """One side of a product's tile: each thread has `groups` runs of `run` neighbours, `threads` runs apart.

    With one group the registers of a thread are neighbours; with runs of one, those of neighbouring threads are.
    """

    threads: int
    groups: int
    run: int

    @property
    def registers(self) -> int:
        return self.groups * self.run

    @property
    def extent(self) -> int:
        return self.threads * self.registers

    def factors(self, extent: int) -> list[Factor]:
        """The factors of an axis of this extent."""
        return factors_of(
            (ceil_div(extent, self.extent), AxisKind.BLOCK),
            (self.groups, AxisKind.REGISTER),
            (self.threads, AxisKind.THREAD),
            (self.run, AxisKind.REGISTER),
        )


def _sides(extent: int, most: int) -> tuple[Side, ...]:
    """16, 32 or 64 elements, at most `most` a thread, less for small axes: runs as long as they can be, or of one."""
    registers = min(most, 4 if extent >= 32 else 2 if extent > 8 else 1)
    threads = min(16, power_of_two_above(ceil_div(extent, registers)))
    return Side(threads, 1, registers), Side(threads, registers, 1)


LARGE_SIDES = {
    8: (Side(8, 8, 1), Side(8, 2, 4)),
    4: (Side(8, 4, 1), Side(8, 1, 4)),
    2: (Side(8, 2, 1), Side(8, 1, 2)),
    1: (Side(8, 1, 1),),
}
"""64 elements of which a thread holds 8: a step of 8 x 8 multiplications takes 16 elements of the slabs, where 4 x 4
take 8. Runs of four are one 16-byte access, which threads side by side make without bank conflicts. Fewer where
several products share the rows: together they are as many."""

TILE, SMALL_TILE = 64, 32
"""Rows and columns of tiles; of a small one, too, a thread computes 4 x 4 elements."""

STEP = 16
"""Steps of the reduced axis in a slab of these. Written out, their addresses are constants, and four of them along rows
of a slab are one 16-byte read."""

LARGE_SLABS = 3
"""Slabs of one operand in large tiles: with few threads in a block, copies start two steps ahead."""

MANY_BLOCKS = 64
"""Blocks from which on the tiles are large: fewer have a multiprocessor each, on which more threads hide more."""


def _large_sides(
    shape: KernelShape, sums: Sequence[ReduceOp], narrow: str, other: str, operands: int
) -> dict[str, tuple[Side, ...]] | None:
    """The sides of tiles of which each thread computes 8 x 8 elements, of all products together: for many blocks of
    them, and sums of nothing but products, whose 64 accumulators and written-out steps fit the registers and the
    patience of a compiler.

    operands: how many are staged; 0 for sums of others than products."""
    reduced = sums[0].axis.axis.data
    registers = {other: 8, narrow: max(1, 8 // power_of_two_above(len(sums)))}
    tile = {axis: 8 * count for axis, count in registers.items()}
    blocks = prod(ceil_div(max(1, shape.extents[axis]), tile.get(axis, 1)) for axis in shape.parallel)
    is_large = (
        all(shape.extents[axis] >= extent for axis, extent in tile.items())
        and shape.extents[reduced] > STEP
        and blocks >= MANY_BLOCKS
        and shape.widest_bytes <= 4
        and len(shape.reduced) == 1
        and operands == len(sums) + 1
    )
    return {axis: LARGE_SIDES[count] for axis, count in registers.items()} if is_large else None


def _are_products(sums: Sequence[ReduceOp]) -> bool:
    """Whether nothing else is summed: steps that are written out fit the patience of a compiler."""
    return all(isinstance(op, LoadOp | CastOp | MulOp | YieldOp) for each in sums for op in each.body.block.ops)


def _tiling_of_few(shape: KernelShape, sums: Sequence[ReduceOp], operands: int, row: str, column: str) -> Tiling:
    """The tile where there are few, and into how many slices its sum is cut: those of 32 rows and columns, for one sum
    of nothing but products in f32.

    operands: as for large tiles."""
    rows, columns, depth = (max(1, shape.extents[axis]) for axis in (row, column, sums[0].axis.axis.data))
    batches = prod(max(1, shape.extents[axis]) for axis in shape.parallel if axis not in (row, column))
    product = Product.of(rows, columns, depth, batches, shape.widest_bytes, by_matrices=False)
    is_small = (
        min(rows, columns) >= SMALL_TILE
        and depth > STEP
        and product.tiles(TILE) < MANY_BLOCKS
        and shape.widest_bytes == 4
        and len(shape.reduced) == len(sums) == 1
        and operands == 2
    )
    return product.fastest(lambda tiling: is_small and tiling.tile == SMALL_TILE)


def product_schedule(shape: KernelShape, row: str, column: str, reduced: str) -> Choice:
    """A tile of the output a block, a register tile a thread; slabs of the operands staged along the reduced axis.

    A convolution's tile has further axes of its outputs, so that windows share what is staged; its taps, like all
    reduced axes but one, are walked within a slab.

    The order of registers and threads on each side, and the padding of each slab, are those with the fewest reads of
    shared memory, counted with the passes that each takes, and the fewest sectors of the output.
    """
    if shape.parallel.index(row) > shape.parallel.index(column):
        row, column = column, row  # threads are numbered in the order of the axes: the last is the fastest
    extents = {axis: max(1, shape.extents[axis]) for axis in (row, column)}
    length = max(1, shape.extents[reduced])
    staged = _staged_loads(shape, reduced)
    reductions = [op for op in shape.kernel.body.walk() if isinstance(op, ReduceOp)]
    sums = [op for op in reductions if op.axis.axis.data == reduced]
    prepared = [load for load in prepared_loads(shape, sums) if load.buffer in staged]
    if prepared:
        sums = [op for op in sums if shape.varies(op.results[0]).issuperset(extents)]
    operands = sum(not access.axes.isdisjoint(extents) for access in staged.values())
    if not (prepared or _are_products(sums)):
        operands = 0
    # Of several products side by side, a thread computes fewer elements each along the axis of what they do not share.
    narrow = max((column, row), key=lambda axis: sum(axis in access.axes for access in staged.values()))
    large = _large_sides(shape, sums, narrow, row if narrow == column else column, operands)
    most = {narrow: max(1, 8 // power_of_two_above(len(sums)))}
    tiling = Tiling(TILE, 1) if large else _tiling_of_few(shape, sums, operands, row, column)
    slices, is_unrolled = tiling.slices, bool(large) or tiling.tile == SMALL_TILE
    choices = large or {
        axis: LARGE_SIDES[4] if is_unrolled else _sides(extent, most.get(axis, 4)) for axis, extent in extents.items()
    }
    tile = {axis: sides[0].extent for axis, sides in choices.items()}
    further = _further_threads(shape, prod(sides[0].threads for sides in choices.values()), row, column)
    tile |= further
    slab = tile | {axis: max(1, shape.extents[axis]) for axis in shape.reduced}

    def slab_bytes(step: int) -> int:
        sizes = slab | {reduced: step * slices}
        return sum(access.element_bytes * prod(_slab_shape(access, sizes)) for access in staged.values())

    # Slabs are copied ahead where there are two steps, and else one element of the reduced axis at a time.
    step = min(STEP if is_unrolled or max(tile.values()) > 32 else 32, power_of_two_above(length))
    slabs = LARGE_SLABS if large else 2
    room = min(SHARED_BUDGET, SHARED_BYTES - (slices - 1) * tile[row] * tile[column] * SUM_BYTES)
    while step > 4 and (slabs * slab_bytes(step) > room or step >= length):
        step //= 2
    step = min(step, length)
    steps = ceil_div(length, step * slices)
    slab[reduced] = step * slices if steps > 1 else 1

    def layout(pair: Sequence[Side]) -> tuple[float, dict[str, Side], dict[str, int]]:
        """What a register order costs; the sides and the paddings that go with it."""
        sides = dict(zip((row, column), pair, strict=True))
        best = {buffer: _padding(access, sides, row, column, slab, is_unrolled) for buffer, access in staged.items()}
        passes = length * sum(cost for cost, _ in best.values())
        return passes + _store_sectors(shape, sides, column), sides, {buffer: pad for buffer, (_, pad) in best.items()}

    # `min` keeps the first of equals.
    _, sides, paddings = min(
        (layout(pair) for pair in product(choices[row], choices[column])), key=lambda choice: choice[0]
    )

    axes: Axes = {axis: side.factors(extents[axis]) for axis, side in sides.items()}
    for axis, threads in further.items():
        axes[axis] = factors_of((ceil_div(shape.extents[axis], threads), AxisKind.BLOCK), (threads, AxisKind.THREAD))
    axes[reduced] = [Factor(steps, AxisKind.LOOP), Factor(step, AxisKind.UNROLL if is_unrolled else AxisKind.LOOP)]
    if slices > 1:
        axes[reduced].insert(1, Factor(slices, AxisKind.WARP))
    slabs = min(slabs, steps)
    once = [load.buffer for load in prepared if steps > 1 and _share_steps(load, step, sides)]
    stage = tuple(
        Staging(
            buffer,
            slabs,
            access.element_bytes >= 4 or slabs > 1,
            paddings[buffer],
            prepared=buffer in once,
        )
        for buffer, access in staged.items()
        if length > 1
    )
    sizes = " x ".join(map(str, (*further.values(), tile[row], tile[column])))
    reason = f"product: a tile of {sizes} a block, {step * slices} deep, {steps} steps"
    if slices > 1:
        reason += f", summed in {slices} slices by warps of their own"
    if once:
        reason += f", what is made of {' and '.join(f'%{buffer}' for buffer in once)} computed once for it"
    threads = slices * prod(side.threads for side in sides.values()) * prod(further.values())
    words = len(sums) * prod(side.registers for side in sides.values()) * ceil_div(shape.widest_bytes, 4)
    min_blocks = None if is_unrolled and not once else _min_blocks(words, threads, len(sums) > 1 or bool(once))
    if min_blocks is not None:
        reason += f", {min_blocks} blocks a multiprocessor for {words} registers of sums"
    # The threads of slices stand first, so that each has whole warps.
    outer = [reduced] if slices > 1 else []
    return Choice(schedule_of(shape, axes, stage, outer, min_blocks=min_blocks), reason)


def _share_steps(prepared: Access, step: int, sides: Mapping[str, Side]) -> bool:
    """Whether the threads that have the same of an operand share the steps of a slab evenly."""
    return step % prod(side.threads for axis, side in sides.items() if axis not in prepared.axes) == 0


def _min_blocks(words: int, threads: int, is_wide: bool) -> int | None:
    """Blocks of so many threads that a multiprocessor holds while each thread has the registers that it needs: `words`
    for its sums, as many for operands and products, and 48 for addresses; where it has several sums, as many again for
    what they are combined with at the end, or where operands are prepared, for what these are computed of.

    None where these are no more than the 64 that ptxas gives each thread of such blocks if it is told nothing. It
    spills what does not fit, also where it could give more.
    """
    needed = (3 if is_wide else 2) * words + 48
    return max(1, REGISTERS // (max(WARP, threads) * needed)) if needed > UNASKED_REGISTERS else None


def _staged_loads(shape: KernelShape, reduced: str) -> dict[str, Access]:
    """Buffers whose slabs can be staged: read at one place, along the reduced axis, by linear indices."""
    places: dict[str, Access] = {}
    several: set[str] = set()
    for access in shape.loads:
        if places.setdefault(access.buffer, access).indices != access.indices:
            several.add(access.buffer)
    return {
        buffer: access
        for buffer, access in places.items()
        if reduced in access.axes and access.is_linear and buffer not in several
    }


def _further_threads(shape: KernelShape, threads: int, row: str, column: str) -> dict[str, int]:
    """Threads along other axes of a convolution's outputs that its windows share, for a block of about `threads`."""
    found: dict[str, int] = {}
    taps = frozenset(shape.taps)
    shared = frozenset[str]().union(*(axes for access in shape.loads for axes in access.index_axes if axes & taps))
    for axis in reversed(shape.rows):
        count = min(BLOCK_THREADS // threads, 4, power_of_two_above(max(1, shape.extents[axis])))
        if axis in shared and axis not in (row, column) and count > 1:
            found[axis] = count
            threads *= count
    return found


def _slab_shape(access: Access, sizes: Mapping[str, int]) -> list[int]:
    """Extents of what an access reads of its buffer while each axis walks as many places as `sizes` says, else one."""
    return [
        1 + sum(step * (sizes.get(axis, 1) - 1) for axis, step in (index or {}).items()) for index in access.indices
    ]


def _padding(
    access: Access, sides: Mapping[str, Side], row: str, column: str, slab: Mapping[str, int], unrolled: bool
) -> tuple[float, int]:
    """(what the reads of one step cost, elements to add to each row of the slab for that): each read is one
    instruction, and so many passes over shared memory.

    unrolled: the steps of the slab are written out, so that reads of neighbours are merged.
    """
    size = access.element_bytes
    last = access.indices[-1] or {}
    shape = _slab_shape(access, slab)
    threads = sides[row].threads, sides[column].threads
    # Rows, along the last dimension, are padded: how many rows apart neighbours along an axis are.
    rows = dict.fromkeys((row, column), 0)
    distance = 1
    for index, extent in zip(access.indices[-2::-1], shape[-2::-1], strict=True):
        for axis in rows:
            rows[axis] += (index or {}).get(axis, 0) * distance
        distance *= extent

    def passes(padding: int, width: int) -> int:
        """Of one read of a warp of `width` bytes a lane."""

        def stride(axis: str) -> int:
            return (last.get(axis, 0) + rows[axis] * (shape[-1] + padding)) * sides[axis].run * size

        return warp_wavefronts(threads, (stride(row), stride(column)), width)

    # Neighbours are read at once: the registers of a thread, or steps that the compiler unrolls.
    side = next((sides[axis] for axis in last if axis in sides), None)
    neighbours = min(16 // size, 4 if side is None else side.run)
    width = size * neighbours
    unit = max(1, 16 // size)  # rows stay aligned
    candidates = range(0, 8 * unit, unit) if len(access.indices) > 1 else (0,)
    # Where the compiler may not merge, single reads count too.
    widths = (width,) if unrolled else (size, width)

    def copied(padding: int) -> int:
        """Passes of the copy of 16 bytes a lane, the lanes side by side."""
        in_row = min(WARP, max(1, shape[-1] * size // 16))
        return warp_wavefronts((WARP // in_row, in_row), ((shape[-1] + padding) * size, 16), 16)

    def cost(padding: int) -> tuple[int, int, int]:
        # Of equals, that with the fewest passes of copies, and of reads that the compiler takes apart after all.
        return sum(passes(padding, width) for width in widths), copied(padding) + passes(padding, size), padding

    padding = min(candidates, key=cost)
    registers = prod(sides[axis].registers for axis in access.axes if axis in sides)
    return (1 + passes(padding, width)) * registers / neighbours, padding


def _store_sectors(shape: KernelShape, sides: Mapping[str, Side], column: str) -> int:
    """Sectors that a warp's stores of its register tile touch along the column, for each row."""
    side = sides[column]
    store = shape.stores[0]
    if store.contiguous_axis != column:
        return 0
    threads = min(WARP, side.threads)
    if max(1, shape.extents[column]) % side.run == 0:  # in vectors
        return side.groups * ceil_div(threads * side.run * store.element_bytes, SECTOR_BYTES)
    return side.registers * ceil_div(threads * side.run * store.element_bytes, SECTOR_BYTES)
