"""Configurations of language models that are small enough for tests."""

from collections.abc import Mapping
from typing import Any

SMALL_MODEL: Mapping[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "dtype": "float32",
}
"""All of a decoder of the Llama kind but its `model_type`."""
