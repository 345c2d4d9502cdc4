"""Attention as models of `transformers` call it: one operation of PyTorch, with a boolean mask made of positions."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

NAME = "uop"
"""The attention implementation that a configuration names."""


def register_attention() -> None:
    """Make `NAME` known to `transformers`.

    Its own `sdpa` copies keys and values to each head of the query where there is a mask, and decides by the number of
    new tokens how to call PyTorch, which would fix a number that is symbolic.
    """
    masking = importlib.import_module("transformers.masking_utils")
    make_mask = masking.sdpa_mask

    def attention_mask(*args: Any, **kwargs: Any) -> torch.Tensor:
        """The mask of `transformers`, bool[1, 1, s, length]. It is never left out: whether it may be depends on numbers
        of tokens, which may be symbolic."""
        kwargs["allow_is_causal_skip"] = kwargs["allow_is_bidirectional_skip"] = False
        return make_mask(*args, **kwargs)

    importlib.import_module("transformers.modeling_utils").AttentionInterface.register(NAME, attention)
    masking.AttentionMaskInterface.register(NAME, attention_mask)


def attention(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """softmax(query · keyᵀ · scaling, masked) · value, [1, s, heads, head dim].

    query: [1, heads, s, head dim]; key, value: [1, key-value heads, length, head dim]
    attention_mask: bool, true where a key takes part, or what is added to the products
    Raises `NotImplementedError` for forms of attention that compute something else.
    """
    unknown = sorted(name for name in ("s_aux", "position_bias") if kwargs.get(name) is not None)
    if unknown:
        raise NotImplementedError(f"attention with {' and '.join(unknown)} of {type(module).__name__} is not supported")
    if softcap is not None:
        return _capped_attention(query, key, value, attention_mask, scaling, softcap).transpose(1, 2), None
    output = F.scaled_dot_product_attention(
        query, key, value, attn_mask=attention_mask, dropout_p=dropout, scale=scaling, enable_gqa=True
    )
    return output.transpose(1, 2), None


def _capped_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float | None,
    cap: float,
) -> torch.Tensor:
    """The same with each product x, after scaling, as cap · tanh(x / cap); PyTorch has no operation for it."""
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    scores = torch.tanh(scores / cap) * cap
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    return F.softmax(scores, -1, dtype=torch.float32).to(query.dtype) @ value
