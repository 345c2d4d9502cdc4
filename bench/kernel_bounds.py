"""How fast a kernel can be at best on a GPU: what it asks of each pipe, divided by what the pipe gives.

No pipe waits for another in these bounds, so a kernel takes at least the longest of them. Latency, misses of the
caches and clocks that fall under load are not in them: bounds rank kernels, they predict no time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, prod

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.runtime.simulator import Counters
from uop.runtime.simulator.traffic import SECTOR_BYTES


@dataclass(frozen=True)
class Gpu:
    """Peak rates. Per multiprocessor and clock: warp instructions, multiply-adds of tensor cores (16-bit operands;
    tf32 ones at half the rate), wavefronts of shared memory, sectors of L1. Of the chip: bytes per second.
    """

    arch: str
    clock_hz: float
    issue: float
    fp32: float
    integer: float
    special: float
    tensor: float
    shared: float
    l1_sectors: float
    l2_bytes: float
    dram_bytes: float

    @property
    def multiprocessors(self) -> int:
        return ARCHITECTURES[self.arch].multiprocessors


# issue: four schedulers. fp32, integer, special: "Throughput of Native Arithmetic Instructions" in the CUDA C++
# Programming Guide, divided by 32 lanes (8.0: 64, 64, 16; 9.0: 128, 64, 16). shared, l1_sectors: 128 bytes a clock.
# The rates of L2 are estimates between NVIDIA's peak and published measurements; they are not calibrated.
GPUS = {
    # NVIDIA A100 Tensor Core GPU Architecture (2020): 1410 MHz, 312 TFLOP/s f16, 1.94 TB/s (80 GB PCIe).
    "A100": Gpu("sm_80", 1.41e9, 4, 2, 2, 0.5, 1024, 1, 4, 4.8e12, 1.94e12),
    # NVIDIA H100 data sheet (SXM): 3.35 TB/s; 1830 MHz is the clock of its 989 TFLOP/s, 2048 multiply-adds.
    # `mma.sync`, which is what is counted here, reaches 62 % of that, wgmma all (Luo et al., "Benchmarking and
    # Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024): 1280.
    "H100": Gpu("sm_90", 1.83e9, 4, 4, 2, 0.5, 1280, 1, 4, 5.5e12, 3.35e12),
}

TF32_SLOWDOWN = 2


def bounds(counters: Counters, argument_bytes: int, gpu: Gpu) -> dict[str, float]:
    """Seconds that each pipe takes at least. argument_bytes: of all buffers, each moved once between DRAM and chip.

    Multiprocessors work on whole blocks: the busiest has the number of blocks per multiprocessor, rounded up.
    """
    kinds = counters.instructions_by_kind
    busiest = ceil(counters.blocks / gpu.multiprocessors) / counters.blocks
    per_clock = {
        "issue": counters.instructions / gpu.issue,
        "fp32": kinds.get("fp32", 0) / gpu.fp32,
        "integer": sum(kinds.get(kind, 0) for kind in ("integer", "compare")) / gpu.integer,
        "special": kinds.get("special", 0) / gpu.special,
        "tensor": tensor_multiply_adds(counters) / gpu.tensor,
        "shared": (counters.shared_wavefronts + counters.shuffles) / gpu.shared,
        "L1": (counters.global_load_sectors + counters.global_store_sectors) / gpu.l1_sectors,
    }
    sectors = counters.global_load_sectors + counters.global_store_sectors
    return {name: clocks * busiest / gpu.clock_hz for name, clocks in per_clock.items()} | {
        "L2": sectors * SECTOR_BYTES / gpu.l2_bytes,
        "DRAM": argument_bytes / gpu.dram_bytes,
    }


def tensor_multiply_adds(counters: Counters) -> int:
    """Multiply-adds of all mma instructions, those of tf32 counted by the time they take."""
    total = 0
    for instruction in counters.of_kind("mma").by_instruction.values():
        shape = re.search(r"\.m(\d+)n(\d+)k(\d+)", instruction.opcode)
        assert shape is not None, instruction.opcode
        slowdown = TF32_SLOWDOWN if ".tf32" in instruction.opcode else 1
        total += instruction.warps * prod(map(int, shape.groups())) * slowdown
    return total
