"""Counters against numbers counted by hand."""

from typing import Any

import numpy as np
import pytest

from uop.runtime.nvrtc import compile_cuda
from uop.runtime.simulator import Counters, simulate


def run(source: str, grid: Any, block: Any, *arguments: Any, **options: Any) -> Counters:
    """Compile a CUDA kernel and simulate it."""
    return simulate(compile_cuda(source, "compute_80").ptx, grid, block, arguments, source=source, **options)


COPY = r"""
extern "C" __global__ void copy(TYPE* out, const TYPE* in, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}
"""


@pytest.mark.parametrize(
    ("c_type", "dtype", "elements", "load_sectors", "store_sectors"),
    # Per warp: 32 lanes of 1, 2, 4, 8 and 16 bytes are 1, 2, 4, 8 and 16 sectors.
    [
        ("char", "i1", 1, 1, 1),
        ("short", "i2", 1, 2, 2),
        ("float", "f4", 1, 4, 4),
        ("double", "f8", 1, 8, 8),
        ("float4", "f4", 4, 16, 16),
    ],
)
def test_coalesced_copy(c_type: str, dtype: str, elements: int, load_sectors: int, store_sectors: int):
    n = 1024
    values = np.arange(n * elements).astype(dtype)
    out = np.zeros_like(values)
    counters = run(COPY.replace("TYPE", c_type), 8, 128, out, values, 1)
    assert (out == values).all()
    warps = n // 32
    assert counters.blocks == 8
    assert counters.threads == n
    assert counters.global_load_requests == counters.global_store_requests == warps
    assert counters.global_load_sectors == counters.unique_load_sectors == warps * load_sectors
    assert counters.global_store_sectors == counters.unique_store_sectors == warps * store_sectors
    assert counters.global_load_bytes == counters.global_store_bytes == values.nbytes
    assert counters.shared_wavefronts == counters.barriers == 0
    assert counters.instructions_by_kind["load.global"] == warps


def test_strided_copy():
    # Every lane reads a sector of its own; with stride 2 a sector serves four lanes.
    values = np.arange(256 * 8).astype(np.float32)
    assert run(COPY.replace("TYPE", "float"), 1, 256, np.zeros(256, np.float32), values, 8).global_load_sectors == 256
    assert run(COPY.replace("TYPE", "float"), 1, 256, np.zeros(256, np.float32), values, 2).global_load_sectors == 64
    # All lanes read the same sector: one for each warp, one in all.
    counters = run(COPY.replace("TYPE", "float"), 1, 256, np.zeros(256, np.float32), values, 0)
    assert counters.global_load_sectors == 8
    assert counters.unique_load_sectors == 1


def test_unaligned_rows_take_one_sector_more():
    source = COPY.replace("TYPE", "float").replace("in[i * stride]", "in[i + stride]")
    counters = run(source, 1, 64, np.zeros(64, np.float32), np.zeros(65, np.float32), 1)
    assert counters.global_load_sectors == 2 * 5
    assert counters.unique_load_sectors == 9  # the warps share one


def test_masked_lanes_move_nothing():
    source = COPY.replace("TYPE", "float").replace("  out[i]", "  if (i < 40) out[i]")
    counters = run(source, 1, 96, np.zeros(40, np.float32), np.zeros(40, np.float32), 1)
    assert counters.global_load_requests == 2
    assert counters.global_load_sectors == 4 + 1
    assert counters.global_load_bytes == 160


TRANSPOSE = r"""
extern "C" __global__ void transpose(float* out, const float* in) {
  __shared__ float tile[32][WIDTH];
  for (int i = threadIdx.y; i < 32; i += 8)
    tile[i][threadIdx.x] = in[i * 32 + threadIdx.x];  // FILL
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8)
    out[i * 32 + threadIdx.x] = tile[threadIdx.x][i];  // DRAIN
}
"""


def line_of(source: str, marker: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if marker in line)


@pytest.mark.parametrize(("width", "passes"), [(32, 32), (33, 1), (34, 2), (36, 4), (40, 8)])
def test_transpose_through_shared_memory(width: int, passes: int):
    """A column of 32 rows at stride `width` hits gcd(width, 32) times fewer banks."""
    source = TRANSPOSE.replace("WIDTH", str(width))
    values = np.arange(1024).astype(np.float32).reshape(32, 32)
    out = np.zeros_like(values)
    counters = run(source, 1, (32, 8), out, values)
    assert (out == values.T).all()
    assert counters.ideal_shared_wavefronts == 64  # 32 warp stores and 32 warp loads
    assert counters.shared_wavefronts == 32 + 32 * passes
    assert counters.bank_conflicts == 32 * (passes - 1)
    assert counters.at_line(line_of(source, "// FILL")).bank_conflicts == 0
    assert counters.at_line(line_of(source, "// DRAIN")).bank_conflicts == 32 * (passes - 1)
    assert counters.barriers == 8
    assert counters.global_load_sectors == counters.global_store_sectors == 128


@pytest.mark.parametrize(
    ("c_type", "step", "wavefronts", "ideal"),
    # 8 bytes a lane take two phases, 16 bytes four; 16 bytes at a stride of 32 conflict in pairs.
    [
        ("float", 1, 1, 1),
        ("float", 2, 2, 1),
        ("float2", 1, 2, 2),
        ("float4", 1, 4, 4),
        ("float4", 2, 8, 4),
        ("short", 1, 1, 1),
    ],
)
def test_wavefronts_by_width(c_type: str, step: int, wavefronts: int, ideal: int):
    source = r"""
extern "C" __global__ void k(TYPE* out) {
  __shared__ TYPE s[64];
  s[threadIdx.x * STEP] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[(threadIdx.x ^ 1) * STEP];
}
"""
    source = source.replace("TYPE", c_type).replace("STEP", str(step))
    counters = run(source, 1, 32, np.zeros(512, np.uint8)).of_kind("store.shared")
    assert (counters.shared_wavefronts, counters.ideal_shared_wavefronts) == (wavefronts, ideal)


