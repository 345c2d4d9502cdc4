"""Planted bugs: each must be reported, at its line, and the kernel without the bug must pass."""

from typing import Any

import numpy as np
import pytest

from uop.runtime.nvrtc import compile_cuda
from uop.runtime.simulator import Counters, SimulationError, UnsupportedPtxError, simulate


def run(source: str, grid: Any, block: Any, *arguments: Any, **options: Any) -> Counters:
    """Compile a CUDA kernel and simulate it."""
    return simulate(compile_cuda(source, "compute_80").ptx, grid, block, arguments, source=source, **options)


def line_of(source: str, marker: str = "// BUG") -> int:
    """The line with the marker."""
    lines = [number for number, line in enumerate(source.splitlines(), 1) if marker in line]
    assert len(lines) == 1, lines
    return lines[0]


def fails(
    source: str, grid: Any, block: Any, *arguments: Any, kind: str, marker: str = "// BUG", **options: Any
) -> str:
    """Run a kernel that must fail in the marked line, and return the message."""
    with pytest.raises(SimulationError, match=kind) as caught:
        run(source, grid, block, *arguments, **options)
    assert caught.value.line == line_of(source, marker)
    assert marker in str(caught.value), "the message quotes the line"
    return str(caught.value)


# C = A B for 32 x 32 tiles, double-buffered with cp.async. Every piece of synchronisation has a name.
MATMUL = r"""
#define TILE 32
__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(to)), "l"(from) : "memory");
}
extern "C" __global__ void __launch_bounds__(256) matmul(float* C, const float* A, const float* B, int N) {
  __shared__ __align__(16) float As[2][TILE][TILE];
  __shared__ __align__(16) float Bs[2][TILE][TILE];
  int t = threadIdx.x, row = t / 8, col = t % 8 * 4;
  const float* a = A + (blockIdx.y * TILE + row) * N + col;
  const float* b = B + row * N + blockIdx.x * TILE + col;
  float acc[4] = {};
  copy(&As[0][row][col], a);
  copy(&Bs[0][row][col], b);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int k = 0; k < N / TILE; ++k) {
    int now = k & 1;
    if (k + 1 < N / TILE) {
      copy(&As[now ^ 1][row][col], a + (k + 1) * TILE);  // REFILL
      copy(&Bs[now ^ 1][row][col], b + (k + 1) * TILE * N);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");  // WAIT
    __syncthreads();  // ARRIVED
    for (int i = 0; i < TILE; ++i) for (int j = 0; j < 4; ++j) acc[j] += As[now][row][i] * Bs[now][i][col + j];  // USE
    __syncthreads();  // DONE
  }
  for (int j = 0; j < 4; ++j) C[(blockIdx.y * TILE + row) * N + blockIdx.x * TILE + col + j] = acc[j];
}
"""


def matmul_arguments(n: int = 96):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-8, 8, (2, n, n)).astype(np.float32)
    return np.zeros((n, n), np.float32), a, b, n


def without(marker: str) -> str:
    """The matmul without the line with the marker; the line stays, empty."""
    lines = [line if marker not in line else "" for line in MATMUL.splitlines()]
    return "\n".join(lines)


def test_matmul_is_right():
    c, a, b, n = matmul_arguments()
    run(MATMUL, (3, 3), 256, c, a, b, n)
    assert (c == a @ b).all()


def test_missing_wait():
    message = fails(
        without("// WAIT"), (3, 3), 256, *matmul_arguments(), kind="cp.async to it is in flight", marker="// USE"
    )
    assert "the copy was not waited for" in message
    assert f"the copy, line {line_of(MATMUL, 'copy(&As[0]')}" in message


def test_missing_barrier_after_the_wait():
    source = without("// ARRIVED")
    message = fails(source, (3, 3), 256, *matmul_arguments(), kind="race: read after write", marker="// USE")
    assert "the write, line" in message


def test_missing_barrier_before_the_refill():
    source = without("// DONE")
    message = fails(source, (3, 3), 256, *matmul_arguments(), kind="race: write after read", marker="// REFILL")
    assert f"the read, line {line_of(MATMUL, '// USE')}" in message


