"""Where indices point: the places that `x[indices]` reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64

from ....dialects.types import element_count
from .tensor import Tensor, broadcast_shape


@dataclass(frozen=True)
class Places:
    """Where `x[indices]` reads: the indexed axes merged into one in front of the others (`rows`), and places on it.

    order: the axes of `x`, the indexed ones first. axes: the indexed ones. shape: of the indices, broadcast.
    flat: their places on the merged axis, as a tensor of rank 1.
    """

    order: tuple[int, ...]
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    flat: Tensor

    @staticmethod
    def of(x: Tensor, indices: Sequence[Tensor | None]) -> Places:
        """Of integer indices, at least one of which is given."""
        given = {axis: tensor for axis, tensor in enumerate(indices) if tensor is not None}
        shape = broadcast_shape([tensor.shape for tensor in given.values()])
        flat: Tensor | None = None
        for axis, tensor in given.items():
            places = from_front(tensor.cast(i64), x.shape[axis]).broadcast_to(shape)
            flat = places if flat is None else flat * x.shape[axis] + places
        assert flat is not None, "an index names at least one axis"
        rest = [axis for axis in range(x.rank) if axis not in given]
        return Places((*given, *rest), tuple(given), shape, flat.reshape((flat.count,)))

    def rows(self, x: Tensor) -> Tensor:
        """`x` with its indexed axes merged, in front."""
        first = x.permute(self.order)
        count = len(self.axes)
        return first.reshape((element_count(first.shape[:count]), *first.shape[count:]))

    def from_rows(self, rows: Tensor, shape: Sequence[int]) -> Tensor:
        """What `rows` makes of a tensor of this shape, back in its order."""
        return rows.reshape([shape[axis] for axis in self.order]).permute(inverse(self.order))

    def result_order(self) -> tuple[int, ...]:
        """The order that puts the indices' axes, which stand in front, where PyTorch has them.

        That is in the place of the indexed axes where these lie together, else in front.
        """
        total, count = len(self.shape) + len(self.order) - len(self.axes), len(self.shape)
        together = self.axes == tuple(range(self.axes[0], self.axes[0] + len(self.axes)))
        before = self.axes[0] if together else 0
        return (*range(count, count + before), *range(count), *range(count + before, total))


def from_front(indices: Tensor, extent: int) -> Tensor:
    """Negative indices count from the end."""
    return (indices < 0).where(indices + extent, indices)


def inverse(order: Sequence[int]) -> list[int]:
    """The order that undoes this one."""
    return [order.index(axis) for axis in range(len(order))]


def first_elements(x: Tensor, shape: Sequence[int], but: int | None = None) -> Tensor:
    """The first elements of each axis, but for one that stays whole."""
    kept = [n if axis == but else m for axis, (n, m) in enumerate(zip(x.shape, shape, strict=True))]
    if tuple(kept) == x.shape:
        return x
    return Tensor(x.builder, x.builder.shrink(x.value, [0] * x.rank, kept))


def with_axis(x: Tensor) -> Tensor:
    """A tensor of rank 0 as one of rank 1: PyTorch lets both have an axis 0."""
    return x.reshape((1,)) if x.rank == 0 else x
