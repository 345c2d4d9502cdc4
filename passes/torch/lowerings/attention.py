"""Scaled dot-product attention in its forms: softmax(query · keyᵀ · scale + mask) · value."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i64

from ....dialects.types import is_bool
from .errors import Unsupported
from .lowering import Lowering
from .normalization import softmax_along
from .products import matrix_product, product_of_rows
from .registry import lowering
from .tensor import Tensor


@lowering("scaled_dot_product_attention")
def scaled_dot_product_attention(
    b: Lowering,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    return attention(b, query, key, value, attn_mask, dropout_p, is_causal, scale)[0]


@lowering("_scaled_dot_product_flash_attention_for_cpu")
def flash_attention_for_cpu(
    b: Lowering,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> list[Tensor | None]:
    """The second result, the logarithms of the sums, is for the backward pass."""
    return [attention(b, query, key, value, attn_mask, dropout_p, is_causal, scale)[0], None]


@lowering("_scaled_dot_product_attention_math")
def attention_math(
    b: Lowering,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: Tensor | None = None,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> list[Tensor | None]:
    if dropout_mask is not None:
        raise Unsupported("dropout is random", "call .eval() before exporting")
    return list(attention(b, query, key, value, attn_mask, dropout_p, is_causal, scale))


@lowering("_scaled_dot_product_efficient_attention")
def efficient_attention(
    b: Lowering,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_bias: Tensor | None,
    compute_log_sumexp: bool,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> list[Tensor | None]:
    output = attention(b, query, key, value, attn_bias, dropout_p, is_causal, scale)[0]
    return [output, *[None] * (len(b.op.results) - 1)]


@lowering("_scaled_dot_product_flash_attention")
def flash_attention(
    b: Lowering,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> list[Tensor | None]:
    output = attention(b, query, key, value, None, dropout_p, is_causal, scale)[0]
    return [output, *[None] * (len(b.op.results) - 1)]


def attention(
    b: Lowering,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    causal: bool,
    scale: float | None,
) -> tuple[Tensor, Tensor]:
    """The output and the weights.

    query: … × heads × L × E, key: … × heads × S × E, value: … × heads × S × V; leading axes broadcast, and where there
    are fewer heads of key and value, each serves as many neighbouring heads of the query.
    mask: bool (true: takes part) or a number to add, broadcast to … × L × S. Causal: query i sees keys 0 … i.
    A query that sees nothing gets zeros.
    """
    if dropout:
        raise Unsupported("dropout is random", "call .eval() before exporting")
    query, key, value = (x.cast(b.compute) for x in (query, key, value))
    leading = b.shape[:-2]
    query = query.broadcast_to((*leading, *query.shape[-2:]))
    key, value = (_spread_heads(x, leading) for x in (key, value))
    scores = product_of_rows(query, key) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    visible: Tensor | None = None
    if causal:
        rows, columns = scores.shape[-2:]
        row = b.iota(rows, i64).reshape((rows, 1)).expand((rows, columns))
        visible = b.iota(columns, i64).reshape((1, columns)).expand((rows, columns)) <= row
    if mask is not None and is_bool(mask.element):
        visible = mask if visible is None else visible & mask
    elif mask is not None:
        scores = scores + mask.cast(b.compute)
    if visible is not None:
        scores = visible.where(scores, float("-inf"))
    axis = scores.rank - 1
    weights = softmax_along(scores, axis)
    if visible is not None or mask is not None:
        weights = scores.max([axis]).equal(float("-inf")).where(0.0, weights)
    return matrix_product(weights, value), weights


def _spread_heads(x: Tensor, leading: tuple[int, ...]) -> Tensor:
    """`x` with the leading axes of the query."""
    if leading and x.rank == len(leading) + 2 and x.shape[-3] not in (1, leading[-1]):
        *batch, heads, length, width = x.shape
        repeated = x.unsqueeze(-3).expand((*batch, heads, leading[-1] // heads, length, width))
        x = repeated.reshape((*batch, leading[-1], length, width))
    return x.broadcast_to((*leading, *x.shape[-2:]))