def test_lockstep_execution_alone_does_not_see_a_missing_barrier():
    """Why the race check exists: without it the wrong kernel gives the right result."""
    c, a, b, n = matmul_arguments()
    run(without("// ARRIVED"), (3, 3), 256, c, a, b, n, check_races=False)
    assert (c == a @ b).all()


REVERSE = r"""
extern "C" __global__ void reverse(TYPE* out, const TYPE* in) {
  __shared__ TYPE s[256];
  s[threadIdx.x] = in[threadIdx.x];
  SYNC
  out[threadIdx.x] = s[255 - threadIdx.x];  // BUG
}
"""


@pytest.mark.parametrize(
    ("c_type", "dtype"), [("unsigned char", "u1"), ("short", "i2"), ("float", "f4"), ("double", "f8")]
)
def test_missing_barrier_after_a_store(c_type: str, dtype: str):
    source = REVERSE.replace("TYPE", c_type)
    values, out = np.arange(256).astype(dtype), np.zeros(256, dtype)
    run(source.replace("SYNC", "__syncthreads();"), 1, 256, out, values)
    assert (out == values[::-1]).all()
    message = fails(source.replace("SYNC", ""), 1, 256, out, values, kind="race: read after write")
    assert "thread (0, 0, 0) of block (0, 0, 0): the other is thread 255" in message
    assert "the write, line 4" in message


def test_bytes_of_one_word_are_judged_apart():
    source = r"""
extern "C" __global__ void k(unsigned char* out) {
  __shared__ unsigned char s[256];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[threadIdx.x];
}
"""
    out = np.zeros(256, np.uint8)
    run(source, 1, 256, out)
    assert (out == np.arange(256)).all()


def test_narrow_store_and_wide_load_race():
    source = r"""
extern "C" __global__ void k(unsigned* out) {
  __shared__ __align__(4) unsigned char s[256];
  s[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 64) out[threadIdx.x] = *(unsigned*)(s + 4 * threadIdx.x);  // BUG
}
"""
    fails(source, 1, 256, np.zeros(64, np.uint32), kind="race: read after write")


