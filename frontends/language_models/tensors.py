"""Putting values in the place of a module's tensors on the meta device, which have none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from ..errors import CaptureError

Make = Callable[[str, torch.Tensor], torch.Tensor]
"""The qualified name of a tensor without values, and it → one with values, of the same shape."""


def replace_meta_tensors(module: nn.Module, make: Make) -> None:
    """Put what `make` gives in the place of each tensor on the meta device; what modules share, they share afterwards.

    Of several names of a tensor, `make` is given the first.
    """
    made: dict[int, torch.Tensor] = {}
    old: list[torch.Tensor] = []  # held, so that no other tensor gets its id
    for prefix, owner in module.named_modules():
        for tensors in (owner._parameters, owner._buffers):
            for name, tensor in tensors.items():
                if tensor is None or not tensor.is_meta:
                    continue
                if id(tensor) not in made:
                    value = make(f"{prefix}.{name}" if prefix else name, tensor)
                    made[id(tensor)] = (
                        nn.Parameter(value, requires_grad=False) if isinstance(tensor, nn.Parameter) else value
                    )
                    old.append(tensor)
                tensors[name] = made[id(tensor)]


def fill_constant_buffers(model: Any, source: str) -> None:
    """Give buffers that no checkpoint holds, such as the frequencies of rotary embeddings, their values.

    model: of `transformers`, on the meta device. Raises `CaptureError` for one that the configuration does not give.
    """
    for prefix, module in model.named_modules():
        names = [name for name, tensor in _constant_buffers(module) if tensor.is_meta]
        for name in names:
            module._buffers[name] = torch.full_like(module._buffers[name], _unset(module._buffers[name]), device="cpu")
        if names:
            model._init_weights(module)
        for name in names:
            tensor = module._buffers[name]
            if bool((tensor != tensor if tensor.is_floating_point() else tensor == _unset(tensor)).any()):
                raise CaptureError(f"{source}: the configuration does not give the values of {prefix}.{name}")


def _constant_buffers(module: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    for name, tensor in module._buffers.items():
        if tensor is not None and name in module._non_persistent_buffers_set:
            yield name, tensor


def _unset(tensor: torch.Tensor) -> float | int:
    """A value that a constant does not have."""
    return math.nan if tensor.is_floating_point() else torch.iinfo(tensor.dtype).min
