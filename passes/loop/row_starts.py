"""Where the rows of a kernel's buffers begin, counted in elements from a multiple of some number of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...dialects.layouts import strides_of
from ...dialects.types import is_memref
from .kernel_shape import Access, KernelShape

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