def test_write_write_race_in_shared_memory():
    source = r"""
extern "C" __global__ void k(float* out) {
  __shared__ float s[32];
  s[threadIdx.x / 2] = threadIdx.x;  // BUG
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x / 2];
}
"""
    fails(source, 1, 64, np.zeros(64, np.float32), kind="store different values to one place in shared memory")
    # Several lanes may store the same value.
    same = source.replace("= threadIdx.x;", "= threadIdx.x / 2;")
    out = np.zeros(64, np.float32)
    run(same, 1, 64, out)
    assert (out == np.arange(64) // 2).all()


WARP_EXCHANGE = r"""
extern "C" __global__ void k(float* out, const float* in) {
  __shared__ float s[128];
  s[threadIdx.x] = in[threadIdx.x];
  FIRST
  float x = s[threadIdx.x ^ 1];  // READ
  SECOND
  s[threadIdx.x] = x + 1;  // WRITE
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 3];
}
"""


def test_warp_barriers_order_a_warp():
    values, out = np.arange(128).astype(np.float32), np.zeros(128, np.float32)
    right = WARP_EXCHANGE.replace("FIRST", "__syncwarp();").replace("SECOND", "__syncwarp();")
    run(right, 1, 128, out, values)
    assert (out == (np.arange(128) ^ 3 ^ 1) + 1).all()
    first = WARP_EXCHANGE.replace("FIRST", "").replace("SECOND", "__syncwarp();")
    fails(first, 1, 128, out, values, kind="race: read after write", marker="// READ")
    second = WARP_EXCHANGE.replace("FIRST", "__syncwarp();").replace("SECOND", "")
    fails(second, 1, 128, out, values, kind="race: write after read", marker="// WRITE")


def test_a_warp_barrier_does_not_order_other_warps():
    source = REVERSE.replace("TYPE", "float").replace("SYNC", "__syncwarp();")
    fails(source, 1, 256, np.zeros(256, np.float32), np.zeros(256, np.float32), kind="race: read after write")


def test_phases_start_anew_after_a_block_barrier():
    """A cell read in late phases of one warp is written by a warp in an early phase, with barriers between."""
    source = r"""
extern "C" __global__ void k(float* out) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float total = 0;
  if (threadIdx.x >= 32)
    for (int i = 0; i < 5; ++i) { total += s[i]; __syncwarp(); }
  __syncthreads();
  if (threadIdx.x < 32) {
    total = s[threadIdx.x ^ 1];
    __syncwarp();
    s[threadIdx.x] = total;
  }
  out[threadIdx.x] = total;
}
"""
    out = np.zeros(64, np.float32)
    run(source, 1, 64, out)
    assert out[:32].tolist() == [float(i ^ 1) for i in range(32)]
    assert (out[32:] == 10).all()


def test_copy_is_visible_to_its_own_thread_after_the_wait():
    source = r"""
extern "C" __global__ void k(float* out, const float* in) {
  __shared__ float s[64];
  unsigned address = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(address), "l"(in + threadIdx.x) : "memory");
  WAIT
  out[threadIdx.x] = s[threadIdx.x];  // BUG
}
"""
    values, out = np.arange(64).astype(np.float32), np.zeros(64, np.float32)
    run(source.replace("WAIT", 'asm volatile("cp.async.wait_all;" ::: "memory");'), 1, 64, out, values)
    assert (out == values).all()
    fails(source.replace("WAIT", ""), 1, 64, out, values, kind="in flight")
    # A group that was never committed is not waited for by its number.
    by_group = source.replace("WAIT", 'asm volatile("cp.async.wait_group 0;" ::: "memory");')
    fails(by_group, 1, 64, out, values, kind="in flight")


def test_groups_are_counted_per_thread():
    """Half of the threads commit one group more, so for them `wait_group 1` leaves less in flight."""
    source = r"""
extern "C" __global__ void k(float* out, const float* in) {
  __shared__ float s[64];
  unsigned address = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(address), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  if (CONDITION) asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  out[threadIdx.x] = s[threadIdx.x];  // BUG
}
"""
    values, out = np.arange(64).astype(np.float32), np.zeros(64, np.float32)
    run(source.replace("CONDITION", "threadIdx.x < 64"), 1, 64, out, values)
    assert (out == values).all()
    message = fails(source.replace("CONDITION", "threadIdx.x % 2 == 0"), 1, 64, out, values, kind="in flight")
    assert "thread (1, 0, 0)" in message


# -- bounds and alignment ---------------------------------------------------------------------------------------

SHIFT = r"""
extern "C" __global__ void shift(float* out, const float* in, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i + by];  // LOAD
  out[i + by] = x;  // STORE
}
"""


@pytest.mark.parametrize("by", [1, -1, 1 << 20, -(1 << 20)])
def test_load_out_of_bounds(by: int):
    values, out = np.arange(100).astype(np.float32), np.zeros(200, np.float32)
    message = fails(SHIFT, 1, 128, out, values, by, 100, kind="global load out of bounds", marker="// LOAD")
    assert "argument 1 (float32[100], 400 bytes)" in message
    if by == 1:
        assert "thread (99, 0, 0) of block (0, 0, 0): 4 bytes starting 0 after the end" in message
    if by == -1:
        assert "thread (0, 0, 0) of block (0, 0, 0): 4 bytes starting 4 before" in message


@pytest.mark.parametrize("size", [99, 50, 0])
def test_store_out_of_bounds(size: int):
    values, out = np.arange(100).astype(np.float32), np.zeros(size, np.float32)
    message = fails(SHIFT, 1, 128, out, values, 0, 100, kind="global store out of bounds", marker="// STORE")
    assert f"argument 0 (float32[{size}], {4 * size} bytes)" in message


def test_vector_load_across_the_end():
    source = r"""
extern "C" __global__ void k(float4* out, const float4* in) {
  out[threadIdx.x] = in[threadIdx.x];  // BUG
}
"""
    fails(source, 1, 8, np.zeros(32, np.float32), np.zeros(31, np.float32), kind="global load out of bounds")


def test_null_pointer():
    fails(SHIFT, 1, 32, np.zeros(32, np.float32), None, 0, 32, kind="global load out of bounds", marker="// LOAD")


def test_misaligned_vector_load():
    source = r"""
extern "C" __global__ void k(float* out, const float* in, int offset) {
  float4 x = *(const float4*)(in + 4 * threadIdx.x + offset);  // BUG
  out[threadIdx.x] = x.x + x.y + x.z + x.w;
}
"""
    values, out = np.ones(64, np.float32), np.zeros(8, np.float32)
    run(source, 1, 8, out, values, 4)
    message = fails(source, 1, 8, out, values, 1, kind="misaligned global load")
    assert "16 bytes at an address 4 above a multiple of 16" in message


def test_misaligned_shared_access():
    source = r"""
extern "C" __global__ void k(float* out, int offset) {
  __shared__ __align__(16) float s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x >= 8) return;
  float2 x = *(float2*)(s + 2 * threadIdx.x + offset);  // BUG
  out[threadIdx.x] = x.x + x.y;
}
"""
    out = np.zeros(8, np.float32)
    run(source, 1, 64, out, 2)
    assert out.tolist() == [4 * i + 5 for i in range(8)]
    fails(source, 1, 64, out, 1, kind="misaligned shared load")


def test_shared_memory_out_of_bounds():
    source = r"""
extern "C" __global__ void k(float* out, int n) {
  __shared__ float s[32];
  for (int i = threadIdx.x; i < n; i += 32) s[i] = i;  // BUG
  out[threadIdx.x] = s[threadIdx.x];
}
"""
    run(source, 1, 32, np.zeros(32, np.float32), 32)
    message = fails(source, 1, 32, np.zeros(32, np.float32), 33, kind="shared store out of bounds")
    assert "4 bytes at 128; the block has 128 bytes" in message


def test_dynamic_shared_memory_has_the_size_of_the_launch():
    source = r"""
extern "C" __global__ void k(float* out) {
  extern __shared__ float s[];
  s[threadIdx.x] = threadIdx.x;  // BUG
  out[threadIdx.x] = s[threadIdx.x];
}
"""
    out = np.zeros(32, np.float32)
    run(source, 1, 32, out, shared_bytes=128)
    assert (out == np.arange(32)).all()
    fails(source, 1, 32, out, shared_bytes=124, kind="shared store out of bounds")


def test_uninitialised_shared_memory():
    source = r"""
extern "C" __global__ void k(float* out) {
  __shared__ float s[64];
  if (threadIdx.x != 13) s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];  // BUG
}
"""
    message = fails(source, 1, 64, np.zeros(64, np.float32), kind="read of uninitialised shared memory")
    assert "thread (50, 0, 0)" in message


def test_store_to_a_read_only_argument():
    values = np.zeros(32, np.float32)
    values.flags.writeable = False
    kind = "store to argument 0 .*read-only"
    fails(SHIFT, 1, 32, values, np.ones(32, np.float32), 0, 32, kind=kind, marker="// STORE")


# -- control flow -----------------------------------------------------------------------------------------------


def test_barrier_in_a_divergent_branch():
    source = r"""
extern "C" __global__ void k(float* out, int n) {
  if (threadIdx.x < n) {
    out[threadIdx.x] = 1;
    __syncthreads();  // BUG
  }
}
"""
    run(source, 2, 64, np.zeros(64, np.float32), 64)
    message = fails(source, 2, 64, np.zeros(64, np.float32), 40, kind="barrier divergence")
    assert "thread (0, 0, 0) of block (0, 0, 0): 24 threads of the block have exited before it" in message
    assert message.endswith("exited before it: thread (40, 0, 0) to (63, 0, 0)")
    assert message.startswith("kernel k, line 5: barrier divergence")


def test_barrier_divergence_names_scattered_threads():
    source = r"""
extern "C" __global__ void k(float* out) {
  if (CONDITION) return;
  out[threadIdx.x] = 1;
  __syncthreads();  // BUG
}
"""

    def message(condition: str) -> str:
        program = source.replace("CONDITION", condition)
        return fails(program, 1, (8, 8), np.zeros(8, np.float32), kind="barrier divergence")

    one = message("threadIdx.x == 3 && threadIdx.y == 1")
    assert one.endswith("1 thread of the block has exited before it: thread (3, 1, 0)")
    rows = message("threadIdx.y == 2 || threadIdx.y == 5")
    assert rows.endswith(
        "16 threads of the block have exited before it: thread (0, 2, 0) to (7, 2, 0), thread (0, 5, 0) to (7, 5, 0)"
    )
    assert message("threadIdx.x == 7").endswith("thread (7, 3, 0), …")


def test_barrier_after_early_exit():
    source = r"""
extern "C" __global__ void k(float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  __syncthreads();  // BUG
  out[i] = 1;
}
"""
    # Whole blocks may exit.
    out = np.zeros(128, np.float32)
    run(source, 4, 64, out, 128)
    assert (out == 1).all()
    fails(source, 4, 64, out, 100, kind="barrier divergence")


def test_two_different_barriers():
    source = r"""
extern "C" __global__ void k(float* out) {
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    asm volatile("bar.sync 0;" ::: "memory");  // FIRST
    out[threadIdx.x] = 2;
  } else {
    out[threadIdx.x] = 3;
    asm volatile("bar.sync 0;" ::: "memory");  // BUG
    out[threadIdx.x] = 4;
  }
}
"""
    with pytest.raises(SimulationError, match="other threads of the block wait at another barrier") as caught:
        run(source, 1, 64, np.zeros(64, np.float32))
    assert {caught.value.line} <= {line_of(source), line_of(source, "// FIRST")}
    assert "wait at another barrier: thread (0, 0, 0) to (31, 0, 0)" in str(caught.value)
    assert f"the other barrier, line {line_of(source, '// FIRST')}" in str(caught.value)


def test_shuffle_from_a_lane_that_exited():
    source = r"""
extern "C" __global__ void k(float* out, int n) {
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, (float)threadIdx.x, 16);  // BUG
}
"""
    run(source, 1, 32, np.zeros(32, np.float32), 32)
    message = fails(source, 1, 32, np.zeros(32, np.float32), 20, kind="shuffle reads a lane that does not take part")
    assert "lane 4 reads lane 20" in message


def test_warp_instruction_that_lanes_never_reach():
    source = r"""
extern "C" __global__ void k(float* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffffffff, out[threadIdx.x], 1);  // BUG
  else asm volatile("bar.sync 0;" ::: "memory");
}
"""
    fails(source, 1, 32, np.zeros(32, np.float32), kind="warp divergence")


def test_trap():
    source = r"""
extern "C" __global__ void k(const int* in) {
  if (in[threadIdx.x] > 5) __trap();  // BUG
}
"""
    run(source, 1, 32, np.zeros(32, np.int32))
    fails(source, 1, 32, np.arange(32, dtype=np.int32), kind="the kernel trapped")


# -- races in global memory -------------------------------------------------------------------------------------


def test_global_write_race_between_blocks():
    source = r"""
extern "C" __global__ void k(float* out) {
  if (threadIdx.x == 0) out[blockIdx.x / 2] = VALUE;  // BUG
}
"""
    run(source.replace("VALUE", "1"), 8, 32, np.zeros(4, np.float32))
    message = fails(
        source.replace("VALUE", "blockIdx.x"), 8, 32, np.zeros(4, np.float32), kind="two threads store different values"
    )
    assert "of block (1, 0, 0)" in message


def test_global_write_race_across_chunks():
    source = r"""
extern "C" __global__ void k(float* out) {
  if (threadIdx.x == 0 && blockIdx.x % 7 == 6) out[0] = blockIdx.x;  // BUG
}
"""
    fails(source, 20, 32, np.zeros(1, np.float32), kind="two threads store different values", chunk_lanes=64)


def test_global_write_race_in_a_block():
    source = r"""
extern "C" __global__ void k(float* out) {
  out[threadIdx.x] = 1;
  SYNC
  out[63 - threadIdx.x] = 2;  // BUG
}
"""
    run(source.replace("SYNC", "__syncthreads();"), 1, 64, np.zeros(64, np.float32))
    fails(source.replace("SYNC", ""), 1, 64, np.zeros(64, np.float32), kind="two threads store different values")


def test_global_write_race_in_one_instruction():
    source = r"""
extern "C" __global__ void k(float* out) {
  out[threadIdx.x / 2] = threadIdx.x;  // BUG
}
"""
    fails(source, 1, 64, np.zeros(32, np.float32), kind="two threads store different values")


NEIGHBOUR = r"""
extern "C" __global__ void k(float* x) {
  int i = blockIdx.x * 32 + threadIdx.x;
  float y = x[i ^ DISTANCE];  // LOAD
  SYNC
  x[i] = y;  // STORE
}
"""


def test_load_and_store_race_in_global_memory():
    source = NEIGHBOUR.replace("DISTANCE", "1")
    values = np.arange(64).astype(np.float32)
    run(source.replace("SYNC", "__syncthreads();"), 2, 32, values)
    assert (values == (np.arange(64) ^ 1)).all()
    kind = "race in global memory: store after load by another thread"
    message = fails(source.replace("SYNC", ""), 2, 32, values, kind=kind, marker="// STORE")
    assert "the load, line 4" in message
    # A barrier does not order other blocks.
    message = fails(
        source.replace("^ 1", "^ 32").replace("SYNC", "__syncthreads();"), 2, 32, values, kind=kind, marker="// STORE"
    )
    assert "of block (1, 0, 0)" in message
    # In chunks of one block, the second block loads what the first has stored.
    kind = "race in global memory: load after store by another thread"
    blocks = source.replace("^ 1", "^ 32").replace("SYNC", "__syncthreads();")
    fails(blocks, 2, 32, values, kind=kind, marker="// LOAD", chunk_lanes=32)


def test_in_place_kernels_are_right_where_each_thread_keeps_to_its_own():
    source = NEIGHBOUR.replace("DISTANCE", "0").replace("SYNC", "y = y * 2;")
    values = np.arange(64).astype(np.float32)
    run(source, 2, 32, values)
    assert (values == 2 * np.arange(64)).all()


def test_all_lanes_load_what_one_stores():
    source = r"""
extern "C" __global__ void k(float* x, float* out) {
  float y = x[0];  // LOAD
  out[threadIdx.x] = y;
  SYNC
  if (threadIdx.x == 3) x[0] = y + 1;  // STORE
}
"""
    values, out = np.zeros(32, np.float32), np.zeros(32, np.float32)
    run(source.replace("SYNC", "__syncthreads();"), 1, 32, values, out)
    kind = "store after load"
    message = fails(source.replace("SYNC", ""), 1, 32, values, out, kind=kind, marker="// STORE")
    assert "several threads of the same block" in message


# -- what cannot be run -----------------------------------------------------------------------------------------


def test_unknown_instruction():
    source = r"""
extern "C" __global__ void k(unsigned* out) {
  unsigned x;
  asm volatile("vadd2.u32.u32.u32 %0, %1, %1, 0;" : "=r"(x) : "r"(threadIdx.x));  // BUG
  out[threadIdx.x] = x;
}
"""
    with pytest.raises(UnsupportedPtxError, match=r"line 4: .*vadd2\.u32"):
        run(source, 1, 32, np.zeros(32, np.uint32))


def test_arguments_that_do_not_fit():
    with pytest.raises(TypeError, match="takes 4 arguments, 2 were given"):
        run(SHIFT, 1, 32, np.zeros(32, np.float32), np.zeros(32, np.float32))
    values = np.zeros((32, 2), np.float32)
    with pytest.raises(TypeError, match="argument 1 is not contiguous"):
        run(SHIFT, 1, 32, values, values[:, 0], 0, 32)
    with pytest.raises(TypeError, match="overlaps another argument"):
        run(SHIFT, 1, 32, values, values[1:], 0, 32)
    with pytest.raises(TypeError, match=r"argument 2 .* is not an integer"):
        run(SHIFT, 1, 32, values, values, 1.5, 32)
    with pytest.raises(TypeError, match="does not fit"):
        run(SHIFT, 1, 32, values, values, 1 << 32, 32)
    with pytest.raises(ValueError, match="at most 1024 threads"):
        run(SHIFT, 1, 2048, values, values, 0, 32)


def test_assertions():
    source = r"""
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, unsigned long);
extern "C" __global__ void k(const int* in) {
  if (in[threadIdx.x] > 5) __assertfail("in", "k.cu", 5, "k", 1);  // BUG
}
"""
    run(source, 1, 32, np.zeros(32, np.int32))
    fails(source, 1, 32, np.arange(32, dtype=np.int32), kind="the kernel trapped")
