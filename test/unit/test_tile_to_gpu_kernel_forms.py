"""convert-tile-to-gpu-kernel on kernels in tile form: simulated with the race check, against the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from memory_checks import check_memory
from module_text import parse
from xdsl.context import Context
from xdsl.ir import Attribute, Operation

from uop.dialects import gpu_kernel
from uop.dialects.semantics import numpy_dtype
from uop.dialects.types import element_of, shape_of
from uop.dialects.uop import KernelOp
from uop.passes.tile.convert_tile_to_gpu_kernel import ConvertTileToGPUKernelPass
from uop.rewriting.diagnostics import PassError, Remark, collect_remarks
from uop.runtime import nvrtc
from uop.runtime.interpret.tiles import interpret_tile_kernel
from uop.runtime.simulator import SimulationError, simulate
from uop.targets.cuda import kernel_text

Array = np.ndarray[Any, Any]

needs_nvrtc = pytest.mark.skipif(not nvrtc.is_available(), reason="NVRTC is not installed")


def lower(text: str) -> tuple[gpu_kernel.KernelOp, list[Remark]]:
    module = parse(text)
    with collect_remarks() as remarks:
        ConvertTileToGPUKernelPass().apply(Context(), module)
    module.verify()
    check_memory(module, gathers=True)
    return next(op for op in module.ops if isinstance(op, gpu_kernel.KernelOp)), remarks


def random_array(type: Attribute, seed: int) -> Array:
    rng, shape, dtype = np.random.default_rng(seed), shape_of(type), np.dtype(numpy_dtype(element_of(type)))
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    return (rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, 8, shape)).astype(dtype)


def simulate_kernel(kernel: gpu_kernel.KernelOp, buffers: list[Array]) -> None:
    source = kernel_text(kernel)
    ptx = nvrtc.compile_cuda(source, "compute_80").ptx
    simulate(ptx, kernel.grid_shape, kernel.threads, buffers, check_races=True, source=source)


def buffers_for(text: str) -> tuple[KernelOp, list[Array]]:
    kernel = next(op for op in parse(text).ops if isinstance(op, KernelOp))
    return kernel, [random_array(argument.type, number) for number, argument in enumerate(kernel.body.block.args)]


def check(text: str) -> gpu_kernel.KernelOp:
    """The simulated kernel writes what the interpreter of tile form says."""
    tile, buffers = buffers_for(text)
    expected = [buffer.copy() for buffer in buffers]
    interpret_tile_kernel(tile, expected)
    kernel, _ = lower(text)
    simulate_kernel(kernel, buffers)
    for actual, wanted in zip(buffers, expected, strict=True):
        scale = np.abs(wanted.astype(np.float64)).max(initial=1e-30)
        np.testing.assert_allclose(actual.astype(np.float64), wanted.astype(np.float64), atol=4e-6 * scale, rtol=0)
    return kernel


def ops_of(kernel: gpu_kernel.KernelOp, op: type[Operation]) -> list[Operation]:
    return [found for found in kernel.body.walk() if isinstance(found, op)]


# State.

STATES_OF_TWO_SHAPES = """
uop.kernel @states(%out: memref<4x2x2xf32>, %x: memref<8x4xf32>)
    schedule #tile.schedule<i = 4 thread * 1 register, a = 2 register, b = 3 register, k = 4 loop> {
  %ti = tile.axis i = 4 thread : index
  %ra = tile.axis a = 2 register : vector<2x1xindex>
  %rb = tile.axis b = 3 register : vector<1x3xindex>
  %c0 = uop.const 0 : index
  %c1 = uop.const 1 : index
  %c2 = uop.const 2 : index
  %half = uop.const 0.5 : f32
  %h21 = uop.expand %half : f32 -> vector<2x1xf32>
  %h23 = uop.expand %half : f32 -> vector<2x3xf32>
  %p, %q = loop.for %k (k = 4 loop) carry (%s = add : vector<2x1xf32>), (%t = add : vector<2x3xf32>) {
    %xv = tile.read %x[%ra, %k] : memref<8x4xf32>(vector<2x1xindex>, index) -> vector<2x1xf32>
    %sum = uop.reduce_axis add %t axes [1] : (vector<2x3xf32>) -> vector<2x1xf32>
    %half_sum = uop.mul %sum, %h21 : vector<2x1xf32>
    %s1 = uop.add %half_sum, %xv : vector<2x1xf32>
    %sw = uop.expand %s : vector<2x1xf32> -> vector<2x3xf32>
    %xw = uop.expand %xv : vector<2x1xf32> -> vector<2x3xf32>
    %t1 = uop.sub %sw, %xw : vector<2x3xf32>
    %t2 = uop.mul %t1, %h23 : vector<2x3xf32>
    %m = uop.mul %t, %t2 : vector<2x3xf32>
    %t3 = uop.add %m, %xw : vector<2x3xf32>
    loop.yield %s1, %t3 : vector<2x1xf32>, vector<2x3xf32>
  }
  %last = uop.reduce_axis add %q axes [1] : (vector<2x3xf32>) -> vector<2x1xf32>
  tile.write %p, %out[%ti, %ra, %c0] : vector<2x1xf32> -> memref<4x2x2xf32>(index, vector<2x1xindex>, index)
  tile.write %last, %out[%ti, %ra, %c1] : vector<2x1xf32> -> memref<4x2x2xf32>(index, vector<2x1xindex>, index)
}"""


@needs_nvrtc
def test_states_of_two_shapes_change_at_once() -> None:
    check(STATES_OF_TWO_SHAPES)


@needs_nvrtc
def test_states_of_one_shape_are_exchanged_at_once() -> None:
    check("""
