"""Tensors of PyTorch as the arrays that the simulator and the interpreters take, and back."""

from __future__ import annotations

import numpy as np
import torch
from xdsl.ir import Attribute

from ..dialects.types import element_of
from ..frontends.element_types import dtype_of
from .storage import Array


def to_array(tensor: torch.Tensor) -> Array:
    """A tensor as the simulator holds it: contiguous, bf16 as its bits, bool as bytes."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy()
    return tensor.view(torch.uint8).numpy() if tensor.dtype == torch.bool else tensor.numpy()


def from_array(array: Array, type: Attribute) -> torch.Tensor:
    """The tensor of an IR type that the simulator holds as `array`; where sizes differ from call to call, the array
    has those of its call."""
    return torch.from_numpy(array).view(dtype_of(element_of(type)))  # pyright: ignore[reportUnknownMemberType]


def to_interpreted(tensor: torch.Tensor) -> Array:
    """A tensor as the interpreters hold it: contiguous, bf16 widened to f32."""
    tensor = tensor.detach().contiguous()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def from_interpreted(array: Array, type: Attribute) -> torch.Tensor:
    """The tensor of an IR type that the interpreters hold as `array`."""
    # What numpy broadcasts or reverses has strides that PyTorch does not take.
    tensor = torch.from_numpy(np.array(array, order="C"))  # pyright: ignore[reportUnknownMemberType]
    return tensor.to(dtype_of(element_of(type)))
