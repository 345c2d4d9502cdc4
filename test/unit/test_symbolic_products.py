"""Products over an axis of which a call tells the length: by matrix instructions, and in register tiles.

What lies behind the length is NaN: a result that depends on it is one, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from memory_checks import check_memory
from module_text import parse
from test_tile_to_gpu_kernel import Array, kernel_of, needs_nvrtc, run_pass
from xdsl.dialects.builtin import ModuleOp

from uop.dialects import cpu_kernel, gpu_kernel
from uop.dialects.uop import KernelOp
from uop.runtime import nvrtc
from uop.runtime.interpret.buffers import poisoned_buffer
from uop.runtime.interpret.gpu_kernels import from_storage
from uop.runtime.interpret.program import interpret_kernel
from uop.runtime.interpret.tiles import interpret_tile_kernel
from uop.runtime.simulator import Counters, simulate
from uop.targets.cuda import kernel_text

LOOP_PASSES = ("uop-simplify", "uop-limit-ranges", "convert-uop-to-loop", "choose-schedule")
TILE_PASSES = ("convert-loop-to-tile", "tile-drop-masks", "tile-stage", "tile-mma", "uop-simplify", "tile-vectorize")
CPU_PASSES = ("convert-loop-to-tile", "tile-drop-masks", "tile-pack", "uop-simplify", "convert-tile-to-cpu-kernel")
GPU_PASSES = ("convert-tile-to-gpu-kernel", "gpu-kernel-check", "gpu-kernel-strength-reduce")


@dataclass(frozen=True)
class Product:
    """out[p, i, j] = Σ a · b over the first positions along k, as many as `%length[]` says, of `k` that there are.

    element: of a and b, which lie along k or across it; f32 is cut to TF32 if `tf32`.
    of_factors: whether each factor is 0 behind the length, as where PyTorch multiplies matrices; else the product is.
    parts: into how many the axis is split, each with a sum of its own.
    """

    m: int
    n: int
    k: int
    element: str = "f16"
    a_along_k: bool = True
    b_along_k: bool = False
    tf32: bool = False
    of_factors: bool = True
    parts: int = 1
    schedule: str = ""

    @property
    def by_matrices(self) -> bool:
        return self.element != "f32" or self.tf32

    @property
    def a_shape(self) -> tuple[int, ...]:
        return (self.m, self.k) if self.a_along_k else (self.k, self.m)

    @property
    def b_shape(self) -> tuple[int, ...]:
        return (self.n, self.k) if self.b_along_k else (self.k, self.n)

    def text(self) -> str:
        """In range form."""
        a, b = (f"memref<{x[0]}x{x[1]}x{self.element}>" for x in (self.a_shape, self.b_shape))
        out = f"memref<{self.parts}x{self.m}x{self.n}xf32>"
        a_at, b_at = (
            ", ".join(("%place", axis)[:: -1 if along else 1])
            for axis, along in (("%i", self.a_along_k), ("%j", self.b_along_k))
        )
        wide = "uop.to_tf32 {} : f32" if self.tf32 else f"uop.cast {{}} : {self.element} -> f32"
        masked = self.of_factors
        return f"""
