"""Putting values in the place of a module's tensors on the meta device, which have none."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    for prefix, owner in _all_modules(module):
        for name, tensor in _own_tensors(owner):
            if not tensor.is_meta:
                continue
            if id(tensor) not in made:
                value = make(f"{prefix}.{name}" if prefix else name, tensor)
                is_parameter = isinstance(tensor, nn.Parameter)
                made[id(tensor)] = nn.Parameter(value, requires_grad=False) if is_parameter else value
                old.append(tensor)
            setattr(owner, name, made[id(tensor)])


def _all_modules(module: Any) -> list[tuple[str, nn.Module]]:
    """A module and all in it, by their qualified names."""
    return list(module.named_modules())


def _own_tensors(module: nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Parameters and buffers of a module, not of those in it."""
    parameters = module.named_parameters(recurse=False, remove_duplicate=False)
    return [*parameters, *module.named_buffers(recurse=False, remove_duplicate=False)]


def fill_constant_buffers(model: Any, source: str) -> None:
    """Give buffers that no checkpoint holds, such as the frequencies of rotary embeddings, their values.

    model: of `transformers`, on the meta device. Raises `CaptureError` for one that the configuration does not give.
    """
    for prefix, module in _all_modules(model):
        buffers = _constant_buffers(module)
        for name, buffer in buffers.items():
            setattr(module, name, torch.full_like(buffer, _unset(buffer), device="cpu"))
        if buffers:
            model._init_weights(module)
        for name, value in module.named_buffers(recurse=False):
            if name in buffers and bool((value == _unset(value)).any() or value.isnan().any()):
                raise CaptureError(f"{source}: the configuration does not give the values of {prefix}.{name}")


def _constant_buffers(module: nn.Module) -> dict[str, torch.Tensor]:
    """A module's own buffers without values that are not in checkpoints."""
    own = dict(module.named_buffers(recurse=False))
    return {name: buffer for name, buffer in own.items() if buffer.is_meta and name not in module.state_dict()}


def _unset(tensor: torch.Tensor) -> float | int:
    """A value that a constant does not have."""
    return math.nan if tensor.is_floating_point() else torch.iinfo(tensor.dtype).min
