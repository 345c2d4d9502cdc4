"""The programs of bench/models.py: one decoder layer of a language model at its full width, with random weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from uop.frontends.captured import Call
from uop.frontends.torch_internals import random_state


@dataclass(frozen=True)
class Layer:
    """What a layer of a published model is made of.

    family: of `transformers`' classes
    """

    family: str
    width: int
    inner: int
    heads: int
    kv_heads: int

    def config(self) -> Any:
        import transformers

        return getattr(transformers, f"{self.family}Config")(
            hidden_size=self.width,
            intermediate_size=self.inner,
            num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads,
            num_hidden_layers=1,
            attn_implementation="sdpa",
        )


LAYERS: Mapping[str, Layer] = {
    "tinyllama-1.1b": Layer("Llama", 2048, 5632, 32, 4),
    "qwen2.5-0.5b": Layer("Qwen2", 896, 4864, 14, 2),
}


@dataclass(frozen=True)
class Step:
    """How many tokens go through the layer at once, and how many went before."""

    tokens: int
    past: int


STEPS: Mapping[str, Step] = {"prefill-128": Step(128, 0), "decode-1": Step(1, 1), "decode-512": Step(1, 512)}

PROGRAMS = tuple(f"{layer}/{step}" for layer in LAYERS for step in STEPS)


class _Past:
    """Keys and values of earlier tokens, and with them those of the new ones, as `transformers` keeps them."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        self.keys, self.values = keys, values

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        self.keys, self.values = torch.cat([self.keys, keys], 2), torch.cat([self.values, values], 2)
        return self.keys, self.values


class DecoderLayer(nn.Module):
    """(hidden states, cosines, sines, past keys, past values) → (hidden states, keys, values); f32."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        from transformers.models.llama import modeling_llama
        from transformers.models.qwen2 import modeling_qwen2

        classes = {"Llama": modeling_llama.LlamaDecoderLayer, "Qwen2": modeling_qwen2.Qwen2DecoderLayer}
        self.layer = classes[layer.family](layer.config(), layer_idx=0)

    def forward(
        self,
        hidden: torch.Tensor,
        cosines: torch.Tensor,
        sines: torch.Tensor,
        keys: torch.Tensor | None = None,
        values: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, ...]:
        past = None if keys is None or values is None else _Past(keys, values)
        out = self.layer(hidden, position_embeddings=(cosines, sines), cache=past)
        return (out,) if past is None else (out, past.keys, past.values)


def make_layer(name: str) -> Call:
    """The layer and its inputs, the same in every process. Raises `KeyError` for what is not in `PROGRAMS`."""
    of, kind = name.split("/")
    layer, step = LAYERS[of], STEPS[kind]
    head = layer.width // layer.heads
    with random_state(0):
        module = DecoderLayer(layer).eval()
        hidden = torch.randn(1, step.tokens, layer.width)
        past = [torch.randn(1, layer.kv_heads, step.past, head) for _ in range(2)] if step.past else []
    frequencies = 10_000.0 ** (-torch.arange(0, head, 2) / head)
    angles = torch.outer(torch.arange(step.past, step.past + step.tokens).float(), frequencies).repeat(1, 2)[None]
    return Call(module, (hidden, angles.cos(), angles.sin(), *past))
