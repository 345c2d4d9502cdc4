"""The rule of `choose-schedule` for elementwise kernels that walk a buffer along another axis than their output."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.axes import AxisKind
from ...dialects.types import is_memref, shape_of
from .kernel_shape import Access, KernelShape
from .schedule_parts import Axes, Choice, ceil_div, factors_of, power_of_two_above, schedule_of

LOADED_LANES = 4
STORED_LANES = 8
"""Lanes of a warp along the axis of the loads and along that of the stores: with 16 bytes a lane, runs of 64 and of 128
bytes, which are whole 32-byte sectors on both sides."""

WARPS = 4
"""Warps of a block, along the outer of the two axes: threads are numbered along the inner one first."""

MOST_ELEMENTS = 64
"""Elements of the register tiles of a thread, over all loads."""


def transposed_axes(shape: KernelShape) -> tuple[str, str] | None:
    """(axis along which some loads are contiguous, axis along which all stores are); None where these are one, or
    short."""
    stored = {access.contiguous_axis for access in shape.stores}
    if len(stored) != 1 or (to := stored.pop()) is None:
        return None
    for access in shape.loads:
        axis = access.contiguous_axis
        if axis is None or axis == to or to not in access.axes or axis not in shape.parallel:
            continue
        if shape.extents[axis] >= 2 * LOADED_LANES and shape.extents[to] >= 2 * STORED_LANES:
            return axis, to
    return None


def transpose_schedule(shape: KernelShape, loaded: str, stored: str) -> Choice:
    """A small square of registers a thread: vectors are loaded along one axis and stored along the other, and what
    lies between is a renaming of registers. Neither shared memory nor a barrier."""
    accesses = [*shape.loads, *shape.stores]
    widest = min(8, 16 // shape.widest_bytes)
    tiles = max(1, sum({loaded, stored} <= access.axes for access in shape.loads))
    while widest > 1 and tiles * widest * widest > MOST_ELEMENTS:
        widest //= 2
    axes: Axes = {}
    widths: list[int] = []
    outer = next(axis for axis in shape.extents if axis in (loaded, stored))
    for axis, lanes in ((loaded, LOADED_LANES), (stored, STORED_LANES)):
        width = _vector_width(shape, axis, accesses, widest)
        extent = shape.extents[axis]
        threads = min(lanes * WARPS if axis == outer else lanes, power_of_two_above(ceil_div(extent, width)))
        axes[axis] = factors_of(
            (ceil_div(extent, threads * width), AxisKind.BLOCK),
            (threads, AxisKind.THREAD),
            (width, AxisKind.REGISTER),
        )
        widths.append(width)
    return Choice(
        schedule_of(shape, axes),
        f"loads along {loaded}, stores along {stored}: {widths[0]} x {widths[1]} elements in the registers of a thread",
    )


def _vector_width(shape: KernelShape, axis: str, accesses: Sequence[Access], widest: int) -> int:
    """The most elements, at most `widest`, that lie side by side and aligned in every buffer that is walked along
    `axis`."""
    walked = [access for access in accesses if access.contiguous_axis == axis]
    width = widest
    while width > 1 and not (shape.extents[axis] % width == 0 and all(_lines_up(x, axis, width) for x in walked)):
        width //= 2
    return width


def _lines_up(access: Access, axis: str, width: int) -> bool:
    """Whether rows of the buffer begin at vectors, and vectors along `axis` within its rows do."""
    type = access.op.buffer.type
    assert is_memref(type)
    last = access.indices[-1]
    assert last is not None
    others = (step for other, step in last.items() if other != axis)
    return shape_of(type)[-1] % width == 0 and all(step % width == 0 for step in others)
