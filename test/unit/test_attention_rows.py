"""Attention without matrix instructions: kernels in loop form, under the schedules that are chosen for them.

Each is simulated with the race check on, compared with float64, and compiles for every architecture without spills.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from module_text import parse
from test_tile_to_gpu_kernel import TILE_PASSES, Array, kernel_of, needs_nvrtc, run, run_pass
from xdsl.dialects.builtin import ModuleOp

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.dialects.gpu_kernel import KernelOp as GPUKernelOp
from uop.dialects.schedule import Schedule
from uop.dialects.uop import KernelOp
from uop.frontends.capture import capture_expression
from uop.passes.loop import attention_rows_rule
from uop.passes.loop.attention_rows_rule import attention_rows_schedule
from uop.passes.loop.attention_shape import attention_shape
from uop.passes.loop.kernel_shape import shape_of_kernel
from uop.runtime import nvrtc
from uop.runtime.program import Program
from uop.runtime.simulator import Counters
from uop.targets.cuda import kernel_text
from uop.tools.compilation import compile_stages, stage_text
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions, uop_to_cuda

SCALE = 0.25

MASKS = {
    "": "",
    # A query sees the keys up to its own, the last query all of them.
    "causal": """
            %first = uop.const {offset} : index
            %last = uop.add %i, %first : index
            %seen = uop.le %j, %last : index
            %nothing = uop.const 0xff800000 : f32
            %x = uop.where %seen, %scaled, %nothing : f32""",
    "bias": """
            %b0 = uop.load %bias[%i, %j] : memref<{rows}x{keys}xf32>
            %x = uop.add %scaled, %b0 : f32""",
}


@dataclass(frozen=True)
class Attention:
    """heads: of queries, which share the keys and values of a batch. channels: of values, 0 for as many as of keys."""

    batch: int
    heads: int
    rows: int
    keys: int
    depth: int
    channels: int = 0
    element: str = "f32"
    mask: str = ""

    @property
    def extents(self) -> dict[str, int]:
        extents = {"batch": self.batch, "heads": self.heads, "rows": self.rows, "keys": self.keys, "depth": self.depth}
        return extents | {"channels": self.channels or self.depth, "offset": self.keys - self.rows}

    def text(self) -> str:
        """The kernel in loop form."""
        parts = self.extents | {"t": self.element, "score": "x" if self.mask else "scaled", "scale": SCALE}
        parts |= {f"{name}_type": f"memref<{shape}x{self.element}>" for name, shape in self.shapes().items()}
        parts["mask"] = MASKS[self.mask].format(**parts)
        parts["bias"] = f", %bias: memref<{self.rows}x{self.keys}xf32>" if self.mask == "bias" else ""
        for name in ("q", "k", "v"):
            cast = f"%{name}1 = uop.cast %{name}0 : {self.element} -> f32"
            parts[f"cast_{name}"] = cast if self.element != "f32" else ""
            parts[name] = f"{name}1" if self.element != "f32" else f"{name}0"
        parts["cast_o"] = f"%o = uop.cast %o0 : f32 -> {self.element}" if self.element != "f32" else ""
        parts["o"] = "o" if self.element != "f32" else "o0"
        return _TEXT.format(**parts)

    def shapes(self) -> dict[str, str]:
        return {
            "out": "{batch}x{heads}x{rows}x{channels}".format(**self.extents),
            "q": "{batch}x{heads}x{rows}x{depth}".format(**self.extents),
            "k": "{batch}x{keys}x{depth}".format(**self.extents),
            "v": "{batch}x{keys}x{channels}".format(**self.extents),
        }

    def inputs(self) -> list[Array]:
        random = np.random.default_rng(0)
        dtype = np.float16 if self.element == "f16" else np.float32
        shapes = [tuple(map(int, shape.split("x"))) for shape in self.shapes().values()][1:]
        arrays = [random.standard_normal(shape).astype(dtype) for shape in shapes]
        if self.mask == "bias":
            arrays.append(random.standard_normal((self.rows, self.keys)).astype(np.float32))
        return arrays

    def expected(self, q: Array, k: Array, v: Array, bias: Array | None = None) -> Array:
        """In float64."""
        q, k, v = (x.astype(np.float64) for x in (q, k, v))
        scores = np.einsum("bgid,bjd->bgij", q, k) * SCALE
        if bias is not None:
            scores += bias
        if self.mask == "causal":
            seen = np.arange(self.keys) <= np.arange(self.rows)[:, None] + self.keys - self.rows
            scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("bgij,bjc->bgic", weights / weights.sum(-1, keepdims=True), v)


_TEXT = """
uop.kernel @attention(%out: {out_type}, %q: {q_type}, %k: {k_type}, %v: {v_type}{bias}) {{
  %one = uop.const 1.0 : f32
  %scale = uop.const {scale} : f32
  loop.for %b (b = {batch} parallel) {{
    loop.for %h (h = {heads} parallel) {{
      loop.for %i (i = {rows} parallel) {{
        loop.for %c (c = {channels} parallel) {{
          %max, %sum, %acc = loop.reduce %j (j = {keys}) online_attention : f32, f32, f32 {{
            %s = loop.reduce %d (d = {depth}) add : f32 {{
              %q0 = uop.load %q[%b, %h, %i, %d] : {q_type}
              {cast_q}
              %k0 = uop.load %k[%b, %j, %d] : {k_type}
              {cast_k}
              %p = uop.mul %{q}, %{k} : f32
              loop.yield %p : f32
            }}
            %scaled = uop.mul %s, %scale : f32{mask}
            %v0 = uop.load %v[%b, %j, %c] : {v_type}
            {cast_v}
            loop.yield %{score}, %one, %{v} : f32, f32, f32
          }}
          %o0 = uop.div %acc, %sum : f32
          {cast_o}
          uop.store %{o}, %out[%b, %h, %i, %c] : {out_type}
        }}
      }}
    }}
  }}
}}
"""


def schedule_of(attention: Attention) -> Schedule:
    (kernel,) = (op for op in parse(attention.text()).ops if isinstance(op, KernelOp))
    shape = shape_of_kernel(kernel)
    roles = attention_shape(shape)
    assert roles is not None
    assert (roles.keys, roles.depth, roles.channels) == ("j", "d", "c")
    return attention_rows_schedule(shape, roles).schedule


def lowered(attention: Attention) -> GPUKernelOp:
    """The kernel through every pass, each of whose results verifies."""
    module = parse(attention.text().replace(") {", f") schedule #tile.schedule<{schedule_of(attention)}> {{", 1))
    for name in (*TILE_PASSES, "convert-tile-to-gpu-kernel"):
        run_pass(module, name)
    return kernel_of(module)


def check(attention: Attention) -> Counters:
    kernel = lowered(attention)
    inputs = attention.inputs()
    expected = attention.expected(*inputs)
    out = np.full(expected.shape, np.nan, inputs[0].dtype)
    counters = run(kernel, [out], inputs)
    tolerance = 2**-10 if attention.element == "f16" else 2e-6
    np.testing.assert_allclose(out, expected, atol=tolerance * np.abs(expected).max(), rtol=0)
    for arch in ARCHITECTURES:
        resources = nvrtc.compile_cuda(kernel_text(kernel), arch).resources["attention"]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (attention, arch)
    return counters


FEW = (
    Attention(1, 1, 1, 17, 16),
    Attention(2, 4, 1, 128, 64, element="f16"),
    Attention(1, 2, 17, 17, 80, mask="causal"),
    Attention(1, 8, 1, 33, 128, element="f16"),
    Attention(1, 1, 5, 1, 64, mask="bias"),
    Attention(1, 1, 3, 33, 17, 19),
)
"""Few rows, for which the warps of a block share the keys."""

MANY = (
    Attention(1, 1, 33, 40, 64, mask="causal"),
    Attention(1, 2, 16, 128, 16, mask="bias"),
    Attention(1, 1, 17, 40, 128, element="f16"),
    Attention(1, 1, 17, 40, 17, 19),
)
"""As if there were many rows: each warp has its own."""


@needs_nvrtc
@pytest.mark.parametrize("attention", FEW, ids=str)
def test_few_rows(attention: Attention) -> None:
    check(attention)


@needs_nvrtc
@pytest.mark.parametrize("attention", MANY, ids=str)
def test_many_rows(attention: Attention, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_rows_rule, "MANY_TILES", 1)
    assert any(factor.kind.value == "warp" for factor in schedule_of(attention).factors("i"))
    assert schedule_of(attention).stage
    check(attention)


SWEEP = [
    Attention(1, heads, rows, keys, depth, element=element, mask=mask)
    for depth, element in ((16, "f32"), (64, "f32"), (80, "f32"), (128, "f32"), (64, "f16"), (80, "f16"), (128, "f16"))
    for heads, rows, keys, mask in ((1, 1, 1, ""), (4, 1, 1000, ""), (1, 17, 128, "causal"), (2, 128, 129, "bias"))
]


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("attention", SWEEP, ids=str)
def test_sweep(attention: Attention) -> None:
    check(attention)


@needs_nvrtc
def test_a_row_that_sees_nothing_is_nan() -> None:
    """As 0 ÷ 0: what a program says of such rows stands behind the reduction."""
    attention = Attention(1, 1, 2, 1, 16, mask="causal")  # the first of two queries sees no key
    inputs = attention.inputs()
    out = np.zeros((1, 1, 2, 16), np.float32)
    run(lowered(attention), [out], inputs)
    assert np.isnan(out[0, 0, 0]).all()
    np.testing.assert_allclose(out[0, 0, 1], inputs[2][0, 0], rtol=1e-6)


def test_scores_are_computed_once_for_all_channels() -> None:
    """The lanes that hold a key hold a value, too: nothing is computed for each channel but the sums."""
    schedule = schedule_of(Attention(1, 4, 1, 4096, 64, element="f16"))
    assert str(schedule) == (
        "b = 1 block, h = 4 register, i = 1 block, j = 64 loop * 4 warp * 4 register * 4 lane, "
        "c = 8 lane * 8 register, d = 8 lane of c * 8 register, min_blocks = 2"
    )


@needs_nvrtc
def test_decoding_reads_keys_and_values_once() -> None:
    """In 16 bytes a lane, whole sectors, for all heads of queries that share them."""
    counters = check(Attention(1, 4, 1, 1024, 64, element="f16"))
    keys_and_values = 2 * 1024 * 64 * 2
    queries = 4 * 64 * 2
    assert counters.global_load_sectors <= (keys_and_values + 4 * 4 * queries) // 32
    loads = sum(c.requests for c in counters.by_instruction.values() if c.kind == "load.global")
    assert loads <= keys_and_values // (16 * 32) + 4 * 4 * 2


# Few queries and many keys: parts of the keys, and what they give together.

DECODING = (Path(__file__).parent / "inputs" / "decoding.mlir").read_text()


def decoding(keys: int, element: str) -> ModuleOp:
    """The program in which 3 heads of queries share keys, of which those before a position are seen."""
    text = DECODING.replace("301", str(keys))
    if element == "f32":
        text = re.sub(r"uop.cast (%\w+) : (f16 -> f32|f32 -> f16)", r"uop.mul \1, %unit : f32", text)
        text = text.replace("%h = ", "%unit = uop.const 1.0 : f32\n  %h = ", 1).replace("f16", "f32")
    module = parse(text)
    for name in ("uop-split-attention", *uop_to_cuda(CompileOptions(after="range")).split(",")):
        run_pass(module, name.split("{")[0])
    return module


@needs_nvrtc
@pytest.mark.parametrize(("keys", "element", "dtype"), [(512, "f16", "float16"), (301, "f32", "float32")])
def test_parts_of_keys(keys: int, element: str, dtype: str) -> None:
    program = Program(decoding(keys, element))
    random = np.random.default_rng(0)
    q = random.standard_normal((6, 16)).astype(dtype)
    k, v = (random.standard_normal((2, keys, 16)).astype(dtype) for _ in range(2))
    for position in (1, 128, keys):
        result = program.run([q, k, v, np.array(position)])
        assert [each.compiled.name for each in result.kernels] == ["decode_parts", "decode"]
        scores = np.einsum("hgd,hjd->hgj", q.reshape(2, 3, 16).astype(np.float64), k)[..., :position]
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        expected = np.einsum("hgj,hjc->hgc", weights / weights.sum(-1, keepdims=True), v[:, :position])
        tolerance = 4e-3 if element == "f16" else 4e-6
        np.testing.assert_allclose(result.outputs[0].reshape(2, 3, 16), expected, atol=tolerance, rtol=0)
    for each in result.kernels:
        for arch in ARCHITECTURES:
            resources = nvrtc.compile_cuda(each.compiled.text, arch).resources[each.compiled.name]
            assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (each.compiled.name, arch)


# Whole programs.


@needs_nvrtc
@pytest.mark.parametrize(
    ("program", "kernels"),
    [
        ("F.scaled_dot_product_attention(q, k, v)", 1),
        # What is computed for queries alone is computed again for each key where that costs less than a launch …
        ("F.scaled_dot_product_attention(q * q.cos() + q * q.sin(), k, v)", 1),
        # Parts of the keys, and what they give.
        ("F.scaled_dot_product_attention(q[:, :, :1] * 3, torch.cat([k] * 8, 2), torch.cat([v] * 8, 2))", 2),
    ],
)
def test_program(program: str, kernels: int) -> None:
    tensors = "q, k, v = (torch.randn(1, 2, n, 16) for n in (40, 33, 33)); "
    result = run_captured(capture_expression(tensors + program), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    assert len(result.run.kernels) == kernels


def test_queries_are_computed_once() -> None:
    """… and once where that costs more."""
    program = "q, k, v = (torch.randn(1, 32, 2048, 64) for _ in range(3))\n"
    program += "F.scaled_dot_product_attention(q * q.cos() + q * q.sin(), k, v)"
    imported = capture_expression(program).imported()
    texts = {
        name: stage_text(name, module) for name, module in compile_stages(imported, CompileOptions(to="partition"))
    }
    assert texts["partition"].count("uop.launch") == 2
