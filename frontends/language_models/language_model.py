"""A language model of `transformers`, and the programs that it is compiled as: `load_language_model`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.export
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from ..captured import Call, Captured
from ..errors import CaptureError
from ..exporting import DynamicShapes, quiet_export
from ..user_errors import user_errors
from .cache import KeysAndValues, PositionedCache
from .configuration import cut_layers, make_configuration
from .tensors import fill_constant_buffers, replace_meta_tensors

MAX_LENGTH = 4096
"""Tokens that the cache holds where the user says nothing."""

_TRACED = 7
"""Tokens that a program for any number of them is traced with: a number that is no other size, nor 1."""

_TOKENS = "s"
"""The name of the number of tokens of such a program."""

PREFIX = "model."
"""What stands before the names of the model's tensors, as a checkpoint has them, in those of `TextStep`'s."""

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
"""By the name that uop has for them."""


class TextStep(nn.Module):
    """A step of a language model: takes tokens, stores their keys and values, and gives logits for the next.

    forward: input_ids i64[1, s], position i64[] (where the first of them stands) → [1, vocabulary], after the last.
    The cache are buffers `cache.0.keys`, `cache.0.values`, …: see `KeysAndValues`.
    """

    def __init__(self, model: nn.Module, config: Any, max_length: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.model = model
        kv_heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        layers = (KeysAndValues(kv_heads, max_length, head_dim, dtype) for _ in range(config.num_hidden_layers))
        self.cache = nn.ModuleList(layers)
        parameters = inspect.signature(model.forward).parameters
        self.cache_argument = "cache" if "cache" in parameters else "past_key_values"  # its name before 5.24

    def forward(self, input_ids: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(input_ids.shape[1], device=input_ids.device) + position
        cache = PositionedCache(list(self.cache), position, positions)  # pyright: ignore[reportArgumentType]  # a ModuleList does not say of what
        arguments = {self.cache_argument: cache}
        outputs = self.model(input_ids, position_ids=positions[None], use_cache=True, logits_to_keep=1, **arguments)
        return outputs.logits[:, -1]


@dataclass(frozen=True)
class Weight:
    """A tensor that a model needs.

    names: that a checkpoint may have it under, several where modules share it; the first is the one in programs, after
      `PREFIX`
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: torch.dtype


