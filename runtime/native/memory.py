"""Memory of programs on the CPU: aligned, and of large results used again.

numpy asks the system for huge pages where an array is large. The pages of a fresh one cost several times what a kernel
needs to write it, so a large block whose tensor or array is gone waits for the next result of its size.
"""

from __future__ import annotations

import os
import weakref
from collections import defaultdict, deque
from typing import Any

import numpy as np

ALIGNMENT = 64
"""Bytes that the address of each block is a multiple of."""

LARGE_BYTES = 4 << 20
"""From here on numpy asks for huge pages."""

KEPT_PART = 16
"""Blocks that wait may take this part of the machine's memory."""

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def aligned_bytes(size: int) -> Bytes:
    """A new block of so many bytes."""
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size]


def address(array: np.ndarray[Any, Any]) -> int:
    """Where the elements lie."""
    return array.__array_interface__["data"][0]


class Blocks:
    """Blocks that wait for the next result of their size. limit: bytes that they may take"""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.waiting = 0
        """Bytes of those that wait."""
        self._blocks: defaultdict[int, deque[Bytes]] = defaultdict(deque)

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], size: int) -> np.ndarray[Any, Any]:
        """An array of so many bytes, whose block is used again when it is gone."""
        try:
            block = self._blocks[size].pop()
            self.waiting -= size
        except IndexError:
            block = aligned_bytes(size)
        array = block.view(dtype).reshape(shape)
        weakref.finalize(array, self._give_back, block).atexit = False
        return array

    def _give_back(self, block: Bytes) -> None:
        if self.waiting + block.size <= self.limit:
            self.waiting += block.size
            self._blocks[block.size].append(block)

    def clear(self) -> None:
        """Give all that waits back to the system."""
        self._blocks.clear()
        self.waiting = 0


def _memory_bytes() -> int:
    """Of this machine."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 4 << 30


blocks = Blocks(_memory_bytes() // KEPT_PART)
"""Those of this process."""
