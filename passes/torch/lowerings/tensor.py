"""A tensor value under construction: PyTorch's operators and views, each of which builds uop ops in tensor form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType, f32, i1, i64
from xdsl.ir import Attribute, SSAValue

from ....dialects.monoids import Number, number_attribute
from ....dialects.types import (
    bit_width,
    element_count,
    element_of,
    integer_bounds,
    is_bool,
    is_float,
    shape_of,
    ui8,
)
from ....dialects.uop import BitcastOp
from ....rewriting.builder import Builder
from .errors import Unsupported


@dataclass(frozen=True, slots=True)
class Tensor:
    """An SSA value of tensor type, and the builder that makes ops of it.

    Operators take tensors of one element type (cast first) or Python numbers, and broadcast shapes as PyTorch does.
    Axes may be negative. Nothing is built for what changes nothing.
    """

    builder: Builder
    value: SSAValue

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.value.type)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def element(self) -> Attribute:
        """The element type."""
        return element_of(self.value.type)

    @property
    def count(self) -> int:
        """The number of elements."""
        return element_count(self.shape)

    def axis(self, axis: int) -> int:
        """The axis counted from the front. A tensor of rank 0 has the axes 0 and −1, as in PyTorch."""
        rank = max(self.rank, 1)
        if not -rank <= axis < rank:
            raise Unsupported(f"a tensor of rank {self.rank} has no axis {axis}")
        return axis % rank

    def axes(self, axes: Sequence[int] | None) -> tuple[int, ...]:
        """The axes counted from the front, ascending; all for None and for none named."""
        if not axes or not self.rank:
            return tuple(range(self.rank))
        return tuple(sorted({self.axis(axis) for axis in axes}))

    # Elements.

    def cast(self, element: Attribute) -> Tensor:
        """The elements converted to another type; floats to bytes by way of i64, so that −1.0 wraps, as in PyTorch."""
        if element == ui8 and is_float(self.element):
            return self.cast(i64).cast(ui8)
        return self._made(self.builder.cast(self.value, element))

    def bitcast(self, element: Attribute) -> Tensor:
        """The same bits as another type of the same width."""
        op = self.builder.pure(BitcastOp, (self.value,), (TensorType(element, self.shape),))
        return self._made(op.result)

    def like(self, number: Number) -> Tensor:
        """The number, converted to this element type, in this shape."""
        return full(self.builder, self.shape, number, self.element)

    def alu(self, name: str, *others: Tensor | Number) -> Tensor:
        """An op of the semantics table on this tensor and others, broadcast against each other."""
        tensors = [self, *(other for other in others if isinstance(other, Tensor))]
        shape = broadcast_shape([tensor.shape for tensor in tensors])
        operands = [
            (x.broadcast_to(shape) if isinstance(x, Tensor) else full(self.builder, shape, x, self.element)).value
            for x in (self, *others)
        ]
        return self._made(self.builder.alu(name, *operands))

    def __add__(self, other: Tensor | Number) -> Tensor:
        return self.alu("add", other)

    def __radd__(self, other: Number) -> Tensor:
        return self.alu("add", other)

    def __sub__(self, other: Tensor | Number) -> Tensor:
        return self.alu("sub", other)

    def __rsub__(self, other: Number) -> Tensor:
        return self.like(other) - self

    def __mul__(self, other: Tensor | Number) -> Tensor:
        return self.alu("mul", other)

    def __rmul__(self, other: Number) -> Tensor:
        return self.alu("mul", other)

    def __truediv__(self, other: Tensor | Number) -> Tensor:
        return self.alu("div", other)

    def __rtruediv__(self, other: Number) -> Tensor:
        return self.like(other) / self

    def __neg__(self) -> Tensor:
        return self.alu("neg")

    def __and__(self, other: Tensor) -> Tensor:
        return self.alu("and", other)

    def __or__(self, other: Tensor) -> Tensor:
        return self.alu("or", other)

    def __invert__(self) -> Tensor:
        return self.alu("not")

    def __lt__(self, other: Tensor | Number) -> Tensor:
        return self.alu("lt", other)

    def __le__(self, other: Tensor | Number) -> Tensor:
        return self.alu("le", other)

    def __gt__(self, other: Tensor | Number) -> Tensor:
        return self.alu("gt", other)

    def __ge__(self, other: Tensor | Number) -> Tensor:
        return self.alu("ge", other)

    def equal(self, other: Tensor | Number) -> Tensor:
        """Elementwise equality (`==` compares the handles)."""
        return self.alu("eq", other)

    def exp(self) -> Tensor:
        return self.alu("exp")

    def log(self) -> Tensor:
        return self.alu("log")

    def maximum(self, other: Tensor | Number) -> Tensor:
        """The greater of both, NaN if either is."""
        return self.alu("max", other)

    def minimum(self, other: Tensor | Number) -> Tensor:
        """The lesser of both, NaN if either is."""
        return self.alu("min", other)

    def where(self, true: Tensor | Number, false: Tensor | Number) -> Tensor:
        """`true` where this bool tensor holds, else `false`; at least one of them is a tensor."""
        branches = [x for x in (true, false) if isinstance(x, Tensor)]
        shape = broadcast_shape([self.shape, *(x.shape for x in branches)])
        values = [
            (
                x.broadcast_to(shape) if isinstance(x, Tensor) else full(self.builder, shape, x, branches[0].element)
            ).value
            for x in (true, false)
        ]
        return self._made(self.builder.alu("where", self.broadcast_to(shape).value, *values))

    # Views.

    def reshape(self, shape: Sequence[int]) -> Tensor:
        return self._made(self.builder.reshape(self.value, shape))

    def permute(self, order: Sequence[int]) -> Tensor:
        """Axis `d` of the result is axis `order[d]` of this."""
        return self._made(self.builder.permute(self.value, [self.axis(axis) for axis in order]))

    def transpose(self, first: int, second: int) -> Tensor:
        """Two axes exchanged."""
        order = list(range(self.rank))
        if order:
            a, b = self.axis(first), self.axis(second)
            order[a], order[b] = b, a
        return self.permute(order)

    def move_axis(self, source: int, target: int) -> Tensor:
        """The axis `source` put in the place `target`, the others in their order."""
        source, target = self.axis(source), self.axis(target)
        order = [axis for axis in range(self.rank) if axis != source]
        order.insert(target, source)
        return self.permute(order)

    def unsqueeze(self, axis: int) -> Tensor:
        """A new axis of extent 1; `axis` counts in the result."""
        axis %= self.rank + 1
        return self.reshape((*self.shape[:axis], 1, *self.shape[axis:]))

    def squeeze(self, axes: Sequence[int]) -> Tensor:
        """Without those of the named axes that have extent 1."""
        named = [self.axis(axis) for axis in axes]
        return self.reshape([n for axis, n in enumerate(self.shape) if axis not in named or n != 1])

    def expand(self, shape: Sequence[int]) -> Tensor:
        """Axes of extent 1 repeated to `shape`, which has the same rank."""
        return self._made(self.builder.expand(self.value, TensorType(self.element, shape)))

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        """This tensor in a shape that it broadcasts to: new leading axes, and axes of extent 1 repeated."""
        if self.shape == tuple(shape):
            return self
        return self.reshape((*(1,) * (len(shape) - self.rank), *self.shape)).expand(shape)

    def pad(self, axis: int, low: int, high: int) -> Tensor:
        """Zeros in front of and behind one axis."""
        axis = self.axis(axis)
        return self._made(self.builder.pad(self.value, self._at(axis, low), self._at(axis, high)))

    def shrink(self, axis: int, offset: int, count: int, step: int = 1) -> Tensor:
        """`count` elements of one axis from `offset` on, `step` apart."""
        axis = self.axis(axis)
        shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
        strides = [step if d == axis else 1 for d in range(self.rank)]
        return self._made(self.builder.shrink(self.value, self._at(axis, offset), shape, strides))

    def window(self, axis: int, extents: Sequence[int], strides: Sequence[int]) -> Tensor:
        """Axes in the place of one: `i0, i1, …` of them is `i0 · strides[0] + i1 · strides[1] + …` of it."""
        return self._made(self.builder.window(self.value, self.axis(axis), extents, strides))

    def select(self, axis: int, index: int) -> Tensor:
        """One element of an axis, which disappears."""
        axis = self.axis(axis)
        part = self.shrink(axis, index % self.shape[axis], 1)
        return part.reshape((*self.shape[:axis], *self.shape[axis + 1 :]))

    def flip(self, axes: Sequence[int]) -> Tensor:
        return self._made(
            self.builder.flip(self.value, sorted({self.axis(axis) for axis in axes} if self.rank else ()))
        )

    # Access by data.

    def gather(self, axis: int, indices: Tensor) -> Tensor:
        """Elements chosen along one axis; `indices` has this shape in every other axis."""
        return self._made(self.builder.gather(self.value, indices.value, self.axis(axis)))

    def take(self, axis: int, indices: Tensor) -> Tensor:
        """Slices of one axis, chosen by a tensor of rank 1."""
        axis = self.axis(axis)
        shape = (*self.shape[:axis], indices.count, *self.shape[axis + 1 :])
        return self.gather(axis, along(indices, axis, shape))

    # Reductions. The reduced axes stay with extent 1.

    def reduce(self, monoid: str, axes: Sequence[int]) -> Tensor:
        """The tensor combined along axes with a monoid of one value."""
        if not axes:
            return self
        return self._made(self.builder.reduce_axis(monoid, [self.value], axes)[0])

    def sum(self, axes: Sequence[int]) -> Tensor:
        return self.reduce("add", axes)

    def max(self, axes: Sequence[int]) -> Tensor:
        return self.reduce("max", axes)

    def running(self, monoid: str, axis: int) -> Tensor:
        """Each element combined with all that stand before it along one axis."""
        (result,) = self.builder.scan_axis(monoid, [self.value], self.axis(axis))
        return self._made(result)

    def mean(self, axes: Sequence[int]) -> Tensor:
        """The sum divided by the number of elements; NaN where there are none."""
        return self.sum(axes) / element_count([self.shape[axis] for axis in axes])

    def _made(self, value: SSAValue) -> Tensor:
        return Tensor(self.builder, value)

    def _at(self, axis: int, number: int) -> list[int]:
        return [number if d == axis else 0 for d in range(self.rank)]


def full(builder: Builder, shape: Sequence[int], number: Number, element: Attribute) -> Tensor:
    """A tensor of one number, converted to the element type."""
    constant = builder.const(convert_number(number, element), element)
    return Tensor(builder, builder.expand(constant, TensorType(element, shape)))


def iota(builder: Builder, count: int, element: Attribute) -> Tensor:
    """0, 1, …, count − 1."""
    return Tensor(builder, builder.iota(count, element))


def along(vector: Tensor, axis: int, shape: Sequence[int]) -> Tensor:
    """A tensor of rank 1 laid along one axis of `shape` and repeated along the others."""
    return vector.reshape([vector.count if d == axis else 1 for d in range(len(shape))]).expand(shape)


def broadcast_shape(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape to which all broadcast. Raises `Unsupported` when there is none."""
    rank = max(len(shape) for shape in shapes)
    result: list[int] = []
    for axis in range(rank):
        extents = {shape[axis - rank] for shape in shapes if axis - rank >= -len(shape)} - {1}
        if len(extents) > 1:
            raise Unsupported(f"shapes {', '.join(str(list(shape)) for shape in shapes)} do not broadcast")
        result.append(next(iter(extents), 1))
    return tuple(result)


def convert_number(number: Number, element: Attribute) -> Number:
    """A Python number as PyTorch converts it to an element type: integers wrap, floats truncate.

    Raises `Unsupported` for a float that no integer holds.
    """
    if is_float(element):
        # To 16 bits by way of f32, as PyTorch does.
        return number_attribute(number, f32 if bit_width(element) == 16 else element).value.data
    if is_bool(element):
        return bool(number)
    try:
        whole = int(number)
    except (OverflowError, ValueError):
        raise Unsupported(f"the number {number} does not convert to {element}") from None
    low, _ = integer_bounds(element)
    return (whole - low) % (1 << bit_width(element)) + low


def bool_tensor(tensor: Tensor) -> Tensor:
    """Whether each element is not zero; NaN is not."""
    return tensor.cast(i1)
