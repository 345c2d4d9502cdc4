"""The rules behind `choose-schedule`: one function for each kind of kernel, from its shape alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...dialects.axes import AxisKind
from ...dialects.schedule import Factor, Schedule, Staging
from .bank_conflicts import best_padding
from .kernel_shape import Access, KernelShape

BLOCK_THREADS = 256
"""Threads of a block where nothing else decides: eight warps, of which several blocks fit on a multiprocessor."""

REGISTER_ELEMENTS = 32
"""Elements of a row that one thread may hold in registers."""

SHARED_BUDGET = 40 * 1024
"""Bytes of shared memory that the slabs of one block may take, out of 48 KiB."""

Axes = dict[str, list[Factor]]


@dataclass(frozen=True)
class Choice:
    """A schedule and the sentence that explains it."""

    schedule: Schedule
    reason: str


def choose(shape: KernelShape) -> Choice:
    """The default schedule of a kernel."""
    if not shape.reduced:
        return _elementwise(shape)
    product = _product_axes(shape)
    if product is not None:
        return _product(shape, *product)
    contiguous = _contiguous_axis(shape)
    if contiguous in shape.reduced or not shape.rows:
        return _row_reduction(shape, contiguous if contiguous in shape.reduced else shape.reduced[-1])
    return _column_reduction(shape, contiguous if contiguous in shape.rows else shape.rows[-1])


# Helpers.


def _ceil_div(n: int, d: int) -> int:
    return -(-n // d)


def _power_of_two_above(n: int) -> int:
    """The least power of two that is at least `n`."""
    return 1 << max(0, n - 1).bit_length()


def _vector_width(shape: KernelShape, axis: str) -> int:
    """Elements that one 16-byte access holds along `axis`, where its extent is a multiple of that; else 1."""
    width = min(8, 16 // shape.widest_bytes)
    return width if width > 1 and shape.extents[axis] % width == 0 else 1


def _factors(*parts: tuple[int, AxisKind]) -> list[Factor]:
    """Factors without those of extent 1; one of extent 1 if nothing else is left."""
    kept = [Factor(extent, kind) for extent, kind in parts if extent > 1]
    return kept or [Factor(1, parts[0][1])]


def _schedule(shape: KernelShape, axes: Axes, stage: tuple[Staging, ...] = ()) -> Schedule:
    """All axes of the kernel in the order of its text; those that no rule bound go over blocks, or serially if
    reduced."""
    factors: list[tuple[str, tuple[Factor, ...]]] = []
    for axis, extent in shape.extents.items():
        default = AxisKind.LOOP if axis in shape.reduced else AxisKind.BLOCK
        factors.append((axis, tuple(axes.get(axis) or _factors((max(1, extent), default)))))
    return Schedule(tuple(factors), stage)


def _contiguous_axis(shape: KernelShape) -> str | None:
    """The axis along which most of the data is walked: that of the load over the most elements."""
    candidates = [access for access in shape.loads if access.contiguous_axis is not None]
    candidates.sort(key=lambda access: -prod(shape.extents[axis] for axis in access.axes))
    return candidates[0].contiguous_axis if candidates else None


def _spread_rows(shape: KernelShape, axes: Axes, rows: list[str], threads: int, kind: AxisKind) -> int:
    """Give the innermost of `rows` up to `threads` threads of the block, the rest of it blocks; the threads given."""
    if not rows or threads <= 1:
        return 1
    axis = rows[-1]
    extent = max(1, shape.extents[axis])
    count = min(threads, _power_of_two_above(extent))
    axes[axis] = _factors((_ceil_div(extent, count), AxisKind.BLOCK), (count, kind))
    return count


# Elementwise.


def _elementwise(shape: KernelShape) -> Choice:
    """Neighbouring threads take neighbouring elements of the output, 16 bytes each where they line up."""
    axes: Axes = {}
    if not shape.parallel:
        return Choice(_schedule(shape, axes), "one element: one thread")
    inner = shape.parallel[-1]
    extent = max(1, shape.extents[inner])
    width = _vector_width(shape, inner)
    threads = min(BLOCK_THREADS, _power_of_two_above(_ceil_div(extent, width)))
    axes[inner] = _factors(
        (_ceil_div(extent, threads * width), AxisKind.BLOCK), (threads, AxisKind.THREAD), (width, AxisKind.REGISTER)
    )
    _spread_rows(shape, axes, shape.parallel[:-1], BLOCK_THREADS // threads, AxisKind.THREAD)
    return Choice(_schedule(shape, axes), f"elementwise: {threads} threads along {inner}, {width} elements each")


# Reductions of rows that lie in memory one element after the other.


def _row_reduction(shape: KernelShape, row: str) -> Choice:
    """A row to a thread, to a warp or to a block by its length; in registers where it fits, else walked again per
    phase."""
    axes: Axes = {}
    extent = max(1, shape.extents[row])
    width = _vector_width(shape, row)
    others = [axis for axis in shape.reduced if axis != row]
    rows = shape.rows

    if extent <= 16 and not others:
        axes[row] = _factors((extent, AxisKind.REGISTER))
        count = _spread_rows(shape, axes, rows, BLOCK_THREADS // 2, AxisKind.THREAD)
        return Choice(_schedule(shape, axes), f"rows of {extent}: a row a thread, {count} rows a block")

    if extent <= 32 * REGISTER_ELEMENTS and not others:
        while width > 1 and extent < 32 * width:
            width //= 2
        registers = _ceil_div(extent, 32 * width)
        axes[row] = _factors((registers, AxisKind.REGISTER), (32, AxisKind.LANE), (width, AxisKind.REGISTER))
        count = _spread_rows(shape, axes, rows, 4, AxisKind.WARP)
        return Choice(_schedule(shape, axes), f"rows of {extent}: a row a warp, in registers, {count} rows a block")

    total = prod(max(1, shape.extents[axis]) for axis in shape.reduced)
    budget = min(1024, max(BLOCK_THREADS, _power_of_two_above(_ceil_div(total, REGISTER_ELEMENTS))))
    threads = min(budget, _power_of_two_above(_ceil_div(extent, width)))
    steps = _ceil_div(extent, threads * width)
    held = steps * width <= REGISTER_ELEMENTS
    axes[row] = _factors(
        (steps, AxisKind.REGISTER if held else AxisKind.LOOP), (threads, AxisKind.THREAD), (width, AxisKind.REGISTER)
    )
    left = budget // threads
    for axis in reversed(others):
        count = min(left, _power_of_two_above(max(1, shape.extents[axis])))
        axes[axis] = _factors((_ceil_div(shape.extents[axis], count), AxisKind.LOOP), (count, AxisKind.THREAD))
        left //= count
    where = "in registers" if held else "walked again by each phase"
    return Choice(_schedule(shape, axes), f"rows of {total}: a row a block of {budget // left} threads, {where}")


# Reductions along an axis whose elements lie apart.


def _column_reduction(shape: KernelShape, inner: str) -> Choice:
    """Neighbouring threads take neighbouring columns; a column is held in registers, or split over further threads."""
    axes: Axes = {}
    extent = max(1, shape.extents[inner])
    column = shape.reduced[-1]
    length = max(1, shape.extents[column])
    if len(shape.reduced) == 1 and length <= 16:
        threads = min(BLOCK_THREADS, _power_of_two_above(extent))
        axes[column] = _factors((length, AxisKind.REGISTER))
        axes[inner] = _factors((_ceil_div(extent, threads), AxisKind.BLOCK), (threads, AxisKind.THREAD))
        others = [axis for axis in shape.rows if axis != inner]
        _spread_rows(shape, axes, others, BLOCK_THREADS // threads, AxisKind.THREAD)
        return Choice(_schedule(shape, axes), f"columns of {length}: a column a thread, in registers")
    threads = min(32, _power_of_two_above(extent))
    split = min(BLOCK_THREADS // threads, _power_of_two_above(_ceil_div(length, 4)))
    steps = _ceil_div(length, split)
    held = len(shape.reduced) == 1 and steps <= REGISTER_ELEMENTS
    axes[column] = _factors((steps, AxisKind.REGISTER if held else AxisKind.LOOP), (split, AxisKind.THREAD))
    axes[inner] = _factors((_ceil_div(extent, threads), AxisKind.BLOCK), (threads, AxisKind.THREAD))
    where = "in registers" if held else "one step after the other"
    return Choice(_schedule(shape, axes), f"columns of {length}: {split} threads a column, {threads} columns, {where}")


# Products.


def _product_axes(shape: KernelShape) -> tuple[str, str, str] | None:
    """(row, column, reduced) axes when the reduction is a product: loads that share the reduced axis but not the
    others.

    The column is the innermost parallel axis that not all of them use, the row the innermost that they use instead.
    """
    reduced = shape.reduced[-1]
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


def _tile(extent: int) -> tuple[int, int]:
    """(threads, registers of a thread) along one side of a product's tile: 16, 32 or 64 elements, less for small
    sides."""
    registers = 4 if extent >= 32 else 2 if extent > 8 else 1
    return min(16, _power_of_two_above(_ceil_div(extent, registers))), registers


def _product(shape: KernelShape, row: str, column: str, reduced: str) -> Choice:
    """A tile of the output a block, a register tile a thread; slabs of the operands staged along the reduced axis."""
    sides: dict[str, tuple[int, int]] = {axis: _tile(max(1, shape.extents[axis])) for axis in (row, column)}
    extents = {axis: threads * registers for axis, (threads, registers) in sides.items()}
    length = max(1, shape.extents[reduced])
    staged = _staged_loads(shape, reduced)
    bytes_per_step = sum(
        access.element_bytes * prod(extents.get(axis, 1) for axis in access.axes if axis != reduced)
        for access in staged.values()
    )
    step = 16 if max(extents.values()) > 32 else 32
    while step > 4 and 2 * step * bytes_per_step > SHARED_BUDGET:
        step //= 2
    step = min(step, _power_of_two_above(length))
    steps = _ceil_div(length, step)

    axes: Axes = {
        axis: _factors(
            (_ceil_div(max(1, shape.extents[axis]), extents[axis]), AxisKind.BLOCK),
            (threads, AxisKind.THREAD),
            (registers, AxisKind.REGISTER),
        )
        for axis, (threads, registers) in sides.items()
    }
    if shape.parallel.index(row) > shape.parallel.index(column):
        row, column = column, row  # threads are numbered in the order of the axes: the last is the fastest
    axes[reduced] = [Factor(steps, AxisKind.LOOP), Factor(step, AxisKind.LOOP)]
    stage: list[Staging] = []
    if steps > 1 or length > 1:
        for buffer, access in staged.items():
            padding = _padding(access, sides, row, column, reduced, step)
            double = steps > 1
            stage.append(Staging(buffer, 2 if double else 1, access.element_bytes >= 4 or double, padding))
    reason = f"product: a tile of {extents[row]} x {extents[column]} a block, {step} deep, {steps} steps"
    return Choice(_schedule(shape, axes, tuple(stage)), reason)


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


def _padding(access: Access, sides: dict[str, tuple[int, int]], row: str, column: str, reduced: str, step: int) -> int:
    """Elements to add to each row of the slab so that the reads of the inner loop conflict least."""
    if len(access.indices) < 2:
        return 0
    size = access.element_bytes
    column_threads = sides[column][0]

    def position(index: dict[str, int] | None, lane: int) -> int:
        """Where the lane reads along one dimension of the slab, at the first step and register."""
        place = {row: lane // column_threads % sides[row][0], column: lane % column_threads}
        return sum(
            coefficient * place[axis] * sides[axis][1] for axis, coefficient in (index or {}).items() if axis in place
        )

    # Rows of the slab are walked by the last index; all dimensions before it move whole rows.
    last = access.indices[-1] or {}
    length = 1 + sum(
        coefficient * ((step if axis == reduced else prod(sides[axis])) - 1)
        for axis, coefficient in last.items()
        if axis == reduced or axis in sides
    )

    def address(lane: int, padding: int) -> int:
        rows = sum(position(index, lane) for index in access.indices[:-1])
        return (rows * (length + padding) + position(last, lane)) * size

    inner_registers = next((sides[axis][1] for axis in last if axis in sides), 4)
    return best_padding(address, (size, min(16, size * inner_registers)), unit=max(1, 16 // size))
