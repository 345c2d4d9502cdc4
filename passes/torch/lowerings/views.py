"""Views and copies: where elements come from."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from ....dialects.types import bit_width, element_count
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .sizes import is_size
from .tensor import Tensor


@lowering("clone", "contiguous", "alias", "detach", "lift_fresh_copy")
def identity(b: Lowering, self: Tensor) -> Tensor:
    return self


@lowering("_to_copy", "to.dtype")
def to_copy(b: Lowering, self: Tensor, *, dtype: Attribute | None = None) -> Tensor:
    return self.cast(b.element if dtype is None else dtype)


@lowering("prims::convert_element_type")
def convert_element_type(b: Lowering, a: Tensor, dtype: Attribute | None) -> Tensor:
    return a.cast(b.element if dtype is None else dtype)


@lowering("copy")
def copy(b: Lowering, self: Tensor, src: Tensor) -> Tensor:
    return src.cast(self.element).broadcast_to(self.shape)


@lowering("view", "_unsafe_view", "view_copy")
def view(b: Lowering, self: Tensor, size: list[int]) -> Tensor:
    return self.reshape(whole_shape(size, self.count))


@lowering("reshape")
def reshape(b: Lowering, self: Tensor, shape: list[int]) -> Tensor:
    return self.reshape(whole_shape(shape, self.count))


@lowering("view_as", "reshape_as")
def view_as(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    return self.reshape(other.shape)


@lowering("ravel")
def ravel(b: Lowering, self: Tensor) -> Tensor:
    return self.reshape((self.count,))


@lowering("view.dtype")
def view_dtype(b: Lowering, self: Tensor, dtype: Attribute | None) -> Tensor:
    """The same bits as another type of the same width."""
    if dtype is None or bit_width(dtype) != bit_width(self.element):
        raise Unsupported("a view as a dtype of another width changes the shape")
    return self if dtype == self.element else self.bitcast(dtype)


@lowering("flatten.using_ints")
def flatten(b: Lowering, self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    start, end = self.axis(start_dim), self.axis(end_dim) + 1
    return self.reshape((*self.shape[:start], element_count(self.shape[start:end]), *self.shape[end:]))


@lowering("unflatten.int")
def unflatten(b: Lowering, self: Tensor, dim: int, sizes: list[int]) -> Tensor:
    axis = self.axis(dim)
    parts = whole_shape(sizes, self.shape[axis])
    return self.reshape((*self.shape[:axis], *parts, *self.shape[axis + 1 :]))


@lowering("unsqueeze")
def unsqueeze(b: Lowering, self: Tensor, dim: int) -> Tensor:
    return self.unsqueeze(dim)


@lowering("squeeze")
def squeeze(b: Lowering, self: Tensor) -> Tensor:
    return self.squeeze(range(self.rank))


@lowering("squeeze.dim")
def squeeze_dim(b: Lowering, self: Tensor, dim: int) -> Tensor:
    return self.squeeze([dim])


@lowering("squeeze.dims")
def squeeze_dims(b: Lowering, self: Tensor, dim: list[int]) -> Tensor:
    return self.squeeze(dim)


@lowering("permute", "permute_copy")
def permute(b: Lowering, self: Tensor, dims: list[int]) -> Tensor:
    return self.permute(dims)


@lowering("transpose.int")
def transpose(b: Lowering, self: Tensor, dim0: int, dim1: int) -> Tensor:
    return self.transpose(dim0, dim1)


@lowering("mT")
def matrix_transpose(b: Lowering, self: Tensor) -> Tensor:
    return self.transpose(-2, -1)


@lowering("t", "numpy_T")
def t(b: Lowering, self: Tensor) -> Tensor:
    return self.permute(range(self.rank)[::-1])


@lowering("movedim.int")
def movedim(b: Lowering, self: Tensor, source: int, destination: int) -> Tensor:
    return self.move_axis(source, destination)


@lowering("movedim.intlist")
def movedim_list(b: Lowering, self: Tensor, source: list[int], destination: list[int]) -> Tensor:
    order = {self.axis(to): self.axis(axis) for axis, to in zip(source, destination, strict=True)}
    rest = iter([axis for axis in range(self.rank) if axis not in order.values()])
    return self.permute([order[axis] if axis in order else next(rest) for axis in range(self.rank)])


@lowering("expand")
def expand(b: Lowering, self: Tensor, size: list[int]) -> Tensor:
    """−1 keeps the extent of an axis."""
    added = len(size) - self.rank
    return self.broadcast_to([self.shape[d - added] if n == -1 else n for d, n in enumerate(size)])


@lowering("expand_as")
def expand_as(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    return self.broadcast_to(other.shape)


@lowering("slice.Tensor")
def slice_(
    b: Lowering, self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    extent, count = self.shape[self.axis(dim)], b.shape[self.axis(dim)]
    if any(map(is_size, (extent, count, start))):
        return self.shrink(dim, first_place(extent, start), count, step)
    places = slice_places(extent, start, end, step)
    return self.shrink(dim, places.start, len(places), step)


@lowering("narrow", "narrow_copy")
def narrow(b: Lowering, self: Tensor, dim: int, start: int, length: int) -> Tensor:
    return self.shrink(dim, first_place(self.shape[self.axis(dim)], start), length)


@lowering("select.int")
def select(b: Lowering, self: Tensor, dim: int, index: int) -> Tensor:
    return self.select(dim, index)


@lowering("split.Tensor")
def split(b: Lowering, self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    extent = self.shape[self.axis(dim)]
    starts = range(0, extent, split_size) if extent else [0]
    return [self.shrink(dim, start, min(split_size, extent - start)) for start in starts]


@lowering("split_with_sizes")
def split_with_sizes(b: Lowering, self: Tensor, split_sizes: list[int], dim: int = 0) -> list[Tensor]:
    starts = [sum(split_sizes[:part]) for part in range(len(split_sizes))]
    return [self.shrink(dim, start, size) for start, size in zip(starts, split_sizes, strict=True)]


@lowering("chunk")
def chunk(b: Lowering, self: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    extent = self.shape[self.axis(dim)]
    size = max(-(-extent // chunks), 1)
    starts = range(0, extent, size) if extent else [0] * chunks
    return [self.shrink(dim, start, min(size, extent - start)) for start in starts]


@lowering("unbind.int", "unbind_copy.int")
def unbind(b: Lowering, self: Tensor, dim: int = 0) -> list[Tensor]:
    return [self.select(dim, index) for index in range(self.shape[self.axis(dim)])]


@lowering("flip")
def flip(b: Lowering, self: Tensor, dims: list[int]) -> Tensor:
    return self.flip(dims)


@lowering("diagonal")
def diagonal(b: Lowering, self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Element `d` of the last axis is at `d + max(−offset, 0)` of `dim1` and `d + max(offset, 0)` of `dim2`."""
    first, second = self.axis(dim1), self.axis(dim2)
    rest = [axis for axis in range(self.rank) if axis not in (first, second)]
    x = self.permute([*rest, first, second])
    row, column = max(-offset, 0), max(offset, 0)
    count = max(min(x.shape[-2] - row, x.shape[-1] - column), 0)
    if count == 0:
        return b.full(b.shape, 0)
    columns = x.shape[-1]
    flat = x.reshape((*x.shape[:-2], x.shape[-2] * columns))
    return flat.shrink(-1, row * columns + column, count, columns + 1)


