"""Tensors in files: the format of https://github.com/huggingface/safetensors, written and read without the package.

The length of the header (8 bytes, little-endian), the header in JSON (name → dtype, shape, and begin and end of the
bytes behind the header), and the bytes, row-major and little-endian.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, cast

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
    """The tensors of a file by name; each is read from the disk when it is used, by a memory map.

    All that the format demands is checked: the header is JSON without a name twice, the tensors lie side by side and
    fill the file. Raises `ValueError`, which names the tensor that is wrong, and `OSError`.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        if size < 8 or start > size:
            raise ValueError(f"{path} is no safetensors file, or is cut off: its header is longer than it")
        if start > _LONGEST_HEADER:
            raise ValueError(f"{path} is no safetensors file: its header is {start - 8:,} bytes long")
        text = file.read(start - 8)
    try:
        header: Any = json.loads(text.decode(), object_pairs_hook=_without_repeats)
        if not isinstance(header, dict):
            raise ValueError("its header is no JSON object")
        entries = [_entry(name, item) for name, item in cast("dict[str, Any]", header).items() if name != _METADATA]
        _check_layout(entries, size - start)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no safetensors file: {error}") from None
    return {entry.name: _tensor(path, start, entry) for entry in entries}


_LONGEST_HEADER = 100_000_000
"""What the format allows."""

_METADATA = "__metadata__"
"""The name of what is said of the file, which is no tensor."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = Counter(name for name, _ in pairs)
    for name, count in names.items():
        if count > 1:
            raise ValueError(f"{name} is there {count} times")
    return dict(pairs)


@dataclass(frozen=True)
class _Entry:
    """A tensor of the header: its element type's name, and where its bytes begin and end behind the header."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def _entry(name: str, item: Any) -> _Entry:
    """Raises `ValueError`."""
    try:
        written, shape, (begin, end) = item["dtype"], item["shape"], item["data_offsets"]
        whole = all(type(number) is int and number >= 0 for number in (*shape, begin, end))
    except (KeyError, TypeError, ValueError):
        whole, written, shape, begin, end = False, None, (), 0, 0
    if not whole:
        raise ValueError(f"{name} has no dtype, shape and data_offsets of whole numbers from 0 on")
    if written not in _NAMES:
        raise ValueError(f"{name} is of dtype {written}, which uop has no type for")
    dtype = _NAMES[written]
    count = prod(shape) * STORAGE_DTYPES[dtype].itemsize
    if end - begin != count:
        raise ValueError(f"{name}, {written}{list(shape)}, takes {count} bytes, and has bytes {begin} to {end}")
    return _Entry(name, dtype, tuple(shape), begin, end)


def _check_layout(entries: Sequence[_Entry], size: int) -> None:
    """Raise `ValueError` where tensors overlap, leave bytes out, or reach beyond the `size` bytes that there are."""
    place = 0
    for entry in sorted(entries, key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != place:
            raise ValueError(f"{entry.name} begins at byte {entry.begin}, and what is before it ends at {place}")
        if entry.end > size:
            raise ValueError(f"{entry.name} ends at byte {entry.end} of {size}: the file is cut off")
        place = entry.end
    if place != size:
        raise ValueError(f"{size - place} bytes at its end are no tensor's")


def _tensor(path: Path, start: int, entry: _Entry) -> Tensor:
    storage = STORAGE_DTYPES[entry.dtype]
    if entry.begin == entry.end:
        return Tensor(entry.dtype, np.empty(entry.shape, storage))
    return Tensor(entry.dtype, np.memmap(path, storage, "r", start + entry.begin, entry.shape))