uop.kernel @fibonacci(%out: memref<2x3xf32>, %x: memref<6x3xf32>)
    schedule #tile.schedule<j = 3 register, k = 6 loop> {
  %r = tile.axis j = 3 register : vector<3xindex>
  %c0 = uop.const 0 : index
  %c1 = uop.const 1 : index
  %p, %q = loop.for %k (k = 6 loop) carry (%a = add : vector<3xf32>), (%b = add : vector<3xf32>) {
    %xv = tile.read %x[%k, %r] : memref<6x3xf32>(index, vector<3xindex>) -> vector<3xf32>
    %s = uop.add %a, %xv : vector<3xf32>
    loop.yield %b, %s : vector<3xf32>, vector<3xf32>
  }
  tile.write %p, %out[%c0, %r] : vector<3xf32> -> memref<2x3xf32>(index, vector<3xindex>)
  tile.write %q, %out[%c1, %r] : vector<3xf32> -> memref<2x3xf32>(index, vector<3xindex>)
}""")


@needs_nvrtc
def test_a_state_that_is_read_again_is_continued_in_a_copy() -> None:
    check("""
uop.kernel @again(%out: memref<4xf32>, %x: memref<5x4xf32>)
    schedule #tile.schedule<j = 4 register, k = 3 loop, l = 2 loop> {
  %r = tile.axis j = 4 register : vector<4xindex>
  %p = loop.for %k (k = 3 loop) carry (%a = add : vector<4xf32>) {
    %e = uop.exp %a : vector<4xf32>
    %q = loop.for %l (l = 2 loop) carry (%b = add from %a : vector<4xf32>) {
      %i = uop.add %k, %l : index
      %xv = tile.read %x[%i, %r] : memref<5x4xf32>(index, vector<4xindex>) -> vector<4xf32>
      %s = uop.add %b, %xv : vector<4xf32>
      loop.yield %s : vector<4xf32>
    }
    %d = uop.sub %q, %a : vector<4xf32>
    %f = uop.add %d, %e : vector<4xf32>
    loop.yield %f : vector<4xf32>
  }
  tile.write %p, %out[%r] : vector<4xf32> -> memref<4xf32>(vector<4xindex>)
}""")


@needs_nvrtc
def test_a_state_that_several_steps_begin_with_is_continued_in_copies() -> None:
    check("""
