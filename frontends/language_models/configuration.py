"""Where a language model's configuration comes from: a folder with `config.json`, or a published model's name."""

from __future__ import annotations

import importlib
import json
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from ..errors import CaptureError
from .attention import NAME, register_attention
from .published import CONFIGURATIONS

FOLDER = "hf:"
"""What stands before a folder where a name could stand, too."""

CONFIG = "config.json"

_CODE = ("auto_map", "custom_pipelines")
"""Entries that name code in the folder, which is never run: a class of `transformers` stands for the model's type."""


def is_language_model(source: str) -> bool:
    """Whether a source of a program names a language model."""
    return source.startswith(FOLDER) or source in CONFIGURATIONS


def folder_of(source: str) -> Path | None:
    """The folder of a source; None for a published model's name."""
    if source.startswith(FOLDER):
        return Path(source.removeprefix(FOLDER))
    return None if source in CONFIGURATIONS else Path(source)


def read_configuration(source: str) -> dict[str, Any]:
    """What `config.json` says. source: `hf:DIR` or DIR, or the name of a published model. Raises `CaptureError`."""
    folder = folder_of(source)
    if folder is None:
        return dict(CONFIGURATIONS[source])
    path = folder / CONFIG
    try:
        data: Any = json.loads(path.read_text())
    except FileNotFoundError:
        raise CaptureError(_nothing_there(source, folder)) from None
    except (OSError, ValueError) as error:
        raise CaptureError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise CaptureError(f"{path} holds no JSON object")
    return cast("dict[str, Any]", data)


def _nothing_there(source: str, folder: Path) -> str:
    if source.startswith(FOLDER) or folder.is_dir():
        return f"there is no {folder / CONFIG}: a folder is needed as transformers writes them (save_pretrained)"
    close = get_close_matches(source, CONFIGURATIONS, 1)
    hint = f"; is {close[0]} meant?" if close else ""
    return f"there is no model {source!r}{hint} (a folder with {CONFIG}, or one of: {', '.join(CONFIGURATIONS)})"


def make_configuration(source: str) -> Any:
    """The configuration as `transformers` has it; nothing is downloaded and no code of the folder is run.

    Raises `CaptureError`.
    """
    data = read_configuration(source)
    kind = data.get("model_type")
    transformers = importlib.import_module("transformers")
    if kind not in transformers.CONFIG_MAPPING:
        raise CaptureError(f"{source}: transformers {transformers.__version__} has no model_type {kind!r}")
    if "quantization_config" in data:
        raise CaptureError(f"{source} is quantized (quantization_config), which is not supported: take the original")
    register_attention()
    try:
        config = transformers.CONFIG_MAPPING[kind].from_dict({k: v for k, v in data.items() if k not in _CODE})
    except Exception as error:  # each version of transformers checks in its own way
        raise CaptureError(f"{source} is no configuration of {kind}: {error}") from None
    decoders = transformers.AutoModelForCausalLM._model_mapping
    if getattr(config, "is_encoder_decoder", False) or type(config) not in decoders:
        raise CaptureError(f"{source} is a {kind}, which is no decoder that generates text")
    foreign = sorted({*(getattr(config, "layer_types", None) or ())} - {"full_attention", "sliding_attention"})
    if foreign:
        raise CaptureError(f"{source} has layers of {', '.join(foreign)}: only attention with keys and values is known")
    config.use_cache = True
    config._attn_implementation = NAME
    return config


def cut_layers(config: Any, layers: int, source: str) -> None:
    """Leave all but the first `layers` out. Raises `CaptureError`."""
    if not 1 <= layers <= config.num_hidden_layers:
        raise CaptureError(f"{source} has {config.num_hidden_layers} layers, not {layers}")
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[:layers]
