"""How many blocks of a kernel fit on a multiprocessor, and in how many waves a grid runs.

The rules are those of NVIDIA's occupancy calculator (`cuda_occupancy.h`).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dialects.gpu_kernel import ARCHITECTURES
from .nvrtc import Resources

WARP = 32


@dataclass(frozen=True)
class Occupancy:
    """How much of a multiprocessor a kernel can fill.

    blocks: resident at once, 0 where not even one fits. fraction: their warps, of the most there can be. limiter: what
    there is too little of for one block more: "threads", "registers", "shared memory" or "blocks". bounds: how many
    blocks each of these leaves room for.
    """

    blocks: int
    fraction: float
    limiter: str
    bounds: dict[str, int]


def occupancy(resources: Resources, threads: int, arch: str, *, dynamic_shared_bytes: int = 0) -> Occupancy:
    """The occupancy of a kernel launched in blocks of `threads`. `shared_bytes` must be without reserved bytes.

    Raises ValueError for an architecture that is not known.
    """
    limits = ARCHITECTURES.get(arch.rstrip("af"))
    if limits is None:
        raise ValueError(f"no limits are known for {arch}; known are {', '.join(ARCHITECTURES)}")
    warps = -(-threads // WARP)
    most_warps = limits.multiprocessor_threads // WARP
    per_warp = _round_up(max(1, resources.registers) * WARP, limits.register_unit)
    warps_by_registers = limits.multiprocessor_registers // limits.schedulers // per_warp * limits.schedulers
    shared = resources.shared_bytes + dynamic_shared_bytes
    with_reserved = _round_up(shared + limits.reserved_shared_bytes, limits.shared_unit)
    bounds = {
        "threads": most_warps // warps if threads <= limits.threads else 0,
        "registers": warps_by_registers // warps,
        "shared memory": limits.multiprocessor_shared_bytes // with_reserved if shared <= limits.shared_bytes else 0,
        "blocks": limits.multiprocessor_blocks,
    }
    limiter = min(bounds, key=lambda name: bounds[name])
    blocks = bounds[limiter]
    return Occupancy(blocks, blocks * warps / most_warps, limiter, bounds)


def waves(grid_blocks: int, resident: int, arch: str) -> float | None:
    """How often the architecture's GPU is filled with `resident` blocks a multiprocessor to run the grid.

    Below 1 a part of the GPU has nothing to do; the last of 1.1 waves takes as long as a full one. None where no block
    fits.
    """
    at_once = ARCHITECTURES[arch].multiprocessors * resident
    return grid_blocks / at_once if at_once else None


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
