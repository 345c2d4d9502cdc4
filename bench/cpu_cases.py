"""The programs of bench/cpu.py: ten that models are made of, in ordinary PyTorch, with their inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F

Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class CpuCase:
    """function: of the inputs. shapes: of the inputs, each with the scale that normal random numbers are brought to.

    flops: multiplications and additions of its products. bytes: what it reads and writes at least
    """

    name: str
    function: Callable[..., torch.Tensor]
    shapes: Sequence[tuple[tuple[int, ...], float]]
    flops: float = 0.0
    bytes: float = 0.0
    dtype: torch.dtype = torch.float32

    def inputs(self, seed: int = 0) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(seed)
        return [(torch.randn(shape, generator=generator) * scale).to(self.dtype) for shape, scale in self.shapes]


class CpuModule(torch.nn.Module):
    """A case as a module, as it is exported."""

    def __init__(self, case: CpuCase):
        super().__init__()
        self.function = case.function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def relu_mm(x: torch.Tensor, bias: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.relu((x + bias) @ w)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=-1)


def rms_norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), gain, 1e-6)


def layer_norm(x: torch.Tensor, gain: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[-1],), gain, bias)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.float() @ b.float()


def gelu_mlp(x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor) -> torch.Tensor:
    return F.linear(F.gelu(F.linear(x, w1, b1), approximate="tanh"), w2, b2)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def block512(
    x: torch.Tensor,
    g1: torch.Tensor,
    b1: torch.Tensor,
    wqkv: torch.Tensor,
    bqkv: torch.Tensor,
    wo: torch.Tensor,
    bo: torch.Tensor,
    g2: torch.Tensor,
    b2: torch.Tensor,
    w1: torch.Tensor,
    c1: torch.Tensor,
    w2: torch.Tensor,
    c2: torch.Tensor,
) -> torch.Tensor:
    """A transformer block: LayerNorm, 8 heads of causal attention, a GELU MLP."""
    batch, length, width = x.shape
    heads = 8
    h = F.layer_norm(x, (width,), g1, b1)
    q, k, v = (
        part.view(batch, length, heads, width // heads).transpose(1, 2)
        for part in torch.split(F.linear(h, wqkv, bqkv), width, dim=-1)
    )
    a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
    x = x + F.linear(a, wo, bo)
    h = F.layer_norm(x, (width,), g2, b2)
    return x + F.linear(F.gelu(F.linear(h, w1, c1), approximate="tanh"), w2, c2)


def _rotated(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], -1)


def llama_block(
    x: torch.Tensor,
    n1: torch.Tensor,
    wq: torch.Tensor,
    wk: torch.Tensor,
    wv: torch.Tensor,
    wo: torch.Tensor,
    n2: torch.Tensor,
    wg: torch.Tensor,
    wu: torch.Tensor,
    wd: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
) -> torch.Tensor:
    """A layer of TinyLlama: RMSNorm, rotary embedding, 32 query heads on 4 of keys and values, a gated MLP."""
    batch, length, width = x.shape
    heads, kv_heads = 32, 4
    h = F.rms_norm(x, (width,), n1, 1e-5)
    q = F.linear(h, wq).view(batch, length, heads, width // heads).transpose(1, 2)
    k = F.linear(h, wk).view(batch, length, kv_heads, width // heads).transpose(1, 2)
    v = F.linear(h, wv).view(batch, length, kv_heads, width // heads).transpose(1, 2)
    q, k = q * cos + _rotated(q) * sin, k * cos + _rotated(k) * sin
    a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    x = x + F.linear(a.transpose(1, 2).reshape(batch, length, width), wo)
    h = F.rms_norm(x, (width,), n2, 1e-5)
    return x + F.linear(F.silu(F.linear(h, wg)) * F.linear(h, wu), wd)


def _product_flops(*sizes: tuple[int, int, int]) -> float:
    return float(sum(2 * m * n * k for m, n, k in sizes))


def _llama_shapes(width: int, kv: int, inner: int, length: int, head: int) -> list[tuple[tuple[int, ...], float]]:
    scale = width**-0.5
    return [
        ((1, length, width), 1.0),
        ((width,), 1.0),
        *(((rows, width), scale) for rows in (width, kv, kv, width)),
        ((width,), 1.0),
        ((inner, width), scale),
        ((inner, width), scale),
        ((width, inner), inner**-0.5),
        ((1, 1, length, head), 1.0),
        ((1, 1, length, head), 1.0),
    ]


CASES: dict[str, CpuCase] = {
    case.name: case
    for case in (
        CpuCase("relu_mm", relu_mm, [((16, 64), 1.0), ((64,), 1.0), ((64, 16), 0.125)], _product_flops((16, 16, 64))),
        CpuCase("softmax", softmax, [((1, 28, 2048, 2048), 1.0)], bytes=2.0 * 4 * 28 * 2048 * 2048),
        CpuCase("rmsnorm", rms_norm, [((1, 32, 2048), 1.0), ((2048,), 1.0)], bytes=2.0 * 4 * 32 * 2048),
        CpuCase(
            "layernorm", layer_norm, [((64, 2048), 1.0), ((2048,), 1.0), ((2048,), 0.1)], bytes=2.0 * 4 * 64 * 2048
        ),
        CpuCase(
            "matmul_f32", matmul, [((1024, 1024), 1.0), ((1024, 1024), 1 / 32)], _product_flops((1024, 1024, 1024))
        ),
        CpuCase(
            "matmul_f16",
            matmul,
            [((1024, 1024), 1.0), ((1024, 1024), 1 / 32)],
            _product_flops((1024, 1024, 1024)),
            dtype=torch.float16,
        ),
        CpuCase(
            "gelu_mlp",
            gelu_mlp,
            [((128, 512), 1.0), ((2048, 512), 512**-0.5), ((2048,), 0.1), ((512, 2048), 2048**-0.5), ((512,), 0.1)],
            _product_flops((128, 2048, 512), (128, 512, 2048)),
        ),
        CpuCase("attention", attention, [((1, 8, 128, 64), 1.0)] * 3, 8 * _product_flops((128, 128, 64)) * 2),
        CpuCase(
            "block512",
            block512,
            [
                ((1, 128, 512), 1.0),
                ((512,), 1.0),
                ((512,), 0.1),
                ((1536, 512), 512**-0.5),
                ((1536,), 0.1),
                ((512, 512), 512**-0.5),
                ((512,), 0.1),
                ((512,), 1.0),
                ((512,), 0.1),
                ((2048, 512), 512**-0.5),
                ((2048,), 0.1),
                ((512, 2048), 2048**-0.5),
                ((512,), 0.1),
            ],
            _product_flops((128, 1536, 512), (128, 512, 512), (128, 2048, 512), (128, 512, 2048))
            + 8 * 2 * _product_flops((128, 128, 64)),
        ),
        CpuCase(
            "llama_block",
            llama_block,
            _llama_shapes(2048, 256, 5632, 128, 64),
            _product_flops((128, 2048, 4096 + 512), (128, 5632, 3 * 2048)) + 32 * 2 * _product_flops((128, 128, 64)),
        ),
    )
}
"""By name."""
