"""A tensor value under construction: PyTorch's operators and views, each of which builds uop ops in tensor form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import TensorType, f32, i1, i64
from xdsl.ir import Attribute, SSAValue

from ....dialects.monoids import MONOIDS, Number, number_attribute
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
from ....dialects.uop import ExpandOp
from ....rewriting.builder import Builder
from .errors import Unsupported
from .sizes import ADVICE, STATIC, Dim, as_size, bound_of, is_size, split


@dataclass(frozen=True, slots=True)
class Tensor:
    """An SSA value of tensor type, and the builder that makes ops of it.

    Operators take tensors of one element type (cast first) or Python numbers, and broadcast shapes as PyTorch does.
    Axes may be negative. Nothing is built for what changes nothing.

    bounded: the value; of a tensor with sizes that are known when the program runs, with the greatest that they may be
    dims: how the elements of such a tensor lie in it; None where all extents are numbers
    """

    builder: Builder
    bounded: SSAValue
    dims: tuple[Dim, ...] | None = None

    @property
    def value(self) -> SSAValue:
        """The value. Raises `Unsupported` where sizes are not known: who takes it knows nothing of them."""
        if self.dims is not None:
            sizes = ", ".join(f"dimension {axis} is {dim.size}" for axis, dim in enumerate(self.dims) if dim.is_cut)
            raise Unsupported(
                f"it is not supported where sizes are known only when the program runs ({sizes})",
                STATIC,
            )
        return self.bounded

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.bounded.type) if self.dims is None else tuple([dim.size for dim in self.dims])

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def element(self) -> Attribute:
        """The element type."""
        return element_of(self.bounded.type)

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
        return self._made(self.builder.cast(self.bounded, element), self.dims)

    def bitcast(self, element: Attribute) -> Tensor:
        """The same bits as another type of the same width."""
        return self._made(self.builder.bitcast(self.bounded, element), self.dims)

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
        return self._made(self.builder.alu(name, *[x.bounded for x in tensors]), dims)

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

    # Views.

    def reshape(self, shape: Sequence[int]) -> Tensor:
        if self.dims is None and not any(map(is_size, shape)):
            return self._made(self.builder.reshape(self.bounded, shape))
        return self._reshape_bounded(tuple(shape))

    def _reshape_bounded(self, shape: tuple[int, ...]) -> Tensor:
        if self.shape == shape:
            return self
        if element_count(self.shape) != element_count(shape):
            raise Unsupported(f"{list(self.shape)} are not the elements of {list(shape)}", ADVICE)
        dims = self.layout
        if [n for n in self.shape if n != 1] == [n for n in shape if n != 1]:
            kept = iter([dim for dim in dims if dim.size != 1])
            found = tuple([Dim.of(1) if n == 1 else next(kept) for n in shape])
        else:
            found = split(dims, shape)
        if found is None:
            return relaid(self, shape)
        return self._made(self.builder.reshape(self.bounded, [dim.extent for dim in found]), found)

    @property
    def layout(self) -> tuple[Dim, ...]:
        """How the elements of each dimension lie."""
        return tuple(map(Dim.of, self.shape)) if self.dims is None else self.dims

    def permute(self, order: Sequence[int]) -> Tensor:
        """Axis `d` of the result is axis `order[d]` of this."""
        order = [self.axis(axis) for axis in order]
        dims = None if self.dims is None else tuple([self.dims[axis] for axis in order])
        return self._made(self.builder.permute(self.bounded, order), dims)

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
        if self.dims is None and not any(map(is_size, shape)):
            return self._made(self.builder.expand(self.bounded, TensorType(self.element, shape)))
        return self.expand_like(
            [dim if dim.size == n else Dim.of(n, True) for dim, n in zip(self.layout, shape, strict=True)]
        )

    def expand_like(self, dims: Sequence[Dim]) -> Tensor:
        """Axes of extent 1 repeated so that they lie as these."""
        for old, new in zip(self.layout, dims, strict=True):
            if old.size not in (1, new.size) or (old.size != 1 and old.extent != new.extent):
                raise Unsupported(f"{list(self.shape)} does not expand to {[dim.size for dim in dims]}", ADVICE)
        type = TensorType(self.element, [dim.extent for dim in dims])
        return self._made(self.builder.expand(self.bounded, type), tuple(dims))

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        """This tensor in a shape that it broadcasts to: new leading axes, and axes of extent 1 repeated."""
        if self.shape == tuple(shape):
            return self
        return self.reshape((*(1,) * (len(shape) - self.rank), *self.shape)).expand(shape)

    def pad(self, axis: int, low: int, high: int) -> Tensor:
        """Zeros in front of and behind one axis."""
        axis = self.axis(axis)
        if self.dims is None and not is_size(low) and not is_size(high):
            return self._made(self.builder.pad(self.value, self._at(axis, low), self._at(axis, high)))
        x = self.filled(axis, 0) if high != 0 else self.straight(axis)
        dim = Dim.of(self.shape[axis] + low + high)
        missing = dim.extent - low - x.layout[axis].extent
        if is_size(low) or missing < 0:
            raise Unsupported(f"{low} zeros in front of an axis of {self.shape[axis]} and {high} behind it", ADVICE)
        padded = self.builder.pad(x.bounded, self._at(axis, low), self._at(axis, missing))
        return self._made(padded, replaced(x.layout, axis, dim))

    def shrink(self, axis: int, offset: int, count: int, step: int = 1) -> Tensor:
        """`count` elements of one axis from `offset` on, `step` apart."""
        axis = self.axis(axis)
        if is_size(offset):
            places = iota(self.builder, count, i64)
            return self.take(axis, (places * step if step != 1 else places) + offset)
        if self.dims is None and not is_size(count):
            shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
            strides = [step if d == axis else 1 for d in range(self.rank)]
            return self._made(self.builder.shrink(self.value, self._at(axis, offset), shape, strides))
        x, dim = self.straight(axis), Dim.of(count)
        dims = replaced(x.layout, axis, dim)
        if dim.extent and offset + (dim.extent - 1) * step >= x.layout[axis].extent:
            raise Unsupported(f"{count} elements of {self.shape[axis]} from {offset} on, {step} apart", ADVICE)
        strides = [step if d == axis else 1 for d in range(self.rank)]
        kept = [each.extent for each in dims]
        return self._made(self.builder.shrink(x.bounded, self._at(axis, offset), kept, strides), dims)

    def window(self, axis: int, extents: Sequence[int], strides: Sequence[int]) -> Tensor:
        """Axes in the place of one: `i0, i1, …` of them is `i0 · strides[0] + i1 · strides[1] + …` of it."""
        return self._made(self.builder.window(self.value, self.axis(axis), extents, strides))

    def select(self, axis: int, index: int) -> Tensor:
        """One element of an axis, which disappears."""
        axis = self.axis(axis)
        part = self.shrink(axis, index % self.shape[axis], 1)
        return part.reshape((*self.shape[:axis], *self.shape[axis + 1 :]))

    def flip(self, axes: Sequence[int]) -> Tensor:
        named = sorted({self.axis(axis) for axis in axes} if self.rank else ())
        if self.dims is None:
            return self._made(self.builder.flip(self.value, named))
        x = self
        for axis in named:
            x = x.take(axis, (self.shape[axis] - 1) - iota(self.builder, self.shape[axis], i64))
        return x

    # Access by data.

    def gather(self, axis: int, indices: Tensor) -> Tensor:
        """Elements chosen along one axis; `indices` has this shape in every other axis."""
        axis = self.axis(axis)
        if self.dims is None and indices.dims is None:
            return self._made(self.builder.gather(self.value, indices.value, axis))
        x, dims = self.straight(axis), list(indices.layout)
        for d, (mine, other) in enumerate(zip(x.layout, indices.layout, strict=True)):
            if d != axis and mine != other:
                dims[d] = other if mine.uniform else mine
                if mine.size != other.size or mine.extent != other.extent or not (mine.uniform or other.uniform):
                    raise Unsupported(f"indices of {list(indices.shape)} into {list(self.shape)}", ADVICE)
        # Places of elements that are not meant may be anything.
        meant = [d for d, dim in enumerate(indices.layout) if dim.is_cut and not dim.uniform]
        inside = indices.masked(meant, 0)
        return self._made(self.builder.gather(x.bounded, inside.bounded, axis), tuple(dims))

    def take(self, axis: int, indices: Tensor) -> Tensor:
        """Slices of one axis, chosen by a tensor of rank 1."""
        axis = self.axis(axis)
        if self.dims is None and indices.dims is None:
            shape = (*self.shape[:axis], indices.count, *self.shape[axis + 1 :])
            return self.gather(axis, along(indices, axis, shape))
        vector = indices.reshape([indices.count if d == axis else 1 for d in range(self.rank)])
        dims = [replace(dim, uniform=dim.is_cut) for dim in self.layout]
        return self.gather(axis, vector.expand_like(replaced(dims, axis, vector.layout[axis])))

    # Sizes that are known when the program runs.

    def masked(self, axes: Sequence[int], number: Number) -> Tensor:
        """With a number in the place of those elements that are not meant."""
        x = self
        for axis in axes:
            dim = x.layout[axis]
            if dim.is_cut:
                value, type = x.bounded, x.bounded.type
                source = value.owner.input if isinstance(value.owner, ExpandOp) else value
                if shape_of(source.type)[axis : axis + 1] == (dim.extent,):
                    value = source  # chosen once for all repetitions
                shape = [dim.extent if d == axis else 1 for d in range(self.rank)]
                inside = self.builder.reshape(is_meant(self.builder, dim).value, shape)
                inside = self.builder.expand(inside, TensorType(i1, shape_of(value.type)))
                other = self.builder.constant_like(convert_number(number, self.element), value)
                chosen = self.builder.expand(self.builder.alu("where", inside, value, other), type)
                x = self._made(chosen, replaced(x.layout, axis, replace(dim, uniform=False)))
        return x

    def filled(self, axis: int, number: Number) -> Tensor:
        """Numbers behind an axis, as many as its greatest extent has room for: that is the extent of the result."""
        axis = self.axis(axis)
        x = self.masked([axis], number)
        return self._made(x.bounded, replaced(x.layout, axis, Dim.of(x.layout[axis].extent)))

    def cut(self, axis: int, size: int) -> Tensor:
        """The first elements of an axis that has the greatest extent of `size`: undoes `filled`."""
        axis = self.axis(axis)
        if self.shape[axis] == size:
            return self
        assert self.shape[axis] == bound_of(size)
        return self._made(self.bounded, replaced(self.layout, axis, Dim.of(size)))

    def placed(self, axis: int, start: int, size: int) -> Tensor:
        """The elements of one axis from place `start` on of an axis of `size`; what stands at other places is open."""
        axis = self.axis(axis)
        x, dim = self.straight(axis), Dim.of(size)
        if not is_size(start):
            missing = dim.extent - start - x.layout[axis].extent
            if missing < 0:
                raise Unsupported(f"an axis of {self.shape[axis]} from {start} on in one of {size}", ADVICE)
            padded = self.builder.pad(x.bounded, self._at(axis, start), self._at(axis, missing))
            return self._made(padded, replaced(x.layout, axis, dim))
        places = iota(self.builder, dim.extent, i64) - start
        return x.take_bounded(axis, places.maximum(0).minimum(x.layout[axis].extent - 1), dim)

    def straight(self, axis: int) -> Tensor:
        """The same elements, of which those that are meant are the first of the axis."""
        dim = self.layout[axis]
        if len(dim.digits) == 1 or dim.uniform:
            return self
        return self.take_bounded(axis, places_of((dim,), (dim.size,), self.builder), Dim.of(dim.size))

    def take_bounded(self, axis: int, places: Tensor, dim: Dim) -> Tensor:
        """Slices of one axis by their places in the bounded tensor, which then lie as `dim` says."""
        dims = replaced(self.layout, axis, dim)
        shape = [each.extent for each in dims]
        vector = self.builder.reshape(places.value, [n if d == axis else 1 for d, n in enumerate(shape)])
        indices = self.builder.expand(vector, TensorType(i64, shape))
        return self._made(self.builder.gather(self.bounded, indices, axis), dims)

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

    def _made(self, value: SSAValue, dims: tuple[Dim, ...] | None = None) -> Tensor:
        return bounded_tensor(self.builder, value, dims)

    def _at(self, axis: int, number: int) -> list[int]:
        return [number if d == axis else 0 for d in range(self.rank)]


def full(builder: Builder, shape: Sequence[int], number: Number, element: Attribute) -> Tensor:
    """A tensor of one number, converted to the element type."""
    size = as_size(number)
    if size is not None:
        scalar = Tensor(builder, size.scope.number(builder, size.extent)).cast(element)
        return scalar.broadcast_to(shape)
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
    return [bounded_tensor(builder, value, dims) for value in results]


def scanned(monoid: str, tensors: Sequence[Tensor], axis: int) -> list[Tensor]:
    """The values of a monoid's elements, tensors of one shape, each combined with all that stand before it."""
    builder, dims = tensors[0].builder, None
    if any(x.dims is not None for x in tensors):
        tensors, dims = aligned([x.straight(axis) for x in tensors])
        dims = replaced(dims, axis, Dim.of(dims[axis].size))
    results = builder.scan_axis(monoid, [x.bounded for x in tensors], axis)
    return [bounded_tensor(builder, value, dims) for value in results]


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


