"""Attention by matrix instructions: f16 and bf16 kernels of many shapes and masks, at tile level and simulated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from memory_checks import check_memory
from module_text import parse
from test_tile_to_gpu_kernel import Array, kernel_of, needs_nvrtc, run_pass

from uop.dialects import gpu_kernel
from uop.dialects.uop import KernelOp
from uop.runtime import nvrtc
from uop.runtime.cubin import kernel_resources
from uop.runtime.interpret.gpu_kernels import from_storage
from uop.runtime.interpret.tiles import interpret_tile_kernel
from uop.runtime.simulator import Counters, simulate
from uop.targets.cuda import kernel_text

LOOP_PASSES = ("choose-schedule", "convert-loop-to-tile", "tile-drop-masks")
TILE_PASSES = ("tile-stage", "tile-mma", "uop-simplify", "tile-vectorize")
GPU_PASSES = ("convert-tile-to-gpu-kernel", "gpu-kernel-check", "gpu-kernel-strength-reduce")


@dataclass(frozen=True)
class Attention:
    """softmax(q · kᵀ / √depth, where the mask allows) · v, of heads of which `group` share keys and values.

    mask: `causal` (with a limit of the loop over keys), `boolean` (an argument of queries x keys), or none.
    """

    queries: int
    keys: int
    depth: int = 64
    heads: int = 2
    group: int = 1
    element: str = "f16"
    mask: str = ""
    schedule: str = ""

    @property
    def types(self) -> list[str]:
        shared = self.heads // self.group
        rows, columns = (self.heads, self.queries, self.depth), (shared, self.keys, self.depth)
        return [f"memref<{'x'.join(map(str, shape))}x{self.element}>" for shape in (rows, rows, columns, columns)]

    def text(self) -> str:
        """In loop form."""
        out, q, k, v = self.types
        schedule = f"schedule #tile.schedule<{self.schedule}> " if self.schedule else ""
        ok = f"memref<{self.queries}x{self.keys}xi1>"
        allowed = {
            "": "",
            "causal": "%ok = uop.le %k, %i : index",
            "boolean": f"%ok = uop.load %allowed[%i, %k] : {ok}",
        }[self.mask]
        x = "%where" if self.mask else "%scaled"
        masked = "%where = uop.where %ok, %scaled, %nothing : f32" if self.mask else ""
        end = "%end = uop.add %i, %next : index" if self.mask == "causal" else ""
        limit = " to %end" if self.mask == "causal" else ""
        head = "%h" if self.group == 1 else "%hk"
        shared = "" if self.group == 1 else f"%g = uop.const {self.group} : index\n%hk = uop.floordiv %h, %g : index"
        return f"""
