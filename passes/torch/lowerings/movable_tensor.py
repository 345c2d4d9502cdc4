"""What moves the elements of a tensor value under construction: views, and access by data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

from xdsl.dialects.builtin import TensorType, i64

from ....dialects.types import element_count
from .bounded_places import on_places
from .bounded_tensor import BoundedTensor, replaced
from .errors import Unsupported
from .sizes import ADVICE, Dim, bound_of, is_size, split


class MovableTensor(BoundedTensor):
    """A tensor whose elements can be given another order and shape. Axes may be negative. Nothing is built for what
    changes nothing."""

    __slots__ = ()

    def reshape(self, shape: Sequence[int]) -> Self:
        if self.dims is None and not any(map(is_size, shape)):
            return self.new(self.builder.reshape(self.bounded, shape))
        return self._reshape_bounded(tuple(shape))

    def _reshape_bounded(self, shape: tuple[int, ...]) -> Self:
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
            return self.relaid(shape)
        return self.new(self.builder.reshape(self.bounded, [dim.extent for dim in found]), found)

    def permute(self, order: Sequence[int]) -> Self:
        """Axis `d` of the result is axis `order[d]` of this."""
        order = [self.axis(axis) for axis in order]
        dims = None if self.dims is None else tuple([self.dims[axis] for axis in order])
        return self.new(self.builder.permute(self.bounded, order), dims)

    def transpose(self, first: int, second: int) -> Self:
        """Two axes exchanged."""
        order = list(range(self.rank))
        if order:
            a, b = self.axis(first), self.axis(second)
            order[a], order[b] = b, a
        return self.permute(order)

    def move_axis(self, source: int, target: int) -> Self:
        """The axis `source` put in the place `target`, the others in their order."""
        source, target = self.axis(source), self.axis(target)
        order = [axis for axis in range(self.rank) if axis != source]
        order.insert(target, source)
        return self.permute(order)

    def unsqueeze(self, axis: int) -> Self:
        """A new axis of extent 1; `axis` counts in the result."""
        axis %= self.rank + 1
        return self.reshape((*self.shape[:axis], 1, *self.shape[axis:]))

    def squeeze(self, axes: Sequence[int]) -> Self:
        """Without those of the named axes that have extent 1."""
        named = [self.axis(axis) for axis in axes]
        return self.reshape([n for axis, n in enumerate(self.shape) if axis not in named or n != 1])

    def expand(self, shape: Sequence[int]) -> Self:
        """Axes of extent 1 repeated to `shape`, which has the same rank."""
        if self.dims is None and not any(map(is_size, shape)):
            return self.new(self.builder.expand(self.bounded, TensorType(self.element, shape)))
        return self.expand_like(
            [dim if dim.size == n else Dim.of(n, True) for dim, n in zip(self.layout, shape, strict=True)]
        )

    def expand_like(self, dims: Sequence[Dim]) -> Self:
        """Axes of extent 1 repeated so that they lie as these."""
        for old, new in zip(self.layout, dims, strict=True):
            if old.size not in (1, new.size) or (old.size != 1 and old.extent != new.extent):
                raise Unsupported(f"{list(self.shape)} does not expand to {[dim.size for dim in dims]}", ADVICE)
        type = TensorType(self.element, [dim.extent for dim in dims])
        return self.new(self.builder.expand(self.bounded, type), tuple(dims))

    def broadcast_to(self, shape: Sequence[int]) -> Self:
        """This tensor in a shape that it broadcasts to: new leading axes, and axes of extent 1 repeated."""
        if self.shape == tuple(shape):
            return self
        return self.reshape((*(1,) * (len(shape) - self.rank), *self.shape)).expand(shape)

    def pad(self, axis: int, low: int, high: int) -> Self:
        """Zeros in front of and behind one axis."""
        axis = self.axis(axis)
        if self.dims is None and not is_size(low) and not is_size(high):
            return self.new(self.builder.pad(self.value, self._at(axis, low), self._at(axis, high)))
        x = self.filled(axis, 0) if high != 0 else self.straight(axis)
        dim = Dim.of(self.shape[axis] + low + high)
        missing = dim.extent - low - x.layout[axis].extent
        if is_size(low) or missing < 0:
            raise Unsupported(f"{low} zeros in front of an axis of {self.shape[axis]} and {high} behind it", ADVICE)
        padded = self.builder.pad(x.bounded, self._at(axis, low), self._at(axis, missing))
        return self.new(padded, replaced(x.layout, axis, dim))

    def shrink(self, axis: int, offset: int, count: int, step: int = 1) -> Self:
        """`count` elements of one axis from `offset` on, `step` apart."""
        axis = self.axis(axis)
        if is_size(offset):
            places = self.builder.iota(bound_of(count), i64)
            if step != 1:
                places = on_places(self.builder, "mul", places, step)
            places = on_places(self.builder, "add", places, offset)
            return self.take(axis, self.new(places, (Dim.of(count),)))
        if self.dims is None and not is_size(count):
            shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
            strides = [step if d == axis else 1 for d in range(self.rank)]
            return self.new(self.builder.shrink(self.value, self._at(axis, offset), shape, strides))
        x, dim = self.straight(axis), Dim.of(count)
        dims = replaced(x.layout, axis, dim)
        if dim.extent and offset + (dim.extent - 1) * step >= x.layout[axis].extent:
            raise Unsupported(f"{count} elements of {self.shape[axis]} from {offset} on, {step} apart", ADVICE)
        strides = [step if d == axis else 1 for d in range(self.rank)]
        kept = [each.extent for each in dims]
        return self.new(self.builder.shrink(x.bounded, self._at(axis, offset), kept, strides), dims)

    def window(self, axis: int, extents: Sequence[int], strides: Sequence[int]) -> Self:
        """Axes in the place of one: `i0, i1, …` of them is `i0 · strides[0] + i1 · strides[1] + …` of it."""
        return self.new(self.builder.window(self.value, self.axis(axis), extents, strides))

    def select(self, axis: int, index: int) -> Self:
        """One element of an axis, which disappears."""
        axis = self.axis(axis)
        part = self.shrink(axis, index % self.shape[axis], 1)
        return part.reshape((*self.shape[:axis], *self.shape[axis + 1 :]))

    def flip(self, axes: Sequence[int]) -> Self:
        named = sorted({self.axis(axis) for axis in axes} if self.rank else ())
        if self.dims is None:
            return self.new(self.builder.flip(self.value, named))
        x = self
        for axis in named:
            dim = Dim.of(self.shape[axis])
            backwards = self.builder.alu("neg", self.builder.iota(dim.extent, i64))
            x = x.take(axis, self.new(on_places(self.builder, "add", backwards, dim.size - 1), (dim,)))
        return x

    # Access by data.

    def gather(self, axis: int, indices: Self) -> Self:
        """Elements chosen along one axis; `indices` has this shape in every other axis."""
        axis = self.axis(axis)
        if self.dims is None and indices.dims is None:
            return self.new(self.builder.gather(self.value, indices.value, axis))
        x, dims = self.straight(axis), list(indices.layout)
        for d, (mine, other) in enumerate(zip(x.layout, indices.layout, strict=True)):
            if d != axis and mine != other:
                dims[d] = other if mine.uniform else mine
                if mine.size != other.size or mine.extent != other.extent or not (mine.uniform or other.uniform):
                    raise Unsupported(f"indices of {list(indices.shape)} into {list(self.shape)}", ADVICE)
        # Places of elements that are not meant may be anything.
        meant = [d for d, dim in enumerate(indices.layout) if dim.is_cut and not dim.uniform]
        inside = indices.masked(meant, 0)
        return self.new(self.builder.gather(x.bounded, inside.bounded, axis), tuple(dims))

    def take(self, axis: int, indices: Self) -> Self:
        """Slices of one axis, chosen by a tensor of rank 1."""
        axis = self.axis(axis)
        vector = indices.reshape([indices.count if d == axis else 1 for d in range(self.rank)])
        if self.dims is None and indices.dims is None:
            return self.gather(axis, vector.expand((*self.shape[:axis], indices.count, *self.shape[axis + 1 :])))
        dims = [replace(dim, uniform=dim.is_cut) for dim in self.layout]
        return self.gather(axis, vector.expand_like(replaced(dims, axis, vector.layout[axis])))
