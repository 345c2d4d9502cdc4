"""Occupancy and waves, against examples counted by hand from the limits of the architectures."""

import pytest

from uop.runtime.nvrtc import Resources
from uop.runtime.occupancy import occupancy, waves

KIB = 1024


@pytest.mark.parametrize(
    ("registers", "shared", "threads", "arch", "blocks", "fraction", "limiter"),
    [
        # 2048 threads / 256; the registers just fill 65536 = 8 * 256 * 32.
        (32, 0, 256, "sm_80", 8, 1.0, "threads"),
        # 33 registers take 1056 a warp, 1280 in units of 256: 16384 / 1280 = 12 warps a scheduler, 48 in all.
        (33, 0, 256, "sm_80", 6, 0.75, "registers"),
        (64, 0, 256, "sm_80", 4, 0.5, "registers"),
        # 255 registers take 8192 a warp: 2 warps a scheduler, 8 in all.
        (255, 0, 256, "sm_90", 1, 0.125, "registers"),
        # 40 registers: 1280 a warp, 48 warps; a block has 32.
        (40, 0, 1024, "sm_90a", 1, 0.5, "registers"),
        # 168 registers: 5376 a warp, 3 a scheduler, 12 in all; a block of 96 threads has 3 warps.
        (168, 0, 96, "sm_100", 4, 12 / 64, "registers"),
        # 48 KiB and 1 KiB for the system: 164 / 49 = 3, 228 / 49 = 4.
        (32, 48 * KIB, 128, "sm_80", 3, 12 / 64, "shared memory"),
        (32, 48 * KIB, 128, "sm_90", 4, 16 / 64, "shared memory"),
        # 4000 + 1024 bytes are 5120 in units of 128: 164 * 1024 / 5120 = 32.8. As many as the blocks; threads give 16.
        (16, 4000, 128, "sm_80", 16, 1.0, "threads"),
        # 32 threads: 32 blocks at most, half of the warps.
        (16, 0, 32, "sm_80", 32, 0.5, "blocks"),
        # 33 threads take two warps.
        (16, 0, 33, "sm_80", 32, 1.0, "threads"),
        # All that a block can ask for; one byte more does not run.
        (32, 163 * KIB, 1024, "sm_80", 1, 0.5, "shared memory"),
        (32, 163 * KIB + 1, 1024, "sm_80", 0, 0.0, "shared memory"),
        (32, 163 * KIB + 1, 1024, "sm_90", 1, 0.5, "shared memory"),
        # 65 registers: 2304 a warp, 7 a scheduler, 28 in all; a block of 1024 threads has 32.
        (65, 0, 1024, "sm_90", 0, 0.0, "registers"),
    ],
)
def test_occupancy(
    registers: int, shared: int, threads: int, arch: str, blocks: int, fraction: float, limiter: str
) -> None:
    result = occupancy(Resources(registers, shared, 0, 0, 0), threads, arch)
    assert (result.blocks, result.limiter) == (blocks, limiter)
    assert result.fraction == pytest.approx(fraction)
    assert result.blocks == min(result.bounds.values())


def test_dynamic_shared_memory_counts() -> None:
    static = occupancy(Resources(32, 48 * KIB, 0, 0, 0), 128, "sm_90")
    assert occupancy(Resources(32, 8 * KIB, 0, 0, 0), 128, "sm_90", dynamic_shared_bytes=40 * KIB) == static


def test_unknown_architecture() -> None:
    with pytest.raises(ValueError, match="sm_70"):
        occupancy(Resources(32, 0, 0, 0, 0), 128, "sm_70")


def test_waves() -> None:
    # 108, 132 and 148 multiprocessors.
    assert waves(864, 8, "sm_80") == 1
    assert waves(1, 4, "sm_90") == pytest.approx(1 / 528)
    assert waves(1480, 4, "sm_100") == 2.5
    assert waves(10, 0, "sm_90") is None