# Sizes that are known when the program runs.


def bounded_tensor(builder: Builder, value: SSAValue, dims: tuple[Dim, ...] | None) -> Tensor:
    """A tensor whose elements lie as `dims` say, if there is something to say."""
    return Tensor(builder, value, dims if dims is not None and any(dim.is_cut for dim in dims) else None)


def replaced(dims: Sequence[Dim], axis: int, dim: Dim) -> tuple[Dim, ...]:
    """The dimensions with another in the place of one."""
    return (*dims[:axis], dim, *dims[axis + 1 :])


def aligned(tensors: Sequence[Tensor]) -> tuple[list[Tensor], tuple[Dim, ...]]:
    """Tensors of one shape whose elements lie alike, and how they lie."""
    result = list(tensors)
    dims: list[Dim] = []
    for axis in range(tensors[0].rank):
        lying = [x.layout[axis] for x in result]
        fixed = [dim for dim in lying if not dim.uniform]
        if len({dim.digits for dim in fixed}) > 1:
            result = [x.straight(axis) for x in result]
            fixed = [dim for x in result if not (dim := x.layout[axis]).uniform]
        dims.append(fixed[0] if fixed else lying[0])
        if any(dim.extent != dims[axis].extent for dim in lying):
            raise Unsupported(f"tensors of {list(tensors[0].shape)} that lie in different ways", ADVICE)
    return result, tuple(dims)


