"""Reads by indices that are data.

PyTorch raises for an index out of range; a compiled program reads nothing outside of a tensor and gives 0 there.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i64

from ....dialects.monoids import Number
from ....dialects.types import is_bool, ui8
from .errors import Unsupported
from .lowering import Lowering
from .places import Places, first_elements, from_front, with_axis
from .registry import lowering
from .tensor import Tensor, bool_tensor


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
    return with_axis(self).take(dim, index.reshape((index.count,))).reshape(b.shape)


@lowering("gather")
def gather(b: Lowering, self: Tensor, dim: int, index: Tensor) -> Tensor:
    """`index` may be smaller than `self` in the other axes: it goes with their first elements.

    An index of no elements may have any shape.
    """
    if not index.count:
        return b.full(b.shape, 0)
    x, places = with_axis(self), with_axis(index)
    return first_elements(x, places.shape, x.axis(dim)).gather(dim, places).reshape(b.shape)


@lowering("take")
def take(b: Lowering, self: Tensor, index: Tensor) -> Tensor:
    flat = self.reshape((self.count,))
    places = from_front(index.reshape((index.count,)), self.count)
    return flat.take(0, places).reshape(index.shape)


@lowering("index.Tensor", "_unsafe_index.Tensor")
def index(b: Lowering, self: Tensor, indices: list[Tensor | None]) -> Tensor:
    """Rows chosen by the indices, which broadcast against each other."""
    if any(is_bool(tensor.element) or tensor.element == ui8 for tensor in indices if tensor is not None):
        raise Unsupported("the shape of a selection by mask depends on data", "use torch.where")
    places = Places.of(self, indices)
    rows = places.rows(self)
    taken = rows.take(0, places.flat)
    return taken.reshape((*places.shape, *rows.shape[1:])).permute(places.result_order())


@lowering("_unsafe_masked_index")
def unsafe_masked_index(b: Lowering, self: Tensor, mask: Tensor, indices: list[Tensor | None], fill: Number) -> Tensor:
    """Indices may be anything where the mask is false: they are moved into the tensor first, as PyTorch does."""
    inside = [
        None if tensor is None else tensor.cast(i64).maximum(0).minimum(max(self.shape[axis] - 1, 0))
        for axis, tensor in enumerate(indices)
    ]
    if self.count == 0:
        return b.full(b.shape, fill)
    return bool_tensor(mask).where(index(b, self, inside), fill)
