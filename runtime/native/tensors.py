"""PyTorch's tensors as programs on the CPU take and make them, in as few steps of Python as there can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from operator import mul
from typing import Any

import torch

from ..artifact.conversions import torch_name
from ..artifact.plan import Value

Maker = Callable[[], torch.Tensor]
"""Makes a tensor whose elements are not written yet."""

try:
    from torch._C._dynamo import guards
except ImportError:
    guards = None

_TensorGuards: Any = getattr(guards, "TensorGuards", None)
"""TorchDynamo's test of tensors."""

_empty_strided: Any = getattr(guards, "_empty_strided_cpu", None)
"""`torch.empty_strided` in half of the time: what Inductor's programs allocate with."""


def likeness(tensors: Sequence[torch.Tensor]) -> Callable[..., bool]:
    """A test for as many tensors, one argument each: whether they are like these in type, dtype, device, shape, strides
    and dispatch keys, which tell negated, conjugated and functional tensors. Never more lenient than that: it may say
    no to all. Raises `TypeError` for another number of them."""
    if _TensorGuards is None or not tensors:
        return never
    return _TensorGuards(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None).check


def never(*tensors: torch.Tensor) -> bool:
    """The test that no tensors pass."""
    return False


def torch_dtype(value: Value) -> torch.dtype:
    """PyTorch's dtype of a value."""
    return getattr(torch, torch_name(value.dtype))


def maker(value: Value) -> Maker:
    """Makes dense and row-major tensors for a value."""
    sizes = (max(1, size) for size in reversed(value.shape[1:]))  # as PyTorch has strides where there are no elements
    strides = tuple(accumulate(sizes, mul, initial=1))[::-1] if value.shape else ()
    if _empty_strided is None:
        return partial(torch.empty_strided, value.shape, strides, dtype=torch_dtype(value))
    return partial(_empty_strided, value.shape, strides, torch_dtype(value))
