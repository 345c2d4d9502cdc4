"""Scans over registers, lanes and warps: interpreted in tile form, and simulated with the race check, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_tile_to_gpu_kernel import kernel_of, needs_nvrtc, run, run_pass, tile_form

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.dialects.uop import KernelOp
from uop.frontends.capture import capture_expression
from uop.runtime.interpret.buffers import poisoned_buffer
from uop.runtime.interpret.tiles import interpret_tile_kernel
from uop.runtime.nvrtc import compile_cuda
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

Array = np.ndarray[Any, Any]

SCHEDULES = {
    "a thread a row": ("{rows} block", "{n} register"),
    "a lane an element": ("{rows} block", "{steps} loop * 32 lane"),
    "a warp a row": ("{blocks} block * 4 warp", "{steps} register * 32 lane * 4 register"),
    "a warp a row, in steps": ("{blocks} block * 4 warp", "{steps} loop * 32 lane * 4 register"),
    "a block a row": ("{rows} block", "{steps} loop * 4 warp * 2 register * 32 lane * 1 register"),
    "threads": ("{rows} block", "{steps} loop * 2 register * 64 thread * 2 register"),
    "rows in registers": ("{half} block * 2 register", "{steps} register * 32 lane * 4 register"),
    "no whole warps": ("{rows} block", "{steps} loop * 24 thread * 3 register"),
    "strided lanes": ("{half} block", "{steps} loop * 4 thread * 2 register * 8 lane * 4 lane"),
}

COVERED = {
    "a thread a row": 1,
    "a lane an element": 32,
    "a warp a row": 128,
    "a warp a row, in steps": 128,
    "a block a row": 256,
    "threads": 256,
    "rows in registers": 128,
    "no whole warps": 72,
    "strided lanes": 256,
}


def schedule(name: str, rows: int, n: int) -> str:
    i, j = SCHEDULES[name]
    sizes = {
        "rows": rows,
        "n": n,
        "blocks": -(-rows // 4),
        "half": rows if name == "strided lanes" else -(-rows // 2),
        "steps": -(-n // COVERED[name]),
    }
    return f"i = {i}, j = {j}".format_map(sizes)


def sums(rows: int, n: int, element: str, monoid: str = "add") -> str:
    wide = "f32" if element == "f16" else element
    value = "%0" if element == wide else "%w"
    widened = "" if element == wide else f"%w = uop.cast %0 : {element} -> {wide}"
    narrowed = "" if element == wide else f"%r = uop.cast %1 : {wide} -> {element}"
    return f"""
uop.kernel @sums(%out: memref<{rows}x{n}x{element}>, %x: memref<{rows}x{n}x{element}>) {{
  loop.for %i (i = {rows} parallel) {{
    loop.for %j (j = {n} parallel) {{
      %0 = uop.load %x[%i, %j] : memref<{rows}x{n}x{element}>
      {widened}
      %1 = loop.scan {monoid} {value} over %j : {wide}
      {narrowed}
      uop.store {"%1" if element == wide else "%r"}, %out[%i, %j] : memref<{rows}x{n}x{element}>
    }}
  }}
}}"""


def extrema(rows: int, n: int) -> str:
    return f"""
