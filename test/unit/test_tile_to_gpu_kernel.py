"""convert-tile-to-gpu-kernel: kernels under many schedules, simulated with the race check, against numpy."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from memory_checks import check_memory
from module_text import make_context, parse
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc

from uop.dialects import gpu_kernel
from uop.passes import get_all_passes
from uop.runtime import nvrtc
from uop.runtime.simulator import Counters, UnsupportedPtxError, simulate
from uop.targets.cuda import kernel_text

Array = np.ndarray[Any, Any]

TILE_PASSES = ("convert-loop-to-tile", "tile-drop-masks", "tile-stage", "tile-vectorize", "uop-simplify")

needs_nvrtc = pytest.mark.skipif(not nvrtc.is_available(), reason="NVRTC is not installed")


def run_pass(module: ModuleOp, name: str) -> None:
    get_all_passes()[name]()().apply(make_context(), module)
    module.verify()


def tile_form(text: str, schedule: str) -> ModuleOp:
    """A kernel in loop form under a schedule, in tile form."""
    module = parse(text.replace(") {", f") schedule #tile.schedule<{schedule}> {{", 1))
    for name in TILE_PASSES:
        run_pass(module, name)
    return module


def kernel_of(module: ModuleOp) -> gpu_kernel.KernelOp:
    return next(op for op in module.ops if isinstance(op, gpu_kernel.KernelOp))


def lowered(text: str, schedule: str) -> gpu_kernel.KernelOp:
    module = tile_form(text, schedule)
    check_memory(module, gathers=True)
    run_pass(module, "convert-tile-to-gpu-kernel")
    check_memory(module, gathers=True)
    printed = str(module)
    assert str(parse(printed)) == printed
    return kernel_of(module)


def run(kernel: gpu_kernel.KernelOp, outputs: Sequence[Array], inputs: Sequence[Array]) -> Counters:
    source = kernel_text(kernel)
    compiled = nvrtc.compile_cuda(source, "compute_80")
    return simulate(
        compiled.ptx, kernel.grid_shape, kernel.threads, [*outputs, *inputs], check_races=True, source=source
    )


def normal(*shape: int, dtype: str = "float32", seed: int = 0) -> Array:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def assert_close(actual: Array, expected: Array, tolerance: float = 2e-6) -> None:
    scale = np.abs(expected).max(initial=1e-30)
    np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), atol=tolerance * scale, rtol=0)


# Programs in loop form, with what they mean.


def matmul(m: int, n: int, k: int, element: str = "f32") -> str:
    """relu((x + bias) · w), summed in f32."""
    cast = "" if element == "f32" else f"%xc = uop.cast %4 : {element} -> f32\n%wc = uop.cast %5 : {element} -> f32"
    x, w = ("%4", "%5") if element == "f32" else ("%xc", "%wc")
    result = "" if element == "f32" else f"%r = uop.cast %7 : f32 -> {element}"
    return f"""
uop.kernel @matmul(%out: memref<{m}x{n}x{element}>, %x: memref<{m}x{k}x{element}>,
    %bias: memref<{k}x{element}>, %w: memref<{k}x{n}x{element}>) {{
  %0 = uop.const 0.0 : f32
  loop.for %i (i = {m} parallel) {{
    loop.for %j (j = {n} parallel) {{
      %1 = loop.reduce %k (k = {k}) add : f32 {{
        %2 = uop.load %x[%i, %k] : memref<{m}x{k}x{element}>
        %3 = uop.load %bias[%k] : memref<{k}x{element}>
        %4 = uop.add %2, %3 : {element}
        %5 = uop.load %w[%k, %j] : memref<{k}x{n}x{element}>
        {cast}
        %6 = uop.mul {x}, {w} : f32
        loop.yield %6 : f32
      }}
      %7 = uop.max %1, %0 : f32
      {result}
      uop.store {"%7" if element == "f32" else "%r"}, %out[%i, %j] : memref<{m}x{n}x{element}>
    }}
  }}
}}"""


def check_matmul(m: int, n: int, k: int, schedule: str) -> Counters:
    x, bias, w = normal(m, k), normal(k), normal(k, n)
    out = np.full((m, n), np.nan, np.float32)
    counters = run(lowered(matmul(m, n, k), schedule), [out], [x, bias, w])
    assert_close(out, np.maximum((x + bias) @ w, 0))
    return counters


def softmax(m: int, n: int) -> str:
    return f"""