uop.kernel @several(%out: memref<3x2xf32>, %x: memref<4x2xf32>)
    schedule #tile.schedule<i = 3 loop, j = 2 register, k = 4 loop> {
  %r = tile.axis j = 2 register : vector<2xindex>
  %p = loop.for %k (k = 4 loop) carry (%a = add : vector<2xf32>) {
    %xv = tile.read %x[%k, %r] : memref<4x2xf32>(index, vector<2xindex>) -> vector<2xf32>
    %s = uop.add %a, %xv : vector<2xf32>
    loop.yield %s : vector<2xf32>
  }
  loop.for %i (i = 3 loop) {
    %q = loop.for %k1 (k = 4 loop) carry (%b = add from %p : vector<2xf32>) {
      %xv = tile.read %x[%k1, %r] : memref<4x2xf32>(index, vector<2xindex>) -> vector<2xf32>
      %s = uop.add %b, %xv : vector<2xf32>
      loop.yield %s : vector<2xf32>
    }
    tile.write %q, %out[%i, %r] : vector<2xf32> -> memref<3x2xf32>(index, vector<2xindex>)
  }
}""")


# Shared memory.

REDUCTION_IN_A_LOOP = """
uop.kernel @loop(%out: memref<4x96xf32>, %x: memref<4x96xf32>)
    schedule #tile.schedule<i = 4 loop, j = 96 thread> {
  %tj = tile.axis j = 96 thread : index
  loop.for %i (i = 4 loop) {
    %xv = tile.read %x[%i, %tj] : memref<4x96xf32>(index, index) -> f32
    %m = tile.reduce_across max %xv over %tj : f32
    %d = uop.sub %xv, %m : f32
    tile.write %d, %out[%i, %tj] : f32 -> memref<4x96xf32>(index, index)
  }
}"""

TWO_REDUCTIONS_IN_A_LOOP = """
uop.kernel @loop(%out: memref<4x96xf32>, %x: memref<4x96xf32>)
    schedule #tile.schedule<i = 4 loop, j = 96 thread> {
  %tj = tile.axis j = 96 thread : index
  loop.for %i (i = 4 loop) {
    %xv = tile.read %x[%i, %tj] : memref<4x96xf32>(index, index) -> f32
    %m = tile.reduce_across max %xv over %tj : f32
    %d = uop.sub %xv, %m : f32
    %s = tile.reduce_across add %d over %tj : f32
    %e = uop.div %d, %s : f32
    tile.write %e, %out[%i, %tj] : f32 -> memref<4x96xf32>(index, index)
  }
}"""

# Pipelines of different depths that begin anew in each step of a loop around, and a reduction over threads inside.
NESTED_PIPELINES = """
uop.kernel @nested(%out: memref<3x64xf32>, %x: memref<3x24xf32>, %y: memref<24x64xf32>, %z: memref<3x64xf32>)
    schedule #tile.schedule<i = 3 loop, j = 64 thread, k = 6 loop * 4 loop> {
  %tj = tile.axis j = 64 thread : index
  %c0 = uop.const 0 : index
  %c4 = uop.const 4 : index
  loop.for %i (i = 3 loop) {
    %z_s = tile.stage %z[%i, %c0] buffers 1 async : memref<3x64xf32> -> memref<1x64xf32, "shared">
    %zv = tile.read %z_s[%c0, %tj] : memref<1x64xf32, "shared">(index, index) -> f32
    %m = tile.reduce_across max %zv over %tj : f32
    %r = loop.for %ko (k = 6 loop) carry (%a = add : f32) {
      %k = uop.mul %ko, %c4 : index
      %x_s = tile.stage %x[%i, %k] buffers 2 async : memref<3x24xf32> -> memref<1x4xf32, "shared">
      %y_s = tile.stage %y[%k, %c0] buffers 4 async : memref<24x64xf32> -> memref<4x64xf32, "shared">
      %z1_s = tile.stage %z[%i, %c0] buffers 1 : memref<3x64xf32> -> memref<1x64xf32, "shared">
      %z1 = tile.read %z1_s[%c0, %tj] : memref<1x64xf32, "shared">(index, index) -> f32
      %b = loop.for %ki (k = 4 loop) carry (%c = add from %a : f32) {
        %xe = tile.read %x_s[%c0, %ki] : memref<1x4xf32, "shared">(index, index) -> f32
        %ye = tile.read %y_s[%ki, %tj] : memref<4x64xf32, "shared">(index, index) -> f32
        %p = uop.mul %xe, %ye : f32
        %q = uop.mul %p, %z1 : f32
        %s = uop.add %c, %q : f32
        loop.yield %s : f32
      }
      loop.yield %b : f32
    }
    %v = uop.add %r, %m : f32
    tile.write %v, %out[%i, %tj] : f32 -> memref<3x64xf32>(index, index)
  }
}"""

SIBLING_LOOPS = """
uop.kernel @siblings(%out: memref<32xf32>, %x: memref<4x32xf32>, %y: memref<4x32xf32>)
    schedule #tile.schedule<j = 32 thread, k = 4 loop> {
  %tj = tile.axis j = 32 thread : index
  %c0 = uop.const 0 : index
  %c31 = uop.const 31 : index
  %back = uop.sub %c31, %tj : index
  %p = loop.for %k (k = 4 loop) carry (%a = add : f32) {
    %x_s = tile.stage %x[%k, %c0] buffers 1 : memref<4x32xf32> -> memref<1x32xf32, "shared">
    %y_s = tile.stage %y[%k, %c0] buffers 1 async : memref<4x32xf32> -> memref<1x32xf32, "shared">
    %xe = tile.read %x_s[%c0, %back] : memref<1x32xf32, "shared">(index, index) -> f32
    %ye = tile.read %y_s[%c0, %back] : memref<1x32xf32, "shared">(index, index) -> f32
    %m = uop.mul %xe, %ye : f32
    %s = uop.add %a, %m : f32
    loop.yield %s : f32
  }
  %q = loop.for %k1 (k = 4 loop) carry (%b = add from %p : f32) {
    %x_s1 = tile.stage %x[%k1, %c0] buffers 3 : memref<4x32xf32> -> memref<1x32xf32, "shared">
    %xe = tile.read %x_s1[%c0, %back] : memref<1x32xf32, "shared">(index, index) -> f32
    %s = uop.add %b, %xe : f32
    loop.yield %s : f32
  }
  tile.write %q, %out[%tj] : f32 -> memref<32xf32>(index)
}"""

# A stencil whose slab begins in front of the buffer and ends behind it.
STENCIL = """
uop.kernel @stencil(%out: memref<20x30xf32>, %x: memref<20x30xf32>)
    schedule #tile.schedule<i = 3 block * 8 thread, j = 4 block * 8 thread> {
  %bi = tile.axis i = 3 block : index
  %ti = tile.axis i = 8 thread : index
  %bj = tile.axis j = 4 block : index
  %tj = tile.axis j = 8 thread : index
  %c1 = uop.const 1 : index
  %c2 = uop.const 2 : index
  %c8 = uop.const 8 : index
  %c20 = uop.const 20 : index
  %c30 = uop.const 30 : index
  %i0 = uop.mul %bi, %c8 : index
  %j0 = uop.mul %bj, %c8 : index
  %i = uop.add %i0, %ti : index
  %j = uop.add %j0, %tj : index
  %io = uop.sub %i0, %c1 : index
  %jo = uop.sub %j0, %c1 : index
  %x_s = tile.stage %x[%io, %jo] buffers 1 async : memref<20x30xf32> -> memref<10x10xf32, strided<[11, 1]>, "shared">
  %ti1 = uop.add %ti, %c1 : index
  %tj2 = uop.add %tj, %c2 : index
  %ti2 = uop.add %ti, %c2 : index
  %a = tile.read %x_s[%ti1, %tj] : memref<10x10xf32, strided<[11, 1]>, "shared">(index, index) -> f32
  %b = tile.read %x_s[%ti1, %tj2] : memref<10x10xf32, strided<[11, 1]>, "shared">(index, index) -> f32
  %c = tile.read %x_s[%ti2, %tj2] : memref<10x10xf32, strided<[11, 1]>, "shared">(index, index) -> f32
  %d = uop.add %a, %b : f32
  %e = uop.add %d, %c : f32
  %oki = uop.lt %i, %c20 : index
  %okj = uop.lt %j, %c30 : index
  %ok = uop.and %oki, %okj : i1
  tile.write %e, %out[%i, %j] mask %ok : f32 -> memref<20x30xf32>(index, index)
}"""

SWIZZLED = """
uop.kernel @transpose(%out: memref<32x64xf16>, %x: memref<64x32xf16>)
    schedule #tile.schedule<i = 2 block * 32 thread, j = 32 loop> {
  %bi = tile.axis i = 2 block : index
  %ti = tile.axis i = 32 thread : index
  %c0 = uop.const 0 : index
  %c32 = uop.const 32 : index
  %i0 = uop.mul %bi, %c32 : index
  %i = uop.add %i0, %ti : index
  %x_s = tile.stage %x[%i0, %c0] buffers 1 async
      : memref<64x32xf16> -> memref<32x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">
  loop.for %j (j = 32 loop) {
    %v = tile.read %x_s[%ti, %j] : memref<32x32xf16, #tile.swizzle<unit 8, chunks 4>, "shared">(index, index) -> f16
    tile.write %v, %out[%j, %i] : f16 -> memref<32x64xf16>(index, index)
  }
}"""

SHARED_MEMORY = {
    "reduction in a loop": REDUCTION_IN_A_LOOP,
    "two reductions in a loop": TWO_REDUCTIONS_IN_A_LOOP,
    "nested pipelines": NESTED_PIPELINES,
    "sibling loops": SIBLING_LOOPS,
    "stencil": STENCIL,
    "swizzled": SWIZZLED,
}


@needs_nvrtc
@pytest.mark.parametrize("name", SHARED_MEMORY)
def test_shared_memory(name: str) -> None:
    check(SHARED_MEMORY[name])


@needs_nvrtc
def test_a_slab_of_three_is_read_as_a_vector_of_four() -> None:
    """NVRTC does so where the loop is written out; nobody wrote the fourth element, and nobody looks at it."""
    check("""