uop.kernel @extrema(%out0: memref<{rows}x{n}xf32>, %out1: memref<{rows}x{n}xi64>, %x: memref<{rows}x{n}xf32>) {{
  loop.for %i (i = {rows} parallel) {{
    loop.for %j (j = {n} parallel) {{
      %0 = uop.load %x[%i, %j] : memref<{rows}x{n}xf32>
      %1 = uop.cast %j : index -> i64
      %2, %3 = loop.scan argmax_last %0, %1 over %j : f32, i64
      uop.store %2, %out0[%i, %j] : memref<{rows}x{n}xf32>
      uop.store %3, %out1[%i, %j] : memref<{rows}x{n}xi64>
    }}
  }}
}}"""


def both(text: str, name: str, rows: int, n: int, outputs: list[Array], x: Array) -> list[list[Array]]:
    """What the interpreter of tile form and the simulator of the GPU give."""
    module = tile_form(text, schedule(name, rows, n))
    kernel = next(op for op in module.ops if isinstance(op, KernelOp))
    interpreted = [poisoned_buffer(argument.type) for argument in kernel.body.block.args[: len(outputs)]]
    interpret_tile_kernel(kernel, [*interpreted, x])
    run_pass(module, "convert-tile-to-gpu-kernel")
    run(kernel_of(module), outputs, [x])
    return [interpreted, outputs]


@needs_nvrtc
@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("n", [1, 7, 127, 129, 256, 300])
def test_sums(name: str, n: int) -> None:
    if name == "a thread a row" and n > 7:
        n = n % 11
    rows = 4 if name in ("a warp a row", "rows in registers") else 3
    x = np.random.default_rng(n).standard_normal((rows, n)).astype(np.float32)
    x[0, 0] = -0.0
    expected = x.astype(np.float64).cumsum(1)
    for (actual,) in both(sums(rows, n, "f32"), name, rows, n, [np.empty_like(x)], x):
        np.testing.assert_allclose(actual, expected, atol=2e-6 * np.abs(expected).max())
        assert not np.signbit(actual[0, 0])


@needs_nvrtc
@pytest.mark.parametrize("element", ["f64", "i64", "f16", "i8"])
@pytest.mark.parametrize("name", ["a warp a row", "a block a row"])
def test_sums_of_other_types(name: str, element: str) -> None:
    rows, n = 3, 311
    generator = np.random.default_rng(1)
    dtype = {"f64": "float64", "f16": "float16", "i64": "int64", "i8": "int8"}[element]
    numbers = element in ("f64", "f16")
    x = (generator.standard_normal((rows, n)) if numbers else generator.integers(-99, 99, (rows, n))).astype(dtype)
    expected = x.astype("float64" if numbers else "int64").cumsum(1).astype(dtype)
    for (actual,) in both(sums(rows, n, element), name, rows, n, [np.empty_like(x)], x):
        tolerance = {"f64": 1e-14, "f16": 1e-3}.get(element, 0)
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * 20)


@needs_nvrtc
@pytest.mark.parametrize("name", ["a warp a row", "a warp a row, in steps", "a block a row", "threads"])
def test_the_last_of_equals_and_nan_as_one_after_the_other(name: str) -> None:
    rows, n = 3, 300
    x = np.random.default_rng(2).integers(0, 40, (rows, n)).astype(np.float32)
    x[1, 77] = x[1, 200] = np.nan
    x[2, :] = -np.inf
    values, places = np.empty_like(x), np.empty(x.shape, np.int64)
    best, place = x.copy(), np.zeros(x.shape, np.int64)
    for j in range(1, n):
        beats = np.isnan(x[:, j]) | (x[:, j] >= best[:, j - 1])
        best[:, j] = np.where(beats, x[:, j], best[:, j - 1])
        place[:, j] = np.where(beats, j, place[:, j - 1])
    for actual, where in both(extrema(rows, n), name, rows, n, [values, places], x):
        np.testing.assert_array_equal(actual, best)
        np.testing.assert_array_equal(where, place)


@needs_nvrtc
@pytest.mark.parametrize("name", ["a warp a row", "a block a row"])
def test_logarithms_of_sums(name: str) -> None:
    rows, n = 3, 150
    x = np.random.default_rng(3).standard_normal((rows, n)).astype(np.float32) * 30
    x[1, :40] = -np.inf
    expected = np.logaddexp.accumulate(x.astype(np.float64), 1)
    for (actual,) in both(sums(rows, n, "f32", "logaddexp"), name, rows, n, [np.empty_like(x)], x):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


PROGRAMS = {
    "inner": "torch.cumsum(torch.randn(13, 129), 1)",
    "one": "torch.cumsum(torch.randn(3, 7), 1)",
    "prime": "torch.cumsum(torch.randn(3, 1021) * torch.randn(1021), 1).exp()",
    "block": "torch.cumsum(torch.randn(2, 2053), 1)",
    "steps": "torch.cumsum(torch.randn(1, 16400), 1)",
    "outer": "torch.cumsum(torch.randn(67, 33), 0)",
    "f16": "torch.cumsum(torch.randn(5, 513).half(), 1)",
    "f64": "torch.cumsum(torch.randn(5, 600, dtype=torch.float64), 1)",
    "i64": "torch.cumsum(torch.randint(-9, 9, (5, 1030)), 1)",
    "extrema": "torch.cummax(torch.randn(5, 600), 1)",
    "logarithms": "torch.logcumsumexp(torch.randn(5, 300) * 9, 1)",
    "flipped": "torch.randn(3, 257).flip(1).cumsum(1).flip(1)",
    "softmax": "torch.softmax(torch.cumsum(torch.randn(5, 300), 1), 1)",
    "products": "torch.cumprod(torch.rand(5, 300) + 0.5, 1)",
}


@needs_nvrtc
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    result = run_captured(capture_expression(PROGRAMS[name]), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    for kernel in result.run.kernels:
        for arch in ARCHITECTURES:
            resources = compile_cuda(kernel.compiled.text, arch).resources[kernel.compiled.name]
            assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (name, arch)


@needs_nvrtc
def test_rows_are_read_and_written_once_and_side_by_side() -> None:
    (kernel,) = run_captured(capture_expression("torch.cumsum(torch.randn(8, 1024), 1)"), CompileOptions()).run.kernels
    counters = kernel.counters
    assert counters.global_store_sectors == counters.unique_store_sectors == 8 * 1024 * 4 // 32
    assert counters.global_load_sectors == 8 * 1024 * 4 // 32