uop.kernel @softmax(%out: memref<{m}x{n}xf32>, %x: memref<{m}x{n}xf32>) {{
  loop.for %i (i = {m} parallel) {{
    %max = loop.reduce %j (j = {n}) max : f32 {{
      %0 = uop.load %x[%i, %j] : memref<{m}x{n}xf32>
      loop.yield %0 : f32
    }}
    %sum = loop.reduce %j (j = {n}) add : f32 {{
      %0 = uop.load %x[%i, %j] : memref<{m}x{n}xf32>
      %1 = uop.sub %0, %max : f32
      %2 = uop.exp %1 : f32
      loop.yield %2 : f32
    }}
    loop.for %j (j = {n} parallel) {{
      %0 = uop.load %x[%i, %j] : memref<{m}x{n}xf32>
      %1 = uop.sub %0, %max : f32
      %2 = uop.exp %1 : f32
      %3 = uop.div %2, %sum : f32
      uop.store %3, %out[%i, %j] : memref<{m}x{n}xf32>
    }}
  }}
}}"""


def online_softmax(m: int, n: int) -> str:
    """The same, with maximum and sum found together."""
    return f"""
uop.kernel @softmax(%out: memref<{m}x{n}xf32>, %x: memref<{m}x{n}xf32>) {{
  %one = uop.const 1.0 : f32
  loop.for %i (i = {m} parallel) {{
    %max, %sum = loop.reduce %j (j = {n}) online_softmax : f32, f32 {{
      %0 = uop.load %x[%i, %j] : memref<{m}x{n}xf32>
      loop.yield %0, %one : f32, f32
    }}
    loop.for %j (j = {n} parallel) {{
      %0 = uop.load %x[%i, %j] : memref<{m}x{n}xf32>
      %1 = uop.sub %0, %max : f32
      %2 = uop.exp %1 : f32
      %3 = uop.div %2, %sum : f32
      uop.store %3, %out[%i, %j] : memref<{m}x{n}xf32>
    }}
  }}
}}"""


def check_softmax(text: str, m: int, n: int, schedule: str) -> Counters:
    x = normal(m, n)
    out = np.full((m, n), np.nan, np.float32)
    counters = run(lowered(text, schedule), [out], [x])
    exp = np.exp(x - x.max(1, keepdims=True))
    assert_close(out, exp / exp.sum(1, keepdims=True))
    return counters


# Matrix products.

TILE_16 = "i = 1 block * 8 thread * 2 register, j = 1 block * 8 thread * 2 register"

MATMUL_SCHEDULES = [
    f"{TILE_16}, k = 2 loop * 32 loop, stage = [%x buffers 2 async pad 4, %bias buffers 2 async, %w buffers 2 async]",
    f"{TILE_16}, k = 2 loop * 32 loop, stage = [%x pad 1, %bias, %w]",
    f"{TILE_16}, k = 2 loop * 32 loop, stage = [%x buffers 2 pad 1, %bias, %w buffers 3 async]",
    f"{TILE_16}, k = 8 loop * 8 loop, stage = [%x buffers 3 async, %bias buffers 4 async, %w buffers 3 async]",
    f"{TILE_16}, k = 8 loop * 8 loop, stage = [%x buffers 3, %bias buffers 4, %w buffers 5 async]",
    f"{TILE_16}, k = 8 loop * 8 loop, stage = [%x buffers 2 async, %bias async, %w]",
    f"{TILE_16}, k = 64 loop, stage = [%x buffers 2 async, %w buffers 2]",
    "i = 16 block, j = 8 block * 2 thread, k = 2 register * 32 thread",
    "i = 4 block * 4 register, j = 2 thread * 8 thread, k = 64 loop",
    "i = 2 block * 8 thread, j = 4 thread * 4 register, k = 4 loop * 4 loop * 4 register, stage = [%x, %w async]",
    "i = 2 block * 8 loop, j = 4 thread * 4 unroll, k = 4 loop * 4 unroll * 4 register",
    "i = 2 block * 2 thread * 4 register, j = 4 loop * 4 register, k = 3 loop * 25 thread",
    "i = 2 block * 2 block * 4 block, j = 4 block * 4 warp, k = 32 lane * 2 register",
]


@needs_nvrtc
@pytest.mark.parametrize("schedule", MATMUL_SCHEDULES)
def test_matmul(schedule: str) -> None:
    check_matmul(16, 16, 64, schedule)


ASYNC = "stage = [%x buffers 2 async, %bias buffers 2 async, %w buffers 2 async]"

RAGGED_MATMULS = [
    (
        100,
        70,
        50,
        f"i = 7 block * 8 thread * 2 register, j = 5 block * 8 thread * 2 register, k = 4 loop * 16 loop, {ASYNC}",
    ),
    (100, 70, 50, "i = 4 block * 32 thread, j = 20 block * 4 register, k = 2 loop * 25 loop, stage = [%x, %w]"),
    (100, 70, 50, "i = 100 block, j = 9 block * 4 register * 2 register, k = 2 register * 30 thread"),
    (
        17,
        33,
        65,
        f"i = 2 block * 8 thread * 2 register, j = 3 block * 8 thread * 2 register, k = 3 loop * 32 loop, {ASYNC}",
    ),
    (1, 16, 64, f"i = 1 block, j = 2 block * 8 thread, k = 2 loop * 32 loop, {ASYNC}"),
    (13, 7, 11, "i = 4 thread * 4 register, j = 8 thread, k = 3 loop * 4 loop, stage = [%x buffers 2, %w buffers 2]"),
    (4, 5, 6, "i = 4 loop, j = 5 loop, k = 6 loop"),
    (16, 16, 0, "i = 16 thread, j = 16 register, k = 1 loop"),
    (16, 1, 1, "i = 16 thread, j = 1 register, k = 1 loop"),
]


@needs_nvrtc
@pytest.mark.parametrize(("m", "n", "k", "schedule"), RAGGED_MATMULS)
def test_ragged_matmul(m: int, n: int, k: int, schedule: str) -> None:
    check_matmul(m, n, k, schedule)


@needs_nvrtc
@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("k", [64, 50])
def test_half_precision_matmul(element: str, k: int) -> None:
    schedule = f"{TILE_16}, k = 2 loop * 32 loop, stage = [%x buffers 2 async pad 8, %w buffers 2 async]"
    kernel = lowered(matmul(16, 16, k, element), schedule)
    x, bias, w = normal(16, k), normal(k), normal(k, 16)
    out = np.zeros((16, 16), np.uint16)
    run(kernel, [out], [to_bits(array, element) for array in (x, bias, w)])
    x, bias, w = (from_bits(to_bits(array, element), element) for array in (x, bias, w))
    total = from_bits(to_bits(x + bias, element), element) @ w
    assert_close(from_bits(out, element), np.maximum(total, 0), 8e-3 if element == "bf16" else 1e-3)


def to_bits(array: Array, element: str) -> Array:
    """A float array as the bits of a 16-bit float type, rounded to nearest even."""
    if element == "f16":
        return array.astype(np.float16).view(np.uint16)
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bits(bits: Array, element: str) -> Array:
    if element == "f16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


# Reductions along rows.

ROW_SCHEDULES = [
    "i = 4 block * 4 warp, j = 8 register * 32 lane * 4 register",
    "i = 16 block, j = 4 register * 256 thread",
    "i = 16 block, j = 4 loop * 256 thread",
    "i = 16 block, j = 2 loop * 2 register * 256 thread",
    "i = 8 block * 2 register, j = 4 register * 256 thread",
    "i = 4 block * 4 thread, j = 4 loop * 2 register * 32 thread * 4 register",
    "i = 6 block * 3 thread, j = 20 register * 50 thread",
    "i = 16 block, j = 1000 thread",
    "i = 16 block, j = 96 thread * 11 register",
    "i = 16 block, j = 31 thread * 33 register",
    "i = 4 thread * 4 block, j = 5 loop * 200 thread",
    "j = 32 loop * 32 thread, i = 2 block * 8 thread",
    "j = 16 thread * 63 register, i = 2 block * 8 thread",
    "j = 8 thread * 125 loop, i = 8 thread * 2 block",
]


@needs_nvrtc
@pytest.mark.parametrize("schedule", ROW_SCHEDULES)
def test_softmax(schedule: str) -> None:
    check_softmax(softmax(16, 1000), 16, 1000, schedule)


@needs_nvrtc
@pytest.mark.parametrize("schedule", ROW_SCHEDULES[2:])
def test_online_softmax(schedule: str) -> None:
    check_softmax(online_softmax(16, 1000), 16, 1000, schedule)


@needs_nvrtc
@pytest.mark.parametrize("n", [1, 31, 33, 127, 257])
def test_ragged_rows(n: int) -> None:
    check_softmax(softmax(5, n), 5, n, "i = 3 block * 2 thread, j = 3 loop * 32 thread * 3 register")


@needs_nvrtc
def test_a_warp_for_each_row_needs_no_shared_memory() -> None:
    counters = check_softmax(softmax(16, 1000), 16, 1000, ROW_SCHEDULES[0])
    assert counters.barriers == 0
    assert counters.shared_wavefronts == 0
    assert counters.global_load_bytes == 16 * 1000 * 4


def reduction(monoid: str, elements: Sequence[str], rows: int, columns: int) -> str:
    """Each row of the inputs reduced with a monoid."""
    width = len(elements)
    outputs = [f"%out{n}: memref<{rows}x{e}>" for n, e in enumerate(elements)]
    inputs = [f"%x{n}: memref<{rows}x{columns}x{e}>" for n, e in enumerate(elements)]
    loads = "\n".join(f"%l{n} = uop.load %x{n}[%i, %k] : memref<{rows}x{columns}x{e}>" for n, e in enumerate(elements))
    stores = "\n".join(f"uop.store %r{n}, %out{n}[%i] : memref<{rows}x{e}>" for n, e in enumerate(elements))
    types = ", ".join(elements)
    return f"""
