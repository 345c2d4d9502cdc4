"""The lanes of a chunk of blocks: registers, active masks, control flow, barriers.

Every register is one array over all lanes (or a scalar while it is uniform). Lanes that are at the same
instruction run together, as a group; of several groups the one at the lowest instruction runs, until it
branches or reaches a place where others may join it, so that diverged lanes reconverge. Instructions that a
warp executes together (shuffles, votes, mma, warp barriers) wait for all the lanes that they name.
Blocks whose size is no multiple of 32 are padded with lanes that never run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from .counters import InstructionCounters
from .errors import BarrierFault
from .formats import Array, storage_dtype
from .grid import Launch, special_values
from .memory import POISON, GlobalMemory
from .program import Program, Slot
from .ptx import Instruction
from .shadow import Access, SharedShadow
from .traffic import WARP

SHOWN_RUNS = 4
"""Runs of neighbouring threads that a message names."""

_NEVER = np.iinfo(np.int32).max
Step: TypeAlias = "Callable[[Machine], None]"
Control: TypeAlias = "Callable[[Machine, int], int | None]"


@dataclass(eq=False)
class Code:
    """A kernel as steps. `steps[i]` is None where `controls[i]` decides what comes next.

    joins: instructions where lanes that were elsewhere may join. shared_granule: bytes of the narrowest access
    to shared memory, store_granule of the narrowest store to global memory. synchronises_blocks: has atomic
    operations or fences. local_stride: bytes of local memory of a lane.
    """

    program: Program
    instructions: list[Instruction]
    register_types: list[str]
    constants: list[tuple[int, Any]]
    specials: dict[str, Slot]
    steps: list[Step | None]
    controls: dict[int, Control]
    joins: list[bool]
    shared_granule: int
    store_granule: int
    synchronises_blocks: bool
    has_warp_barriers: bool
    local_stride: int
    static_shared_bytes: int


@dataclass(eq=False)
class AsyncCopy:
    """The copies that one instruction issued and that have not arrived, by lane."""

    instruction: int
    lanes: Array
    offsets: Array
    pieces: Array
    groups: Array  # the group of each, counted per lane from 0


@dataclass
class AsyncCopies:
    """Copies in flight, in the order of issue. Groups are counted for each lane, so lanes may diverge.

    committed: groups that each lane has closed.
    """

    committed: Array
    pending: list[AsyncCopy] = field(default_factory=list[AsyncCopy])


class Machine:
    """Runs blocks `first_block` to `first_block + blocks - 1` of the grid.

    mask: lanes of the running group, None for all of them. write_mask: lanes whose registers may change, None
    when nobody minds (every other lane has exited). others: whether lanes outside the group are still alive.
    """

    def __init__(
        self,
        code: Code,
        launch: Launch,
        memory: GlobalMemory,
        parameters: bytes,
        stats: Sequence[InstructionCounters],
        first_block: int,
        blocks: int,
        epoch: int,
    ):
        self.code = code
        self.launch = launch
        self.memory = memory
        self.parameters = parameters
        self.stats = stats
        self.blocks = blocks
        self.first_block = first_block
        self.lanes = blocks * launch.padded_threads
        lane = np.arange(self.lanes)
        self.block = lane // launch.padded_threads
        self.thread = lane % launch.padded_threads
        self.epoch = epoch
        self.pc = 0
        self.registers: list[Any] = [storage_dtype(type_).type(0) for type_ in code.register_types]
        for index, value in code.constants:
            self.registers[index] = value
        self._set_specials()

        self.shared_stride = -(-launch.shared_bytes // 128) * 128
        self.shared = np.full(blocks * self.shared_stride, POISON, np.uint8)
        self.shared_base = self.block * self.shared_stride
        self.shadow: SharedShadow | None = None
        if launch.check_races and launch.shared_bytes:
            self.shadow = SharedShadow(len(self.shared), code.shared_granule, code.has_warp_barriers)
        self.phases = np.zeros(self.lanes, np.int32) if code.has_warp_barriers else None
        self.local = np.full(self.lanes * code.local_stride, POISON, np.uint8)
        self.local_base = lane * code.local_stride
        self.copies: AsyncCopies | None = None

        self.alive = self.thread < launch.threads_per_block
        self.waiting = np.zeros(self.lanes, bool)  # at a block barrier
        self.released = np.zeros(self.lanes, bool)  # from one, but not yet past it
        self.parked = np.zeros(self.lanes, bool)  # at an instruction of the warp that other lanes must reach
        self.lane_pc = np.zeros(self.lanes, np.int32)  # of lanes outside the running group
        self.executed = 0
        self._executed_at_unpark = -1
        self.mask: Array | None = None
        self.write_mask: Array | None = None
        self.others = False
        self.warps = 0
        self._active_mask: Array | None = None
        self._active: Array | None = None
        self._set_group(None if self.alive.all() else self.alive.copy(), others=False)

    def _set_specials(self) -> None:
        values = special_values(self.launch, self.code.static_shared_bytes, self.block + self.first_block, self.thread)
        for name, slot in self.code.specials.items():
            self.registers[slot.index] = np.asarray(values[name]).astype(storage_dtype(slot.type))[()]

    # -- lanes --------------------------------------------------------------------------------------------------

    def active(self) -> Array | None:
        """Indices of the lanes in the mask, None for all."""
        if self.mask is None:
            return None
        if self._active_mask is not self.mask:
            self._active_mask = self.mask
            self._active = np.flatnonzero(self.mask)
        return self._active

    def of_active(self, values: Any) -> Array:
        """A register's values of the active lanes, as an array."""
        active = self.active()
        if np.ndim(values) == 0:
            return np.full(self.lanes if active is None else len(active), values)
        return values if active is None else values[active]

    def mask_rows(self) -> Array:
        """The mask as booleans of shape (warps, 32)."""
        mask = self.mask if self.mask is not None else np.ones(self.lanes, bool)
        return mask.reshape(-1, WARP)

    def write(self, index: int, value: Any) -> None:
        """Set a register in the active lanes from a value for all lanes."""
        if self.write_mask is None:
            self.registers[index] = value
        else:
            self.registers[index] = np.where(self.write_mask, value, self.registers[index])

    def write_active(self, index: int, values: Array) -> None:
        """Set a register in the active lanes from an array over just these."""
        active = self.active()
        if active is None:
            self.registers[index] = values
            return
        result = np.empty(self.lanes, values.dtype)
        result[:] = self.registers[index]
        result[active] = values
        self.registers[index] = result

    def access(self, *, as_warp: bool = False) -> Access:
        """Who the active lanes are, for the race check."""
        active = self.active()
        threads = self.thread if active is None else self.thread[active]
        phases = self.phases if self.phases is None or active is None else self.phases[active]
        return Access(threads, phases, self.epoch, self.pc, as_warp=as_warp)

    def spread(self, addresses: Array, fill: int) -> Array:
        """Addresses of the active lanes as rows of warps, `fill` for the others."""
        active = self.active()
        if active is None:
            return addresses.reshape(-1, WARP)
        rows = np.full(self.lanes, fill, np.int64)
        rows[active] = addresses
        return rows.reshape(-1, WARP)

    # -- running ------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run to the end of every thread."""
        steps, controls, joins, stats = self.code.steps, self.code.controls, self.code.joins, self.stats
        while True:
            pc = self.pc
            stats[pc].warps += self.warps
            self.executed += 1
            step = steps[pc]
            if step is not None:
                step(self)
                following: int | None = pc + 1
            else:
                following = controls[pc](self, pc)
            if following is None or (self.others and joins[following]):
                if following is not None:
                    self._leave_at(following)
                if not self._choose_group():
                    return
            else:
                self.pc = following

    def _leave_at(self, pc: int | Array) -> None:
        """Note where the lanes of the group go on."""
        if self.mask is None:
            self.lane_pc[:] = pc
        else:
            self.lane_pc[self.mask] = pc

    def _set_group(self, mask: Array | None, *, others: bool) -> None:
        self.mask = mask
        self.others = others
        self.write_mask = mask if others else None
        self.warps = self.lanes // WARP if mask is None else int(mask.reshape(-1, WARP).any(axis=1).sum())

    def _choose_group(self) -> bool:
        """Pick the lanes to run next; False when all have exited."""
        while True:
            runnable = self.alive & ~self.waiting & ~self.parked
            if runnable.any():
                break
            if self.parked.any():
                self._unpark()
            elif self.waiting.any():
                self._release_barriers()
            else:
                return False
        pcs = np.where(runnable, self.lane_pc, _NEVER)
        self.pc = int(pcs.min())
        mask = self.alive & ~self.waiting & (self.lane_pc == self.pc)
        self.parked &= ~mask
        count = int(np.count_nonzero(mask))
        others = count < int(np.count_nonzero(self.alive))
        self._set_group(None if count == self.lanes else mask, others=others)
        return True

    def narrow(self, mask: Array) -> int | None:
        """Let only these lanes of the group go on; None if there are none. The others' state is set already."""
        if not mask.any():
            return None
        self._set_group(mask, others=bool((self.alive & ~mask).any()))
        return self.pc

    # -- control flow -------------------------------------------------------------------------------------------

    def branch(self, taken: Any, target: int, following: int) -> int | None:
        """Go to `target` where `taken`, else to `following`. None if lanes of the group part."""
        if np.ndim(taken) == 0:
            return target if taken else following
        if self.mask is not None:
            taken = taken & self.mask
            count, total = int(np.count_nonzero(taken)), int(np.count_nonzero(self.mask))
        else:
            count, total = int(np.count_nonzero(taken)), self.lanes
        if count == 0:
            return following
        if count == total:
            return target
        pcs = np.where(taken, np.int32(target), np.int32(following))
        self._leave_at(pcs if self.mask is None else pcs[self.mask])
        return None

    def branch_each(self, targets: Array) -> int | None:
        """Go where each lane's target says."""
        mine = self.of_active(targets)
        if (mine == mine[0]).all():
            return int(mine[0])
        self._leave_at(mine)
        return None

    def exit(self, exiting: Any, following: int) -> int | None:
        """End the lanes of the group where `exiting`."""
        mask = self.mask if self.mask is not None else np.ones(self.lanes, bool)
        leaving = mask & exiting
        if not leaving.any():
            return following
        self.alive &= ~leaving
        staying = mask & ~leaving
        return None if self.narrow(staying) is None else following

    def barrier(self, pc: int, on_complete: Callable[[Machine], None] | None) -> int | None:
        """A block barrier. Waits unless the group is made of whole blocks."""
        if self.others:
            mask = self.mask
            assert mask is not None
            if not self.released[mask].all():
                self.waiting |= mask
                self.lane_pc[mask] = pc
                self.stats[pc].warps -= self.warps  # counted when it goes on
                return None
            self.released &= ~mask
        elif self.mask is not None:
            self._check_whole_blocks(self.mask, pc)
        if on_complete is not None:
            on_complete(self)
        self.epoch += 1
        return pc + 1

    def _release_barriers(self) -> None:
        """All live lanes wait: check that each block waits as a whole and at one place, and let it go on."""
        rows = (self.blocks, self.launch.padded_threads)
        waiting = self.waiting.reshape(rows)
        pcs = self.lane_pc.reshape(rows)
        first = np.where(waiting, pcs, _NEVER).min(axis=1, keepdims=True)
        elsewhere = waiting & (pcs != first)
        if elsewhere.any():
            lane = int(np.flatnonzero(elsewhere)[0])
            block = lane // self.launch.padded_threads
            self.pc = int(self.lane_pc[lane])
            other = int(first[block, 0])
            there = np.flatnonzero(waiting[block] & (pcs[block] == other))
            detail = f"other threads of the block wait at another barrier: {self.name_threads(there)}"
            raise BarrierFault(lane, detail, (other, "the other barrier"))
        lane = int(np.flatnonzero(self.waiting)[0])
        self._check_whole_blocks(self.waiting, int(self.lane_pc[lane]))
        self.waiting[:] = False
        self.released |= self.alive
        self.epoch += 1

    def _check_whole_blocks(self, mask: Array, pc: int) -> None:
        threads = self.launch.threads_per_block
        rows = mask.reshape(self.blocks, -1)[:, :threads]
        missing = rows.any(axis=1) & ~rows.all(axis=1)
        if missing.any():
            block = int(np.flatnonzero(missing)[0])
            lane = block * self.launch.padded_threads + int(np.flatnonzero(rows[block])[0])
            absent = np.flatnonzero(~rows[block])
            self.pc = int(self.lane_pc[lane]) if self.waiting[lane] else pc
            have = "threads of the block have" if len(absent) > 1 else "thread of the block has"
            detail = f"{len(absent)} {have} exited before it: {self.name_threads(absent)}"
            raise BarrierFault(lane, detail)

    def converge(self, members: Array | None, pc: int) -> bool:
        """Wait for the lanes that a warp instruction names: True if the group may execute it.

        members: booleans of shape (warps, 32), None for all lanes. Lanes whose warp is incomplete are parked.
        """
        if not self.others:
            return True
        mask = self.mask
        assert mask is not None
        rows, alive = mask.reshape(-1, WARP), self.alive.reshape(-1, WARP)
        needed = alive if members is None else alive & members
        incomplete = (needed & ~rows).any(axis=1) & rows.any(axis=1)
        if not incomplete.any():
            return True
        stay = mask & np.repeat(incomplete, WARP)
        self.parked |= stay
        self.lane_pc[stay] = pc
        self.stats[pc].warps -= int(incomplete.sum())  # counted when they execute it
        if self.narrow(mask & ~stay) is None:
            self.executed -= 1
            return False
        return True

    def _unpark(self) -> None:
        """Nothing else can run: try the parked lanes again, since the lanes they wait for may have exited."""
        if self.executed == self._executed_at_unpark:
            lane = int(np.flatnonzero(self.parked)[0])
            self.pc = int(self.lane_pc[lane])
            rows = slice(lane // WARP * WARP, lane // WARP * WARP + WARP)
            absent = np.flatnonzero(self.alive[rows] & ~self.parked[rows])
            others = "other lanes" if len(absent) == 0 else self.name_thread(int(self.thread[rows][absent[0]]))
            detail = f"{others} of the warp never reach it"
            raise BarrierFault(lane, detail, kind="warp divergence: an instruction waits for lanes of its warp")
        self._executed_at_unpark = self.executed
        self.parked[:] = False

    # -- messages -----------------------------------------------------------------------------------------------

    def name_thread(self, thread: int) -> str:
        """A thread of the block, by its index."""
        x, y, _ = self.launch.block
        return f"thread ({thread % x}, {thread // x % y}, {thread // (x * y)})"

    def name_threads(self, threads: Array) -> str:
        """Threads of the block by ascending indices: runs of neighbours by their ends, the first few of them."""
        runs = np.split(threads, np.flatnonzero(np.diff(threads) != 1) + 1)
        names = [
            self.name_thread(int(run[0]))
            if len(run) == 1
            else f"{self.name_thread(int(run[0]))} to {self.name_thread(int(run[-1])).removeprefix('thread ')}"
            for run in runs[:SHOWN_RUNS]
        ]
        return ", ".join(names) + (", …" if len(runs) > SHOWN_RUNS else "")

    def name_lane(self, lane: int) -> str:
        """A thread and its block, by its lane in the chunk."""
        return self.name_thread_of(int(self.thread[lane]), self.first_block + int(self.block[lane]))

    def name_thread_of(self, thread: int, block: int) -> str:
        """A thread and its block, by their indices."""
        x, y, _ = self.launch.grid
        return f"{self.name_thread(thread)} of block ({block % x}, {block // x % y}, {block // (x * y)})"
