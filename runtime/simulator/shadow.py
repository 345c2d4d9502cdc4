"""Race detection in shared memory.

Each cell of shared memory remembers its last write and its last reads: the barrier interval ("epoch"), the
instruction and the thread. A cell is as large as the narrowest shared access of the kernel, so that every
access covers whole cells, and bytes are judged as strictly as words. Two accesses by different threads, one
of them a write, must be separated by a block barrier, or by a warp barrier if the threads share a warp.

A copy by cp.async counts as in flight from its issue until the issuing thread has waited for it, and as a
write by that thread at the moment of the wait: other threads see it only after a barrier that follows.

A warp barrier gives the lanes that meet at it a common, higher phase. An access is ordered after another of
its warp if its lane's phase is higher. That is exact while whole warps meet; for barriers of subsets it may
take two lanes for ordered which are not.
"""

from __future__ import annotations

import numpy as np

from .errors import Fault
from .formats import Array

# A record is epoch << 32 | instruction << 11 | code. Codes up to 1023 are threads of the block.
_EPOCH_SHIFT = 32
_INSTRUCTION_SHIFT = 11
_CODE_MASK = (1 << _INSTRUCTION_SHIFT) - 1
MAX_INSTRUCTIONS = 1 << (_EPOCH_SHIFT - _INSTRUCTION_SHIFT)
_WARP_CODE = 1024  # + warp: several lanes of one warp read, or the warp did as a whole
_MANY_CODE = 1056  # threads of several warps read
_ATOMIC_CODE = 1057
_IN_FLIGHT_CODE = 1058
_IN_FLIGHT = 1 << 62  # instead of the epoch: later than every epoch


