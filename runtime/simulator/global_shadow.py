"""Race detection in global memory.

Two threads may store to one place only with the same value, or with a block barrier between them. Loads are
judged too, in buffers that the kernel both loads and stores: a place that one thread stores must not be loaded
by another without a barrier of their block between, in either order. Nothing orders threads of two blocks.

Kernels with atomic operations or fences can synchronise blocks by protocols that are not followed here; of
these only stores are judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .errors import Fault
from .formats import Array

_SEVERAL = -1


@dataclass(slots=True)
class GlobalAccess:
    """Who makes an access and when: threads in the block and block indices of the lanes that make it."""

    threads: Array
    blocks: Array
    epoch: int
    instruction: int
    name_thread: Callable[[int, int], str]

    def name(self, thread: int, block: int) -> str:
        """The other side of a race, for a message; both are counted from 1, or negative for several."""
        if block < 0:
            return "threads of several blocks"
        if thread < 0:
            return "several threads of the same block"
        return self.name_thread(thread - 1, block - 1)


class _Records:
    """For each cell the last thread and block (both counted from 1, 0 for none), when, and by which instruction."""

    def __init__(self, cells: int):
        self.threads = np.zeros(cells, np.int16)
        self.blocks = np.zeros(cells, np.int32)
        self.epochs = np.zeros(cells, np.int32)
        self.instructions = np.zeros(cells, np.int32)

    def conflicts(self, cells: Array, access: GlobalAccess) -> Array:
        """Which cells were last touched by a thread that nothing orders before this access."""
        block = self.blocks[cells]
        same_block = block == access.blocks + 1
        is_ordered = same_block & (self.epochs[cells] < access.epoch)
        is_own = same_block & (self.threads[cells] == access.threads + 1)
        return (block != 0) & ~is_ordered & ~is_own

    def set(self, cells: Array, access: GlobalAccess) -> None:
        """Record this access alone."""
        self.threads[cells] = access.threads + 1
        self.blocks[cells] = access.blocks + 1
        self.epochs[cells] = access.epoch
        self.instructions[cells] = access.instruction

    def merge(self, cells: Array, access: GlobalAccess) -> None:
        """Record this access beside those of other threads that are still unordered with what follows."""
        before = self.blocks[cells]
        other_block = (before != 0) & (before != access.blocks + 1)
        live = (before == access.blocks + 1) & (self.epochs[cells] == access.epoch)
        other_thread = other_block | (live & (self.threads[cells] != access.threads + 1))
        threads = np.where(other_thread, _SEVERAL, access.threads + 1).astype(np.int16)
        blocks = np.where(other_block, _SEVERAL, access.blocks + 1).astype(np.int32)
        self.threads[cells], self.blocks[cells] = threads, blocks
        self.epochs[cells], self.instructions[cells] = access.epoch, access.instruction
        # Lanes of this instruction that touched the same cell.
        lost = self.threads[cells] != threads
        self.threads[cells[lost]] = _SEVERAL
        lost = self.blocks[cells] != blocks
        self.blocks[cells[lost]] = _SEVERAL
        self.threads[cells[lost]] = _SEVERAL


class GlobalShadow:
    """The records of one buffer."""

    def __init__(self, size: int, granule: int, *, judges_loads: bool):
        self.shift = granule.bit_length() - 1
        self.granule = granule
        cells = -(-size // granule)
        self.stores = _Records(cells)
        self.loads = _Records(cells) if judges_loads else None

    def load(self, offsets: Array, size: int, access: GlobalAccess) -> None:
        """Check and record loads of `size` bytes."""
        if self.loads is None:
            return
        for cells in self._cells(offsets, size):
            racing = self.stores.conflicts(cells, access)
            if racing.any():
                self._report("load after store", "the store", self.stores, cells, racing, access)
            self.loads.merge(cells, access)

    def store(self, offsets: Array, size: int, access: GlobalAccess, changes: Callable[[], Array]) -> None:
        """Check and record stores of `size` bytes. changes: which lanes store another value than is there."""
        for cells in self._cells(offsets, size):
            racing = self.stores.conflicts(cells, access)
            if racing.any():
                racing &= changes()
                if racing.any():
                    self._report(
                        "two threads store different values", "the other store", self.stores, cells, racing, access
                    )
            if self.loads is not None:
                racing = self.loads.conflicts(cells, access)
                if racing.any():
                    self._report("store after load", "the load", self.loads, cells, racing, access)
            self.stores.set(cells, access)

    def _cells(self, offsets: Array, size: int) -> list[Array]:
        first = offsets >> self.shift
        last = (offsets + (size - 1)) >> self.shift
        count = int((last - first).max()) + 1
        return [np.minimum(first + index, last) for index in range(count)]

    def _report(
        self, what: str, did: str, records: _Records, cells: Array, racing: Array, access: GlobalAccess
    ) -> None:
        position = int(np.flatnonzero(racing)[0])
        cell = int(cells[position])
        who = access.name(int(records.threads[cell]), int(records.blocks[cell]))
        kind = f"race in global memory: {what}"
        if did != "the other store":
            kind += " by another thread with no barrier between"
        raise Fault(kind, position, f"the other side: {who}", (int(records.instructions[cell]), did))
