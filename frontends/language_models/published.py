"""Configurations of published language models: what their `config.json` says of their shape, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Configuration = Mapping[str, Any]


def _model(
    model_type: str, hidden: int, intermediate: int, layers: int, heads: int, kv_heads: int, **more: Any
) -> Configuration:
    """What all decoders of the Llama family have."""
    return {
        "model_type": model_type,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "hidden_act": "silu",
        "dtype": "bfloat16",
        **more,
    }


_QWEN25: Configuration = {"rms_norm_eps": 1e-6, "rope_theta": 1e6, "max_position_embeddings": 32768}
_QWEN3: Configuration = {
    "head_dim": 128,
    "vocab_size": 151936,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1e6,
    "max_position_embeddings": 40960,
}
_LLAMA3: Configuration = {
    "vocab_size": 128256,
    "rms_norm_eps": 1e-5,
    "rope_theta": 5e5,
    "max_position_embeddings": 131072,
}


def _llama3_scaling(factor: float) -> Configuration:
    return {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }


_TIED: Configuration = {"tie_word_embeddings": True}

CONFIGURATIONS: Mapping[str, Configuration] = {
    "tinyllama-1.1b": _model(
        "llama", 2048, 5632, 22, 32, 4, vocab_size=32000, rms_norm_eps=1e-5, max_position_embeddings=2048
    ),
    "smollm2-135m": _model(
        "llama",
        *(576, 1536, 30, 9, 3),
        **_TIED,
        vocab_size=49152,
        rms_norm_eps=1e-5,
        rope_theta=1e5,
        max_position_embeddings=8192,
    ),
    "llama3.2-1b": _model(
        "llama", 2048, 8192, 16, 32, 8, **_LLAMA3, **_TIED, head_dim=64, rope_scaling=_llama3_scaling(32.0)
    ),
    "llama3.2-3b": _model(
        "llama", 3072, 8192, 28, 24, 8, **_LLAMA3, **_TIED, head_dim=128, rope_scaling=_llama3_scaling(32.0)
    ),
    "llama3.1-8b": _model("llama", 4096, 14336, 32, 32, 8, **_LLAMA3, rope_scaling=_llama3_scaling(8.0)),
    "mistral-7b": _model(
        "mistral",
        *(4096, 14336, 32, 32, 8),
        vocab_size=32768,
        rms_norm_eps=1e-5,
        rope_theta=1e6,
        max_position_embeddings=32768,
        sliding_window=None,
    ),
    "qwen2.5-0.5b": _model("qwen2", 896, 4864, 24, 14, 2, **_QWEN25, **_TIED, vocab_size=151936),
    "qwen2.5-1.5b": _model("qwen2", 1536, 8960, 28, 12, 2, **_QWEN25, **_TIED, vocab_size=151936),
    "qwen2.5-3b": _model("qwen2", 2048, 11008, 36, 16, 2, **_QWEN25, **_TIED, vocab_size=151936),
    "qwen2.5-7b": _model("qwen2", 3584, 18944, 28, 28, 4, **_QWEN25, vocab_size=152064),
    "qwen3-0.6b": _model("qwen3", 1024, 3072, 28, 16, 8, **_QWEN3, **_TIED),
    "qwen3-8b": _model("qwen3", 4096, 12288, 36, 32, 8, **_QWEN3),
}
"""By the name that `uop compile --config` takes. Nothing of these models is downloaded: the numbers are public."""
