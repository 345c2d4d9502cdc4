"""Tensors in files: the format of https://github.com/huggingface/safetensors, written and read without the package.

The length of the header (8 bytes, little-endian), the header in JSON (name → dtype, shape, and begin and end of the
bytes behind the header), and the bytes, row-major and little-endian.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import Array
from .elements import STORAGE_DTYPES

_TYPES = {
    "f64": "F64",
    "f32": "F32",
    "f16": "F16",
    "bf16": "BF16",
    "i1": "BOOL",
    "i8": "I8",
    "i16": "I16",
    "i32": "I32",
    "i64": "I64",
    "ui8": "U8",
}
_NAMES = {name: dtype for dtype, name in _TYPES.items()}

_ALIGNMENT = 8
"""The header is padded with spaces, so that the tensors lie well in memory."""


@dataclass(frozen=True)
class Tensor:
    """dtype: an element type's name; array: as it is stored, bf16 as its bits"""

    dtype: str
    array: Array


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors by name."""
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.array.nbytes
        shape = list(tensor.array.shape)
        header[name] = {"dtype": _TYPES[tensor.dtype], "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for tensor in tensors.values():
            file.write(np.ascontiguousarray(tensor.array).reshape(-1).view(np.uint8).data)


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name; each is read from the disk when it is used. Raises `ValueError` and `OSError`."""
    size = path.stat().st_size
    with open(path, "rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        if start > size:
            raise ValueError(f"{path} is no safetensors file: its header is longer than it")
        text = file.read(start - 8)
    try:
        header = json.loads(text)
        return {name: _tensor(path, start, size, item) for name, item in header.items() if name != "__metadata__"}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} is no safetensors file: {type(error).__name__} {error}") from error


def _tensor(path: Path, start: int, size: int, item: Mapping[str, Any]) -> Tensor:
    dtype = _NAMES[item["dtype"]]
    shape = tuple(int(extent) for extent in item["shape"])
    begin, end = item["data_offsets"]
    storage = STORAGE_DTYPES[dtype]
    if not 0 <= begin <= end <= size - start or end - begin != prod(shape) * storage.itemsize:
        raise ValueError(f"bytes {begin} to {end} are not a tensor of {prod(shape)} elements of {dtype}")
    if begin == end:
        return Tensor(dtype, np.empty(shape, storage))
    return Tensor(dtype, np.memmap(path, storage, "r", start + begin, shape))
