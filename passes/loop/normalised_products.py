"""Products of rows that are made of statistics of these rows, reduced in front of them: a normalisation and its
product in one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import gcd, prod

from xdsl.ir import Operation, SSAValue

from ...dialects.axes import THREAD_KINDS, AxisKind
from ...dialects.loop import ReduceOp
from ...dialects.schedule import Factor
from ...dialects.traversal import ops_inside
from .kernel_shape import KernelShape
from .schedule_parts import Choice, ceil_div

VECTOR_BYTES = 16
"""What a thread reads of a row at once."""

UNROLLED_STEPS = 4
"""Reads of a row that are on their way at the same time: a tile is one of few that a multiprocessor has, and waits for
them."""


def statistic_axes(shape: KernelShape) -> list[str]:
    """The axes along which something is reduced that the elements of another reduction, along other axes, are made of:
    statistics of the rows of a product."""
    outer = [op for op in ops_inside(shape.kernel.body) if isinstance(op, ReduceOp)]
    outer = [op for op in outer if not isinstance(op.parent_op(), ReduceOp)]
    if len({op.axis for op in outer}) < 2:
        return []
    found: dict[str, None] = {}
    for op in outer:
        own = _axes(op)
        for other in _made_of(op, outer):
            found |= dict.fromkeys(axis for axis in _axes(other) if axis not in own)
    return [axis for axis in found if axis not in shape.parallel]


def without_axes(shape: KernelShape, axes: list[str]) -> KernelShape:
    """The shape of what the kernel computes behind what it reduces along these axes."""
    return replace(
        shape,
        extents={axis: extent for axis, extent in shape.extents.items() if axis not in axes},
        reduced=[axis for axis in shape.reduced if axis not in axes],
        loads=[access for access in shape.loads if access.axes.isdisjoint(axes)],
    )


def with_statistics(shape: KernelShape, choice: Choice, axes: list[str]) -> Choice:
    """The schedule of a product, with the statistics of its rows along these axes: the threads that compute columns of
    a row reduce it together, by neighbours of 16 bytes each.

    Rows are read from memory there, and again in tiles that are staged for the product.
    """
    schedule = choice.schedule
    reductions = [op for op in ops_inside(shape.kernel.body) if isinstance(op, ReduceOp)]
    of_statistics = [op for op in reductions if op.axis.axis.data in axes]
    varies = frozenset[str]().union(*(shape.varies(value) for op in of_statistics for value in op.results))
    shared = [
        replace(factor, of=axis)
        for axis, _, factor in schedule.spread().of_kinds(THREAD_KINDS)
        if axis not in varies and factor.extent > 1
    ]
    bound: list[tuple[str, tuple[Factor, ...]]] = []
    for axis in axes:
        extent = shape.extents[axis]
        loads = [access for access in shape.loads if axis in access.axes]
        width = min((VECTOR_BYTES // access.element_bytes for access in loads if access.contiguous_axis), default=1)
        while extent % width:
            width //= 2
        # Threads are shared once: other axes are walked by all.
        threads = shared if axis == axes[-1] else []
        step = width * prod(factor.extent for factor in threads)
        bound.append((axis, tuple(_factors(extent, step, threads, width))))
    stage = tuple(
        replace(staging, over=product_axis)
        if any(access.buffer == staging.buffer and not access.axes.isdisjoint(axes) for access in shape.loads)
        else staging
        for staging in schedule.stage
        for product_axis in without_axes(shape, axes).reduced[:1]
    )
    described = ", ".join(axes)
    return Choice(
        replace(schedule, axes=(*schedule.axes, *bound), stage=stage),
        f"{choice.reason}; statistics of its rows along {described}",
    )


def _factors(extent: int, step: int, threads: list[Factor], width: int) -> list[Factor]:
    steps = ceil_div(extent, step)
    # Steps behind the end need masks, which are there if the last step is not whole.
    unrolled = gcd(steps, UNROLLED_STEPS) if extent % step == 0 else min(steps, UNROLLED_STEPS)
    loops = Factor(ceil_div(steps, unrolled), AxisKind.LOOP), Factor(unrolled, AxisKind.UNROLL)
    kept = [factor for factor in (*loops, *threads, Factor(width, AxisKind.REGISTER)) if factor.extent > 1]
    return kept or [Factor(1, AxisKind.LOOP)]


def _made_of(op: ReduceOp, others: Sequence[ReduceOp]) -> Iterable[ReduceOp]:
    """Which of the others the elements of a reduction are made of."""
    stack, seen = list[SSAValue](op.yielded), set[Operation]()
    while stack:
        owner = stack.pop().owner
        if not isinstance(owner, Operation) or owner in seen:
            continue
        seen.add(owner)
        if isinstance(owner, ReduceOp) and owner in others:
            yield owner
        stack += owner.yielded if isinstance(owner, ReduceOp) else owner.operands


def _axes(op: ReduceOp) -> list[str]:
    """The axes of a reduction, and of those inside of it."""
    return [op.axis.axis.data, *(x.axis.axis.data for x in ops_inside(op.body) if isinstance(x, ReduceOp))]