uop.kernel @reduction({", ".join(outputs + inputs)}) {{
  loop.for %i (i = {rows} parallel) {{
    {", ".join(f"%r{n}" for n in range(width))} = loop.reduce %k (k = {columns}) {monoid} : {types} {{
      {loads}
      loop.yield {", ".join(f"%l{n}" for n in range(width))} : {types}
    }}
    {stores}
  }}
}}"""


REDUCTION_SCHEDULES = [
    "i = 3 block * 2 thread, k = 2 loop * 32 thread * 2 register",
    "i = 6 block, k = 2 register * 64 thread",
    "i = 3 block * 2 register, k = 5 register * 21 thread",
]

STAGED_REDUCTION = "i = 3 block * 2 thread, k = 4 loop * 32 loop, stage = [%x0 buffers 2 async]"

DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
}


@needs_nvrtc
@pytest.mark.parametrize("schedule", [*REDUCTION_SCHEDULES[1:], STAGED_REDUCTION])
@pytest.mark.parametrize(
    ("monoid", "element"),
    [
        *(("max", element) for element in DTYPES),
        ("add", "i64"),
        ("add", "f64"),
        ("mul", "i8"),
        ("and", "i1"),
        ("or", "ui8"),
        ("min", "f16"),
    ],
)
def test_reductions_of_all_types(monoid: str, element: str, schedule: str) -> None:
    dtype = np.dtype(DTYPES[element])
    rng = np.random.default_rng(1)
    if dtype.kind in "f":
        x = rng.standard_normal((6, 100)).astype(dtype)
    elif dtype.kind == "b":
        x = rng.random((6, 100)) < (0.99 if monoid == "and" else 0.01)
    else:
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, (6, 100), dtype, endpoint=True)
    out = np.zeros(6, dtype)
    with np.errstate(over="ignore"):
        expected = {
            "add": lambda: x.sum(1, dtype=dtype),
            "mul": lambda: np.multiply.reduce(x, 1, dtype=dtype),
            "max": lambda: x.max(1),
            "min": lambda: x.min(1),
            "and": lambda: np.bitwise_and.reduce(x, 1),
            "or": lambda: np.bitwise_or.reduce(x, 1),
        }[monoid]()
    run(lowered(reduction(monoid, [element], 6, 100), schedule), [out], [x])
    if monoid == "add" and dtype.kind == "f":
        assert_close(out, expected)
    else:
        np.testing.assert_array_equal(out, expected)


SCANS = """
uop.kernel @scans(%out0: memref<37x101xf32>, %out1: memref<37x101xi64>, %x: memref<37x101xf32>) {
  loop.for %i (i = 37 parallel) {
    loop.for %j (j = 101 parallel) {
      %0 = uop.load %x[%i, %j] : memref<37x101xf32>
      %1 = loop.scan add %0 over %j : f32
      %2 = uop.cast %j : index -> i64
      %3, %4 = loop.scan argmin_last %0, %2 over %j : f32, i64
      uop.store %1, %out0[%i, %j] : memref<37x101xf32>
      uop.store %4, %out1[%i, %j] : memref<37x101xi64>
    }
  }
}
"""


@needs_nvrtc
@pytest.mark.parametrize(
    "schedule",
    [
        "i = 2 block * 32 thread, j = 101 loop",
        "i = 5 block * 4 thread * 2 register, j = 26 loop * 4 unroll",
        "i = 2 block * 32 thread, j = 4 loop * 32 loop, stage = [%x pad 1]",
        "i = 2 block * 32 thread, j = 4 loop * 32 loop, stage = [%x buffers 2 async pad 1]",
    ],
)
def test_scans(schedule: str) -> None:
    """The last of equals is the place; slabs are copied ahead as for a reduction."""
    x = np.random.default_rng(3).integers(-9, 9, (37, 101)).astype(np.float32)
    sums, places = np.zeros(x.shape, np.float32), np.zeros(x.shape, np.int64)
    run(lowered(SCANS, schedule), [sums, places], [x])
    np.testing.assert_array_equal(sums, x.cumsum(1))
    least = np.minimum.accumulate(x, 1)
    np.testing.assert_array_equal(places, np.maximum.accumulate(np.where(x == least, np.arange(101), 0), 1))


@needs_nvrtc
@pytest.mark.parametrize("schedule", REDUCTION_SCHEDULES)
def test_maximum_of_nan_is_nan(schedule: str) -> None:
    x = normal(6, 100)
    x[2, 97] = np.nan
    out = np.zeros(6, np.float32)
    run(lowered(reduction("max", ["f32"], 6, 100), schedule), [out], [x])
    np.testing.assert_array_equal(out, x.max(1))


@needs_nvrtc
@pytest.mark.parametrize("schedule", REDUCTION_SCHEDULES)
def test_argmax_finds_the_first_of_ties(schedule: str) -> None:
    x = np.random.default_rng(2).integers(0, 9, (6, 100)).astype(np.float32)
    places = np.tile(np.arange(100, dtype=np.int64), (6, 1))
    value, place = np.zeros(6, np.float32), np.zeros(6, np.int64)
    run(lowered(reduction("argmax", ["f32", "i64"], 6, 100), schedule), [value, place], [x, places])
    np.testing.assert_array_equal(value, x.max(1))
    np.testing.assert_array_equal(place, x.argmax(1))


@needs_nvrtc
@pytest.mark.parametrize("schedule", REDUCTION_SCHEDULES)
def test_welford(schedule: str) -> None:
    x = normal(6, 100) + 100
    zeros, ones = np.zeros_like(x), np.ones_like(x)
    count, mean, rest, squares = results = [np.zeros(6, np.float32) for _ in range(4)]
    run(lowered(reduction("welford", ["f32"] * 4, 6, 100), schedule), results, [ones, x, zeros, zeros])
    m2 = squares - rest * rest / 100
    assert_close(mean, x.mean(1))
    assert_close(m2, x.astype(np.float64).var(1) * 100, 1e-5)
    np.testing.assert_array_equal(count, 100)


@needs_nvrtc
def test_a_kernel_without_axes() -> None:
    out, x = np.zeros(1, np.float32), normal(1)
    text = "uop.kernel @f(%out: memref<f32>, %x: memref<f32>) {\n%0 = uop.load %x[] : memref<f32>\n"
    text += "%1 = uop.exp %0 : f32\nuop.store %1, %out[] : memref<f32>\n}"
    kernel = lowered(text, "")
    assert (kernel.grid_shape, kernel.threads) == ((1, 1, 1), 1)
    run(kernel, [out], [x])
    assert_close(out, np.exp(x))


@needs_nvrtc
def test_reduction_of_nothing_is_the_identity() -> None:
    out, x = np.zeros(6, np.float32), np.zeros((6, 0), np.float32)
    run(lowered(reduction("max", ["f32"], 6, 0), "i = 3 block * 2 thread, k = 1 loop"), [out], [x])
    np.testing.assert_array_equal(out, -np.inf)


# What does not depend on the schedule.


@pytest.mark.parametrize("schedule", [MATMUL_SCHEDULES[0], MATMUL_SCHEDULES[9]])
def test_text_of_tile_form_gives_the_same_kernel(schedule: str) -> None:
    module = tile_form(matmul(16, 16, 64), schedule)
    again = parse(str(module))
    for copy in (module, again):
        run_pass(copy, "convert-tile-to-gpu-kernel")
    assert str(module) == str(again)


@pytest.mark.parametrize("schedule", [MATMUL_SCHEDULES[0], MATMUL_SCHEDULES[9], MATMUL_SCHEDULES[11]])
def test_every_op_says_where_it_comes_from(schedule: str) -> None:
    module = tile_form(matmul(16, 16, 64), schedule)
    for line, op in enumerate(module.walk()):
        op.location = FileLineColLoc(StringAttr("model.py"), IntAttr(line), IntAttr(0))
    run_pass(module, "convert-tile-to-gpu-kernel")
    assert [op.name for op in kernel_of(module).walk() if isinstance(op.location, UnknownLoc)] == []


@needs_nvrtc
def test_a_padded_slab_is_read_without_bank_conflicts() -> None:
    counters = check_matmul(16, 16, 64, MATMUL_SCHEDULES[0])
    assert counters.bank_conflicts == 0
    # Every element of x and w is loaded once: 1,024 floats each, and 64 of bias.
    assert counters.global_load_sectors == (1024 + 1024 + 64) * 4 // 32


# Schedules at random.

SERIAL, PARALLEL = ["loop", "unroll"], ["block", "thread", "register"]


def random_factors(rng: random.Random, extent: int, kinds: Sequence[str], threads: int) -> tuple[str, int]:
    """Factors that cover an axis, ragged or not, with at most so many threads; the threads that they have."""
    factors: list[tuple[int, str]] = []
    used = 1
    for _ in range(rng.randint(1, 3)):
        kind, factor = rng.choice(kinds), rng.choice([1, 2, 3, 4, 5, 8, 16, 25, 32])
        if kind == "thread":
            factor = min(factor, threads // used)
            used *= factor
        elif kind != "block":
            factor = min(factor, 4)
        factors.append((factor, kind))
    covered = math.prod(factor for factor, _ in factors)
    if covered < extent:
        factors.insert(rng.randint(0, len(factors)), (-(-extent // covered), "loop"))
    return " * ".join(f"{factor} {kind}" for factor, kind in factors), used


def random_staging(rng: random.Random, buffer: str) -> str:
    buffers, asynchronous, pad = rng.choice(["", "2", "3", "4"]), rng.random() < 0.6, rng.choice([0, 0, 1, 4])
    parts = [
        f"%{buffer}",
        buffers and f"buffers {buffers}",
        "async" if asynchronous else "",
        f"pad {pad}" if pad else "",
    ]
    return " ".join(part for part in parts if part)


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_schedules(seed: int) -> None:
    rng = random.Random(seed)
    m, n, k = rng.choice([1, 5, 16, 33]), rng.choice([1, 8, 19, 40]), rng.choice([1, 7, 16, 50])
    i, used = random_factors(rng, m, SERIAL + PARALLEL, 128)
    j, more = random_factors(rng, n, SERIAL + PARALLEL, 128 // used)
    used *= more
    reduced, _ = random_factors(rng, k, [*SERIAL, "thread", "register"], 128 // used)
    axes = [f"i = {i}", f"j = {j}", f"k = {reduced}"]
    rng.shuffle(axes)
    stage = [random_staging(rng, buffer) for buffer in ("x", "bias", "w") if rng.random() < 0.6]
    try:
        check_matmul(m, n, k, ", ".join([*axes, *([f"stage = [{', '.join(stage)}]"] if stage else [])]))
    except UnsupportedPtxError as error:
        pytest.skip(str(error))
