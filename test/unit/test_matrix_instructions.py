"""Matrix instructions: products under many shapes and layouts, at tile level and simulated, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import pytest
import torch
from memory_checks import check_memory
from module_text import parse
from test_tile_to_gpu_kernel import Array, kernel_of, needs_nvrtc, run_pass

from uop.dialects import gpu_kernel
from uop.dialects.uop import KernelOp
from uop.frontends.capture import capture_expression
from uop.runtime import nvrtc
from uop.runtime.cubin import kernel_resources
from uop.runtime.interpret.gpu_kernels import from_storage
from uop.runtime.interpret.tiles import interpret_tile_kernel
from uop.runtime.simulator import Counters, simulate
from uop.targets.cuda import kernel_text
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

TILE_PASSES = (
    "choose-schedule",
    "convert-loop-to-tile",
    "tile-drop-masks",
    "tile-stage",
    "tile-mma",
    "uop-simplify",
    "tile-vectorize",
)
GPU_PASSES = ("convert-tile-to-gpu-kernel", "gpu-kernel-check", "gpu-kernel-strength-reduce")


@dataclass(frozen=True)
class Product:
    """out[b, i, j] = epilogue(Σ a · b), operands of `element` along k or across it; out is of `result`.

    Operands of f32 are cut to TF32.
    """

    m: int
    n: int
    k: int
    element: str = "f16"
    result: str = "f32"
    a_along_k: bool = True
    b_along_k: bool = False
    batch: int = 1
    schedule: str = ""

    def shape(self, rows: int, columns: int, transposed: bool) -> tuple[int, ...]:
        shape = (columns, rows) if transposed else (rows, columns)
        return shape if self.batch == 1 else (self.batch, *shape)

    def text(self) -> str:
        """In loop form, with a bias and relu behind it."""
        batch, head, tail = "", "", ""
        if self.batch > 1:
            batch, head, tail = "%n, ", f"loop.for %n (n = {self.batch} parallel) {{", "}"
        a_shape, b_shape = self.shape(self.m, self.k, not self.a_along_k), self.shape(self.k, self.n, self.b_along_k)
        a, b, out = (
            f"memref<{'x'.join(map(str, shape))}x{element}>"
            for shape, element in (
                (a_shape, self.element),
                (b_shape, self.element),
                (self.shape(self.m, self.n, False), self.result),
            )
        )
        a_at = "%i, %k" if self.a_along_k else "%k, %i"
        b_at = "%j, %k" if self.b_along_k else "%k, %j"
        schedule = f"schedule #tile.schedule<{self.schedule}> " if self.schedule else ""
        factor = "uop.to_tf32 {} : f32" if self.element == "f32" else f"uop.cast {{}} : {self.element} -> f32"
        store = f"uop.store %9, %out[{batch}%i, %j] : {out}"
        if self.result != "f32":
            store = f"%10 = uop.cast %9 : f32 -> {self.result}\n" + store.replace("%9", "%10")
        return f"""
