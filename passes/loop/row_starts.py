"""Where the rows of a kernel's buffers begin, counted in elements from a multiple of some number of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...dialects.axes import WARP
from ...dialects.layouts import strides_of
from ...dialects.schedule import Alignment
from ...dialects.types import is_memref
from .kernel_shape import Access, KernelShape
from .schedule_parts import ceil_div

SECTOR_BYTES = 32
"""What global memory moves at least, aligned."""

RowStart = tuple[tuple[str, int], ...]
"""The begin of a row modulo a number of elements: (axis, coefficient) for each other axis that it depends on."""


def row_starts(shape: KernelShape, axis: str, elements: int) -> Counter[RowStart]:
    """How the buffers that are walked along `axis`, element by element, are: begin of a row → number of accesses.

    Several loads of one buffer at the same place count once. Constant offsets are left out.
    """
    found: dict[tuple[str, bool, RowStart], None] = {}
    for number, accesses in enumerate((shape.loads, shape.stores)):
        for access in accesses:
            start = _row_start(access, axis, elements)
            if start is not None:
                found[access.buffer, bool(number), start] = None
    return Counter(start for _, _, start in found)


def common_row_start(shape: KernelShape, axis: str, elements: int) -> RowStart:
    """The begin that most rows have that do not all begin at a multiple; empty where all do."""
    starts = row_starts(shape, axis, elements)
    return next((start for start, _ in starts.most_common() if start), ())


def alignment(shape: KernelShape, row: str, threads: int) -> Alignment | None:
    """How rows that begin anywhere, of which each thread holds elements `threads` apart, are aligned to sectors; None
    where that would not save any.

    A warp then touches a sector less wherever it reads or writes a part of a row, and one more of what is alike for all
    rows (weights), which begins at a multiple.
    """
    widths = [access.element_bytes for access in (*shape.loads, *shape.stores) if row in access.axes]
    elements = SECTOR_BYTES // min(widths, default=SECTOR_BYTES)
    start = common_row_start(shape, row, elements)
    others = [axis for axis, _ in start]
    if not start or any(axis not in shape.rows for axis in others):
        return None
    starts = row_starts(shape, row, elements)
    extent = shape.extents[row]
    steps, steps_aligned = ceil_div(extent, threads), ceil_div(extent + elements - 1, threads)
    sectors = WARP * min(widths) // SECTOR_BYTES
    before = steps * (starts[start] * (sectors + 1) + starts[()] * sectors)
    behind = steps_aligned * (starts[start] * sectors + starts[()] * (sectors + 1))
    return Alignment(row, elements) if behind < before else None


def aligned(align: Alignment | None) -> str:
    """What the choice of a schedule says of it."""
    return "" if align is None else f", from a multiple of {align.elements} elements on"


def _row_start(access: Access, axis: str, elements: int) -> RowStart | None:
    """None where elements along the axis are no neighbours."""
    type = access.op.buffer.type
    assert is_memref(type)
    if access.contiguous_axis != axis:
        return None
    strides: Sequence[int] = strides_of(type)
    total: dict[str, int] = {}
    for index, stride in zip(access.indices, strides, strict=True):
        if index is None:
            return None
        for other, coefficient in index.items():
            total[other] = total.get(other, 0) + coefficient * stride
    if total.pop(axis, None) != 1:
        return None
    return tuple((other, c % elements) for other, c in sorted(total.items()) if c % elements)
