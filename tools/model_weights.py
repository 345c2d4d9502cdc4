"""The weights of a language model from its folder, as its programs take them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ..dialects.types import element_of, type_name
from ..frontends.element_types import dtype_name
from ..frontends.errors import CaptureError
from ..frontends.imported import ArgumentKind, Imported
from ..frontends.language_models.configuration import folder_of
from ..frontends.language_models.language_model import PREFIX, LanguageModel
from ..runtime.artifact.checkpoint import CheckpointError, Wanted, fit_checkpoint, read_checkpoint
from ..runtime.artifact.conversions import torch_name
from ..runtime.artifact.safetensors import Tensor
from ..runtime.tensors import to_array


@dataclass(frozen=True)
class LoadedWeights:
    """A model's weights, for `LanguageModel.make_module`.

    tensors: by their names in checkpoints, what modules share once, by the first of its names. Those that have the
      model's dtype are maps of the files: they take memory when they are used, and must not be written
    note: what was converted, for people; "" where nothing was
    """

    tensors: Mapping[str, torch.Tensor]
    note: str


def load_weights(model: LanguageModel) -> LoadedWeights:
    """The weights in the folder that the model was named by.

    Raises `CaptureError` for a model that was named without a folder, and where the folder has not all of its weights,
    or others, or in a form that is not read.
    """
    folder = folder_of(model.source)
    if folder is None:
        raise CaptureError(f"{model.source} is a configuration without weights: give a folder that has some")
    weights = model.weights()
    try:
        wanted = [Wanted(each.names, each.shape) for each in weights]
        found = fit_checkpoint(read_checkpoint(folder), wanted, model.ignored_weights())
    except CheckpointError as error:
        raise CaptureError(str(error)) from None
    dtypes = {each.names[0]: each.dtype for each in weights}
    loaded = {name: _tensor(tensor) for name, tensor in found.items()}
    other = {name: tensor for name, tensor in loaded.items() if tensor.dtype != dtypes[name]}
    strange = [name for name, tensor in other.items() if not tensor.is_floating_point()]
    if strange:
        raise CaptureError(
            f"{folder}: {strange[0]} is of dtype {dtype_name(loaded[strange[0]].dtype)}, which no weight is"
        )
    kinds = ", ".join(sorted({dtype_name(tensor.dtype) for tensor in other.values()}))
    note = (
        f"{len(other)} of {len(loaded)} weights are converted from {kinds} to {dtype_name(model.dtype)}"
        if other
        else ""
    )
    return LoadedWeights({name: tensor.to(dtypes[name]) for name, tensor in loaded.items()}, note)


def program_weights(imported: Imported, weights: LoadedWeights | None) -> Mapping[str, Tensor]:
    """What an artifact of one of the model's programs holds, by its sources: what the configuration alone gives, and
    with `weights` those. The cache is empty where a program begins, and is not written."""
    values: dict[str, torch.Tensor] = {}
    for argument in imported.arguments:
        if argument.value is not None and not isinstance(argument.value, FakeTensor):
            values[argument.source] = argument.value
        elif argument.kind is ArgumentKind.PARAMETER and weights is not None:
            values[argument.source] = weights.tensors[argument.source.removeprefix(PREFIX)]
    types = {argument.source: type_name(element_of(argument.type)) for argument in imported.arguments}
    return {source: Tensor(types[source], to_array(value)) for source, value in values.items()}


def _tensor(tensor: Tensor) -> torch.Tensor:
    """A tensor of PyTorch in the same memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it must not be written
        found = torch.from_numpy(tensor.array)  # pyright: ignore[reportUnknownMemberType]
    return found.view(getattr(torch, torch_name(tensor.dtype)))