uop.kernel @product(%out: {out}, %a: {a}, %b: {b}, %bias: memref<{self.n}xf32>) {schedule}{{
  %zero = uop.const 0.0 : f32
  {head}
  loop.for %i (i = {self.m} parallel) {{
    loop.for %j (j = {self.n} parallel) {{
      %0 = loop.reduce %k (k = {self.k}) add : f32 {{
        %1 = uop.load %a[{batch}{a_at}] : {a}
        %2 = {factor.format("%1")}
        %3 = uop.load %b[{batch}{b_at}] : {b}
        %4 = {factor.format("%3")}
        %5 = uop.mul %2, %4 : f32
        loop.yield %5 : f32
      }}
      %7 = uop.load %bias[%j] : memref<{self.n}xf32>
      %8 = uop.add %0, %7 : f32
      %9 = uop.max %8, %zero : f32
      {store}
    }}
  }}
  {tail}
}}
"""

    def inputs(self, special: bool = False) -> tuple[Array, Array, Array]:
        """As the interpreters hold them: bf16 as f32."""
        generator = np.random.default_rng(0)
        a = generator.standard_normal(self.shape(self.m, self.k, not self.a_along_k)).astype(np.float32)
        b = generator.standard_normal(self.shape(self.k, self.n, self.b_along_k)).astype(np.float32)
        if special:
            a.reshape(-1)[3], a.reshape(-1)[-1], b.reshape(-1)[-2] = np.nan, np.inf, -np.inf
        bias = generator.standard_normal(self.n).astype(np.float32)
        if self.element == "f32":
            return a, b, bias
        if self.element == "f16":
            return a.astype(np.float16), b.astype(np.float16), bias
        return _bf16(a), _bf16(b), bias

    def expected(self, a: Array, b: Array, bias: Array) -> Array:
        if self.element == "f32":
            a, b = ((x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (a, b))
        a, b = a.astype(np.float64), b.astype(np.float64)
        a = a if self.a_along_k else np.swapaxes(a, -1, -2)
        b = np.swapaxes(b, -1, -2) if self.b_along_k else b
        with np.errstate(invalid="ignore"):
            return np.maximum(a @ b + bias, 0)


def _bf16(array: Array) -> Array:
    return (array.view(np.uint32) & 0xFFFF0000).view(np.float32)


def _stored(array: Array, element: str) -> Array:
    return (array.view(np.uint32) >> 16).astype(np.uint16) if element == "bf16" else array


def _compiled(product: Product) -> tuple[KernelOp, gpu_kernel.KernelOp]:
    module = parse(product.text())
    for name in TILE_PASSES:
        run_pass(module, name)
    check_memory(module)
    text = str(module)
    assert str(parse(text)) == text
    tile = next(op for op in parse(text).ops if isinstance(op, KernelOp))
    for name in GPU_PASSES:
        run_pass(module, name)
    check_memory(module)
    text = str(module)
    assert str(parse(text)) == text
    return tile, kernel_of(module)


def _simulated(product: Product, kernel: gpu_kernel.KernelOp, inputs: Sequence[Array]) -> tuple[Array, Counters]:
    source = kernel_text(kernel)
    ptx = nvrtc.compile_cuda(source, "compute_80").ptx
    element = kernel.body.block.args[0].type
    dtype = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}[product.result]
    out = np.full(product.shape(product.m, product.n, False), 77, dtype)
    stored = [_stored(x, product.element if place < 2 else "f32") for place, x in enumerate(inputs)]
    counters = simulate(ptx, kernel.grid_shape, kernel.threads, [out, *stored], check_races=True, source=source)
    return from_storage(out, element).astype(np.float64), counters


def _check(result: Array, expected: Array, product: Product) -> None:
    tolerance = {"f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}[product.result]
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(result[~finite], expected[~finite])
    scale = np.sqrt(product.k) * 3
    np.testing.assert_allclose(result[finite], expected[finite], rtol=tolerance, atol=tolerance * scale)


PRODUCTS = {
    "square": Product(128, 128, 128),
    "ragged": Product(100, 72, 52),
    "odd": Product(33, 41, 51),
    "least": Product(16, 8, 16),
    "least, ragged": Product(17, 9, 17, result="f16"),
    "one step of k": Product(64, 32, 32),
    "linear": Product(64, 80, 96, b_along_k=True, element="bf16", result="bf16"),
    "a across k": Product(40, 48, 64, a_along_k=False),
    "both across k": Product(48, 64, 48, a_along_k=False, b_along_k=True, result="f16"),
    "batched": Product(40, 24, 64, batch=3, result="f16"),
    "few rows": Product(8, 64, 64, b_along_k=True),
    "wide tile": Product(
        128,
        128,
        64,
        schedule="i = 2 warp * 4 register * 16 mma, j = 2 warp * 8 register * 8 mma, k = 2 loop * 2 unroll * 16 mma, "
        "stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]",
    ),
    "padded, odd registers": Product(
        48,
        24,
        64,
        schedule="j = 3 register * 8 mma, i = 3 warp * 16 mma, k = 2 loop * 2 loop * 16 mma, "
        "stage = [%a pad 8, %b buffers 2 pad 3]",
    ),
    "ragged rows of 16 bytes": Product(100, 56, 48, result="f16"),
    "tf32": Product(128, 128, 64, element="f32"),
    "tf32, ragged": Product(100, 72, 52, element="f32"),
    "tf32, odd": Product(33, 41, 51, element="f32"),
    "tf32, least": Product(16, 8, 8, element="f32"),
    "tf32, one past a tile": Product(65, 129, 17, element="f32", result="f16"),
    "tf32, a across k": Product(40, 48, 64, element="f32", a_along_k=False),
    "tf32, linear": Product(64, 80, 96, element="f32", b_along_k=True),
    "tf32, both across k": Product(48, 20, 40, element="f32", a_along_k=False, b_along_k=True, result="bf16"),
    "tf32, batched": Product(40, 24, 64, element="f32", batch=3),
    "tf32, not staged": Product(
        40, 24, 40, element="f32", schedule="i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 5 loop * 8 mma"
    ),
    "grouped": Product(
        61,
        23,
        30,
        batch=2,
        schedule="n = 2 block, i = 4 block * 16 mma, j = 3 block * 8 mma, k = 2 loop * 16 mma, stage = [%a, %b], "
        "group = i 2",
    ),
    "grouped whole": Product(
        61, 23, 30, schedule="j = 3 block * 8 mma, i = 4 block * 16 mma, k = 2 loop * 16 mma, stage = [%a], group = j 3"
    ),
    "not staged": Product(40, 24, 40, schedule="i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 3 loop * 16 mma"),
}


LARGE_TILES = {
    n: (
        f"{sides}, k = {{}} loop * 2 unroll * {{}} mma, "
        "stage = [%a buffers 2 async swizzle {}, %b buffers 2 async {}, %bias async]"
    )
    for n, sides in {
        128: "i = 2 block * 2 warp * 2 register * 16 mma, j = 2 block * 2 warp * 4 register * 8 mma",
        32: "i = 2 block * 2 warp * 2 register * 16 mma, j = 2 warp * 2 register * 8 mma",
        16: "i = 2 block * 4 warp * 16 mma, j = 2 register * 8 mma",
    }.items()
}
"""Of 64 rows and up to 64 columns, as larger products have: by how many columns there are."""

FEW_ROWS = (
    "i = {} register * 8 mma, j = {} block * 4 warp * 16 mma, k = 2 loop * 2 unroll * 16 mma, "
    "stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]"
)
"""Transposed: rows of the result are columns of the accumulators."""


@needs_nvrtc
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    product = PRODUCTS[name]
    tile, kernel = _compiled(product)
    assert any(op.name == "gpu_kernel.mma" for op in kernel.body.walk())
    inputs = product.inputs()
    expected = product.expected(*inputs)
    result, _ = _simulated(product, kernel, inputs)
    _check(result, expected, product)
    if product.m * product.n <= 4096:
        out = np.zeros(expected.shape, np.float32 if product.result != "f16" else np.float16)
        interpret_tile_kernel(tile, [out, *inputs])
        _check(out.astype(np.float64), expected, product)


@needs_nvrtc
@pytest.mark.parametrize("name", ["ragged", "linear", "tf32, ragged"])
def test_infinities_and_nan(name: str) -> None:
    product = PRODUCTS[name]
    _, kernel = _compiled(product)
    inputs = product.inputs(special=True)
    result, _ = _simulated(product, kernel, inputs)
    _check(result, product.expected(*inputs), product)


def _total(counters: Counters, kind: str, what: str) -> Any:
    return sum(getattr(c, what) for c in counters.by_instruction.values() if c.kind == kind)


@needs_nvrtc
@pytest.mark.parametrize("b_along_k", [False, True])
def test_what_a_product_costs(b_along_k: bool) -> None:
    """As many instructions as the product takes, no bank conflicts, each slab's sectors once, one barrier a step."""
    schedule = LARGE_TILES[128].format("{}", 16, 8, "swizzle 8")
    product = Product(128, 128, 128, b_along_k=b_along_k, schedule=schedule.format(4))
    _, kernel = _compiled(product)
    _, counters = _simulated(product, kernel, product.inputs())
    assert _total(counters, "mma", "warps") == 128 * 128 * 128 // (16 * 8 * 16)
    # 32 x 32 elements a warp: two fragments of A and four of B, of which one instruction loads two.
    assert _total(counters, "ldmatrix", "warps") == _total(counters, "mma", "warps") // 2
    for kind in ("ldmatrix", "cp.async"):
        assert _total(counters, kind, "wavefronts") == _total(counters, kind, "ideal_wavefronts") > 0
    tiles = (128 // 64) ** 2
    assert _total(counters, "cp.async", "sectors") == tiles * (2 * 64 * 128 * 2 + 64 * 4) // 32  # with the bias
    assert _total(counters, "store.global", "sectors") == 128 * 128 * 4 // 32
    assert _total(counters, "barrier", "warps") == tiles * 4 * (128 // 32)
    # What fragments and copies share is computed in front of the loop, and instructions add the rest.
    longer = Product(128, 128, 256, b_along_k=b_along_k, schedule=schedule.format(8))
    _, kernel = _compiled(longer)
    _, more = _simulated(longer, kernel, longer.inputs())
    steps = (256 - 128) // 32 * tiles * 4
    assert (more.instructions_by_kind["integer"] - counters.instructions_by_kind["integer"]) / steps < 1


@needs_nvrtc
@pytest.mark.parametrize("b_along_k", [False, True])
def test_what_a_product_in_tf32_costs(b_along_k: bool) -> None:
    """As with 16 bits, but that the elements of B that lie across k are read one by one; nothing is cut."""
    schedule = LARGE_TILES[128].format(8, 8, 4, "swizzle 4" if b_along_k else "pad 8")
    product = Product(128, 128, 128, element="f32", b_along_k=b_along_k, schedule=schedule)
    _, kernel = _compiled(product)
    _, counters = _simulated(product, kernel, product.inputs())
    assert _total(counters, "mma", "warps") == 128 * 128 * 128 // (16 * 8 * 8)
    tiles, steps = (128 // 64) ** 2, 128 // 8
    # 32 x 32 elements a warp: two fragments of A, of 4 matrices each, and four of B, of 2.
    assert _total(counters, "ldmatrix", "warps") == tiles * 4 * steps * (2 + 2 * b_along_k)
    fragments_of_b = 0 if b_along_k else tiles * 4 * steps * 4 * 2
    epilogue = 128 * 128 * 4 // (16 * 32) + tiles * 4 * 4  # with the bias, of which a lane has 4 pairs
    assert _total(counters, "load.shared", "warps") == fragments_of_b + epilogue
    for kind in ("ldmatrix", "cp.async", "load.shared"):
        assert _total(counters, kind, "wavefronts") == _total(counters, kind, "ideal_wavefronts") > 0
    assert _total(counters, "cp.async", "sectors") == tiles * (2 * 64 * 128 + 64) * 4 // 32
    # The results lie where the slabs were, behind one more barrier.
    assert _total(counters, "barrier", "warps") == tiles * 4 * (128 // 16 + 1)
    assert "convert" not in counters.instructions_by_kind
    assert counters.instructions_by_kind["integer"] < 4 * _total(counters, "ldmatrix", "warps") + fragments_of_b


@needs_nvrtc
@pytest.mark.parametrize("result", ["f16", "f32"])
@pytest.mark.parametrize("n", [128, 32, 16])
def test_rows_are_stored_whole(result: str, n: int) -> None:
    """16 bytes a lane, whole sectors, through shared memory without conflicts.

    The results of 16 bits lie where the slabs were, behind one more barrier of the block.
    """
    product = Product(128, n, 128, result=result, schedule=LARGE_TILES[n].format(4, 16, 8, "swizzle 8"))
    _, kernel = _compiled(product)
    inputs = product.inputs()
    values, counters = _simulated(product, kernel, inputs)
    _check(values, product.expected(*inputs), product)
    size = 128 * n * (2 if result == "f16" else 4)
    assert _total(counters, "store.global", "requests") == size // (16 * 32)
    assert _total(counters, "store.global", "sectors") == size // 32
    for kind in ("load.shared", "store.shared"):
        assert _total(counters, kind, "wavefronts") == _total(counters, kind, "ideal_wavefronts") > 0
    warps = kernel.threads // 32 * prod(kernel.grid_shape)
    assert _total(counters, "barrier", "warps") == warps * (128 // 32 + (result == "f16"))


@needs_nvrtc
@pytest.mark.parametrize(("m", "n"), [(130, 132), (17, 36), (64, 20), (101, 68), (40, 33)])
def test_masked_rows_of_f32(m: int, n: int) -> None:
    """Edges of f32 results: runs of 4 are inside or outside as a whole, or else stored two by two."""
    product = Product(m, n, 48)
    _, kernel = _compiled(product)
    inputs = product.inputs()
    values, _ = _simulated(product, kernel, inputs)
    _check(values, product.expected(*inputs), product)
    assert any(op.name == "gpu_kernel.warp_barrier" for op in kernel.body.walk()) == (n % 4 == 0)


@needs_nvrtc
@pytest.mark.parametrize(("result", "registers"), [("f16", 1), ("f32", 1), ("f16", 2), ("f32", 4), ("f16", 4)])
def test_few_rows_are_stored_whole(result: str, registers: int) -> None:
    """The accumulators of 8 rows are transposed: lanes exchange single elements, and store 16 bytes, or 8 of a row of
    32."""
    n = 4 * 16 * registers
    columns = f"4 warp * {registers} register * 16 mma" if registers > 1 else "4 warp * 16 mma"
    staged = "stage = [%a buffers 2 async swizzle 8, %b buffers 2 async swizzle 8]"
    schedule = f"i = 8 mma, j = {columns}, k = 4 loop * 2 unroll * 16 mma, {staged}"
    product = Product(8, n, 128, result=result, schedule=schedule)
    _, kernel = _compiled(product)
    inputs = product.inputs()
    values, counters = _simulated(product, kernel, inputs)
    _check(values, product.expected(*inputs), product)
    size = 8 * n * (2 if result == "f16" else 4)
    run = 8 if (result, registers) == ("f16", 1) else 16
    assert _total(counters, "store.global", "requests") == size // (run * 32)
    assert _total(counters, "store.global", "sectors") == size // 32
    for kind in ("load.shared", "store.shared"):
        assert _total(counters, kind, "wavefronts") == _total(counters, kind, "ideal_wavefronts") > 0


@needs_nvrtc
@pytest.mark.parametrize(
    ("m", "n", "result"),
    [(3, 64, "f16"), (5, 132, "f32"), (9, 72, "f16"), (15, 68, "f32"), (7, 67, "f16"), (2, 130, "f32")],
)
def test_masked_few_rows(m: int, n: int, result: str) -> None:
    """Of 1 to 15 rows, whole runs are inside or outside, or else elements are stored one by one."""
    product = Product(m, n, 48, result=result, schedule=FEW_ROWS.format(-(-m // 8), -(-n // 64)))
    _, kernel = _compiled(product)
    inputs = product.inputs()
    values, _ = _simulated(product, kernel, inputs)
    _check(values, product.expected(*inputs), product)
    assert any(op.name == "gpu_kernel.warp_barrier" for op in kernel.body.walk()) == (n % 4 == 0)


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_registers(arch: str) -> None:
    products = [Product(128, 128, 128), PRODUCTS["ragged"], Product(1024, 1024, 128)]
    for product in (*products, *(replace(product, element="f32") for product in products)):
        _, kernel = _compiled(product)
        (resources,) = kernel_resources(nvrtc.compile_cuda(kernel_text(kernel), arch).cubin).values()
        assert resources.stack_bytes == 0
        assert resources.registers <= 255


@needs_nvrtc
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_every_layer_is_multiplied_by_instructions(dtype: str) -> None:
    """What lies between two products is stored in the type that the second multiplies, so that it can.

    It is a small integer, which is not rounded whatever the order of the sums.
    """
    shapes = "(33, 64)", "(96, 64)", "(40, 96)"
    x, w1, w2 = (f"torch.randint(-1, 2, {shape}).to(torch.{dtype})" for shape in shapes)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        captured = capture_expression(f"F.linear(F.relu(F.linear({x}, {w1})), {w2})")
        result = run_captured(captured, CompileOptions())
    finally:
        torch.set_float32_matmul_precision(before)
    assert [row.error < {"float16": 1e-3, "float32": 1e-6}[dtype] for row in result.comparisons] == [True]
    kernels = [run.compiled.kernel for run in result.run.kernels]
    assert len(kernels) == 2
    assert all(any(op.name == "gpu_kernel.mma" for op in kernel.body.walk()) for kernel in kernels)
