"""The rules behind `choose-schedule`: one function for each kind of kernel, from its shape alone."""

from __future__ import annotations

from math import prod

from ...dialects.axes import WARP, AxisKind
from ...dialects.loop import ReduceOp, ScanOp
from ...dialects.traversal import ops_inside
from ...dialects.types import byte_width, is_float
from .attention_rows_rule import attention_rows_schedule
from .attention_rule import attention_schedule
from .attention_shape import attention_shape
from .kernel_shape import KernelShape, contiguous_axis, product_axes, reduces_in_stages
from .long_row_rule import RowValues, long_row_schedule
from .matrix_rule import matrix_schedule
from .normalised_products import statistic_axes, with_statistics, without_axes
from .product_rule import product_schedule
from .row_starts import aligned, alignment
from .schedule_parts import BLOCK_THREADS, Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of
from .transpose_rule import transpose_schedule, transposed_axes
from .vector_product_rule import vector_product, vector_product_schedule
from .window_product_rule import window_product_schedule

WINDOW_TAPS = 32
"""Elements of a window whose loops are unrolled, and that one thread reduces however far windows are apart."""

SCAN_THREADS = 64
"""Threads of a block where each walks a whole axis: few, so that the blocks reach all multiprocessors."""

SCAN_WARPS = 16
"""Warps that scan one row together: more of it is on its way at once."""

REGISTER_ELEMENTS = 32
"""Elements of a row that one thread may hold in registers."""

STREAM_ELEMENTS = 1 << 20
"""Elements of an output for each vector that a thread takes: there are threads enough for all multiprocessors."""

STREAM_STEPS = 4
"""The most vectors of a thread, all of which are on their way at once; what it computes for all of them counts less."""

STREAM_THREADS = 128
"""Threads of a block that take several vectors each."""

COLUMN_THREADS = 128
"""Threads of a block whose columns are only reduced: each keeps many loads on their way, and few exchange results."""

MANY_ROWS = 1024
"""Rows, a warp each, that fill every multiprocessor of a large GPU with eight warps or so: more of them may take more
registers each."""

MOST_REGISTER_ELEMENTS = 64
"""Elements of a row that one lane holds where there are so many rows."""


def choose(shape: KernelShape) -> Choice:
    """The default schedule of a kernel."""
    if shape.scanned:
        return _scan(shape)
    if not shape.reduced:
        transposed = transposed_axes(shape)
        return _elementwise(shape) if transposed is None else transpose_schedule(shape, *transposed)
    if (attention := attention_shape(shape)) is not None:
        choice = attention_schedule(shape, attention)
        if isinstance(choice, Choice):
            return choice
        rows = attention_rows_schedule(shape, attention)
        return Choice(rows.schedule, f"{rows.reason}; without matrix instructions: {choice}")
    statistics = statistic_axes(shape)
    if (product := _product(without_axes(shape, statistics) if statistics else shape)) is not None:
        return with_statistics(shape, product, statistics) if statistics else product
    if _walks_windows(shape):
        return _window_reduction(shape)
    contiguous = contiguous_axis(shape)
    if contiguous in shape.reduced or not shape.rows:
        return _row_reduction(shape, contiguous if contiguous in shape.reduced else shape.reduced[-1])
    return _column_reduction(shape, contiguous if contiguous in shape.rows else shape.rows[-1])


def _product(shape: KernelShape) -> Choice | None:
    """The schedule of a product; None if the kernel is none."""
    if (vector := vector_product(shape)) is not None:
        return vector_product_schedule(shape, *vector)
    product = product_axes(shape)
    if product is None:
        return None
    choice = (matrix_schedule if len(shape.reduced) == 1 else window_product_schedule)(shape, *product)
    if isinstance(choice, Choice):
        return choice
    plain = product_schedule(shape, *product)
    return Choice(plain.schedule, f"{plain.reason}; without matrix instructions: {choice}")


# Helpers.


