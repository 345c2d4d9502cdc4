"""A tensor value under construction some of whose sizes are known only when the program runs, and what is done about
the elements that it has beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute, SSAValue

from ....dialects.monoids import Number
from ....dialects.types import element_count, element_of, shape_of
from ....dialects.uop import ExpandOp
from ....rewriting.builder import Builder
from .bounded_places import is_meant, on_places, places_of
from .errors import Unsupported
from .number_conversion import convert_number
from .sizes import ADVICE, STATIC, Dim, bound_of, is_size

BoundedT = TypeVar("BoundedT", bound="BoundedTensor")


@dataclass(frozen=True, slots=True)
class BoundedTensor:
    """An SSA value of tensor type, and the builder that makes ops of it.

    bounded: the value; of a tensor with sizes that are known when the program runs, with the greatest that they may be
    dims: how the elements of such a tensor lie in it; None where all extents are numbers
    """

    builder: Builder
    bounded: SSAValue
    dims: tuple[Dim, ...] | None = None

    def new(self, value: SSAValue, dims: tuple[Dim, ...] | None = None) -> Self:
        """Another tensor, whose elements lie as `dims` say, if there is something to say."""
        cut = dims if dims is not None and any(dim.is_cut for dim in dims) else None
        return type(self)(self.builder, value, cut)

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
    def layout(self) -> tuple[Dim, ...]:
        """How the elements of each dimension lie."""
        return tuple(map(Dim.of, self.shape)) if self.dims is None else self.dims

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

    # Elements that are not meant.

    def masked(self, axes: Sequence[int], number: Number) -> Self:
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
                inside = self.builder.reshape(is_meant(self.builder, dim), shape)
                inside = self.builder.expand(inside, TensorType(i1, shape_of(value.type)))
                other = self.builder.constant_like(convert_number(number, self.element), value)
                chosen = self.builder.expand(self.builder.alu("where", inside, value, other), type)
                x = self.new(chosen, replaced(x.layout, axis, replace(dim, uniform=False)))
        return x

    def filled(self, axis: int, number: Number) -> Self:
        """Numbers behind an axis, as many as its greatest extent has room for: that is the extent of the result."""
        axis = self.axis(axis)
        x = self.masked([axis], number)
        return self.new(x.bounded, replaced(x.layout, axis, Dim.of(x.layout[axis].extent)))

    def cut(self, axis: int, size: int) -> Self:
        """The first elements of an axis that has the greatest extent of `size`: undoes `filled`."""
        axis = self.axis(axis)
        if self.shape[axis] == size:
            return self
        assert self.shape[axis] == bound_of(size)
        return self.new(self.bounded, replaced(self.layout, axis, Dim.of(size)))

    def placed(self, axis: int, start: int, size: int) -> Self:
        """The elements of one axis from place `start` on of an axis of `size`; what stands at other places is open."""
        axis = self.axis(axis)
        x, dim = self.straight(axis), Dim.of(size)
        if not is_size(start):
            missing = dim.extent - start - x.layout[axis].extent
            if missing < 0:
                raise Unsupported(f"an axis of {self.shape[axis]} from {start} on in one of {size}", ADVICE)
            padded = self.builder.pad(x.bounded, self._at(axis, start), self._at(axis, missing))
            return self.new(padded, replaced(x.layout, axis, dim))
        places = on_places(self.builder, "sub", self.builder.iota(dim.extent, i64), start)
        places = on_places(self.builder, "max", places, 0)
        return x.take_bounded(axis, on_places(self.builder, "min", places, x.layout[axis].extent - 1), dim)

    def straight(self, axis: int) -> Self:
        """The same elements, of which those that are meant are the first of the axis."""
        dim = self.layout[axis]
        if len(dim.digits) == 1 or dim.uniform:
            return self
        return self.take_bounded(axis, places_of(self.builder, (dim,), (dim.size,)), Dim.of(dim.size))

    def relaid(self, shape: Sequence[int]) -> Self:
        """Another shape of as many elements, which then lie otherwise: each is read from the place where it was."""
        flat = Dim(element_count(self.shape), tuple([digit for dim in self.layout for digit in dim.digits]))
        row = self.new(self.builder.reshape(self.bounded, [flat.extent]), (flat,))
        target = tuple(map(Dim.of, shape))
        taken = row.take_bounded(0, places_of(self.builder, (flat,), shape), Dim(flat.size, tuple(shape)))
        return self.new(self.builder.reshape(taken.bounded, [dim.extent for dim in target]), target)

    def take_bounded(self, axis: int, places: SSAValue, dim: Dim) -> Self:
        """Slices of one axis by their places in the bounded tensor, which then lie as `dim` says."""
        dims = replaced(self.layout, axis, dim)
        shape = [each.extent for each in dims]
        vector = self.builder.reshape(places, [n if d == axis else 1 for d, n in enumerate(shape)])
        indices = self.builder.expand(vector, TensorType(i64, shape))
        return self.new(self.builder.gather(self.bounded, indices, axis), dims)

    def _at(self, axis: int, number: int) -> list[int]:
        return [number if d == axis else 0 for d in range(self.rank)]


def aligned(tensors: Sequence[BoundedT]) -> tuple[list[BoundedT], tuple[Dim, ...]]:
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


def replaced(dims: Sequence[Dim], axis: int, dim: Dim) -> tuple[Dim, ...]:
    """The dimensions with another in the place of one."""
    return (*dims[:axis], dim, *dims[axis + 1 :])
