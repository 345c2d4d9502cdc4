# pyright: reportUnknownMemberType=false
"""Attention on a CPU: one walk over as many keys as a cache holds so far, else products that stand alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from uop.dialects.uop import LaunchOp
from uop.frontends.captured import Call, Captured
from uop.rewriting.diagnostics import collect_remarks
from uop.runtime.devices import DEVICES
from uop.runtime.native.compilation import load_guarded
from uop.runtime.tensors import to_array
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions


class Cached(nn.Module):
    """Queries from `position` on, which see the keys up to their own; with `window` only so many of them."""

    def __init__(self, window: int | None = None) -> None:
        super().__init__()
        self.window = window

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        queries = torch.arange(q.shape[2])[:, None] + position
        keys = torch.arange(k.shape[2])[None]
        mask = keys <= queries
        if self.window is not None:
            mask = mask & (keys > queries - self.window)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)


class Causal(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def compiled(program: Captured, vector_bytes: int) -> int:
    """Compile it for a CPU; the number of launches."""
    imported = program.imported()
    with collect_remarks() as remarks:
        for _ in compile_stages(imported, CompileOptions(vector_bytes=vector_bytes), target="c"):
            pass
    launches = [op for op in imported.function.body.block.ops if isinstance(op, LaunchOp)]
    assert (len(launches) == 1) == any("attention: " in remark.message for remark in remarks)
    return len(launches)


@pytest.mark.parametrize(
    ("heads", "kv_heads", "queries", "depth", "dtype", "window", "vector_bytes"),
    [
        (8, 2, 1, 64, torch.float32, None, 64),
        (3, 3, 5, 40, torch.float32, 4, 32),
        (2, 1, 6, 80, torch.bfloat16, None, 32),
        (4, 2, 1, 128, torch.float16, None, 16),
    ],
)
def test_one_walk_up_to_the_position(
    heads: int, kv_heads: int, queries: int, depth: int, dtype: torch.dtype, window: int | None, vector_bytes: int
) -> None:
    length = 37

    def make() -> Call:
        q = torch.randn(1, heads, queries, depth, dtype=dtype) * 2
        k, v = (torch.randn(1, kv_heads, length, depth, dtype=dtype) for _ in range(2))
        return Call(Cached(window), (q, k, v, torch.tensor(9)))

    program = Captured(make(), make, "test")
    vector_bytes = min(vector_bytes, DEVICES["cpu"].vector_bytes())
    assert compiled(program, vector_bytes) == 1
    guarded = load_guarded(program.imported().module)
    for position in (0, 7, length - queries):
        inputs = program.make_inputs(position)
        inputs[3] = torch.tensor(position)
        for cache in inputs[1:3]:
            cache[:, :, position + queries :] = 1e4  # what is there from before must not be seen
        (array,) = guarded.run_guarded([to_array(value) for value in inputs])
        output = torch.from_numpy(array).view(dtype).double()
        exact = [value[..., : position + queries, :].double() for value in inputs[1:3]]
        wanted = Cached(window)(inputs[0].double(), *exact, inputs[3])
        tolerance = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
        torch.testing.assert_close(output, wanted, rtol=tolerance, atol=tolerance)


def test_products_of_known_lengths_stand_alone() -> None:
    def make() -> Call:
        return Call(Causal(), tuple(torch.randn(1, 2, 24, 16) for _ in range(3)))

    assert compiled(Captured(make(), make, "test"), 32) > 1