@lowering("unfold")
def unfold(b: Lowering, self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Windows of an axis: their number stands in the place of the axis, their elements in a new last axis."""
    if self.rank == 0:
        return self.reshape(b.shape)
    axis = self.axis(dimension)
    return self.window(axis, (b.shape[axis], size), (step, 1)).move_axis(axis + 1, -1)


@lowering("as_strided", "as_strided_copy")
def as_strided(
    b: Lowering, self: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None
) -> Tensor:
    """Elements by their places where `self` lies row by row: the front end refuses tensors that do not."""
    if 0 in size:
        return b.full(size, 0)
    offset = storage_offset or 0
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if last >= self.count:
        raise Unsupported(f"element {last} is none of the {self.count} of the tensor")
    walked = [(n, step) for n, step in zip(size, stride, strict=True) if n > 1 and step > 0] or [(1, 1)]
    flat = self.reshape((self.count,)).shrink(0, offset, self.count - offset)
    seen = flat.window(0, [n for n, _ in walked], [step for _, step in walked])
    kept = seen.reshape([n if step > 0 else 1 for n, step in zip(size, stride, strict=True)])
    return kept.expand(size)


@lowering("resize")
def resize(b: Lowering, self: Tensor, size: list[int]) -> Tensor:
    """The first elements in another shape."""
    count = element_count(size)
    if count > self.count:
        raise Unsupported(f"nothing is written in {count - self.count} of its elements")
    return self.reshape((self.count,)).shrink(0, 0, count).reshape(size)


def whole_shape(size: Sequence[int], count: int) -> list[int]:
    """A shape in which one extent may be −1, for what is left of `count` elements."""
    known = element_count([n for n in size if n != -1])
    return [count // known if n == -1 else n for n in size]


def first_place(extent: int, start: int | None) -> int:
    """Where a slice begins on an axis, counted from its front."""
    return 0 if start is None else start % extent if start < 0 else start


def slice_places(extent: int, start: int | None, end: int | None, step: int) -> range:
    """The places of `start:end:step` on an axis, bounds clamped as Python does."""
    if step < 1:
        raise Unsupported(f"a slice of step {step}")
    return range(*slice(start, end, step).indices(extent))