uop.kernel @attention(%out: {out}, %q: {q}, %key: {k}, %v: {v}{f", %allowed: {ok}" if self.mask == "boolean" else ""})
    {schedule}{{
  %one = uop.const 1.0 : f32
  %next = uop.const 1 : index
  %scale = uop.const {self.depth**-0.5!r} : f32
  %nothing = uop.const 0xff800000 : f32
  loop.for %h (h = {self.heads} parallel) {{
    {shared}
    loop.for %i (i = {self.queries} parallel) {{
      loop.for %l (l = {self.depth} parallel) {{
        {end}
        %max, %sum, %acc = loop.reduce %k (k = {self.keys}){limit} online_attention : f32, f32, f32 {{
          %score = loop.reduce %k1 (k1 = {self.depth}) add : f32 {{
            %1 = uop.load %q[%h, %i, %k1] : {q}
            %2 = uop.cast %1 : {self.element} -> f32
            %3 = uop.load %key[{head}, %k, %k1] : {k}
            %4 = uop.cast %3 : {self.element} -> f32
            %5 = uop.mul %2, %4 : f32
            loop.yield %5 : f32
          }}
          %scaled = uop.mul %score, %scale : f32
          {allowed}
          {masked}
          %7 = uop.load %v[{head}, %k, %l] : {v}
          %8 = uop.cast %7 : {self.element} -> f32
          loop.yield {x}, %one, %8 : f32, f32, f32
        }}
        %9 = uop.reciprocal %sum : f32
        %10 = uop.mul %acc, %9 : f32
        %11 = uop.cast %10 : f32 -> {self.element}
        uop.store %11, %out[%h, %i, %l] : {out}
      }}
    }}
  }}
}}
"""

    def inputs(self) -> list[Array]:
        """As the interpreters hold them: bf16 as f32."""
        generator = np.random.default_rng(0)
        shared = self.heads // self.group
        shapes = (self.heads, self.queries), (shared, self.keys), (shared, self.keys)
        arrays: list[Array] = [generator.standard_normal((*s, self.depth)).astype(np.float32) for s in shapes]
        arrays[0] *= 3
        if self.element == "f16":
            arrays = [array.astype(np.float16) for array in arrays]
        else:
            arrays = [(array.view(np.uint32) & 0xFFFF0000).view(np.float32) for array in arrays]
        if self.mask == "boolean":
            allowed = generator.random((self.queries, self.keys)) < 0.3
            allowed[:, 0] = True
            arrays.append(allowed)
        return arrays

    def expected(self, inputs: list[Array]) -> Array:
        q, k, v = (array.astype(np.float64) for array in inputs[:3])
        k, v = np.repeat(k, self.group, 0), np.repeat(v, self.group, 0)
        scores = q @ np.swapaxes(k, 1, 2) * self.depth**-0.5
        if self.mask:
            causal = np.arange(self.keys) <= np.arange(self.queries)[:, None]
            scores = np.where(causal if self.mask == "causal" else inputs[3], scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights @ v / weights.sum(-1, keepdims=True)


def compiled(attention: Attention, *, checked: bool = True) -> tuple[KernelOp, KernelOp, gpu_kernel.KernelOp]:
    """In tile form in front of tile-mma and behind it, and in gpu_kernel form. checked: accesses are proved to be
    inside."""
    module = parse(attention.text())
    forms: list[KernelOp] = []
    for names in (LOOP_PASSES, TILE_PASSES, GPU_PASSES):
        for name in names:
            run_pass(module, name)
        text = str(module)
        assert str(parse(text)) == text
        forms += [op for op in parse(text).ops if isinstance(op, KernelOp)]
        if checked and names is not LOOP_PASSES:
            check_memory(module)
    return forms[0], forms[1], kernel_of(module)


def simulated(attention: Attention, kernel: gpu_kernel.KernelOp, inputs: list[Array]) -> tuple[Array, Counters]:
    source = kernel_text(kernel)
    out = np.full((attention.heads, attention.queries, attention.depth), 77, np.uint16)
    element = kernel.body.block.args[0].type
    if attention.element == "f16":
        out = out.view(np.float16)
    else:
        inputs = [(x.view(np.uint32) >> 16).astype(np.uint16) if x.dtype == np.float32 else x for x in inputs]
    ptx = nvrtc.compile_cuda(source, "compute_80").ptx
    counters = simulate(
        ptx,
        kernel.grid_shape,
        kernel.threads,
        [out, *inputs],
        shared_bytes=kernel.dynamic_shared_bytes,
        check_races=True,
        source=source,
    )
    return from_storage(out, element).astype(np.float64), counters


def check(result: Array, expected: Array, attention: Attention) -> None:
    """Weights and the result are rounded to 16 bits."""
    tolerance = {"f16": 2e-3, "bf16": 1.6e-2}[attention.element]
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


STAGES = "stage = [%q async swizzle 8, %key buffers 2 async swizzle 8, %v buffers 2 async swizzle 8]"

KERNELS = {
    "whole tiles": Attention(
        128,
        128,
        schedule="h = 2 block, i = 4 warp * 2 register * 16 mma, l = 8 register * 8 mma, "
        f"k = 2 loop * 4 register * 16 mma, k1 = 4 unroll * 16 mma, {STAGES}",
    ),
    "one step": Attention(32, 32, 16),
    "ragged": Attention(50, 70, 32),
    "long": Attention(17, 200, 64, heads=1),
    "causal": Attention(64, 64, mask="causal"),
    "boolean mask": Attention(40, 60, 32, mask="boolean"),
    "grouped heads": Attention(33, 48, 32, heads=4, group=2),
    "bf16": Attention(48, 80, 64, element="bf16", heads=1),
    "depth 80": Attention(64, 100, 80, heads=1),
    "depth 128": Attention(64, 100, 128, heads=1, mask="causal"),
    "depth 256": Attention(20, 36, 256, heads=1),
    "queries that are read in each step": Attention(
        200,
        100,
        128,
        heads=1,
        mask="causal",
        schedule="h = 1 block, i = 2 block * 4 warp * 2 register * 16 mma, l = 16 register * 8 mma, "
        f"k = 4 loop * 2 register * 16 mma, k1 = 8 unroll * 16 mma, {STAGES.replace('%q', '%q reread')}",
    ),
    "odd depth": Attention(20, 36, 20, heads=1),
}


@needs_nvrtc
@pytest.mark.parametrize("name", KERNELS)
def test_attention(name: str) -> None:
    attention = KERNELS[name]
    before, tile, kernel = compiled(attention)
    assert sum(op.name == "tile.mma" for op in tile.body.walk()) == 2
    inputs = attention.inputs()
    expected = attention.expected(inputs)
    result, _ = simulated(attention, kernel, inputs)
    check(result, expected, attention)
    if attention.queries * attention.keys <= 4096:
        for form in (before, tile):
            out = np.zeros(expected.shape, np.float16 if attention.element == "f16" else np.float32)
            interpret_tile_kernel(form, [out, *inputs])
            check(out.astype(np.float64), expected, attention)


def _total(counters: Counters, kind: str, what: str) -> int:
    return sum(getattr(c, what) for c in counters.by_instruction.values() if c.kind == kind)


TILE = (
    "h = 2 block, i = {blocks} block * 4 warp * 2 register * 16 mma, l = 8 register * 8 mma, "
    "k = {steps} loop * 4 register * 16 mma, k1 = 4 unroll * 16 mma, " + STAGES
)


@needs_nvrtc
def test_what_attention_costs() -> None:
    """As many instructions as the products take of the tiles that a warp's rows see, two shuffles a row and step, no
    bank conflicts, one barrier a step; queries are read once, keys and values once a block. The places of matrices are
    computed in front of the steps."""
    attention = Attention(256, 256, mask="causal", schedule=TILE.format(blocks=2, steps=4))
    _, _, kernel = compiled(attention)
    result, counters = simulated(attention, kernel, inputs := attention.inputs())
    check(result, attention.expected(inputs), attention)
    tiles, of_warps = 2 * (2 + 4), 2 * (2 * (1 + 2) + 2 * (3 + 4))  # 128 or 32 queries and 64 keys, not all masked
    assert _total(counters, "mma", "warps") == of_warps * 2 * 32 * 64 * 64 // (16 * 8 * 16)
    matrices = of_warps * 2 * 64 * 64 + 2 * 2 * 128 * 64
    assert _total(counters, "ldmatrix", "warps") == matrices // (4 * 8 * 8)
    assert _total(counters, "shuffle", "warps") == (of_warps + 2 * 2 * 4) * 4 * 2
    for kind in ("ldmatrix", "cp.async"):
        assert _total(counters, kind, "wavefronts") == _total(counters, kind, "ideal_wavefronts") > 0
    assert _total(counters, "cp.async", "sectors") == (tiles * 2 * 64 + 2 * 2 * 128) * 64 * 2 // 32
    assert _total(counters, "store.global", "sectors") == 2 * 256 * 64 * 2 // 32
    assert _total(counters, "barrier", "warps") == tiles * 4
    assert counters.instructions_by_kind["integer"] <= 85 * of_warps


@needs_nvrtc
@pytest.mark.parametrize(("depth", "keys"), [(80, 64), (128, 32)])
def test_warps_of_many_channels_have_32_rows(depth: int, keys: int) -> None:
    """Of more than 64 channels, too, since they read the queries in each step: 3 or 2.5 matrices of 16 x 16 for 8
    products of 16 x 16 by 16 x 8. Their shared memory is more than a kernel declares."""
    attention = Attention(128, 64, depth, heads=64)
    _, tile, kernel = compiled(attention)
    schedule = str(tile.schedule)
    assert "i = 4 warp * 2 register * 16 mma" in schedule
    assert f"{keys // 16} register * 16 mma" in schedule
    assert "stage = [%q reread" in schedule
    result, counters = simulated(attention, kernel, inputs := attention.inputs())
    check(result, attention.expected(inputs), attention)
    products = _total(counters, "mma", "warps")
    assert products == 64 * 4 * 2 * 32 * 64 * depth // (16 * 8 * 16)
    assert _total(counters, "ldmatrix", "warps") * 16 == products * {64: 5, 32: 6}[keys]
    for kind in ("ldmatrix", "cp.async"):
        assert _total(counters, kind, "wavefronts") == _total(counters, kind, "ideal_wavefronts") > 0


LARGE = {
    "32 rows a warp": Attention(4096, 4096, heads=32, mask="causal"),
    "depth 80": Attention(1000, 1000, 80, heads=32, mask="causal"),
    "depth 96": Attention(1000, 1000, 96, heads=32),
    "depth 128": Attention(1000, 1000, 128, heads=32, element="bf16"),
    "depth 128, causal": Attention(1024, 1024, 128, heads=32, mask="causal"),
    "depth 256": Attention(1000, 1000, 256, heads=32, mask="causal"),
    "a mask that is data": Attention(1000, 1000, heads=32, mask="boolean"),
}


@needs_nvrtc
@pytest.mark.parametrize("name", LARGE)
def test_registers(name: str) -> None:
    _, _, kernel = compiled(LARGE[name], checked=False)
    source = kernel_text(kernel)
    for arch in ("sm_80", "sm_90", "sm_100"):
        (resources,) = kernel_resources(nvrtc.compile_cuda(source, arch).cubin).values()
        assert resources.stack_bytes == 0
