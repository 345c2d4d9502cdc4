"""Access by indices that are data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64

from ....dialects.monoids import Number
from ....dialects.types import element_count, is_bool, ui8
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, along, broadcast_shape


@lowering("embedding")
def embedding(
    b: Lowering,
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight`; the other arguments concern the backward pass."""
    rows = weight.take(0, indices.reshape((indices.count,)))
    return rows.reshape((*indices.shape, *weight.shape[1:]))


@lowering("index_select")
def index_select(b: Lowering, self: Tensor, dim: int, index: Tensor) -> Tensor:
    x = self.reshape((1,)) if self.rank == 0 else self
    return x.take(dim, index.reshape((index.count,))).reshape(b.shape)


@lowering("gather")
def gather(b: Lowering, self: Tensor, dim: int, index: Tensor) -> Tensor:
    """`index` may be smaller than `self` in the other axes: it goes with their first elements."""
    if self.rank == 0:
        return self.reshape((1,)).gather(0, index.reshape((1,))).reshape(index.shape)
    return _cut(self, index.shape, self.axis(dim)).gather(dim, index)


@lowering("take")
def take(b: Lowering, self: Tensor, index: Tensor) -> Tensor:
    flat = self.reshape((self.count,))
    places = _from_front(index.reshape((index.count,)), self.count)
    return flat.take(0, places).reshape(index.shape)


@lowering("index.Tensor", "_unsafe_index.Tensor")
def index(b: Lowering, self: Tensor, indices: list[Tensor | None]) -> Tensor:
    """Rows chosen by the indices, which broadcast against each other."""
    places = _Places.of(self, indices)
    rows = places.rows(self)
    taken = rows.take(0, places.flat)
    return taken.reshape((*places.shape, *rows.shape[1:])).permute(places.result_order())


@lowering("index_put", "_unsafe_index_put")
def index_put(
    b: Lowering, self: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """With `accumulate`, values put at one place add up; else one of them stays."""
    places = _Places.of(self, indices)
    element = b.compute if accumulate else b.element
    rows = places.rows(self.cast(element))
    order = places.result_order()
    taken_shape = (*places.shape, *rows.shape[1:])
    updates = values.cast(element).broadcast_to([taken_shape[axis] for axis in order]).permute(_inverse(order))
    updates = updates.reshape((places.flat.count, *rows.shape[1:]))
    put = _scatter(rows, 0, along(places.flat, 0, updates.shape), updates, "add" if accumulate else None)
    first = [self.shape[axis] for axis in places.order]
    return put.reshape(first).permute(_inverse(places.order))


@dataclass(frozen=True)
class _Places:
    """Where `x[indices]` reads: the indexed axes merged into one in front of the others (`rows`), and places on it.

    order: the axes of `x`, the indexed ones first. axes: the indexed ones. shape: of the indices, broadcast.
    flat: their places on the merged axis, as a tensor of rank 1.
    """

    order: tuple[int, ...]
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    flat: Tensor

    @staticmethod
    def of(x: Tensor, indices: Sequence[Tensor | None]) -> _Places:
        given = {axis: tensor for axis, tensor in enumerate(indices) if tensor is not None}
        if any(is_bool(tensor.element) or tensor.element == ui8 for tensor in given.values()):
            raise Unsupported("the shape of a selection by mask depends on data", "use torch.where")
        shape = broadcast_shape([tensor.shape for tensor in given.values()])
        flat: Tensor | None = None
        for axis, tensor in given.items():
            places = _from_front(tensor.cast(i64), x.shape[axis]).broadcast_to(shape)
            flat = places if flat is None else flat * x.shape[axis] + places
        assert flat is not None, "an index names at least one axis"
        rest = [axis for axis in range(x.rank) if axis not in given]
        return _Places((*given, *rest), tuple(given), shape, flat.reshape((flat.count,)))

    def rows(self, x: Tensor) -> Tensor:
        """`x` with its indexed axes merged, in front."""
        first = x.permute(self.order)
        count = len(self.axes)
        return first.reshape((element_count(first.shape[:count]), *first.shape[count:]))

    def result_order(self) -> tuple[int, ...]:
        """The order that puts the indices' axes, which stand in front, where PyTorch has them.

        That is in the place of the indexed axes where these lie together, else in front.
        """
        total, count = len(self.shape) + len(self.order) - len(self.axes), len(self.shape)
        together = self.axes == tuple(range(self.axes[0], self.axes[0] + len(self.axes)))
        before = self.axes[0] if together else 0
        return (*range(count, count + before), *range(count), *range(count + before, total))


@lowering("scatter.src")
def scatter(b: Lowering, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return _scatter_into(self, dim, index, src.cast(self.element), None)


@lowering("scatter.value")
def scatter_value(b: Lowering, self: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    return _scatter_into(self, dim, index, b.full(index.shape, value), None)


@lowering("scatter_add")
def scatter_add(b: Lowering, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return _scatter_into(self.cast(b.compute), dim, index, src.cast(b.compute), "add")


_REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}


@lowering("scatter_reduce.two")
def scatter_reduce(
    b: Lowering, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    if reduce not in _REDUCTIONS or not include_self:
        raise Unsupported(f"reduce {reduce!r} with include_self = {include_self}")
    return _scatter_into(self.cast(b.compute), dim, index, src.cast(b.compute), _REDUCTIONS[reduce])


@lowering("index_add")
def index_add(b: Lowering, self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    x, updates = self.cast(b.compute), source.cast(b.compute)
    places = along(index.reshape((index.count,)), x.axis(dim), updates.shape)
    return _scatter(x, dim, places, updates if alpha == 1 else updates * alpha, "add")


@lowering("index_copy")
def index_copy(b: Lowering, self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    return _scatter(self, dim, along(index.reshape((index.count,)), self.axis(dim), source.shape), source, None)


def _scatter_into(x: Tensor, dim: int, index: Tensor, source: Tensor, monoid: str | None) -> Tensor:
    """`source` may be larger than `index`: its first elements go."""
    if x.rank == 0:
        one = _scatter(x.reshape((1,)), 0, index.reshape((1,)), source.reshape((1,)), monoid)
        return one.reshape(())
    return _scatter(x, dim, index, _cut(source, index.shape, None), monoid)


def _scatter(x: Tensor, dim: int, indices: Tensor, updates: Tensor, monoid: str | None) -> Tensor:
    if monoid == "add" and is_bool(x.element):
        raise Unsupported("bools do not add up")
    value = x.builder.scatter(x.value, indices.value, updates.value, x.axis(dim), monoid)
    return Tensor(x.builder, value)


def _cut(x: Tensor, shape: Sequence[int], but: int | None) -> Tensor:
    """The first elements of each axis, but for one that stays whole."""
    kept = [n if axis == but else m for axis, (n, m) in enumerate(zip(x.shape, shape, strict=True))]
    return Tensor(x.builder, x.builder.shrink(x.value, [0] * x.rank, kept))


def _from_front(indices: Tensor, extent: int) -> Tensor:
    """Negative indices count from the end."""
    return (indices < 0).where(indices + extent, indices)


def _inverse(order: Sequence[int]) -> list[int]:
    return [order.index(axis) for axis in range(len(order))]
