"""Reductions of loop form that stand side by side and walk the same axes: they share their loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from ...dialects.loop import ReduceOp
from ...dialects.traversal import ops_inside
from .matrix_products import perfect_nest


def with_siblings(ops: Iterable[Operation]) -> Iterator[tuple[Operation, Sequence[ReduceOp]]]:
    """The ops of a block, each reduction with those behind it that walk the same axes and need nothing of it.

    What stands between siblings moves in front of them, or behind them where it needs their results.
    """
    pending = deque(ops)
    left = sum(isinstance(op, ReduceOp) for op in pending)
    while pending:
        op = pending.popleft()
        if not isinstance(op, ReduceOp) or left < 2:
            yield op, ()
            continue
        siblings, front, behind = _siblings(op, pending)
        left -= 1 + len(siblings)
        if siblings:
            yield from ((other, ()) for other in front)
            pending = deque(behind)
        yield op, siblings


def _siblings(op: ReduceOp, later: Iterable[Operation]) -> tuple[list[ReduceOp], list[Operation], list[Operation]]:
    """(the siblings among later ops, of the others those in front of them, and those behind)"""
    walk = _walk(op)
    siblings: list[ReduceOp] = []
    front: list[Operation] = []
    behind: list[Operation] = []
    late: set[SSAValue] = set(op.results)
    for other in later:
        if not late.isdisjoint(_needs(other)):
            behind.append(other)
        elif not isinstance(other, ReduceOp):
            front.append(other)
            continue
        elif _walk(other) == walk:
            siblings.append(other)
        else:
            behind.append(other)
        late.update(other.results)
    return siblings, front, behind


def _walk(op: ReduceOp) -> list[tuple[object, ...]]:
    """The axes of the nest, and the limits of each."""
    return [(reduction.axis, *reduction.operands) for reduction in perfect_nest(op)]


def _needs(op: Operation) -> Iterator[SSAValue]:
    yield from op.operands
    for region in op.regions:
        for inner in ops_inside(region):
            yield from inner.operands
