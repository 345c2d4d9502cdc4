"""The keys and values of past tokens: memory that a program is handed and writes new rows of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn


class KeysAndValues(nn.Module):
    """What one layer of attention keeps: keys and values, each [1, key-value heads, max length, head dim]."""

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, heads: int, max_length: int, head_dim: int, dtype: torch.dtype) -> None:
        super().__init__()
        shape = (1, heads, max_length, head_dim)
        self.register_buffer("keys", torch.zeros(shape, dtype=dtype), persistent=False)
        self.register_buffer("values", torch.zeros(shape, dtype=dtype), persistent=False)


class PositionedCache:
    """The cache that models of `transformers` are called with: new tokens are stored from a position that is data.

    It has what those models ask of a `transformers.Cache`. All layers keep all positions: a model with a sliding window
    masks the ones outside.
    layers:    one for each layer of attention
    position:  i64[], where the first new token stands; positions: i64[s], where each does
    """

    is_compileable = False  # as True it is asked only how many new tokens there are, which would fix a symbolic number
    is_croppable = False
    is_initialized = True

    def __init__(self, layers: Sequence[KeysAndValues], position: torch.Tensor, positions: torch.Tensor) -> None:
        self.layers = layers
        self.position = position
        self.positions = positions
        self.is_sliding = self.is_linear = self.is_dummy = [False] * len(layers)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Store the new tokens' keys and values, [1, key-value heads, s, head dim]; all keys and values.

        Raises `NotImplementedError` for keys and values of other sizes than the configuration says.
        """
        layer = self.layers[layer_idx]
        for kept, new in ((layer.keys, key_states), (layer.values, value_states)):
            if (kept.shape[1], kept.shape[3]) != (new.shape[1], new.shape[3]):
                sizes = f"{new.shape[1]} heads of {new.shape[3]}, and not {kept.shape[1]} of {kept.shape[3]}"
                raise NotImplementedError(f"layer {layer_idx} keeps {sizes}, as the configuration says")
        layer.keys.index_copy_(2, self.positions, key_states)
        layer.values.index_copy_(2, self.positions, value_states)
        return layer.keys, layer.values

    def get_seq_length(self, layer_idx: int = 0) -> torch.Tensor:
        return self.position

    def get_query_offset(self, layer_idx: int = 0) -> torch.Tensor:
        return self.position

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        """The number of keys, and the position of the first."""
        return self.get_max_length(layer_idx), 0

    def get_max_length(self, layer_idx: int | None = None) -> int:
        return self.layers[layer_idx or 0].keys.shape[2]

    def __len__(self) -> int:
        return len(self.layers)
