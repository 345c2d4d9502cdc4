"""The shape of a launch, and the special registers that tell a thread its place in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .formats import Array
from .traffic import WARP


@dataclass(frozen=True)
class Launch:
    """Blocks in the grid, threads in a block, shared memory of a block, and what to check and count."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    check_races: bool
    count: bool

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def padded_threads(self) -> int:
        """Threads of a block, rounded up to whole warps."""
        return -(-self.threads_per_block // WARP) * WARP


def special_values(launch: Launch, static_shared_bytes: int, block: Array, thread: Array) -> dict[str, Any]:
    """The special registers of lanes, by their block in the grid and their thread in the block. Clocks stand still."""
    x, y, _ = launch.block
    grid_x, grid_y, _ = launch.grid
    ones = np.uint64(0xFFFFFFFF)
    bit = np.uint64(1) << (thread % WARP).astype(np.uint64)
    up_to = (bit << np.uint64(1)) - np.uint64(1)
    values: dict[str, Any] = {
        "%tid.x": thread % x,
        "%tid.y": thread // x % y,
        "%tid.z": thread // (x * y),
        "%ctaid.x": block % grid_x,
        "%ctaid.y": block // grid_x % grid_y,
        "%ctaid.z": block // (grid_x * grid_y),
        "%laneid": thread % WARP,
        "%warpid": thread // WARP,
        "%nwarpid": launch.padded_threads // WARP,
        "WARP_SZ": WARP,
        "%smid": 0,
        "%clock": 0,
        "%clock64": 0,
        "%globaltimer": 0,
        "%dynamic_smem_size": launch.shared_bytes - static_shared_bytes,
        "%total_smem_size": launch.shared_bytes,
        "%lanemask_eq": bit,
        "%lanemask_lt": bit - np.uint64(1),
        "%lanemask_le": up_to,
        "%lanemask_gt": ones & ~up_to,
        "%lanemask_ge": ones & ~(bit - np.uint64(1)),
    }
    for axis, threads, blocks in zip("xyz", launch.block, launch.grid, strict=True):
        values[f"%ntid.{axis}"], values[f"%nctaid.{axis}"] = threads, blocks
    return values