uop.kernel @three(%out: memref<4xf32>, %x: memref<6xf32>) schedule #tile.schedule<i = 4 thread, k = 2 loop * 3 unroll> {
  %ti = tile.axis i = 4 thread : index
  %c3 = uop.const 3 : index
  %r = loop.for %ko (k = 2 loop) carry (%a = add : f32) {
    %k = uop.mul %ko, %c3 : index
    %x_s = tile.stage %x[%k] buffers 2 async : memref<6xf32> -> memref<3xf32, "shared">
    %b = loop.for %ki (k = 3 unroll) carry (%c = add from %a : f32) {
      %e = tile.read %x_s[%ki] : memref<3xf32, "shared">(index) -> f32
      %s = uop.add %c, %e : f32
      loop.yield %s : f32
    }
    loop.yield %b : f32
  }
  tile.write %r, %out[%ti] : f32 -> memref<4xf32>(index)
}""")


SYNCHRONISATION = (gpu_kernel.BarrierOp, gpu_kernel.AsyncWaitOp)


@needs_nvrtc
@pytest.mark.parametrize("name", SHARED_MEMORY)
def test_no_barrier_and_no_wait_can_be_left_out(name: str) -> None:
    """Each is there for a reason: without it the simulator finds a race, or a copy that nobody waited for."""
    text = SHARED_MEMORY[name]
    count = len([op for op in lower(text)[0].body.walk() if isinstance(op, SYNCHRONISATION)])
    assert count > 0
    for number in range(count):
        kernel, _ = lower(text)
        left_out = [op for op in kernel.body.walk() if isinstance(op, SYNCHRONISATION)][number]
        left_out.detach()
        with pytest.raises(SimulationError):
            simulate_kernel(kernel, buffers_for(text)[1])


def test_a_second_reduction_saves_the_barrier_of_the_first() -> None:
    assert len(ops_of(lower(REDUCTION_IN_A_LOOP)[0], gpu_kernel.BarrierOp)) == 2
    assert len(ops_of(lower(TWO_REDUCTIONS_IN_A_LOOP)[0], gpu_kernel.BarrierOp)) == 2


def test_a_pipeline_meets_once_a_step() -> None:
    kernel, _ = lower(SIBLING_LOOPS)
    ahead = ops_of(kernel, gpu_kernel.ForOp)[-1]
    assert len([op for op in ahead.walk() if isinstance(op, gpu_kernel.BarrierOp)]) == 1


def test_what_cannot_be_copied_asynchronously_is_copied_and_reported() -> None:
    text = STENCIL.replace("xf32", "xf16").replace(": f32", ": f16").replace("-> f32", "-> f16")
    kernel, remarks = lower(text)
    assert ops_of(kernel, gpu_kernel.AsyncCopyOp) == []
    assert "copied through registers" in remarks[0].message
    _, remarks = lower(STENCIL)
    assert remarks == []


# Indices.


@needs_nvrtc
def test_gather() -> None:
    check("""
