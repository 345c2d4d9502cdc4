"""Blocks of a kernel while they are built: pure ops stand in the outermost one that has their operands."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Self

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....rewriting.builder import Builder, OpT


class Scope(Builder):
    """A block being built, inside those of `parent`.

    Pure ops go to the outermost block in which all their operands are, in front of the op that this block is in: what
    does not change in a loop stands outside of it, and is found again there. Everything else goes to the end of this
    block.
    """

    def __init__(self, block: Block, parent: Scope | None = None):
        super().__init__(block, parent=parent)
        self.depth: int = 0
        self.root: Scope = self
        self._scopes: dict[Block, Scope] = {}
        if parent is not None:
            self.depth = parent.depth + 1
            self.root = parent.root
            self._scopes = parent._scopes
        self._scopes[block] = self

    @contextmanager
    def inside(self, op: Operation, block: Block) -> Generator[Self]:
        """Insert `op`, if it does not stand here yet, and build its `block` while the context is open."""
        if op.parent is None:
            self.insert(op)
        before, self.before = self.before, op
        try:
            yield type(self)(block, self)
        finally:
            self.before = before

    def of(self, value: SSAValue) -> Scope:
        """The scope that a value is defined in."""
        owner = value.owner
        # `isinstance` asks abstract classes, which takes as long as all the rest of this.
        block = owner if type(owner) is Block else owner.parent
        return self._scopes[block]  # pyright: ignore[reportArgumentType]

    def _home(self, operands: Sequence[SSAValue]) -> Scope:
        home = self.root
        for operand in operands:
            scope = self.of(operand)
            if scope.depth > home.depth:
                home = scope
        return home

    def pure(
        self,
        cls: type[OpT],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ) -> OpT:
        home = self._home(operands)
        home.location, outer = self.location, home.location
        found = super(Scope, home).pure(cls, operands, result_types, properties)
        home.location = outer
        return found

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        home = self._home(operands)
        home.location, outer = self.location, home.location
        found = super(Scope, home).alu(name, *operands)
        home.location = outer
        return found
