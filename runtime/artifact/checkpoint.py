"""The weights of a model in a folder: one safetensors file, or several with an index, as `transformers` saves them.

Pickled weights (`pytorch_model.bin`) are never read: to unpickle is to run what the file says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .safetensors import Tensor, read_tensors

FILE, INDEX = "model.safetensors", "model.safetensors.index.json"

_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")

_SHOWN = 8
"""Names that a message lists of each kind."""


class CheckpointError(ValueError):
    """Weights that cannot be read, or that are not a model's. The text lists all that is wrong."""


@dataclass(frozen=True)
class Wanted:
    """A tensor that a model needs.

    names: that a checkpoint may have it under, several where modules share it
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]


def read_checkpoint(folder: Path) -> dict[str, Tensor]:
    """The tensors in a folder by name, by memory maps: a tensor takes memory when it is used.

    Raises `CheckpointError` where there are none, where a file is missing or is none, and where an index names what
    its files do not have.
    """
    index = folder / INDEX
    if index.exists():
        return _read_shards(folder, _read_index(index))
    files = [folder / FILE] if (folder / FILE).exists() else sorted(folder.glob("*.safetensors"))
    if len(files) == 1:
        return _read(files[0])
    if files:
        raise CheckpointError(f"{folder} has {len(files)} safetensors files and no {INDEX}, which says what is where")
    pickled = sorted(path.name for pattern in _PICKLED for path in folder.glob(pattern))
    if pickled:
        raise CheckpointError(
            f"{folder} has pickled weights ({pickled[0]}), which are never read: unpickling runs code from the file; "
            "load them once with transformers where you trust them, and save_pretrained writes safetensors"
        )
    raise CheckpointError(f"{folder} has no weights: there is no {FILE} and no {INDEX}")


def _read(file: Path) -> dict[str, Tensor]:
    try:
        return read_tensors(file)
    except (ValueError, OSError) as error:
        raise CheckpointError(str(error)) from None


def _read_index(path: Path) -> dict[str, str]:
    """Name of a tensor → the file that has it."""
    try:
        places: Any = json.loads(path.read_text())["weight_map"]
        found = {str(name): str(file) for name, file in places.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path} is no index of tensors: {type(error).__name__} {error}") from None
    outside = sorted(file for file in found.values() if Path(file).name != file)
    if outside:
        raise CheckpointError(f"{path} names {outside[0]}, which is no file of its folder")
    return found


def _read_shards(folder: Path, places: Mapping[str, str]) -> dict[str, Tensor]:
    files = sorted(set(places.values()))
    missing = [file for file in files if not (folder / file).exists()]
    if missing:
        raise CheckpointError(
            f"{len(missing)} of the {len(files)} files that {folder / INDEX} names are missing: {_listed(missing)}"
        )
    shards = {file: _read(folder / file) for file in files}
    lost = [f"{name} ({file})" for name, file in places.items() if name not in shards[file]]
    if lost:
        raise CheckpointError(f"files do not have what {folder / INDEX} says: {_listed(lost)}")
    return {name: shards[file][name] for name, file in places.items()}


def fit_checkpoint(
    tensors: Mapping[str, Tensor], wanted: Sequence[Wanted], ignored: Sequence[str] = ()
) -> dict[str, Tensor]:
    """What a model needs out of a checkpoint, by the first of each tensor's names.

    ignored: patterns (regular expressions) of names that may be there without being needed
    Raises `CheckpointError`, which lists every tensor that is missing, too many, or of another shape.
    """
    fitted: dict[str, Tensor] = {}
    missing: list[str] = []
    misshapen: list[str] = []
    for each in wanted:
        name = next((name for name in each.names if name in tensors), None)
        if name is None:
            missing.append(each.names[0])
        elif tensors[name].array.shape != each.shape:
            misshapen.append(f"{name} is {list(tensors[name].array.shape)} and should be {list(each.shape)}")
        else:
            fitted[each.names[0]] = tensors[name]
    known = {name for each in wanted for name in each.names}
    patterns = [re.compile(pattern) for pattern in ignored]
    extra = [name for name in tensors if name not in known and not any(p.search(name) for p in patterns)]
    problems = [
        f"{len(found)} {what}: {_listed(found)}"
        for found, what in (
            (missing, "tensors are missing"),
            (extra, "tensors are not the model's"),
            (misshapen, "tensors have another shape"),
        )
        if found
    ]
    if problems:
        raise CheckpointError("the weights are not those of the model: " + "; ".join(problems))
    return fitted


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
