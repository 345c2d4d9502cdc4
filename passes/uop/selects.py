"""Trees of selects between new values and an old one: what a kernel stores that changes some places of a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.ir import BlockArgument, SSAValue

from ...dialects.types import shape_of
from ...dialects.uop import AndOp, EqOp, LoadOp, StoreOp, WhereOp
from ...rewriting.builder import Builder

Equal = frozenset[frozenset[SSAValue]]
"""Pairs of values that are equal where a part of the tree is chosen."""

MOST_PARTS = 10_000
"""Of a tree that is looked at: a select that several others use is a part of each."""


@dataclass(frozen=True)
class _Part:
    """What is stored where it is chosen: a select between two other parts, by their places, or a value."""

    value: SSAValue
    equal: Equal
    choices: tuple[int, int] | None = None


@dataclass(frozen=True)
class Selects:
    """What a store writes: `where(condition, new, old)`, or selects between such selects.

    old: the kernel's argument that some of the selects read at the place that is stored
    kept: parts that are its value at that place
    """

    store: StoreOp
    old: BlockArgument
    parts: Sequence[_Part]
    kept: frozenset[int]

    @classmethod
    def of(cls, store: StoreOp) -> Self | None:
        """The selects of a store; None where it stores something else, or the old value nowhere or everywhere."""
        parts = _parts_of(store.value)
        loads = {n: part.value.owner for n, part in enumerate(parts) if part.choices is None}
        kept = {
            number: load.buffer
            for number, load in loads.items()
            if isinstance(load, LoadOp) and _is_at_store(load, store, parts[number].equal)
        }
        if not kept or len(kept) == len(loads):
            return None
        old = next(iter(kept.values()))
        assert isinstance(old, BlockArgument)
        return cls(store, old, parts, frozenset(number for number, buffer in kept.items() if buffer is old))

    def are_all_that_reads(self) -> bool:
        """Whether the kernel reads the old value for nothing else than to store it where it was."""
        selects = {part.value.owner for part in self.parts if part.choices is not None}
        kept = {self.parts[number].value for number in self.kept}
        if any(part.value in kept for number, part in enumerate(self.parts) if number not in self.kept):
            return False  # it is stored at another place, too
        for use in self.old.uses:
            if not isinstance(use.operation, LoadOp) or use.operation.result not in kept:
                return False
        inside = [*kept, *(part.value for part in self.parts if part.choices is not None)]
        return all(
            use.operation is self.store or (use.operation in selects and use.index > 0)
            for value in inside
            for use in value.uses
        )

    def split(self, builder: Builder) -> tuple[SSAValue, SSAValue]:
        """Where a new value is stored, and which."""
        found: dict[int, tuple[SSAValue | None, SSAValue] | None] = {}
        """Of each part when and what is new; when is None for always, all is None for never."""
        for number in reversed(range(len(self.parts))):  # choices stand behind the selects between them
            part = self.parts[number]
            if part.choices is None:
                found[number] = None if number in self.kept else (None, part.value)
                continue
            when, otherwise = (found[choice] for choice in part.choices)
            found[number] = _select(builder, part.value, when, otherwise)
        result = found[0]
        assert result is not None
        condition, value = result
        assert condition is not None
        return condition, value


_New = tuple[SSAValue | None, SSAValue] | None


def _select(builder: Builder, select: SSAValue, when: _New, otherwise: _New) -> _New:
    """What is new of a select between two parts, of which that is known."""
    assert isinstance(select.owner, WhereOp)
    test = select.owner.operands[0]
    if when is None and otherwise is None:
        return None
    if otherwise is None:
        assert when is not None
        return test if when[0] is None else builder.alu("and", test, when[0]), when[1]
    if when is None:
        fails = builder.alu("not", test)
        return fails if otherwise[0] is None else builder.alu("and", fails, otherwise[0]), otherwise[1]
    value = when[1] if when[1] is otherwise[1] else builder.alu("where", test, when[1], otherwise[1])
    if when[0] is None and otherwise[0] is None:
        return None, value
    if when[0] is None:
        assert otherwise[0] is not None
        return builder.alu("or", test, otherwise[0]), value
    if otherwise[0] is None:
        return builder.alu("or", builder.alu("not", test), when[0]), value
    return when[0] if when[0] is otherwise[0] else builder.alu("where", test, when[0], otherwise[0]), value


def _parts_of(stored: SSAValue) -> Sequence[_Part]:
    """The tree of selects, each in front of what it selects between; nothing of one with very many parts."""
    parts = [_Part(stored, frozenset())]
    number = 0
    while number < len(parts):
        part = parts[number]
        if isinstance(part.value.owner, WhereOp):
            if len(parts) > MOST_PARTS:
                return ()
            test, when, otherwise = part.value.owner.operands
            parts[number] = _Part(part.value, part.equal, (len(parts), len(parts) + 1))
            parts += [_Part(when, part.equal | _equal_where(test)), _Part(otherwise, part.equal)]
        number += 1
    return parts


def _equal_where(test: SSAValue) -> Equal:
    """Which values are equal where a condition holds."""
    found: set[frozenset[SSAValue]] = set()
    waiting = [test]
    while waiting:
        op = waiting.pop().owner
        if isinstance(op, AndOp):
            waiting += op.operands
        elif isinstance(op, EqOp):
            found.add(frozenset(op.operands))
    return frozenset(found)


def _is_at_store(load: LoadOp, store: StoreOp, equal: Equal) -> bool:
    """Whether both name the same element of two buffers that hold equally many of one type."""
    if load.mask is not None or not isinstance(load.buffer, BlockArgument) or load.result.type != store.value.type:
        return False
    read, written = _place(load.buffer, load.indices), _place(store.buffer, store.indices)
    return [extent for _, extent in read] == [extent for _, extent in written] and all(
        a is b or frozenset((a, b)) in equal for (a, _), (b, _) in zip(read, written, strict=True)
    )


def _place(buffer: SSAValue, indices: Sequence[SSAValue]) -> list[tuple[SSAValue, int]]:
    """The index of each dimension and its extent, without those of extent 1."""
    return [pair for pair in zip(indices, shape_of(buffer.type), strict=True) if pair[1] != 1]
