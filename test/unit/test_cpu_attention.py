# pyright: reportUnknownMemberType=false
"""Attention on a CPU: one walk over the keys, as many of them as a mask or the length of a cache lets be seen."""

from __future__ import annotations

from collections.abc import Callable

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

SPLIT = 1024
"""Keys from which on they are split, where there are few heads."""

TOLERANCE = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}


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


class Attention(nn.Module):
    """Whatever is given behind queries, keys and values is a mask."""

    def __init__(self, causal: bool = False, scale: float | None = None) -> None:
        super().__init__()
        self.causal, self.scale = causal, scale

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *mask: torch.Tensor) -> torch.Tensor:
        seen = mask[0] if mask else None
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=seen, is_causal=self.causal, scale=self.scale, enable_gqa=q.shape[1] != k.shape[1]
        )


class Written(nn.Module):
    """A softmax written out, with scores that are not divided: rows that see nothing are NaN."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scores = (q @ k.transpose(-1, -2)).masked_fill(~mask, float("-inf"))
        return torch.softmax(scores, -1) @ v


def compiled(program: Captured, vector_bytes: int, kernels: int = 1) -> list[str]:
    """Compile it for a CPU, to so many kernels; the remarks about the schedule of the first."""
    imported = program.imported()
    with collect_remarks() as remarks:
        for _ in compile_stages(imported, CompileOptions(vector_bytes=vector_bytes), target="c"):
            pass
    assert len([op for op in imported.function.body.block.ops if isinstance(op, LaunchOp)]) == kernels
    return [remark.message for remark in remarks if "attention: " in remark.message]


def run(program: Captured, inputs: list[torch.Tensor]) -> torch.Tensor:
    """The result of what has been compiled, in buffers with guards around them."""
    guarded = load_guarded(program.imported().module)
    (array,) = guarded.run_guarded([to_array(value) for value in inputs])
    return torch.from_numpy(array).view(inputs[0].dtype)


@pytest.mark.parametrize(
    ("heads", "kv_heads", "queries", "depth", "dtype", "window", "vector_bytes"),
    [
        (8, 2, 1, 64, torch.float32, None, 64),
        (3, 3, 5, 40, torch.float32, 4, 32),
        (2, 1, 6, 56, torch.bfloat16, None, 32),
        (4, 2, 1, 24, torch.float16, None, 16),
        (2, 2, 1, 67, torch.float32, None, 64),
        (3, 3, 1, 80, torch.bfloat16, 5, 32),
        (2, 2, 2, 130, torch.float32, None, 16),
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
    assert compiled(program, vector_bytes)
    for position in (0, 7, length - queries):
        inputs = program.make_inputs(position)
        inputs[3] = torch.tensor(position)
        for cache in inputs[1:3]:
            cache[:, :, position + queries :] = 1e4  # what is there from before must not be seen
        output = run(program, inputs).double()
        exact = [value[..., : position + queries, :].double() for value in inputs[1:3]]
        wanted = Cached(window)(inputs[0].double(), *exact, inputs[3])
        torch.testing.assert_close(output, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize(
    ("heads", "kv_heads", "queries", "keys", "depth", "channels", "dtype", "vector_bytes", "module"),
    [
        (2, 2, 24, 24, 16, 16, torch.float32, 32, Attention(causal=True)),
        (4, 2, 33, 33, 17, 17, torch.float32, 64, Attention(causal=True)),
        (2, 2, 8, 9, 3, 2, torch.float32, 32, Attention()),
        (2, 1, 7, 13, 5, 67, torch.float32, 64, Attention(scale=3.0)),
        (1, 1, 9, 65, 32, 40, torch.float16, 32, Attention()),
        (3, 3, 17, 31, 8, 129, torch.bfloat16, 64, Attention(causal=True)),
    ],
)
def test_one_walk_over_all_keys(
    heads: int,
    kv_heads: int,
    queries: int,
    keys: int,
    depth: int,
    channels: int,
    dtype: torch.dtype,
    vector_bytes: int,
    module: nn.Module,
) -> None:
    def make() -> Call:
        q = torch.randn(1, heads, queries, depth, dtype=dtype) * 2
        k = torch.randn(1, kv_heads, keys, depth, dtype=dtype)
        return Call(module, (q, k, torch.randn(1, kv_heads, keys, channels, dtype=dtype)))

    program = Captured(make(), make, "test")
    assert compiled(program, min(vector_bytes, DEVICES["cpu"].vector_bytes()))
    inputs = program.make_inputs(1)
    wanted = module(*(value.double() for value in inputs))
    torch.testing.assert_close(run(program, inputs).double(), wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_queries_keys_and_values_of_one_tensor(dtype: torch.dtype) -> None:
    class Packed(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q, k, v = x.view(21, 3, 2, 16).permute(1, 2, 0, 3).unbind()
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def make() -> Call:
        return Call(Packed(), (torch.randn(21, 96, dtype=dtype),))

    program = Captured(make(), make, "test")
    assert compiled(program, min(32, DEVICES["cpu"].vector_bytes()))
    inputs = program.make_inputs(3)
    wanted = Packed()(inputs[0].double())
    torch.testing.assert_close(run(program, inputs).double(), wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def _masked(
    module: nn.Module, mask: Callable[[int], torch.Tensor], values: Callable[[torch.Tensor], None], keys: int
) -> None:
    """The module with a mask of 11 queries and these keys, and values put into queries and keys, is right."""

    def make() -> Call:
        q, k, v = (torch.randn(2, 3, length, 24) for length in (11, keys, keys))
        for given in (q, k):
            values(given)
        return Call(module, (q, k, v, mask(keys)))

    program = Captured(make(), make, "test")
    assert compiled(program, min(32, DEVICES["cpu"].vector_bytes()), kernels=1 if keys < SPLIT else 2)
    inputs = program.make_inputs(2)
    wanted = module(*(value.double() if value.is_floating_point() else value for value in inputs))
    output = run(program, inputs).double()
    tolerance = 2e-6 if keys < SPLIT else 5e-6
    torch.testing.assert_close(output, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def _nothing_of_row_three(keys: int) -> torch.Tensor:
    mask = torch.rand(11, keys) < 0.5
    mask[3], mask[5], mask[5, 30] = False, False, True
    return mask


@pytest.mark.parametrize("keys", [37, SPLIT + 5])
def test_masks_and_rows_that_see_nothing(keys: int) -> None:
    _masked(Attention(), _nothing_of_row_three, lambda x: None, keys)
    _masked(Written(), _nothing_of_row_three, lambda x: None, keys)
    _masked(Attention(), lambda keys: torch.randn(2, 1, 11, keys) * 10, lambda x: None, keys)


@pytest.mark.parametrize("keys", [37, SPLIT + 5])
def test_infinities_and_nan(keys: int) -> None:
    """An infinite score takes all of a row, or makes it NaN; so does a NaN with its own row, or all that see it."""

    def put(x: torch.Tensor) -> None:
        x[0, 0, 2, 1] = float("nan")
        x[0, 1, 4, 0] = float("inf")
        x[1, 2, 7, 3] = -float("inf")
        x[1, 0] *= 1e18

    _masked(Written(), lambda keys: torch.ones(11, keys, dtype=torch.bool), put, keys)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_keys_that_are_looked_up(vector_bytes: int) -> None:
    """Of a cache in pages, some of them of 8 bits with a scale each: where a key lies, and what it is multiplied with,
    is a lane of a vector."""

    class Paged(nn.Module):
        def forward(
            self,
            q: torch.Tensor,
            cache: torch.Tensor,
            scales: torch.Tensor,
            pages: torch.Tensor,
            position: torch.Tensor,
        ) -> torch.Tensor:
            k, v = (cache[half, :, pages].to(q.dtype) * scales[half, :, pages, None] for half in range(2))
            mask = torch.arange(len(pages))[None] <= position
            return F.scaled_dot_product_attention(q, k[None], v[None], attn_mask=mask)

    def make() -> Call:
        cache = torch.randint(-100, 100, (2, 3, 50, 48), dtype=torch.int8)
        return Call(
            Paged(), (torch.randn(1, 3, 1, 48), cache, torch.rand(2, 3, 50) / 50, torch.randperm(37), torch.tensor(29))
        )

    program = Captured(make(), make, "test")
    assert compiled(program, min(vector_bytes, DEVICES["cpu"].vector_bytes()))
    inputs = program.make_inputs(4)
    wanted = Paged()(*(value.double() if value.is_floating_point() else value for value in inputs))
    torch.testing.assert_close(run(program, inputs).double(), wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(
    ("heads", "kv_heads", "queries", "keys", "depth", "dtype", "vector_bytes", "parts"),
    [
        (1, 1, 1, SPLIT, 16, torch.float32, 64, 2),
        (4, 2, 2, SPLIT + 1, 24, torch.bfloat16, 32, 2),
        (4, 4, 1, 2 * SPLIT + 63, 20, torch.float16, 16, 4),
        (1, 1, 9, SPLIT + 77, 67, torch.float32, 32, 2),
        (1, 1, 140, SPLIT + 511, 8, torch.float32, 64, 2),
    ],
)
def test_keys_of_few_heads_are_shared_by_threads(
    heads: int, kv_heads: int, queries: int, keys: int, depth: int, dtype: torch.dtype, vector_bytes: int, parts: int
) -> None:
    """Parts of the keys, side by side, and a kernel that combines them; none reads behind the last key."""

    def make() -> Call:
        q = torch.randn(1, heads, queries, depth, dtype=dtype) * 2
        return Call(Attention(), (q, *(torch.randn(1, kv_heads, keys, depth, dtype=dtype) for _ in range(2))))

    program = Captured(make(), make, "test")
    remarks = compiled(program, min(vector_bytes, DEVICES["cpu"].vector_bytes()), kernels=2)
    assert any(f"p = {parts} block" in remark for remark in remarks)
    inputs = program.make_inputs(1)
    wanted = Attention()(*(value.double() for value in inputs))
    torch.testing.assert_close(run(program, inputs).double(), wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_parts_of_a_cache_end_where_it_does(dtype: torch.dtype) -> None:
    """Some of them before they begin."""
    length = 2 * SPLIT + 9

    def make() -> Call:
        k, v = (torch.randn(1, 2, length, 24, dtype=dtype) for _ in range(2))
        return Call(Cached(), (torch.randn(1, 4, 1, 24, dtype=dtype), k, v, torch.tensor(9)))

    program = Captured(make(), make, "test")
    assert compiled(program, min(32, DEVICES["cpu"].vector_bytes()), kernels=2)
    for position in (0, SPLIT // 2 - 1, SPLIT // 2, SPLIT + 3, length - 1):
        inputs = program.make_inputs(position)
        inputs[3] = torch.tensor(position)
        for cache in inputs[1:3]:
            cache[:, :, position + 1 :] = 1e4
        exact = [value[..., : position + 1, :].double() for value in inputs[1:3]]
        wanted = Cached()(inputs[0].double(), *exact, inputs[3])
        output = run(program, inputs).double()
        torch.testing.assert_close(output, wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize(("queries", "keys"), [(3, 24), (5, SPLIT)])
def test_few_queries_are_products_that_stand_alone(queries: int, keys: int) -> None:
    """Unless a position says where the keys end, or threads share them."""

    def make() -> Call:
        k, v = (torch.randn(1, 2, keys, 16) for _ in range(2))
        return Call(Attention(), (torch.randn(1, 2, queries, 16), k, v))

    imported = Captured(make(), make, "test").imported()
    for _ in compile_stages(imported, CompileOptions(vector_bytes=32), target="c"):
        pass
    assert len([op for op in imported.function.body.block.ops if isinstance(op, LaunchOp)]) == 3
