"""Embeddings that are added up: bags of rows, and the gradient of an embedding."""

from __future__ import annotations

from xdsl.dialects.builtin import i64

from ....dialects.monoids import least
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, along, full

SUM, MEAN, MAX = range(3)
"""PyTorch's numbers of the modes."""


@lowering("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    b: Lowering,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> list[Tensor | None]:
    """Bag `i` has the indices from `offsets[i]` up to the next offset; each bag looks at each index.

    What the backward pass needs, the other results, is not computed.
    """
    count, (bags, columns) = indices.count, b.shape
    starts = offsets.cast(i64)
    if not include_last_offset:
        starts = starts.pad(0, 0, 1)
        last = b.iota(bags + 1, i64).equal(bags)
        starts = last.where(count, starts)
    place = b.iota(count, i64).reshape((1, count))
    first, end = (starts.shrink(0, offset, bags).reshape((bags, 1)) for offset in (0, 1))
    inside = (first <= place) & (place < end)
    if padding_idx >= 0:
        inside = inside & ~indices.cast(i64).equal(padding_idx).reshape((1, count)).broadcast_to((bags, count))
    rows = weight.take(0, indices).cast(b.compute)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.cast(b.compute).reshape((count, 1))
    shape = (bags, count, columns)
    in_bag = inside.unsqueeze(-1).expand(shape)
    sizes = inside.cast(i64).sum([1])
    if mode == MAX:
        greatest = in_bag.where(rows.broadcast_to(shape), least(b.compute)).max([1]).reshape(b.shape)
        return [sizes.equal(0).where(0.0, greatest), None, None, None]
    total = in_bag.where(rows.broadcast_to(shape), 0.0).sum([1]).reshape(b.shape)
    if mode == MEAN:
        total = total / sizes.maximum(1).cast(b.compute)
    elif mode != SUM:
        raise Unsupported(f"there is no mode {mode}")
    return [total, None, None, None]


@lowering("embedding_dense_backward")
def embedding_dense_backward(
    b: Lowering, grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """The gradients of all rows that were taken from one row, added up; of the padding's row, nothing."""
    columns = grad_output.shape[-1]
    places = indices.reshape((indices.count,)).cast(i64)
    updates = grad_output.reshape((indices.count, columns)).cast(b.compute)
    if padding_idx >= 0:
        updates = places.equal(padding_idx).unsqueeze(-1).where(0.0, updates)
    zero = full(b.builder, (num_weights, columns), 0.0, b.compute)
    along_rows = along(places, 0, updates.shape)
    total = Tensor(b.builder, b.builder.scatter(zero.value, along_rows.value, updates.value, 0, "add"))
    if not scale_grad_by_freq:
        return total
    times = full(b.builder, (num_weights,), 0, i64)
    one = full(b.builder, places.shape, 1, i64)
    counts = Tensor(b.builder, b.builder.scatter(times.value, places.value, one.value, 0, "add"))
    return total / counts.maximum(1).cast(b.compute).unsqueeze(-1)