def _vector_width(shape: KernelShape, axis: str) -> int:
    """Elements of the widest type that is walked along `axis` in 16 bytes, where its extent is a multiple of that; else
    1."""
    walked = [access.element_bytes for access in (*shape.loads, *shape.stores) if axis in access.axes]
    width = min(8, 16 // max(walked, default=4))
    return width if width > 1 and shape.extents[axis] % width == 0 else 1


def _spread_rows(
    shape: KernelShape, axes: Axes, rows: list[str], threads: int, kind: AxisKind, registers: int = 1
) -> int:
    """Give the innermost of `rows` up to `threads` threads of the block, with so many rows each, and the rest of it
    blocks; the threads given."""
    if not rows or threads <= 1:
        return 1
    axis = rows[-1]
    extent = max(1, shape.extents[axis])
    count = min(threads, power_of_two_above(extent))
    axes[axis] = factors_of(
        (ceil_div(extent, count * registers), AxisKind.BLOCK), (count, kind), (registers, AxisKind.REGISTER)
    )
    return count


def _around(shape: KernelShape, row: str) -> list[str]:
    """The rows whose loops are around that of `row`. Threads of the others cannot be numbered in front of its lanes,
    and would each compute what is reduced along it."""
    axes = list(shape.extents)
    return [axis for axis in shape.rows if axes.index(axis) < axes.index(row)]


def _spread_over_lanes(axes: Axes, row: str, extent: int, width: int) -> int:
    """Give a row to the lanes of a warp, in vectors of `width` elements, or fewer where that leaves lanes without any;
    the elements of a lane."""
    while width > 1 and extent < WARP * width:
        width //= 2
    registers = ceil_div(extent, WARP * width)
    axes[row] = factors_of((registers, AxisKind.REGISTER), (WARP, AxisKind.LANE), (width, AxisKind.REGISTER))
    return registers * width


# Elementwise.


def _elementwise(shape: KernelShape) -> Choice:
    """Neighbouring threads take neighbouring elements of the output, 16 bytes each where they line up."""
    axes: Axes = {}
    if not shape.parallel:
        return Choice(schedule_of(shape, axes), "one element: one thread")
    inner = shape.parallel[-1]
    extent = max(1, shape.extents[inner])
    width = _vector_width(shape, inner)
    count = prod(max(1, shape.extents[axis]) for axis in shape.parallel)
    steps = min(STREAM_STEPS, power_of_two_above(max(1, count // STREAM_ELEMENTS)))
    block = BLOCK_THREADS if steps == 1 else STREAM_THREADS
    # No more than a fifth of the elements that the blocks take may lie behind the end.
    while steps > 1 and 4 * ceil_div(extent, steps * block * width) * steps * block * width > 5 * extent:
        steps //= 2
    threads = min(block, power_of_two_above(ceil_div(extent, width)))
    axes[inner] = factors_of(
        (ceil_div(extent, steps * threads * width), AxisKind.BLOCK),
        (steps, AxisKind.REGISTER),
        (threads, AxisKind.THREAD),
        (width, AxisKind.REGISTER),
    )
    _spread_rows(shape, axes, shape.parallel[:-1], block // threads, AxisKind.THREAD)
    each = f"{width} elements each" if steps == 1 else f"{steps} x {width} elements each"
    return Choice(schedule_of(shape, axes), f"elementwise: {threads} threads along {inner}, {each}")


# Reductions of windows that lie side by side.


def _walks_windows(shape: KernelShape) -> bool:
    """Whether outputs reduce windows that overlap, or small ones; few large ones are rows."""
    taps = shape.taps
    if not taps or not shape.rows:
        return False
    if prod(shape.extents[axis] for axis in taps) <= WINDOW_TAPS:
        return True
    return any(_overlap(shape, index, taps) for access in shape.loads for index in access.indices if index)


def _overlap(shape: KernelShape, index: dict[str, int], taps: list[str]) -> bool:
    reach = max((step * (shape.extents[axis] - 1) for axis, step in index.items() if axis in taps), default=0)
    return any(0 < step <= reach for axis, step in index.items() if axis in shape.rows)


def _window_reduction(shape: KernelShape) -> Choice:
    """An output a thread, which walks its window; neighbouring threads take neighbouring outputs."""
    axes: Axes = {}
    left = BLOCK_THREADS
    for axis in reversed(shape.rows):
        extent = max(1, shape.extents[axis])
        count = min(left, power_of_two_above(extent))
        axes[axis] = factors_of((ceil_div(extent, count), AxisKind.BLOCK), (count, AxisKind.THREAD))
        left //= count
    if prod(shape.extents[axis] for axis in shape.taps) <= WINDOW_TAPS:
        axes |= {axis: factors_of((shape.extents[axis], AxisKind.UNROLL)) for axis in shape.taps}
    return Choice(schedule_of(shape, axes), f"windows: one a thread, {BLOCK_THREADS // left} threads a block")


# Scans.


def _scan(shape: KernelShape) -> Choice:
    """Rows that lie in memory one element after the other are scanned by several threads; any other axis is walked by
    one thread in order, and neighbouring threads take neighbours along the other axes."""
    if len(shape.scanned) == 1 and _is_contiguous(shape, shape.scanned[0]) and not _multiplies_floats(shape):
        return _row_scan(shape, shape.scanned[0])
    axes: Axes = {axis: factors_of((max(1, shape.extents[axis]), AxisKind.LOOP)) for axis in shape.scanned}
    threads = 1
    for axis in reversed(shape.rows):
        extent = max(1, shape.extents[axis])
        count = min(SCAN_THREADS // threads, power_of_two_above(extent))
        axes[axis] = factors_of((ceil_div(extent, count), AxisKind.BLOCK), (count, AxisKind.THREAD))
        threads *= count
    walked = ", ".join(shape.scanned)
    return Choice(schedule_of(shape, axes), f"scan along {walked}, one step after the other: {threads} threads a block")


def _is_contiguous(shape: KernelShape, row: str) -> bool:
    """Whether the data lies along `row`, the innermost axis of all."""
    walked = contiguous_axis(shape) or shape.stores[0].contiguous_axis
    return walked == row and list(shape.extents)[-1] == row


def _scans(shape: KernelShape) -> list[ScanOp]:
    return [op for op in ops_inside(shape.kernel.body) if isinstance(op, ScanOp)]


def _multiplies_floats(shape: KernelShape) -> bool:
    """Whether products of floats are scanned: those of a part may overflow where those of all before do not, for 0 · ∞
    is NaN."""
    return any(op.monoid.data == "mul" and is_float(op.inputs[0].type) for op in _scans(shape))


def _row_scan(shape: KernelShape, row: str) -> Choice:
    """A row to a thread, to a warp or to a block by its length, in registers; longer rows in steps."""
    axes: Axes = {}
    extent = max(1, shape.extents[row])
    rows = shape.rows
    if extent <= 16:
        axes[row] = factors_of((extent, AxisKind.REGISTER))
        count = _spread_rows(shape, axes, rows, BLOCK_THREADS // 2, AxisKind.THREAD)
        return Choice(schedule_of(shape, axes), f"scans of {extent}: a row a thread, {count} rows a block")

    width = _vector_width(shape, row)
    rows = _around(shape, row)
    state = sum(byte_width(value.type) for op in _scans(shape) for value in op.inputs)
    most = REGISTER_ELEMENTS * 4 // max(4, power_of_two_above(state))
    if extent <= WARP * most:
        _spread_over_lanes(axes, row, extent, width)
        count = _spread_rows(shape, axes, rows, 4, AxisKind.WARP)
        return Choice(schedule_of(shape, axes), f"scans of {extent}: a row a warp, in registers, {count} rows a block")

    warps = min(SCAN_WARPS, power_of_two_above(ceil_div(extent, WARP * most)))
    steps = ceil_div(extent, warps * WARP * most)
    registers = ceil_div(extent, steps * warps * WARP * width)
    axes[row] = factors_of(
        (steps, AxisKind.LOOP),
        (warps, AxisKind.WARP),
        (registers, AxisKind.REGISTER),
        (WARP, AxisKind.LANE),
        (width, AxisKind.REGISTER),
    )
    where = "in registers" if steps == 1 else f"in {steps} steps"
    return Choice(schedule_of(shape, axes), f"scans of {extent}: a row a block of {warps} warps, {where}")


# Reductions of rows that lie in memory one element after the other.


def _needs_rows_once(shape: KernelShape) -> bool:
    """Whether there is one reduction, and it combines its elements in one stage."""
    reductions = [op for op in ops_inside(shape.kernel.body) if isinstance(op, ReduceOp)]
    return len(reductions) == 1 and reductions[0].monoid.monoid.stages is None


def _at_once(shape: KernelShape, steps: int, most: int) -> int:
    """Of how many steps a thread holds the elements: of all, if that are no more than `most`, or of so many where
    elements are combined in two stages, which is less work for many; else of one."""
    if steps <= most:
        return steps
    return max(1, most) if reduces_in_stages(shape) else 1


def _row_reduction(shape: KernelShape, row: str) -> Choice:
    """A row to a thread, to a warp or to a block by its length; in registers where it fits, else walked again per
    phase."""
    axes: Axes = {}
    extent = max(1, shape.extents[row])
    width = _vector_width(shape, row)
    others = [axis for axis in shape.reduced if axis != row]
    rows = shape.rows

    if extent <= 16 and not others:
        axes[row] = factors_of((extent, AxisKind.REGISTER))
        count = _spread_rows(shape, axes, rows, BLOCK_THREADS // 2, AxisKind.THREAD)
        return Choice(schedule_of(shape, axes), f"rows of {extent}: a row a thread, {count} rows a block")

    rows = _around(shape, row)
    count = prod(max(1, shape.extents[axis]) for axis in rows)
    if extent <= WARP * (MOST_REGISTER_ELEMENTS if count >= MANY_ROWS else REGISTER_ELEMENTS) and not others:
        align = alignment(shape, row, WARP) if width == 1 else None
        held = _spread_over_lanes(axes, row, extent if align is None else extent + align.elements - 1, width)
        # Rows that are only reduced, several side by side: what is computed once a thread counts less, and they share
        # shuffles. Those that are needed twice stay in registers meanwhile.
        both = rows and row not in shape.parallel and held <= REGISTER_ELEMENTS and align is None
        each = 1
        if both and shape.extents[rows[-1]] >= 4 * MANY_ROWS:
            each = 4 if _needs_rows_once(shape) else 2
        count = _spread_rows(shape, axes, rows, 4, AxisKind.WARP, each)
        what = "a row a warp" if each == 1 else f"{each} rows a warp"
        return Choice(
            schedule_of(shape, axes, align=align),
            f"rows of {extent}: {what}, in registers, {count * each} rows a block" + aligned(align),
        )

    total = prod(max(1, shape.extents[axis]) for axis in shape.reduced)
    if not others and extent > 1024 * REGISTER_ELEMENTS:
        return _long_row(shape, row, width)
    # Elements that are only reduced keep their registers until they are combined.
    only_reduced = row not in shape.parallel and total <= BLOCK_THREADS * MOST_REGISTER_ELEMENTS
    most = MOST_REGISTER_ELEMENTS if only_reduced else REGISTER_ELEMENTS
    budget = min(1024, max(BLOCK_THREADS, power_of_two_above(ceil_div(total, most))))
    threads = min(budget, power_of_two_above(ceil_div(extent, width)))
    steps = ceil_div(extent, threads * width)
    held = steps * width <= most
    align = alignment(shape, row, threads) if held and width == 1 and not others else None
    if align is not None:
        aligned_steps = ceil_div(extent + align.elements - 1, threads)
        # 1024 threads have no registers for an element more than most rows have.
        align, steps = (None, steps) if aligned_steps > most and threads == 1024 else (align, aligned_steps)
    if threads > BLOCK_THREADS and held and not others and not RowValues.of(shape, row).fit(steps * width, threads):
        return _long_row(shape, row, width)
    axes[row] = factors_of(
        (steps, AxisKind.REGISTER if held else AxisKind.LOOP), (threads, AxisKind.THREAD), (width, AxisKind.REGISTER)
    )
    left, each = budget // threads, steps * width if held else most
    for axis in reversed(others):
        count = min(left, power_of_two_above(max(1, shape.extents[axis])))
        outer = ceil_div(shape.extents[axis], count)
        registers = _at_once(shape, outer, (most if width > 1 else most // 2) // each)
        loops = ceil_div(outer, registers)
        held, each, left = held and loops == 1, each * registers, left // count
        axes[axis] = factors_of((loops, AxisKind.LOOP), (registers, AxisKind.REGISTER), (count, AxisKind.THREAD))
    where = "in registers" if held else "walked again by each phase"
    return Choice(
        # As for long rows: registers for two blocks of so many threads would not hold the rows of one.
        schedule_of(shape, axes, min_blocks=1 if threads == 1024 and held else None, align=align),
        f"rows of {total}: a row a block of {budget // left} threads, {where}" + aligned(align),
    )


def _long_row(shape: KernelShape, row: str, width: int) -> Choice:
    """A row a block, held with slots in shared memory; where that does not hold it, read again by each phase, in
    steps."""
    if (choice := long_row_schedule(shape, row, width)) is not None:
        return choice
    extent = shape.extents[row]
    # Few warps with much of the row on its way: what is exchanged between warps counts for less.
    threads = BLOCK_THREADS
    # Elements that are loaded one by one have an address and a mask each: half as many, lest registers are spilled.
    held = REGISTER_ELEMENTS if width > 1 else REGISTER_ELEMENTS // 2
    steps = ceil_div(extent, threads * held)
    registers = ceil_div(extent, steps * threads * width)
    axes: Axes = {
        row: factors_of(
            (steps, AxisKind.LOOP),
            (registers, AxisKind.REGISTER),
            (threads, AxisKind.THREAD),
            (width, AxisKind.REGISTER),
        )
    }
    return Choice(
        # Said in so many words, lest ptxas, which counts on more blocks at its own discretion, spills for them.
        schedule_of(shape, axes, min_blocks=1),
        f"rows of {extent}: a row a block of {threads} threads, in {steps} steps",
    )


# Reductions along an axis whose elements lie apart.


def _column_reduction(shape: KernelShape, inner: str) -> Choice:
    """Neighbouring threads take neighbouring columns; a column is held in registers, or split over further threads."""
    axes: Axes = {}
    extent = max(1, shape.extents[inner])
    column = shape.reduced[-1]
    length = max(1, shape.extents[column])
    if len(shape.reduced) == 1 and length <= 16:
        threads = min(BLOCK_THREADS, power_of_two_above(extent))
        axes[column] = factors_of((length, AxisKind.REGISTER))
        axes[inner] = factors_of((ceil_div(extent, threads), AxisKind.BLOCK), (threads, AxisKind.THREAD))
        others = [axis for axis in shape.rows if axis != inner]
        _spread_rows(shape, axes, others, BLOCK_THREADS // threads, AxisKind.THREAD)
        return Choice(schedule_of(shape, axes), f"columns of {length}: a column a thread, in registers")
    width = _vector_width(shape, inner) if column not in shape.parallel else 1
    threads = min(32, power_of_two_above(ceil_div(extent, width)))
    most = BLOCK_THREADS if column in shape.parallel else COLUMN_THREADS
    split = min(most // threads, power_of_two_above(ceil_div(length, 4)))
    steps = ceil_div(length, split)
    walked = sum(column in access.axes for access in shape.loads)
    registers = 1
    if len(shape.reduced) == 1:
        # Elements of more than two buffers share registers.
        most = 2 * (REGISTER_ELEMENTS if width == 1 else MOST_REGISTER_ELEMENTS)
        registers = _at_once(shape, steps, most // (width * max(2, walked)))
    held = registers == steps
    axes[column] = factors_of(
        (ceil_div(steps, registers), AxisKind.LOOP), (registers, AxisKind.REGISTER), (split, AxisKind.THREAD)
    )
    axes[inner] = factors_of(
        (ceil_div(extent, threads * width), AxisKind.BLOCK), (threads, AxisKind.THREAD), (width, AxisKind.REGISTER)
    )
    where = "in registers" if held else "one step after the other"
    # Threads of one column are in different warps, each of which reads whole sectors of a row.
    return Choice(
        schedule_of(shape, axes, outer=[column]),
        f"columns of {length}: {split} threads a column, {threads} x {width} columns, {where}",
    )