def test_broadcast_takes_one_wavefront():
    source = r"""
extern "C" __global__ void k(float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = s[threadIdx.x + 32] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x / 4 + 7];
}
"""
    counters = run(source, 1, 32, np.zeros(32, np.float32)).of_kind("load.shared")
    assert (counters.shared_wavefronts, counters.bank_conflicts) == (1, 0)


def test_async_copies_count_on_both_sides():
    source = r"""
extern "C" __global__ void k(float* out, const float* in) {
  __shared__ __align__(16) float s[1024];
  unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x * 4]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(in + threadIdx.x * 4) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
"""
    out, values = np.zeros(256, np.float32), np.arange(1024).astype(np.float32)
    counters = run(source, 1, 256, out, values)
    assert (out == values[:256]).all()
    copies = counters.of_kind("cp.async")
    assert copies.global_load_requests == 8
    assert copies.global_load_sectors == 8 * 16
    assert copies.global_load_bytes == 4096
    assert (copies.shared_wavefronts, copies.ideal_shared_wavefronts) == (32, 32)


def test_shuffles_and_branches():
    source = r"""
extern "C" __global__ void k(float* out, const float* in) {
  float x = in[threadIdx.x];
  for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffff, x, i);
  if (threadIdx.x < 48) out[threadIdx.x] = x;
}
"""
    counters = run(source, 2, 64, np.zeros(64, np.float32), np.ones(64, np.float32))
    assert counters.shuffles == 4 * 5
    assert counters.instructions_by_kind["fp32"] == 4 * 5
    assert counters.global_store_requests == 4


def test_counters_add_up():
    values = np.arange(64).astype(np.float32)
    parts = [run(COPY.replace("TYPE", "float"), 1, 64, np.zeros(64, np.float32), values, 1) for _ in range(3)]
    total = parts[0] + parts[1] + parts[2]
    assert total.instructions == 3 * parts[0].instructions
    assert total.global_load_sectors == 3 * parts[0].global_load_sectors
    assert total.unique_store_sectors == 3 * parts[0].unique_store_sectors
    assert total.threads == 192
    by_line = [total.at_line(line) for line in total.lines]
    assert sum(part.instructions for part in by_line) == total.instructions


def test_counts_do_not_depend_on_chunks_or_checks():
    source = (
        TRANSPOSE.replace("WIDTH", "32")
        .replace("in[", "in[blockIdx.x * 1024 + ")
        .replace("out[", "out[blockIdx.x * 1024 + ")
    )
    values = np.arange(4 * 1024).astype(np.float32)
    results: list[Counters] = []
    for options in ({}, {"chunk_lanes": 256}, {"chunk_lanes": 600, "check_races": False}):
        out = np.zeros_like(values)
        results.append(run(source, 4, (32, 8), out, values, **options))
        assert (out.reshape(4, 32, 32) == values.reshape(4, 32, 32).transpose(0, 2, 1)).all()
    assert results[0] == results[1] == results[2]


def test_counting_can_be_left_out():
    values = np.arange(64).astype(np.float32)
    counters = run(COPY.replace("TYPE", "float"), 1, 64, np.zeros(64, np.float32), values, 1, count=False)
    assert counters.global_load_sectors == 0
    assert counters.instructions > 0


def counts(counters: Counters) -> list[Any]:
    """Everything that was counted but the unique sectors."""
    return [counters.blocks, counters.threads, *counters.by_instruction.values()]


@pytest.mark.parametrize("offset", [0, 1])
def test_a_sample_of_equal_blocks_counts_the_same(offset: int):
    # Rows of 33 floats start at each of the eight places in a sector in turn.
    source = COPY.replace("TYPE", "float").replace("in[i * stride]", "in[i + blockIdx.x + stride]")
    out, values = np.zeros(1024 * 32, np.float32), np.arange(1024 * 33 + 1).astype(np.float32)
    complete = run(source, 1024, 32, out, values, offset)
    sampled = run(source, 1024, 32, out, values, offset, sample=True)
    assert complete.simulated_blocks == complete.blocks == sampled.blocks == 1024
    assert sampled.simulated_blocks == 48
    assert counts(sampled) == counts(complete)
    assert sampled.global_load_sectors == 128 * sum(-(-(row + 32) // 8) for row in range(8))


@pytest.mark.parametrize("special", [0, 63, 511, 1023])
def test_a_grid_of_unequal_blocks_is_run_whole(special: int):
    # Only blocks that the sample sees can tell that they differ: the first, the last, or every block from one on.
    source = COPY.replace("TYPE", "float").replace("  out[i]", f"  if (blockIdx.x >= {special}) out[i]")
    out, values = np.zeros(1024 * 32, np.float32), np.ones(1024 * 32, np.float32)
    sampled = run(source, 1024, 32, out, values, 1, sample=True)
    assert sampled.simulated_blocks == (48 if special == 0 else 1024)
    assert sampled.global_store_sectors == (1024 - special) * 4


def test_a_small_grid_is_run_whole():
    out, values = np.zeros(95 * 32, np.float32), np.ones(95 * 32, np.float32)
    assert run(COPY.replace("TYPE", "float"), 95, 32, out, values, 1, sample=True).simulated_blocks == 95
    assert (out == 1).all()