def is_meant(builder: Builder, dim: Dim) -> Tensor:
    """Whether each of the elements of a dimension's greatest extent is meant: a tensor of rank 1."""
    place = iota(builder, dim.extent, i64)
    result: Tensor | None = None
    stride = dim.extent
    for digit in dim.digits:
        size, above = as_size(digit), stride
        stride //= bound_of(digit)
        if size is None:
            continue
        here = place if stride == 1 else place.alu("floordiv", stride)
        here = here if above == dim.extent else here.alu("floormod", bound_of(digit))
        inside = here < full(builder, (), digit, i64)
        result = inside if result is None else result & inside
    assert result is not None, "a dimension whose elements are all meant"
    return result


def relaid(x: Tensor, shape: Sequence[int]) -> Tensor:
    """`x` in another shape of as many elements, which then lie otherwise: each is read from the place where it was."""
    flat = Dim(element_count(x.shape), tuple([digit for dim in x.layout for digit in dim.digits]))
    row = Tensor(x.builder, x.builder.reshape(x.bounded, [flat.extent]), (flat,))
    target = tuple(map(Dim.of, shape))
    taken = row.take_bounded(0, places_of((flat,), shape, x.builder), Dim(flat.size, tuple(shape)))
    return Tensor(x.builder, x.builder.reshape(taken.bounded, [dim.extent for dim in target]), target)


def places_of(dims: Sequence[Dim], shape: Sequence[int], builder: Builder) -> Tensor:
    """Where elements stand that lie as `dims` say, for each place of a tensor of the greatest extents of `shape`, in
    row-major order; some place of the tensor for those that are not meant."""
    digits = [digit for dim in dims for digit in dim.digits]
    extents, bounds = [bound_of(n) for n in shape], [bound_of(digit) for digit in digits]
    place = iota(builder, element_count(extents), i64)
    count = full(builder, (), 0, i64)
    for axis, n in enumerate(shape):
        inner = element_count(extents[axis + 1 :])
        index = place.alu("floordiv", inner).alu("floormod", extents[axis])
        count = count * n + index
    found = full(builder, (), 0, i64)
    stride = 1
    for digit, bound in zip(reversed(digits), reversed(bounds), strict=True):
        size = full(builder, (), digit, i64).maximum(1)
        found = found + count.alu("floormod", size).minimum(bound - 1) * stride
        count = count.alu("floordiv", size)
        stride *= bound
    return found
