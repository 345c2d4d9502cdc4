"""Global and shared memory of a launch: gathers and scatters with exact checks of bounds and alignment.

Addresses are virtual. Every argument array and module variable lies in an interval of its own, a tebibyte from
the next, so an access that leaves one never lands in another. Positions in faults are indices into the
addresses given, which are those of the active lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import Fault
from .formats import Array
from .global_shadow import GlobalShadow
from .traffic import SECTOR_BYTES

BUFFER_SPACING = 1 << 40
SHARED_WINDOW = 1 << 60  # generic addresses of shared and local memory start here
LOCAL_WINDOW = 1 << 61
POISON = 0xFF

# The widest accesses move whole 16-byte elements. Complex numbers are the only numpy type of that size.
_UNIT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def gather(data: Array, offsets: Array, size: int) -> Array:
    """Aligned pieces of `size` bytes of the byte array `data`, as bytes of shape (len(offsets), size)."""
    if size == 32:
        pieces = data.view(np.complex128).reshape(-1, 2)[offsets >> 5]
    else:
        pieces = data.view(_UNIT[size]).take(offsets >> (size.bit_length() - 1))
    return pieces.view(np.uint8).reshape(-1, size)


def gather_parts(parts: list[tuple[Buffer, Array | None]], addresses: Array, size: int) -> Array:
    """Bytes of shape (len(addresses), size) from the buffers that `GlobalMemory.locate` found."""
    if len(parts) == 1 and parts[0][1] is None:
        buffer = parts[0][0]
        return _gather_any(buffer.data, addresses - buffer.base, size)
    pieces = np.empty((len(addresses), size), np.uint8)
    for buffer, positions in parts:
        where = slice(None) if positions is None else positions
        pieces[where] = _gather_any(buffer.data, addresses[where] - buffer.base, size)
    return pieces


def _gather_any(data: Array, offsets: Array, size: int) -> Array:
    if size in _UNIT or size == 32:
        return gather(data, offsets, size)
    return data[offsets[:, None] + np.arange(size)]


def scatter(data: Array, offsets: Array, pieces: Array) -> None:
    """Store bytes of shape (n, size) at aligned offsets; of several at one offset, the last stays."""
    size = pieces.shape[1]
    pieces = np.ascontiguousarray(pieces)
    if size == 32:
        data.view(np.complex128).reshape(-1, 2)[offsets >> 5] = pieces.view(np.complex128)
    else:
        data.view(_UNIT[size])[offsets >> (size.bit_length() - 1)] = pieces.view(_UNIT[size]).reshape(-1)


def check_alignment(addresses: Array, size: int, what: str) -> None:
    """Hardware accesses of `size` bytes need addresses that are multiples of it."""
    if size > 1 and int(np.bitwise_or.reduce(addresses)) & (size - 1):
        position = int(np.flatnonzero(addresses & (size - 1))[0])
        excess = int(addresses[position]) & (size - 1)
        raise Fault(f"misaligned {what}", position, f"{size} bytes at an address {excess} above a multiple of {size}")


@dataclass(eq=False)
class Buffer:
    """An interval of global memory. `owner` says what it is, for messages.

    shadow: who accessed what, for the race check. loaded, stored: which sectors were.
    """

    owner: str
    base: int
    size: int
    data: Array
    is_writable: bool = True
    shadow: GlobalShadow | None = None
    loaded: Array = field(init=False)
    stored: Array = field(init=False)

    def __post_init__(self) -> None:
        sectors = len(self.data) // SECTOR_BYTES
        self.loaded = np.zeros(sectors, bool)
        self.stored = np.zeros(sectors, bool)

    @property
    def end(self) -> int:
        """The address after the last byte."""
        return self.base + self.size


class GlobalMemory:
    """All buffers of a launch."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []

    def add(self, owner: str, content: bytes | Array, is_writable: bool = True) -> Buffer:
        """Put a copy of `content` into a new buffer."""
        raw = np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content
        data = np.zeros(-(-max(1, raw.nbytes) // SECTOR_BYTES) * SECTOR_BYTES, np.uint8)
        data[: raw.nbytes] = raw
        base = BUFFER_SPACING * (len(self.buffers) + 1)
        buffer = Buffer(owner, base, raw.nbytes, data, is_writable)
        self.buffers.append(buffer)
        return buffer

    def find(self, address: int) -> Buffer | None:
        """The buffer whose part of the address space `address` is in, which may be beyond its bytes."""
        index = address // BUFFER_SPACING - 1
        return self.buffers[index] if 0 <= index < len(self.buffers) else None

    def locate(self, addresses: Array, size: int, what: str) -> list[tuple[Buffer, Array | None]]:
        """The buffers that an access touches, each with the positions that touch it (None for all of them)."""
        low, high = int(addresses.min()), int(addresses.max())
        buffer = self.find(low)
        if buffer is not None and high + size <= buffer.end:
            return [(buffer, None)]
        indices = addresses // BUFFER_SPACING - 1
        parts: list[tuple[Buffer, Array | None]] = []
        for index in np.unique(indices):
            positions = np.flatnonzero(indices == index)
            buffer = self.find(int(addresses[positions[0]]))
            outside = np.ones(len(positions), bool) if buffer is None else addresses[positions] + size > buffer.end
            if outside.any():
                self._out_of_bounds(int(positions[np.argmax(outside)]), addresses, size, what)
            assert buffer is not None
            parts.append((buffer, positions))
        return parts

    def _out_of_bounds(self, position: int, addresses: Array, size: int, what: str) -> None:
        address = int(addresses[position])
        raise Fault(f"{what} out of bounds", position, f"{size} bytes {self.describe(address)}")

    def describe(self, address: int) -> str:
        """Where an address is, relative to the nearest buffer."""
        if address < BUFFER_SPACING // 2:
            return f"at the null pointer plus {address}" if address >= 0 else "at a negative address"
        nearest = min(self.buffers, key=lambda b: max(b.base - address, address - b.end, 0), default=None)
        if nearest is None:
            return f"at address {address:#x}; the kernel has no arrays"
        if address < nearest.base:
            return f"starting {nearest.base - address} before {nearest.owner}"
        if address >= nearest.end:
            return f"starting {address - nearest.end} after the end of {nearest.owner}"
        return f"at byte {address - nearest.base} of {nearest.owner}"


def as_bytes(array: np.ndarray[Any, Any]) -> Array:
    """The bytes of a contiguous array, as a view."""
    return array.reshape(-1).view(np.uint8)