uop.kernel @gather(%out: memref<6x5xf32>, %x: memref<8x5xf32>, %i: memref<6xi64>)
    schedule #tile.schedule<i = 3 block * 2 register, j = 5 thread> {
  %bi = tile.axis i = 3 block : index
  %ri = tile.axis i = 2 register : vector<2xindex>
  %tj = tile.axis j = 5 thread : index
  %c2 = uop.const 2 : index
  %b = uop.mul %bi, %c2 : index
  %be = uop.expand %b : index -> vector<2xindex>
  %iv = uop.add %be, %ri : vector<2xindex>
  %n = tile.read %i[%iv] : memref<6xi64>(vector<2xindex>) -> vector<2xi64>
  %p = uop.cast %n : vector<2xi64> -> vector<2xindex>
  %v = tile.read %x[%p, %tj] : memref<8x5xf32>(vector<2xindex>, index) -> vector<2xf32>
  tile.write %v, %out[%iv, %tj] : vector<2xf32> -> memref<6x5xf32>(vector<2xindex>, index)
}""")


def positions(factors: str, body: str, shape: str = "64") -> str:
    return f"""
uop.kernel @positions(%out: memref<{shape}xi64>)
    schedule #tile.schedule<{factors}> {{
{body}
}}"""


@needs_nvrtc
def test_factors_alike_stand_in_the_schedules_order() -> None:
    check(positions("i = 2 block * 2 thread * 2 block * 4 thread * 2 thread", """
  %b0 = tile.axis i = 2 block : index
  %t0 = tile.axis i = 2 thread : index
  %b1 = tile.axis i = 2 block : index
  %t1 = tile.axis i = 4 thread : index
  %t2 = tile.axis i = 2 thread : index
  %c2 = uop.const 2 : index
  %c8 = uop.const 8 : index
  %c16 = uop.const 16 : index
  %c32 = uop.const 32 : index
  %p0 = uop.mul %b0, %c32 : index
  %p1 = uop.mul %t0, %c16 : index
  %p2 = uop.mul %b1, %c8 : index
  %p3 = uop.mul %t1, %c2 : index
  %s0 = uop.add %p0, %p1 : index
  %s1 = uop.add %s0, %p2 : index
  %s2 = uop.add %s1, %p3 : index
  %s3 = uop.add %s2, %t2 : index
  %n = uop.cast %s3 : index -> i64
  tile.write %n, %out[%s3] : i64 -> memref<64xi64>(index)"""))  # fmt: skip


@needs_nvrtc
def test_four_block_factors_are_one_number() -> None:
    kernel = check(positions("i = 4 block, j = 3 block, k = 2 block, l = 5 block", """
  %bi = tile.axis i = 4 block : index
  %bj = tile.axis j = 3 block : index
  %bk = tile.axis k = 2 block : index
  %bl = tile.axis l = 5 block : index
  %n = uop.cast %bi : index -> i64
  tile.write %n, %out[%bi, %bj, %bk, %bl] : i64
      -> memref<4x3x2x5xi64>(index, index, index, index)""", "4x3x2x5"))  # fmt: skip
    assert kernel.grid_shape == (120, 1, 1)


def test_more_blocks_than_y_has_are_one_number() -> None:
    body = """
  %bi = tile.axis i = 70000 block : index
  %bj = tile.axis j = 2 block : index
  %n = uop.cast %bi : index -> i64
  tile.write %n, %out[%bi, %bj] : i64 -> memref<70000x2xi64>(index, index)"""
    kernel, _ = lower(positions("i = 70000 block, j = 2 block", body, "70000x2"))
    assert kernel.grid_shape == (140000, 1, 1)


def index_bits(rows: int) -> int:
    kernel, _ = lower(f"""
