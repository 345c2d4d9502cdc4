"""Suite `models`: small models of `transformers` with random weights, from configurations; nothing is downloaded."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ...frontends.captured import Call, Captured
from ...frontends.exporting import quiet_export
from ...frontends.torch_internals import random_state
from .judging import by_eager
from .levels import check_program
from .outcomes import Outcome

BATCH, SEQUENCE, VOCABULARY, IMAGE, SAMPLES = 2, 7, 99, 32, 400
"""Sizes of the inputs: of all, of text, of pictures, of sound."""

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Model:
    """A class of `transformers` and the options of its configuration.

    inputs: the name of the model's input: `input_ids`, `pixel_values` or `input_values`, or several of them
    """

    kind: str
    options: Options
    inputs: Sequence[str] = ("input_ids",)
    config: str = ""

    def config_class(self) -> str:
        return self.config or self.kind.replace("Model", "Config").replace("ForCausalLM", "Config")


_WIDTH: Options = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
_TEXT: Options = {**_WIDTH, "vocab_size": VOCABULARY, "max_position_embeddings": 64, "pad_token_id": 0}
_GROUPED: Options = {**_TEXT, "num_key_value_heads": 2}
_HEADS: Options = {**_GROUPED, "head_dim": 8}
_VISION: Options = {**_WIDTH, "image_size": IMAGE, "patch_size": 8}
_PICTURE = ("pixel_values",)

MODELS: Mapping[str, Model] = {
    "llama": Model("LlamaForCausalLM", _GROUPED),
    "qwen2": Model("Qwen2ForCausalLM", _GROUPED),
    "qwen3": Model("Qwen3ForCausalLM", _HEADS),
    "mistral": Model("MistralForCausalLM", {**_HEADS, "sliding_window": 4}),
    "gemma": Model("GemmaForCausalLM", _HEADS),
    "gemma2": Model("Gemma2ForCausalLM", {**_HEADS, "query_pre_attn_scalar": 8, "sliding_window": 4}),
    "phi3": Model("Phi3ForCausalLM", _GROUPED),
    "mixtral": Model("MixtralForCausalLM", {**_GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "gpt_neox": Model("GPTNeoXForCausalLM", _TEXT),
    "gpt2": Model(
        "GPT2LMHeadModel",
        {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": VOCABULARY},
        config="GPT2Config",
    ),
    "opt": Model("OPTForCausalLM", {**_TEXT, "ffn_dim": 48, "word_embed_proj_dim": 32}),
    "bloom": Model("BloomForCausalLM", {"hidden_size": 32, "n_layer": 2, "n_head": 4, "vocab_size": VOCABULARY}),
    "bert": Model("BertModel", _TEXT),
    "distilbert": Model(
        "DistilBertModel", {"dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4, "vocab_size": VOCABULARY}
    ),
    "albert": Model("AlbertModel", {**_TEXT, "embedding_size": 16}),
    "electra": Model("ElectraModel", {**_TEXT, "embedding_size": 16}),
    "deberta": Model("DebertaModel", {**_TEXT, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
    "t5": Model(
        "T5EncoderModel",
        {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "vocab_size": VOCABULARY},
        config="T5Config",
    ),
    "vit": Model("ViTModel", _VISION, _PICTURE),
    "dinov2": Model("Dinov2Model", {**_VISION, "mlp_ratio": 2}, _PICTURE),
    "resnet": Model(
        "ResNetModel",
        {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic"},
        _PICTURE,
    ),
    "convnext": Model("ConvNextModel", {"hidden_sizes": [8, 16], "depths": [1, 1], "num_stages": 2}, _PICTURE),
    "mobilenetv2": Model("MobileNetV2Model", {"depth_multiplier": 0.25, "image_size": IMAGE}, _PICTURE),
    "clip": Model(
        "CLIPModel", {"text_config": _TEXT, "vision_config": _VISION, "projection_dim": 16}, ("input_ids", *_PICTURE)
    ),
    "mamba": Model(
        "MambaForCausalLM",
        {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4, "vocab_size": VOCABULARY, "use_cache": False},
    ),
    "wav2vec2": Model(
        "Wav2Vec2Model",
        {
            **_WIDTH,
            "conv_dim": [8, 8],
            "conv_kernel": [10, 3],
            "conv_stride": [5, 2],
            "num_feat_extract_layers": 2,
            "num_conv_pos_embeddings": 4,
            "num_conv_pos_embedding_groups": 2,
        },
        ("input_values",),
    ),
}
"""By the name that `--match` looks at."""


class _Outputs(nn.Module):
    """A model whose outputs are a plain tuple, and whose inputs have places."""

    def __init__(self, model: nn.Module, inputs: Sequence[str]) -> None:
        super().__init__()
        self.model = model
        self.inputs = inputs

    def forward(self, *values: torch.Tensor) -> Any:
        return self.model(**dict(zip(self.inputs, values, strict=True)), return_dict=False)


def _input(name: str) -> torch.Tensor:
    if name == "input_ids":
        return torch.randint(2, VOCABULARY, (BATCH, SEQUENCE))
    return torch.randn(BATCH, 3, IMAGE, IMAGE) if name == "pixel_values" else torch.randn(BATCH, SAMPLES)


def make_model(name: str) -> Call:
    """The model with weights from PyTorch's current random state, and its inputs."""
    model = MODELS[name]
    transformers = importlib.import_module("transformers")
    transformers.logging.set_verbosity_error()
    config = getattr(transformers, model.config_class())(**model.options)
    if hasattr(config, "use_cache"):
        config.use_cache = False
    made = getattr(transformers, model.kind)(config).eval()
    return Call(_Outputs(made, model.inputs), tuple(map(_input, model.inputs)))


@dataclass(frozen=True)
class ModelSuite:
    """`MODELS`. match: part of the name."""

    levels: Sequence[str]
    match: str = ""
    title: str = "models of transformers"

    def cases(self) -> list[str]:
        importlib.import_module("transformers")  # that it is missing is said here, not by every worker
        return [name for name in MODELS if self.match in name]

    def check(self, case: str) -> Iterator[Outcome]:
        with random_state(0), quiet_export():
            call = make_model(case)
        captured = Captured(call, lambda: call, case)
        yield from check_program(captured, case, self.levels, by_eager(captured))
