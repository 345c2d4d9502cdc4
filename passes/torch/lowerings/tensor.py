"""A tensor value under construction: PyTorch's operators on it, each of which builds uop ops in tensor form."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute

from ....dialects.monoids import MONOIDS, Number
from ....dialects.types import element_count, is_float, ui8
from ....rewriting.builder import Builder
from .bounded_tensor import aligned, replaced
from .errors import Unsupported
from .movable_tensor import MovableTensor
from .number_conversion import convert_number
from .sizes import Dim, as_size, bound_of, is_size


class Tensor(MovableTensor):
    """A tensor to calculate with, as in PyTorch. Views and access by data are those of `MovableTensor`.

    Operators take tensors of one element type (cast first) or Python numbers, and broadcast shapes as PyTorch does.
    Axes may be negative. Nothing is built for what changes nothing.
    """

    __slots__ = ()

    def cast(self, element: Attribute) -> Tensor:
        """The elements converted to another type; floats to bytes by way of i64, so that −1.0 wraps, as in PyTorch."""
        if element == ui8 and is_float(self.element):
            return self.cast(i64).cast(ui8)
        return self.new(self.builder.cast(self.bounded, element), self.dims)

    def bitcast(self, element: Attribute) -> Tensor:
        """The same bits as another type of the same width."""
        return self.new(self.builder.bitcast(self.bounded, element), self.dims)

    def scalar(self, number: Number) -> Tensor:
        """The number, converted to this element type, as a tensor of rank 0."""
        return full(self.builder, (), number, self.element)

    def like(self, number: Number) -> Tensor:
        """The number, converted to this element type, in this shape."""
        return full(self.builder, self.shape, number, self.element)

    def alu(self, name: str, *others: Tensor | Number) -> Tensor:
        """An op of the semantics table on this tensor and others, broadcast against each other."""
        return self._elementwise(name, self.element, (self, *others))

    def _elementwise(self, name: str, element: Attribute, operands: Sequence[Tensor | Number]) -> Tensor:
        """An op on tensors and numbers, which become tensors of `element`, broadcast against each other."""
        shape = broadcast_shape([x.shape for x in operands if isinstance(x, Tensor)])
        tensors = [
            x.broadcast_to(shape) if isinstance(x, Tensor) else full(self.builder, shape, x, element) for x in operands
        ]
        dims = None
        if any(x.dims is not None for x in tensors):
            tensors, dims = aligned(tensors)
        return self.new(self.builder.alu(name, *[x.bounded for x in tensors]), dims)

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
        element = next(x.element for x in (true, false) if isinstance(x, Tensor))
        return self._elementwise("where", element, (self, true, false))

    # Reductions. The reduced axes stay with extent 1.

    def reduce(self, monoid: str, axes: Sequence[int]) -> Tensor:
        """The tensor combined along axes with a monoid of one value."""
        if not axes:
            return self
        return reduced(monoid, [self], axes)[0]

    def sum(self, axes: Sequence[int]) -> Tensor:
        return self.reduce("add", axes)

    def max(self, axes: Sequence[int]) -> Tensor:
        return self.reduce("max", axes)

    def running(self, monoid: str, axis: int) -> Tensor:
        """Each element combined with all that stand before it along one axis."""
        return scanned(monoid, [self], self.axis(axis))[0]

    def mean(self, axes: Sequence[int]) -> Tensor:
        """The sum divided by the number of elements; NaN where there are none."""
        return self.sum(axes) / element_count([self.shape[axis] for axis in axes])


def full(builder: Builder, shape: Sequence[int], number: Number, element: Attribute) -> Tensor:
    """A tensor of one number, converted to the element type."""
    size = as_size(number)
    if size is not None:
        return Tensor(builder, size.scope.number(builder, size.extent)).cast(element).broadcast_to(shape)
    constant = builder.const(convert_number(number, element), element)
    if not any(map(is_size, shape)):
        return Tensor(builder, builder.expand(constant, TensorType(element, shape)))
    bounds = TensorType(element, [bound_of(n) for n in shape])
    return Tensor(builder, builder.expand(constant, bounds), tuple([Dim.of(n, is_size(n)) for n in shape]))


def iota(builder: Builder, count: int, element: Attribute) -> Tensor:
    """0, 1, …, count − 1."""
    return Tensor(builder, builder.iota(bound_of(count), element), (Dim.of(count),) if is_size(count) else None)


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


def reduced(monoid: str, tensors: Sequence[Tensor], axes: Sequence[int]) -> list[Tensor]:
    """The values of a monoid's elements, tensors of one shape, combined along axes, which stay with extent 1."""
    builder, dims = tensors[0].builder, None
    if any(x.dims is not None for x in tensors):
        tensors, dims = aligned(tensors)
        identities = MONOIDS[monoid].identity([x.element for x in tensors])
        tensors = [x.masked(axes, identity) for x, identity in zip(tensors, identities, strict=True)]
        dims = tuple([Dim.of(1) if axis in axes else dim for axis, dim in enumerate(dims)])
    results = builder.reduce_axis(monoid, [x.bounded for x in tensors], axes)
    return [tensors[0].new(value, dims) for value in results]


def scanned(monoid: str, tensors: Sequence[Tensor], axis: int) -> list[Tensor]:
    """The values of a monoid's elements, tensors of one shape, each combined with all that stand before it."""
    builder, dims = tensors[0].builder, None
    if any(x.dims is not None for x in tensors):
        tensors, dims = aligned([x.straight(axis) for x in tensors])
        dims = replaced(dims, axis, Dim.of(dims[axis].size))
    results = builder.scan_axis(monoid, [x.bounded for x in tensors], axis)
    return [tensors[0].new(value, dims) for value in results]


def bool_tensor(tensor: Tensor) -> Tensor:
    """Whether each element is not zero; NaN is not."""
    return tensor.cast(i1)
