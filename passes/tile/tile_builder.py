"""The builder of tile form: operands are brought to one shape, constants stand at the kernel's top."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.types import broadcast_shape, index, shape_of, with_shape
from ...dialects.uop import ConstOp
from ...rewriting.builder import Builder, OpT


class TileBuilder(Builder):
    """A `Builder` for scalars and vectors of the kernel's register rank.

    An ALU op on operands of different shapes gets them expanded to the shape that they have together. Constants
    go to the outermost block, where every block inside sees them.
    """

    parent: TileBuilder | None

    def __init__(self, block: Block, before: Operation | None = None, parent: TileBuilder | None = None):
        super().__init__(block, before, parent)

    def nested(self, block: Block) -> TileBuilder:
        return TileBuilder(block, parent=self)

    def pure(
        self,
        cls: type[OpT],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ) -> OpT:
        if cls is ConstOp and self.parent is not None:
            with self.parent.at(self.location):
                return self.parent.pure(cls, operands, result_types, properties)
        return super().pure(cls, operands, result_types, properties)

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        shape = joined_shape(operands)
        return super().alu(name, *(self.fit(operand, shape) for operand in operands))

    def fit(self, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """`value` expanded to a shape; itself if it has that shape, or if the shape is a scalar's."""
        if not shape or shape_of(value.type) == shape:
            return value
        return self.expand(value, with_shape(value.type, shape))

    def add_term(self, sum: SSAValue | None, part: SSAValue, coefficient: int) -> SSAValue:
        """`sum + coefficient · part`; None is an empty sum."""
        term = part if coefficient == 1 else self.alu("mul", part, self.const(coefficient, index))
        return term if sum is None else self.alu("add", sum, term)

    def conjunction(self, conditions: Iterable[SSAValue]) -> SSAValue | None:
        """Whether all conditions hold; None when there are none."""
        result: SSAValue | None = None
        for condition in conditions:
            result = condition if result is None else self.alu("and", result, condition)
        return result


def joined_shape(values: Sequence[SSAValue]) -> tuple[int, ...]:
    """The shape that scalars and vectors of one rank have together."""
    shape = broadcast_shape([shape_of(value.type) for value in values])
    assert shape is not None, "vectors of one kernel have one rank"
    return shape