class LanguageModel:
    """A model from its configuration; its weights take no memory until `make_module`.

    source: what the user named. config: as `transformers` has it, of `config_layers` layers before some were left out
    dtype: of weights, cache and logits. max_length: tokens that the cache holds
    module: a `TextStep` of fake tensors but for what the configuration alone
    gives, such as the frequencies of rotary embeddings
    """

    def __init__(
        self, source: str, config: Any, dtype: torch.dtype, max_length: int, layers: int | None = None
    ) -> None:
        self.source = source
        self.config_layers: int = config.num_hidden_layers
        if layers is not None:
            cut_layers(config, layers, source)
        self.config = config
        self.dtype = dtype
        self.max_length = max_length
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.module = self._build()
        with self._mode:
            replace_meta_tensors(self.module, lambda name, tensor: torch.empty(tensor.shape, dtype=tensor.dtype))
        self._prefill: Captured | None = None

    @property
    def layers(self) -> int:
        return self.config.num_hidden_layers

    def weights(self) -> list[Weight]:
        """What a checkpoint has to hold."""
        groups: dict[int, list[str]] = {}
        tensors: dict[int, torch.Tensor] = {}
        for name, tensor in self.module.state_dict(keep_vars=True).items():
            groups.setdefault(id(tensor), []).append(name.removeprefix(PREFIX))
            tensors[id(tensor)] = tensor
        return [Weight(tuple(names), tuple(tensors[key].shape), tensors[key].dtype) for key, names in groups.items()]

    def ignored_weights(self) -> Sequence[str]:
        """Patterns of names that a checkpoint may have without need: what `transformers` says, and what it computes
        itself, and the layers that are not built."""
        model: Any = self.module.model
        patterns = [*(model._keys_to_ignore_on_load_unexpected or ()), r"rotary_emb\.inv_freq$"]
        left_out = range(self.layers, self.config_layers)
        return [*patterns, rf"\.({'|'.join(map(str, left_out))})\."] if left_out else patterns

    def _build(self) -> TextStep:
        """The module on the meta device, but for what the configuration alone gives."""
        transformers = importlib.import_module("transformers")
        with user_errors(f"transformers cannot build {self.source}"), quiet_export():
            with torch.device("meta"):
                model = transformers.AutoModelForCausalLM.from_config(self.config, dtype=self.dtype).eval()
                module = TextStep(model, self.config, self.max_length, self.dtype).eval()
            model.tie_weights()
            fill_constant_buffers(model, self.source)
        return module.requires_grad_(False)

    def prefill_program(self, length: int | None = None) -> Captured:
        """The step of several tokens. length: how many; None: from 1 to `max_length`, one program for all."""
        if length is None:
            sizes = {"input_ids": {1: torch.export.Dim(_TOKENS, min=1, max=self.max_length)}, "position": None}
            self._prefill = Captured(*self._calls(min(_TRACED, self.max_length), sizes), self.source)
            return self._prefill
        if not 1 <= length <= self.max_length:
            raise CaptureError(f"a prefill of {length} tokens does not fit in a cache of {self.max_length}")
        return Captured(*self._calls(length), self.source)

    def decode_program(self) -> Captured:
        """The step of one token: where the program for any number of them is exported already, that one for 1."""
        call, make = self._calls(1)
        if self._prefill is not None and self._prefill.is_exported and self.max_length > 1:
            return self._prefill.at_sizes({_TOKENS: 1}, call, make)
        return Captured(call, make, self.source)

    def _calls(self, length: int, dynamic_shapes: DynamicShapes | None = None) -> tuple[Call, Callable[[], Call]]:
        """The step of so many tokens, fake, and what makes it for real."""
        with self._mode:
            fake = Call(self.module, self._inputs(length), {}, dynamic_shapes)

        def make() -> Call:
            return Call(self.make_module(), self._inputs(length), {}, dynamic_shapes)

        return fake, make

    def _inputs(self, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Random tokens, from the first position on."""
        return torch.randint(0, self.config.vocab_size, (1, length)), torch.zeros((), dtype=torch.int64)

    def make_module(self, weights: Mapping[str, torch.Tensor] | None = None) -> TextStep:
        """The module for real, with an empty cache.

        weights: the parameters by their names in checkpoints, each of its shape and of `dtype`; they are used, not
        copied. None: random ones, as `transformers` initialises them with PyTorch's current random state.
        """
        module = self._build()
        for layer in module.cache:
            replace_meta_tensors(layer, lambda name, tensor: torch.zeros_like(tensor, device="cpu"))
        if weights is None:
            replace_meta_tensors(module, lambda name, tensor: torch.empty_like(tensor, device="cpu"))
            model: Any = module.model
            with quiet_export():
                model.init_weights()
        else:
            replace_meta_tensors(module, lambda name, tensor: weights[name.removeprefix(PREFIX)])
        return module


def load_language_model(
    source: str, dtype: str | None = None, max_length: int = MAX_LENGTH, *, layers: int | None = None
) -> LanguageModel:
    """A model from its configuration, without weights.

    source: `hf:DIR` or DIR, a folder with config.json, or a name of `published.CONFIGURATIONS`
    dtype:  f32, f16 or bf16; None: what the configuration says. max_length: tokens that the cache holds
    layers: build only so many, the first ones. Raises `CaptureError`.
    """
    config = make_configuration(source)
    if dtype is not None and dtype not in DTYPES:
        raise CaptureError(f"dtype {dtype} is none that weights have: {', '.join(DTYPES)}")
    chosen = DTYPES[dtype] if dtype is not None else getattr(config, "dtype", None) or torch.float32
    if chosen not in DTYPES.values():
        raise CaptureError(f"{source} has the dtype {chosen}: give one of {', '.join(DTYPES)}")
    if max_length < 1:
        raise CaptureError(f"a cache of {max_length} tokens holds nothing")
    return LanguageModel(source, config, chosen, max_length, layers)