uop.kernel @product(%out: {out}, %a: {a}, %b: {b}, %length: memref<i64>) {{
  %p = uop.range p = {self.parts}
  %i = uop.range i = {self.m}
  %j = uop.range j = {self.n}
  %k = uop.range k = {self.k // self.parts}
  %zero = uop.const 0.0 : f32
  %least = uop.const 1 : i64
  %most = uop.const {self.k} : i64
  %0 = uop.load %length[] : memref<i64>
  %1 = uop.max %0, %least : i64
  %2 = uop.min %1, %most : i64
  %part = uop.const {self.k // self.parts} : index
  %start = uop.mul %p, %part : index
  %place = uop.add %start, %k : index
  %3 = uop.cast %place : index -> i64
  %inside = uop.lt %3, %2 : i64
  %4 = uop.load %a[{a_at}] : {a}
  %5 = {wide.format("%4")}
  %6 = uop.where %inside, %5, %zero : f32
  %7 = uop.load %b[{b_at}] : {b}
  %8 = {wide.format("%7")}
  %9 = uop.where %inside, %8, %zero : f32
  %10 = uop.mul {"%6, %9" if masked else "%5, %8"} : f32
  %11 = uop.where %inside, %10, %zero : f32
  %12 = uop.reduce add {"%10" if masked else "%11"} over %k : f32
  uop.store %12, %out[%p, %i, %j] : {out}
}}
"""

    def scheduled(self) -> ModuleOp:
        """In loop form, with a schedule."""
        module = parse(self.text())
        for name in LOOP_PASSES:
            if name != "choose-schedule" or not self.schedule:
                run_pass(module, name)
        if self.schedule:
            module = parse(str(module).replace(") {", f") schedule #tile.schedule<{self.schedule}> {{", 1))
        return module

    def compiled(self) -> tuple[KernelOp, gpu_kernel.KernelOp]:
        """In tile form, and below."""
        module = self.scheduled()
        _lower(module, TILE_PASSES)
        (tile,) = parse(str(module)).ops
        assert isinstance(tile, KernelOp)
        _lower(module, GPU_PASSES)
        return tile, kernel_of(module)

    def inputs(self, length: int) -> list[Array]:
        """As the interpreters hold them: bf16 as f32."""
        generator = np.random.default_rng(0)
        arrays: list[Array] = []
        for shape, along in ((self.a_shape, self.a_along_k), (self.b_shape, self.b_along_k)):
            array = generator.standard_normal(shape).astype(np.float32)
            if self.element == "bf16" or self.tf32:
                array = (array.view(np.uint32) & 0xFFFF0000).view(np.float32)
            (array if not along else array.T)[length:] = np.nan
            arrays.append(array.astype(np.float16) if self.element == "f16" else array)
        return [*arrays, np.array(length, np.int64)]

    def expected(self, length: int) -> Array:
        a, b, _ = (array.astype(np.float64) for array in self.inputs(length))
        a, b = a if self.a_along_k else a.T, b.T if self.b_along_k else b
        step = self.k // self.parts
        ends = [min(max(length, start), start + step) for start in range(0, self.k, step)]
        return np.array([a[:, s:e] @ b[s:e] for s, e in zip(range(0, self.k, step), ends, strict=True)])

    def simulated(self, kernel: gpu_kernel.KernelOp, length: int) -> tuple[Array, Counters]:
        source = kernel_text(kernel)
        ptx = nvrtc.compile_cuda(source, "compute_80").ptx
        out = np.full((self.parts, self.m, self.n), 77, np.float32)
        a, b, n = self.inputs(length)
        if self.element == "bf16":
            a, b = ((x.view(np.uint32) >> 16).astype(np.uint16) for x in (a, b))
        counters = simulate(ptx, kernel.grid_shape, kernel.threads, [out, a, b, n], check_races=True, source=source)
        return from_storage(out, kernel.body.block.args[0].type), counters


def _lower(module: ModuleOp, passes: tuple[str, ...]) -> None:
    for name in passes:
        run_pass(module, name)
    check_memory(module)
    text = str(module)
    assert str(parse(text)) == text


PRODUCTS = {
    "f16": Product(40, 24, 128),
    "both along k": Product(64, 40, 130, b_along_k=True),
    "both across k": Product(40, 72, 136, a_along_k=False, element="bf16"),
    "a across k, b along it": Product(33, 24, 129, a_along_k=False, b_along_k=True),
    "primes": Product(37, 23, 131),
    "product masked": Product(40, 24, 128, of_factors=False),
    "product masked, primes": Product(41, 29, 127, of_factors=False, b_along_k=True),
    "tf32": Product(48, 32, 128, "f32", tf32=True),
    "tf32, both across k": Product(48, 32, 132, "f32", tf32=True, a_along_k=False),
    "tf32, product masked": Product(33, 41, 101, "f32", tf32=True, b_along_k=True, of_factors=False),
    "f32": Product(40, 24, 128, "f32"),
    "f32, both along k": Product(33, 41, 101, "f32", b_along_k=True),
    "f32, product masked": Product(40, 24, 100, "f32", a_along_k=False, of_factors=False),
    "parts": Product(40, 24, 256, parts=4, a_along_k=False),
    "parts, both along k": Product(33, 40, 192, parts=2, b_along_k=True),
    "not staged": Product(
        40, 24, 80, schedule="p = 1 block, i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 5 loop * 16 mma"
    ),
    "one step": Product(40, 24, 32),
    "padded slabs": Product(
        48,
        24,
        128,
        schedule="p = 1 block, j = 3 register * 8 mma, i = 3 warp * 16 mma, k = 4 loop * 2 loop * 16 mma, "
        "stage = [%a pad 8, %b buffers 2 pad 3]",
    ),
    "deep rings": Product(
        64,
        32,
        144,
        a_along_k=False,
        schedule="p = 1 block, i = 2 warp * 2 register * 16 mma, j = 4 register * 8 mma, k = 9 loop * 16 mma, "
        "stage = [%a buffers 4 async swizzle 8, %b buffers 3 async swizzle 8]",
    ),
    "slices, product masked": Product(
        37,
        41,
        150,
        of_factors=False,
        schedule="p = 1 block, i = 3 block * 16 mma, j = 3 block * 2 register * 8 mma, "
        "k = 2 loop * 3 warp * 2 unroll * 16 mma, stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]",
    ),
    "slices behind each other": Product(
        37,
        24,
        124,
        schedule="p = 1 block, i = 3 block * 16 mma, j = 3 block * 8 mma, k = 4 warp * 2 loop * 16 mma, "
        "stage = [%a, %b]",
    ),
    "slices of f32": Product(
        37,
        41,
        150,
        "f32",
        of_factors=False,
        schedule="p = 1 block, k = 10 loop * 2 warp * 8 loop, i = 5 block * 4 thread * 2 register, "
        "j = 3 block * 8 thread * 2 register, stage = [%a buffers 2 async, %b buffers 2 async]",
    ),
    "slices of f32 behind each other": Product(
        37,
        41,
        149,
        "f32",
        schedule="p = 1 block, k = 3 warp * 2 loop * 25 loop, i = 5 block * 4 thread * 2 register, "
        "j = 3 block * 8 thread * 2 register, stage = [%a, %b]",
    ),
}


@needs_nvrtc
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    product = PRODUCTS[name]
    tile, kernel = product.compiled()
    assert any(op.name == "gpu_kernel.mma" for op in kernel.body.walk()) is product.by_matrices
    for length in (1, 17, 64, 65, product.k) if name in ("f16", "both along k", "tf32") else (1, 65, product.k):
        length = min(length, product.k)
        result, _ = product.simulated(kernel, length)
        np.testing.assert_allclose(result, product.expected(length), rtol=1e-5, atol=1e-4, err_msg=f"length {length}")
    out = np.zeros((product.parts, product.m, product.n), np.float32)
    interpret_tile_kernel(tile, [out, *product.inputs(17)])
    np.testing.assert_allclose(out, product.expected(17), rtol=1e-5, atol=1e-4)


@needs_nvrtc
@pytest.mark.parametrize("name", ["f16", "both along k", "a across k, b along it", "tf32", "parts, both along k"])
def test_nothing_is_spilled(name: str) -> None:
    _, kernel = PRODUCTS[name].compiled()
    for arch in gpu_kernel.ARCHITECTURES:
        resources = nvrtc.compile_cuda(kernel_text(kernel), arch).resources[kernel.sym_name.data]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, arch


SLABS = (
    "p = 1 block, i = 2 warp * 2 register * 16 mma, j = 2 warp * 4 register * 8 mma, k = 16 loop * 2 unroll * 16 mma, "
    "stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]"
)


@needs_nvrtc
@pytest.mark.parametrize("a_along_k", [False, True])
def test_what_a_length_costs(a_along_k: bool) -> None:
    """The matrix instructions of the steps in front of the length, the memory in front of it, and for each copy a
    comparison and a choice."""
    product = Product(64, 64, 512, a_along_k=a_along_k, schedule=SLABS)
    _, kernel = product.compiled()
    counters = {length: product.simulated(kernel, length)[1] for length in (32, 33, 64, 512)}
    assert [each.mma for each in counters.values()] == [64 * steps for steps in (1, 2, 2, 16)]
    sectors = {length: each.global_load_sectors for length, each in counters.items()}
    of_rows = 64 * 2 // 32
    assert sectors[33] - sectors[32] == (64 if a_along_k else of_rows) + of_rows
    assert sectors[512] - sectors[64] == (512 - 64) * 2 * of_rows
    assert (counters[512].instructions - counters[64].instructions) / (14 * 4) < (48 if a_along_k else 43)


@pytest.mark.parametrize("element", ["f16", "f32"])
def test_packed_for_a_cpu(element: str) -> None:
    product = Product(
        40,
        24,
        130,
        element,
        b_along_k=True,
        schedule="p = 1 block, i = 5 loop * 8 register, j = 3 register * 8 register, k = 130 loop, "
        "stage = [%b along 0]",
    )
    module = product.scheduled()
    _lower(module, CPU_PASSES[:-1])
    assert "to %" in str(module).split("tile.stage")[1].split("buffers")[0]
    _lower(module, CPU_PASSES[-1:])
    (kernel,) = module.ops
    assert isinstance(kernel, cpu_kernel.KernelOp)
    for length in (1, 17, 130):
        out = poisoned_buffer(kernel.body.block.args[0].type)
        interpret_kernel(kernel, [out, *product.inputs(length)])
        np.testing.assert_allclose(out.reshape(1, 40, 24), product.expected(length), rtol=1e-4, atol=1e-4)


ATTENTION = """
uop.kernel @attention(%out: memref<2x128x64xf16>, %q: memref<2x128x64xf16>, %key: memref<2x128x64xf16>,
                      %v: memref<2x128x64xf16>, %length: memref<i64>) {
  %h = uop.range h = 2
  %l = uop.range l = 64
  %k1 = uop.range k1 = 64
  %k = uop.range k = 128
  %i = uop.range i = 128
  %least = uop.const 1 : i64
  %most = uop.const 128 : i64
  %0 = uop.load %length[] : memref<i64>
  %1 = uop.max %0, %least : i64
  %n = uop.min %1, %most : i64
  %scale = uop.const 0.125 : f32
  %nothing = uop.const 0xff800000 : f32
  %one = uop.const 1.0 : f32
  %zero = uop.const 0.0 : f32
  %2 = uop.load %key[%h, %k, %k1] : memref<2x128x64xf16>
  %3 = uop.cast %2 : f16 -> f32
  %4 = uop.cast %k : index -> i64
  %inside = uop.lt %4, %n : i64
  %5 = uop.load %v[%h, %k, %l] : memref<2x128x64xf16>
  %6 = uop.cast %5 : f16 -> f32
  %7 = uop.where %inside, %6, %zero : f32
  %8 = uop.load %q[%h, %i, %k1] : memref<2x128x64xf16>
  %9 = uop.cast %8 : f16 -> f32
  %10 = uop.mul %9, %3 : f32
  %11 = uop.reduce add %10 over %k1 : f32
  %12 = uop.mul %11, %scale : f32
  %13 = uop.where %inside, %12, %nothing : f32
  %max, %sum, %acc = uop.reduce online_attention %13, %one, %7 over %k : f32, f32, f32
  %14 = uop.reciprocal %sum : f32
  %15 = uop.mul %acc, %14 : f32
  %16 = uop.cast %15 : f32 -> f16
  uop.store %16, %out[%h, %i, %l] : memref<2x128x64xf16>
}
"""


@needs_nvrtc
def test_attention() -> None:
    """Both products by matrix instructions: keys and values end at the length, no registers are spilled for it."""
    module = parse(ATTENTION)
    _lower(module, (*LOOP_PASSES, *TILE_PASSES))
    _lower(module, GPU_PASSES)
    kernel = kernel_of(module)
    source = kernel_text(kernel)
    for arch in gpu_kernel.ARCHITECTURES:
        resources = nvrtc.compile_cuda(source, arch).resources["attention"]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, arch
    ptx = nvrtc.compile_cuda(source, "compute_80").ptx
    generator = np.random.default_rng(0)
    q, key, v = (generator.standard_normal((2, 128, 64)).astype(np.float16) for _ in range(3))
    for length in (1, 17, 65, 128):
        given = [key.copy(), v.copy()]
        for array in given:
            array[:, length:] = np.nan
        out = np.full((2, 128, 64), 77, np.float16)
        arguments = [out, q, *given, np.array(length, np.int64)]
        counters = simulate(ptx, kernel.grid_shape, kernel.threads, arguments, check_races=True, source=source)
        assert counters.mma > 0
        scores = q.astype(np.float64) @ key[:, :length].astype(np.float64).swapaxes(1, 2) / 8
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        expected = weights / weights.sum(-1, keepdims=True) @ v[:, :length].astype(np.float64)
        np.testing.assert_allclose(out, expected, atol=2e-3, err_msg=f"length {length}")
