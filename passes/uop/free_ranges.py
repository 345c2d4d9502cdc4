"""Which ranges the values of range form depend on, and values again over others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.limits import Limits
from ...dialects.uop import RangeOp, ReduceOp
from ...rewriting.builder import Builder
from .names import distinct_names

Ranges = frozenset[SSAValue]
"""Results of `uop.range`."""

NO_RANGES: Ranges = frozenset()


class FreeRanges:
    """The ranges that values depend on, found when asked for: a reduction does not depend on those that it binds, a
    range depends on those that its limits are made of."""

    def __init__(self) -> None:
        self._of: dict[SSAValue, Ranges] = {}

    def __getitem__(self, value: SSAValue) -> Ranges:
        known = self._of
        if value in known:
            return known[value]
        stack = [value]
        while stack:
            top = stack[-1]
            op = top.owner
            if isinstance(op, Block):
                known[top] = NO_RANGES
            elif missing := [operand for operand in op.operands if operand not in known]:
                stack += missing
                continue
            else:
                ranges = self.of(op.operands)
                if isinstance(op, RangeOp):
                    ranges |= frozenset((op.result,))
                elif isinstance(op, ReduceOp):
                    ranges -= frozenset(op.over)
                known.update(dict.fromkeys(op.results, ranges))
            stack.pop()
        return known[value]

    def of(self, values: Iterable[SSAValue]) -> Ranges:
        """The ranges that any of the values depends on."""
        return NO_RANGES.union(*(self[value] for value in values))


class Copies:
    """Values of range form again, over other ranges.

    ranges: range → the one that takes its place, in all that depends on it.
    """

    def __init__(self, builder: Builder, free: FreeRanges, ranges: Mapping[SSAValue, SSAValue]):
        self._builder = builder
        self._free = free
        self._ranges = ranges
        self._copied: dict[tuple[SSAValue, Ranges], SSAValue] = {}

    def of(self, value: SSAValue) -> SSAValue:
        """The value over the new ranges: itself where it does not depend on the old ones."""
        # What a reduction binds stays bound by it: (value, the old ranges that are kept).
        stack = [(value, NO_RANGES)]
        while stack:
            top, kept = stack[-1]
            if self._find(top, kept) is not None:
                stack.pop()
                continue
            op = top.owner
            assert isinstance(op, Operation)
            inner = self._kept_inside(op, kept)
            if missing := [(x, inner) for x in op.operands if self._find(x, inner) is None]:
                stack += missing
                continue
            operands = [self._find(x, inner) for x in op.operands]
            copy = self._build(op, [x for x in operands if x is not None])
            for old, new in zip(op.results, copy.results, strict=True):
                self._copied[old, kept] = new
                new.name_hint = new.name_hint or old.name_hint
        found = self._find(value, NO_RANGES)
        assert found is not None
        return found

    def _find(self, value: SSAValue, kept: Ranges) -> SSAValue | None:
        """The copy, if there is one; the value itself where none is needed."""
        if value in self._ranges and value not in kept:
            return self._ranges[value]
        if (self._free[value] - kept).isdisjoint(self._ranges):
            return value
        return self._copied.get((value, kept))

    def _kept_inside(self, op: Operation, kept: Ranges) -> Ranges:
        return kept | (self._ranges.keys() & set(op.over)) if isinstance(op, ReduceOp) else kept

    def _build(self, op: Operation, operands: list[SSAValue]) -> Operation:
        with self._builder.at(op.location):
            if isinstance(op, RangeOp):
                limits = iter(operands)
                copy = RangeOp.of(
                    op.axis.axis.data,
                    op.extent,
                    Limits(*(None if limit is None else next(limits) for limit in op.limits)),
                )
                return self._builder.insert(copy)
            return self._builder.pure_like(op, operands)


def unused_axis(block: Block, name: str) -> str:
    """The name for an axis, or with a number behind it where a range of the block has it."""
    return distinct_names([op.axis.axis.data for op in block.ops if isinstance(op, RangeOp)], [name])[-1]


def another_range(builder: Builder, range: SSAValue) -> SSAValue:
    """A range of the same extent under a name of its own."""
    op = range.owner
    assert isinstance(op, RangeOp)
    name = unused_axis(builder.block, op.axis.axis.data)
    new = builder.insert(RangeOp.of(name, op.extent, op.limits)).result
    new.name_hint = name
    return new


def over_ranges(builder: Builder, free: FreeRanges, op: ReduceOp, ranges: Mapping[SSAValue, SSAValue]) -> ReduceOp:
    """The reduction again, over these ranges instead of its own."""
    copies = Copies(builder, free, ranges)
    inputs = [copies.of(value) for value in op.inputs]
    return builder.insert(ReduceOp.of(op.monoid.data, inputs, [ranges.get(range, range) for range in op.over]))
