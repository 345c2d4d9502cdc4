"""Block axes → the digits of a task's number; the last of a ragged axis apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ....dialects.axes import AxisKind
from ....dialects.cpu_kernel import IfOp, TaskIdOp
from ....dialects.tile import AxisOp
from ....dialects.types import index
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from .lowering import ONLY, CPULowering
from .vector_scope import VectorScope

MOST_VERSIONS = 4
"""Copies of a kernel's body, each for whole or for last steps of its block axes; beyond them, masks stay masks."""


def block_axes(axes: Sequence[AxisOp]) -> list[AxisOp]:
    return [axis for axis in axes if axis.axis.axis_kind is AxisKind.BLOCK]


def lower_tasks(lowering: CPULowering, axes: Sequence[AxisOp], lower_body: Callable[[VectorScope], None]) -> int:
    """Give each block axis its position, the last axis the fastest, and build the body; the number of tasks."""
    blocks = block_axes(axes)
    tasks = prod(axis.extent for axis in blocks)
    root, indices = lowering.root, lowering.indices
    number = LinearForm({})
    if tasks > 1:
        task = root.pure(TaskIdOp, (), (index,)).result
        task.name_hint = "task"
        number = indices.leaf(task, Interval.of_extent(tasks))
    positions: list[tuple[AxisOp, LinearForm]] = []
    stride = tasks
    for axis in blocks:
        stride = stride // axis.extent if axis.extent else 1
        position = indices.remainder(root, indices.quotient(root, number, stride), axis.extent)
        if len(position.terms) == 1 and not position.constant:
            (value,) = position.terms
            value.name_hint = value.name_hint or axis.result.name_hint
        positions.append((axis, position))
    _split(lowering, root, positions, MOST_VERSIONS, lower_body)
    return tasks


def _split(
    lowering: CPULowering,
    scope: VectorScope,
    positions: Sequence[tuple[AxisOp, LinearForm]],
    versions: int,
    lower_body: Callable[[VectorScope], None],
) -> None:
    """The body for the whole steps of the first axis, and for those behind them."""
    if not positions:
        lower_body(scope)
        return
    (axis, position), *others = positions
    for other, at in positions:
        lowering.parts[other.result] = {ONLY: at}
    whole = lowering.whole_steps(axis.result) if versions > 1 and position.terms else None
    if whole is None:
        _split(lowering, scope, others, versions, lower_body)
        return
    indices = lowering.indices
    branch = IfOp.of(indices.compare(scope, "lt", position, LinearForm({}, whole)), otherwise=True)
    for block, first, last in (
        (branch.then.block, 0, whole - 1),
        (branch.otherwise.block, whole, axis.extent - 1),
    ):
        with scope.inside(branch, block) as inner:
            here = LinearForm({}, first)
            if first < last:
                # The branch says so; the value says it to those who know nothing of branches.
                name, bound = ("min", last) if first == 0 else ("max", first)
                limited = inner.alu(name, indices.value(inner, position), indices.constant(bound))
                here = indices.leaf(limited, Interval(first, last))
            lowering.parts[axis.result] = {ONLY: here}
            _split(lowering, inner, others, versions // 2, lower_body)