class SharedShadow:
    """The records of the shared memory of a chunk of blocks."""

    def __init__(self, size: int, granule: int, has_warp_barriers: bool):
        cells = -(-size // granule)
        self.shift = granule.bit_length() - 1
        self.granule = granule
        self.writes = np.zeros(cells, np.int64)  # 0: never written
        self.reads = np.zeros(cells, np.int64)
        self.write_phases = np.zeros(cells, np.int32) if has_warp_barriers else None
        self.read_phases = np.zeros(cells, np.int32) if has_warp_barriers else None

    def read(self, offsets: Array, size: int, access: Access) -> None:
        """Check and record loads of `size` bytes."""
        for cells in self._cells(offsets, size):
            written = self.writes.take(cells)
            self._check_writes(written, cells, access, "read")
            if not written.all():
                raise Fault("read of uninitialised shared memory", int(np.flatnonzero(written == 0)[0]))
            self._record_read(cells, access)

    def write(self, offsets: Array, size: int, access: Access, *, is_async: bool = False) -> bool:
        """Check and record stores of `size` bytes; `is_async` leaves them in flight.

        Returns whether several lanes wrote the same place, which is a race unless they wrote the same value.
        """
        has_clash = False
        for cells in self._cells(offsets, size):
            self._check_writes(self.writes.take(cells), cells, access, "write")
            self._check_reads(cells, access, "write")
            self.writes[cells] = access.record
            has_clash |= bool((self.writes.take(cells) != access.record).any())
            if is_async:
                self.writes[cells] = (access.record & _CODE_CLEAR) | (_IN_FLIGHT | _IN_FLIGHT_CODE)
            if self.write_phases is not None:
                self.write_phases[cells] = access.phases
        return has_clash

    def atomic(self, offsets: Array, size: int, access: Access) -> None:
        """Check and record atomic operations: they may race with each other, with nothing else."""
        record = (access.record & _CODE_CLEAR) | _ATOMIC_CODE
        for cells in self._cells(offsets, size):
            written = self.writes.take(cells)
            is_atomic = (written & _CODE_MASK) == _ATOMIC_CODE
            self._check_writes(np.where(is_atomic, 1, written), cells, access, "atomic operation")
            if not written.all():
                raise Fault("atomic operation on uninitialised shared memory", int(np.flatnonzero(written == 0)[0]))
            self._check_reads(cells, access, "atomic operation")
            self.writes[cells] = record
            if self.write_phases is not None:
                self.write_phases[cells] = access.phases

    def complete(self, offsets: Array, size: int, access: Access) -> None:
        """Turn copies in flight into writes of the threads that waited for them."""
        for cells in self._cells(offsets, size):
            self.writes[cells] = access.record
            if self.write_phases is not None:
                self.write_phases[cells] = access.phases

    def _cells(self, offsets: Array, size: int) -> list[Array]:
        first = offsets >> self.shift
        return [first + index if index else first for index in range(max(1, size // self.granule))]

    def _check_writes(self, written: Array, cells: Array, access: Access, what: str) -> None:
        suspect = (written >= access.epoch_start) & ((written & _CODE_MASK) != access.codes)
        if not suspect.any():
            return
        code = written & _CODE_MASK
        if self.write_phases is not None:
            same_warp = (code < _WARP_CODE) & ((code >> 5) == access.warps)
            suspect &= ~(same_warp & (self.write_phases[cells] < access.phases))
            if not suspect.any():
                return
        position = int(np.flatnonzero(suspect)[0])
        other = int(written[position])
        instruction = _instruction(other)
        if int(code[position]) == _IN_FLIGHT_CODE:
            kind = f"{what} of shared memory while a cp.async to it is in flight"
            raise Fault(kind, position, "the copy was not waited for", (instruction, "the copy"))
        did = "write" if int(code[position]) != _ATOMIC_CODE else "atomic operation"
        kind = f"race: {what} after {did} of shared memory by another thread with no barrier between"
        raise Fault(kind, position, _who(int(code[position])), (instruction, f"the {did}"))

    def _check_reads(self, cells: Array, access: Access, what: str) -> None:
        read = self.reads.take(cells)
        suspect = (read >= access.epoch_start) & ((read & _CODE_MASK) != access.codes)
        if not suspect.any():
            return
        code = read & _CODE_MASK
        if self.read_phases is not None:
            same_warp = _warp_of(code) == access.warps
            suspect &= ~(same_warp & (self.read_phases[cells] < access.phases))
            if not suspect.any():
                return
        position = int(np.flatnonzero(suspect)[0])
        kind = f"race: {what} after read of shared memory by another thread with no barrier between"
        raise Fault(kind, position, _who(int(code[position])), (_instruction(int(read[position])), "the read"))

    def _record_read(self, cells: Array, access: Access) -> None:
        before = self.reads.take(cells)
        live = (before >= access.epoch_start) & ((before & _CODE_MASK) != access.codes)
        record = access.record
        if live.any():
            record = np.where(live, self._merge(before, access), record)
        self.reads[cells] = record
        # Lanes of this instruction that read the same cell: combine them, the widest group last.
        lost = np.flatnonzero(self.reads.take(cells) != record)
        if len(lost):
            part = access.select(lost)
            merged = self._merge(self.reads[cells[lost]], part)
            self.reads[cells[lost]] = merged
            many = (merged & _CODE_MASK) == _MANY_CODE
            self.reads[cells[lost[many]]] = merged[many]
        if self.read_phases is not None:
            self.read_phases[cells] = np.maximum(np.where(live, self.read_phases[cells], 0), access.phases)

    def _merge(self, before: Array, access: Access) -> Array:
        """Records of reads by `access` and by those of `before`."""
        same_warp = _warp_of(before & _CODE_MASK) == access.warps
        code = np.where(same_warp, _WARP_CODE + access.warps, _MANY_CODE)
        return (access.record & _CODE_CLEAR) | code


_CODE_CLEAR = ~_CODE_MASK


class Access:
    """Who makes an access and when, for arrays over the active lanes.

    threads: in the block. phases: of the lanes, None if the kernel has no warp barriers. With `as_warp` the
    warp makes it as a whole, like ldmatrix, whose data go to other lanes than those that give the addresses.
    """

    __slots__ = ("codes", "epoch_start", "phases", "record", "warps")

    def __init__(self, threads: Array, phases: Array | None, epoch: int, instruction: int, *, as_warp: bool = False):
        self.warps = threads >> 5
        self.codes = threads if not as_warp else self.warps + _WARP_CODE
        self.phases: Array = phases if phases is not None else np.int32(0)  # pyright: ignore[reportAttributeAccessIssue]
        self.epoch_start = epoch << _EPOCH_SHIFT
        self.record = self.codes | (self.epoch_start | instruction << _INSTRUCTION_SHIFT)

    def select(self, positions: Array) -> Access:
        """The same for some of the lanes."""
        part = Access.__new__(Access)
        part.warps, part.codes = self.warps[positions], self.codes[positions]
        part.phases = self.phases[positions] if np.ndim(self.phases) else self.phases
        part.epoch_start, part.record = self.epoch_start, self.record[positions]
        return part


def _warp_of(code: Array) -> Array:
    """The warp that a code belongs to, -1 if to several."""
    return np.where(code < _WARP_CODE, code >> 5, np.where(code < _MANY_CODE, code - _WARP_CODE, -1))


def _instruction(record: int) -> int:
    return record >> _INSTRUCTION_SHIFT & (MAX_INSTRUCTIONS - 1)


def _who(code: int) -> str:
    if code < _WARP_CODE:
        return f"the other is thread {code} of the block"
    if code < _MANY_CODE:
        return f"the others are threads of warp {code - _WARP_CODE}"
    return "the others are several threads of the block"
