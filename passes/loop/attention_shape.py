"""Which axis of an attention kernel is which: what its schedules are chosen from."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...dialects.loop import ReduceOp
from ...dialects.traversal import ops_inside
from ...dialects.uop import LoadOp, MulOp
from ...rewriting.backward_slices import backward_slice
from .kernel_shape import Access, KernelShape
from .matrix_products import perfect_nest


@dataclass(frozen=True)
class AttentionShape:
    """A kernel in loop form that weights values by exp(score − greatest score) of queries and keys.

    reduction: `online_attention` over the keys, of (score, weight, value). scores: the sum of query · key.
    batch: parallel axes that the keys or the values vary with: batches, heads of keys and values; in the order of the
    text, as all of these.
    rows: parallel axes that only the queries vary with, and so the scores: positions of queries, heads that share keys.
    keys: the axis that is reduced last. depth: the axis of query · key. channels: the parallel axis that the values
    vary with, and neither scores nor weights.
    query, key, value: the loads that the factors of the scores, and what is weighted, are made of. A mask or a bias of
    the scores is in none.
    """

    reduction: ReduceOp
    scores: ReduceOp
    batch: tuple[str, ...]
    rows: tuple[str, ...]
    keys: str
    depth: str
    channels: str
    query: tuple[Access, ...]
    key: tuple[Access, ...]
    value: tuple[Access, ...]


def attention_shape(shape: KernelShape) -> AttentionShape | None:
    """The roles of the axes of an attention kernel; None where it is none, or its axes have other roles, too."""
    reductions = [op for op in ops_inside(shape.kernel.body) if isinstance(op, ReduceOp)]
    online = [op for op in reductions if op.monoid.data == "online_attention"]
    if len(online) != 1 or shape.scanned or len(shape.reduced) != 2 or set(shape.reduced) & set(shape.parallel):
        return None
    (reduction,) = online
    keys = reduction.axis.axis.data
    score, weight, value = reduction.yielded
    scores = _scores(reduction, score)
    if scores is None or keys not in shape.varies(score):
        return None
    depth = scores.axis.axis.data
    product = scores.yielded[0].owner
    if not isinstance(product, MulOp):
        return None
    query, key = product.operands
    if keys in shape.varies(query):
        query, key = key, query
    if keys in shape.varies(query) or not {keys, depth} <= shape.varies(key) or depth not in shape.varies(query):
        return None

    shared = shape.varies(key) | shape.varies(value)
    channels = shape.varies(value) - shape.varies(score) - shape.varies(weight)
    if len(channels) != 1 or keys not in shape.varies(value):
        return None
    (channel,) = channels
    if channel in shape.varies(key) or channel in shape.varies(query) or channel not in shape.parallel:
        return None
    others = [axis for axis in shape.parallel if axis != channel]
    return AttentionShape(
        reduction,
        scores,
        tuple(axis for axis in others if axis in shared),
        tuple(axis for axis in others if axis not in shared),
        keys,
        depth,
        channel,
        _loads(shape, query),
        _loads(shape, key),
        _loads(shape, value),
    )


def _scores(reduction: ReduceOp, score: SSAValue) -> ReduceOp | None:
    """The one sum inside of the reduction, if it is over one axis and the score is made of it."""
    inside = [op for op in ops_inside(reduction.body) if isinstance(op, ReduceOp)]
    if len(inside) != 1 or inside[0].monoid.data != "add" or len(perfect_nest(inside[0])) != 1:
        return None
    return inside[0] if inside[0] in backward_slice([score]) else None


def _loads(shape: KernelShape, value: SSAValue) -> tuple[Access, ...]:
    """The loads of elements that a value is made of, in the order of the text; not of numbers that all share, as the
    length of a sequence."""
    ops = {op for op in backward_slice([value]) if isinstance(op, LoadOp)}
    return tuple(access for access in shape.loads if access.op in ops and access.axes)