uop.kernel @rows(%out: memref<{rows}x65536xf32>)
    schedule #tile.schedule<i = 65535 block, j = 65536 loop> {{
  %bi = tile.axis i = 65535 block : index
  %one = uop.const 1.0 : f32
  %rows = uop.const {rows} : index
  %ok = uop.lt %bi, %rows : index
  loop.for %j (j = 65536 loop) {{
    tile.write %one, %out[%bi, %j] mask %ok : f32 -> memref<{rows}x65536xf32>(index, index)
  }}
}}""")
    return kernel.index_bits.value.data


def test_indices_have_64_bits_where_32_are_not_enough() -> None:
    assert index_bits(32768) == 64  # the buffer has 2³¹ elements
    assert index_bits(16) == 64  # the place is below 2²⁰ where it is used, but computed by all blocks
    small, _ = lower(REDUCTION_IN_A_LOOP)
    assert small.index_bits.value.data == 32


# Refused.


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("j = 96 thread>", "j = 2 thread>", "no factor for axis j = 96 thread"),
        ("j = 96 thread>", "j = 96 thread, k = 2 mma>", "matrix instructions"),
        ("j = 96 thread>", "j = 96 thread, k = 32 thread>", "at most 1024"),
        ("tile.reduce_across max %xv over %tj : f32", "uop.load %x[%i, %tj] : memref<4x96xf32>", "no op of tile form"),
    ],
)
def test_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(PassError, match=message):
        lower(REDUCTION_IN_A_LOOP.replace(old, new))


def test_slabs_beyond_shared_memory_are_refused() -> None:
    text = """
uop.kernel @f(%out: memref<1xf32>, %x: memref<1024x64xf32>)
    schedule #tile.schedule<i = 1 block> {
  %c0 = uop.const 0 : index
  %x_s = tile.stage %x[%c0, %c0] buffers 1 : memref<1024x64xf32> -> memref<1024x64xf32, "shared">
  %v = tile.read %x_s[%c0, %c0] : memref<1024x64xf32, "shared">(index, index) -> f32
  tile.write %v, %out[%c0] : f32 -> memref<1xf32>(index)
}"""
    with pytest.raises(PassError, match="262144 bytes of shared memory"):
        lower(text)
