"""A program under construction: the ops so far, and the values that the next one may use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from uop.dialects.branch import Branch
from uop.dialects.types import element_of, is_memref, is_tensor, is_vector
from uop.dialects.uop import ConstOp, ExpandOp

from .attributes import attributes, locations, names, numbers

T = TypeVar("T")
OpT = TypeVar("OpT", bound=Operation)

_HINTS = st.sampled_from((None, None, None, "x", "x_1", "x_1_1", "acc", "_", "a.b-c$", "aπ", "loc", "to"))


class Program:
    """Ops appended to a block, their operands drawn from the values in scope.

    shaped: draws the type of an operand of the vocabulary ops that have a given element type; what it is (tensor,
      vector or scalar) says which form this is.
    """

    def __init__(
        self,
        draw: st.DrawFn,
        shaped: Callable[[Attribute], st.SearchStrategy[Attribute]],
        outer: Program | None = None,
        block: Block | None = None,
    ):
        self._draw = draw
        self.shaped = shaped
        self.outer = outer
        self.block = Block() if block is None else block
        self._values: dict[Attribute, list[SSAValue]] = {}
        for argument in self.block.args:
            self.define(argument)

    def draw(self, strategy: st.SearchStrategy[T]) -> T:
        return self._draw(strategy)

    def one_in(self, count: int) -> bool:
        """True once in a while."""
        return self.draw(st.integers(1, count)) == count

    def choose(self, *values: T) -> T:
        return self.draw(st.sampled_from(values))

    def type(self, element: Attribute) -> Attribute:
        return self.draw(self.shaped(element))

    def nested(self, block: Block) -> Program:
        """A program for a block inside an op of this one; it sees the values so far."""
        return Program(self._draw, self.shaped, self, block)

    # values

    def define(self, value: SSAValue) -> None:
        """Bring a value into scope, under some name."""
        value.name_hint = self.draw(_HINTS)
        if isinstance(value, BlockArgument):
            value.location = self.draw(locations)
        self._values.setdefault(value.type, []).append(value)

    def visible(self, type: Attribute) -> list[SSAValue]:
        """The values of a type in scope."""
        outer = self.outer.visible(type) if self.outer is not None else []
        return outer + self._values.get(type, [])

    def known(self, accepts: Callable[[SSAValue], bool]) -> list[SSAValue]:
        """The values in scope that are as asked."""
        outer = self.outer.known(accepts) if self.outer is not None else []
        return outer + [value for values in self._values.values() for value in values if accepts(value)]

    def value(self, type: Attribute) -> SSAValue:
        """A value of a type: one in scope, or a new one."""
        known = self.visible(type)
        if known and not self.one_in(4):
            return self.draw(st.sampled_from(known))
        if is_tensor(type) or is_memref(type):
            return self.argument(type)
        if is_vector(type):
            return self.add(ExpandOp.create(operands=(self.value(element_of(type)),), result_types=(type,))).result
        return self.add(ConstOp.create(properties={"value": self.draw(numbers(type))}, result_types=(type,))).result

    def values(self, types: Sequence[Attribute]) -> list[SSAValue]:
        return [self.value(type) for type in types]

    def argument(self, type: Attribute) -> SSAValue:
        """A new argument of the outermost block."""
        if self.outer is not None:
            return self.outer.argument(type)
        argument = self.block.insert_arg(type, len(self.block.args))
        self.define(argument)
        return argument

    # ops

    def add(self, op: OpT) -> OpT:
        """Append an op, at some location, with some discardable attributes; its results come into scope."""
        self.decorate(op)
        self.block.add_op(op)
        for result in op.results:
            self.define(result)
        return op

    def decorate(self, op: Operation) -> None:
        op.location = self.draw(locations)
        if self.one_in(6):
            op.attributes.update(self.draw(st.dictionaries(names, attributes, max_size=2)))

    def fill(self, makers: Sequence[Maker], most: int) -> None:
        """Append what up to `most` of the makers append."""
        for _ in range(self.draw(st.integers(0, most))):
            self.draw(st.sampled_from(makers))(self)


Maker = Callable[[Program], None]
"""Appends one op, and what it needs, to a program."""


def branch(kind: type[Branch], inner: Callable[[], Sequence[Maker]]) -> Maker:
    """Makes branches of a kernel dialect, whose parts hold `inner` ops."""

    def make(program: Program) -> None:
        op = kind.of(program.value(i1), otherwise=program.draw(st.booleans()))
        for region in op.regions:
            for block in region.blocks:
                program.nested(block).fill(inner(), 3)
        program.add(op)

    return make
