"""The schedule of products: tiles of the output over blocks and threads, slabs of the operands staged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from ...dialects.axes import WARP, AxisKind
from ...dialects.schedule import Factor, Staging
from .bank_conflicts import warp_wavefronts
from .kernel_shape import Access, KernelShape
from .schedule_parts import BLOCK_THREADS, Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

SHARED_BUDGET = 40 * 1024
"""Bytes of shared memory that the slabs of one block may take, out of 48 KiB."""

SECTOR_BYTES = 32


def product_axes(shape: KernelShape) -> tuple[str, str, str] | None:
    """(row, column, reduced) axes when the reduction is a product: loads that share the reduced axis but not the
    others.

    The column is the innermost parallel axis that not all of them use, the row the innermost that they use instead.
    Of several reduced axes it is the outermost, behind whose loop slabs are staged.
    """
    reduced = shape.reduced[0]
    factors = [access for access in shape.loads if reduced in access.axes]
    if reduced in shape.parallel or len(factors) < 2:
        return None
    users = {axis: {id(access) for access in factors if axis in access.axes} for axis in shape.parallel}
    free = [axis for axis in shape.parallel if users[axis] and len(users[axis]) < len(factors)]
    for column in reversed(free):
        for row in reversed(free):
            if not users[row] & users[column]:
                return row, column, reduced
    return None


@dataclass(frozen=True)
class Side:
    """One side of a product's tile.

    strided: neighbouring threads take neighbouring elements, and the registers of a thread are `threads` apart; else
      the
      registers of a thread are neighbours.
    """

    threads: int
    registers: int
    strided: bool

    @property
    def extent(self) -> int:
        return self.threads * self.registers

    @property
    def thread_step(self) -> int:
        """From a thread's first element to its neighbour's."""
        return 1 if self.strided else self.registers

    def factors(self, extent: int) -> list[Factor]:
        """The factors of an axis of this extent."""
        inner = [(self.threads, AxisKind.THREAD), (self.registers, AxisKind.REGISTER)]
        return factors_of(
            (ceil_div(extent, self.extent), AxisKind.BLOCK), *(reversed(inner) if self.strided else inner)
        )


def _side(extent: int, strided: bool) -> Side:
    """16, 32 or 64 elements, less for small axes."""
    registers = 4 if extent >= 32 else 2 if extent > 8 else 1
    return Side(min(16, power_of_two_above(ceil_div(extent, registers))), registers, strided)


def product_schedule(shape: KernelShape, row: str, column: str, reduced: str) -> Choice:
    """A tile of the output a block, a register tile a thread; slabs of the operands staged along the reduced axis.

    A convolution's tile has further axes of its outputs, so that windows share what is staged; its taps, like all
    reduced axes but one, are walked within a slab.

    The order of registers and threads on each side, and the padding of each slab, are those with the fewest counted
    passes
    over shared memory, then over the output's sectors.
    """
    if shape.parallel.index(row) > shape.parallel.index(column):
        row, column = column, row  # threads are numbered in the order of the axes: the last is the fastest
    extents = {axis: max(1, shape.extents[axis]) for axis in (row, column)}
    plain = {axis: _side(extent, False) for axis, extent in extents.items()}
    tile = {axis: side.extent for axis, side in plain.items()}
    further = _further_threads(shape, prod(side.threads for side in plain.values()), row, column)
    tile |= further
    length = max(1, shape.extents[reduced])
    staged = _staged_loads(shape, reduced)
    slab = tile | {axis: max(1, shape.extents[axis]) for axis in shape.reduced}

    def slab_bytes(step: int) -> int:
        sizes = slab | {reduced: step}
        return sum(access.element_bytes * prod(_slab_shape(access, sizes)) for access in staged.values())

    # Slabs are copied a step ahead where there are two steps, and else one element of the reduced axis at a time.
    step = min(16 if max(tile.values()) > 32 else 32, power_of_two_above(length))
    while step > 4 and (2 * slab_bytes(step) > SHARED_BUDGET or step >= length):
        step //= 2
    step = min(step, length)
    steps = ceil_div(length, step)
    slab[reduced] = step if steps > 1 else 1

    def layout(orders: Sequence[bool]) -> tuple[float, dict[str, Side], dict[str, int]]:
        """What a register order costs; the sides and the paddings that go with it."""
        sides = {axis: _side(extents[axis], order) for axis, order in zip((row, column), orders, strict=True)}
        best = {buffer: _padding(access, sides, row, column, slab) for buffer, access in staged.items()}
        passes = length * sum(cost for cost, _ in best.values())
        return passes + _store_sectors(shape, sides, column), sides, {buffer: pad for buffer, (_, pad) in best.items()}

    # The registers of a thread are neighbours unless something else is cheaper: `min` keeps the first of equals.
    _, sides, paddings = min(
        (layout(order) for order in product((False, True), repeat=2)), key=lambda choice: choice[0]
    )

    axes: Axes = {axis: side.factors(extents[axis]) for axis, side in sides.items()}
    for axis, threads in further.items():
        axes[axis] = factors_of((ceil_div(shape.extents[axis], threads), AxisKind.BLOCK), (threads, AxisKind.THREAD))
    axes[reduced] = [Factor(steps, AxisKind.LOOP), Factor(step, AxisKind.LOOP)]
    double = steps > 1
    stage = tuple(
        Staging(buffer, 2 if double else 1, access.element_bytes >= 4 or double, paddings[buffer])
        for buffer, access in staged.items()
        if length > 1
    )
    sizes = " x ".join(map(str, (*further.values(), tile[row], tile[column])))
    reason = f"product: a tile of {sizes} a block, {step} deep, {steps} steps"
    return Choice(schedule_of(shape, axes, stage), reason)


def _staged_loads(shape: KernelShape, reduced: str) -> dict[str, Access]:
    """Buffers whose slabs can be staged: read once, along the reduced axis, by linear indices."""
    counts: dict[str, int] = {}
    for access in shape.loads:
        counts[access.buffer] = counts.get(access.buffer, 0) + 1
    return {
        access.buffer: access
        for access in shape.loads
        if reduced in access.axes and access.is_linear and counts[access.buffer] == 1
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
    access: Access, sides: Mapping[str, Side], row: str, column: str, slab: Mapping[str, int]
) -> tuple[float, int]:
    """(passes over shared memory of the reads of one step, elements to add to each row of the slab for that)."""
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
            return (last.get(axis, 0) + rows[axis] * (shape[-1] + padding)) * sides[axis].thread_step * size

        return warp_wavefronts(threads, (stride(row), stride(column)), width)

    # Neighbours are read at once: the registers of a thread, or steps that the compiler unrolls.
    side = next((sides[axis] for axis in last if axis in sides), None)
    neighbours = min(16 // size, 4 if side is None else 1 if side.strided else side.registers)
    width = size * neighbours
    unit = max(1, 16 // size)  # rows stay aligned
    candidates = range(0, 8 * unit, unit) if len(access.indices) > 1 else (0,)
    # The compiler may not merge: single reads count too.
    padding = min(candidates, key=lambda padding: (passes(padding, size) + passes(padding, width), padding))
    registers = prod(sides[axis].registers for axis in access.axes if axis in sides)
    return passes(padding, width) * registers / neighbours, padding


def _store_sectors(shape: KernelShape, sides: Mapping[str, Side], column: str) -> int:
    """Sectors that a warp's stores of its register tile touch along the column, for each row."""
    side = sides[column]
    store = shape.stores[0]
    if store.contiguous_axis != column:
        return 0
    in_vectors = not side.strided and max(1, shape.extents[column]) % side.registers == 0
    threads = min(WARP, side.threads)
    if in_vectors:
        return ceil_div(threads * side.registers * store.element_bytes, SECTOR_BYTES)
    return side.registers * ceil_div(threads * side.thread_step * store.element_bytes, SECTOR_BYTES)
