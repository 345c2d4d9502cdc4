"""What a caller gives as arrays that devices take, and back: numpy's arrays, and PyTorch's tensors where it is used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

from .arrays import Array
from .elements import STORAGE_DTYPES
from .plan import Value

_TORCH_NAMES = {"i1": "bool", "ui8": "uint8", "bf16": "bfloat16"}
_NUMPY_NAMES = {"i1": "bool", "bf16": "bfloat16"}


class InputError(ValueError):
    """What a program is called with is not what it takes."""


def is_tensor(given: object) -> bool:
    """Whether it is a tensor of PyTorch, which is not imported for that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(given, torch.Tensor)


def to_array(value: Value, given: Any) -> Array:
    """An array or tensor as it is stored: row-major, bf16 as its bits, bool as bytes. Raises `InputError`."""
    if is_tensor(given):
        _check(value, tuple(given.shape), str(given.dtype).removeprefix("torch."), torch_name(value.dtype))
        torch = sys.modules["torch"]
        tensor = given.detach().cpu().contiguous()
        bits = {"bf16": torch.uint16, "i1": torch.uint8}.get(value.dtype)
        return (tensor if bits is None else tensor.view(bits)).numpy()
    if not isinstance(given, np.ndarray | np.generic | int | float | bool):
        raise InputError(f"input {value} is given {type(given).__name__}: give it an array")
    array: Array = np.asarray(given)
    if isinstance(given, int | float) and not value.shape:
        array = array.astype(_NUMPY_NAMES.get(value.dtype, STORAGE_DTYPES[value.dtype]))  # a Python number has no dtype
    storage = STORAGE_DTYPES[value.dtype]
    name = _NUMPY_NAMES.get(value.dtype, storage.name)
    if array.dtype != storage:
        _check(value, array.shape, array.dtype.name, name)
        array = array.view(storage)
    _check(value, array.shape, name, name)
    if value.dtype == "i1" and array.size and array.max() > 1:
        raise InputError(f"input {value} is given bytes up to {array.max()}, and a bool is 0 or 1")
    return np.asarray(array, order="C")


def from_array(value: Value, array: Array, *, tensor: bool) -> Any:
    """A result as the caller has it: bool as bool; bf16 as a tensor, or as bits where it is an array."""
    if tensor:
        torch = sys.modules["torch"]
        return torch.from_numpy(array).view(getattr(torch, torch_name(value.dtype))).reshape(array.shape)
    return array.view(np.bool_) if value.dtype == "i1" else array


def to_tensor(value: Value, given: Any) -> Any:
    """The same as a tensor of PyTorch, for devices that take those; one that is given is taken as it is."""
    if is_tensor(given):
        return given
    import_module("torch")  # `from_array` looks for it
    return from_array(value, to_array(value, given).copy(), tensor=True)


def from_tensor(value: Value, result: Any, *, tensor: bool) -> Any:
    """A result of such a device as the caller has it."""
    return result if tensor else from_array(value, to_array(value, result), tensor=False)


def torch_name(dtype: str) -> str:
    return _TORCH_NAMES.get(dtype, STORAGE_DTYPES[dtype].name)


def _check(value: Value, shape: tuple[int, ...], dtype: str, expected: str) -> None:
    is_fixed = value.extents is None or len(shape) != len(value.shape)  # else the plan's sizes are asked
    if (is_fixed and shape != value.shape) or dtype != expected:
        given = f"{dtype}[{', '.join(map(str, shape))}]"
        wanted = f"{expected}{str(value)[str(value).index('[') :]}"
        raise InputError(
            f"input {value.name} is given {given}, not {wanted}: shapes and dtypes are fixed when a program is compiled"
        )
