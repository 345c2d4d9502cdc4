"""What a lowering gets to work with: the ATen op, its results' types, and operands in the type that it computes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from ....dialects.monoids import Number, number_attribute
from ....dialects.symbols import ExtentsAttr
from ....dialects.torch import AtenOp
from ....dialects.types import element_of, is_tensor, shape_of
from ....rewriting.builder import Builder
from . import tensor as tensors
from .number_conversion import convert_number
from .promotion import compute_type
from .sizes import Scope, is_size
from .tensor import Tensor

Operand = Tensor | Number
"""A tensor argument, in whose place a Python number may stand."""


@dataclass(frozen=True)
class Lowering:
    """The lowering of one ATen op.

    Results of a lowering have the shapes of the op's results, and their element types or, where that is a float of 16
    bits, f32: the pass rounds, once.

    scope: the symbols of the function, where it has any
    """

    builder: Builder
    op: AtenOp
    scope: Scope | None = None

    @property
    def element(self) -> Attribute:
        """The element type of the first result."""
        return element_of(self.op.results[0].type)

    @property
    def compute(self) -> Attribute:
        """The type to compute the first result in."""
        return compute_type(self.element)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the first result."""
        return shape_in(self.scope, self.op.results[0].type)

    def factor(self, x: Tensor) -> Tensor:
        """An operand of a product of matrices: in TF32 where the call allows it."""
        x = x.cast(self.compute)
        return x.alu("to_tf32") if self.op.allow_tf32 is not None and x.element == f32 else x

    def full(self, shape: Sequence[int], number: Number, element: Attribute | None = None) -> Tensor:
        """A tensor of one number, of the result's element type unless another is given."""
        return tensors.full(self.builder, shape, number, element or self.element)

    def iota(self, count: int, element: Attribute) -> Tensor:
        """0, 1, …, count − 1."""
        return tensors.iota(self.builder, count, element)

    def operand(self, operand: Operand, element: Attribute) -> Tensor:
        """The operand in an element type; of a number, a tensor of rank 0."""
        return operand.cast(element) if isinstance(operand, Tensor) else self.full((), operand, element)

    def operands(self, operands: Sequence[Operand], element: Attribute) -> list[Tensor]:
        """The operands in an element type, broadcast against each other."""
        values = [self.operand(x, element) if isinstance(x, Tensor) else x for x in operands]
        shape = tensors.broadcast_shape([x.shape for x in values if isinstance(x, Tensor)] or [()])
        return [x.broadcast_to(shape) if isinstance(x, Tensor) else self.full(shape, x, element) for x in values]

    def arithmetic(self, operands: Sequence[Operand], element: Attribute | None = None) -> list[Tensor]:
        """The operands of one op of arithmetic in the result's type (or `element`), broadcast.

        Beside floats of 16 bits PyTorch keeps a Python number in f32 (but rounds it for powers and remainders): where
        that makes a difference, all is in f32.
        """
        element = element or self.element
        narrow = [x.cast(element) if isinstance(x, Tensor) else x for x in operands]
        if all(isinstance(x, Tensor) or _holds(element, x) for x in narrow):
            return self.operands(narrow, element)
        return self.operands(narrow, compute_type(element))


def shape_in(scope: Scope | None, type: Attribute) -> tuple[int, ...]:
    """The shape of a type of the torch dialect, with sizes in the place of `?`."""
    if scope is not None and is_tensor(type) and isinstance(type.encoding, ExtentsAttr):
        return tuple([scope.size(extent) for extent in type.encoding.data])
    return shape_of(type)


def _holds(element: Attribute, number: Number) -> bool:
    """Whether `element` makes the same of the number as the type that it computes in."""
    if is_size(number):
        return element == compute_type(element)
    values = [
        number_attribute(convert_number(number, type), type).value.data for type in (element, compute_type(element))
    ]
    return values[0] == values[1] or values[0] != values[0]
