"""The programs whose kernels `kernels.py` compares: PyTorch code and shapes, one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F

Spec = tuple[tuple[int, ...], torch.dtype]
"""Shape and type of an input."""

SEED = 0


@dataclass(frozen=True)
class Case:
    """One program.

    title: as the tables name it. function: of tensors, which are `inputs` in order. precision: PyTorch's
    `float32_matmul_precision` while it is captured. tolerance: the greatest error that a peer's result may have,
    relative to the greatest element of the result.
    """

    title: str
    function: Callable[..., torch.Tensor]
    inputs: dict[str, Spec]
    precision: str = "highest"
    tolerance: float = 1e-5

    def make_inputs(self, device: str = "cpu") -> tuple[torch.Tensor, ...]:
        """Normally distributed values, the same on every run on such a device."""
        generator = torch.Generator(device).manual_seed(SEED)
        return tuple(
            torch.randn(shape, generator=generator, dtype=torch.float32, device=device).to(dtype)
            for shape, dtype in self.inputs.values()
        )

    def result_type(self, inputs: Sequence[torch.Tensor]) -> torch.dtype:
        """The element type of the result."""
        meta = [value.to("meta") for value in inputs]
        return self.function(*meta).dtype


f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16


def _silu_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(x) + y


def _matmul_widened(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """16-bit operands, f32 result."""
    return torch.matmul(a.float(), b.float())


def _matmul_bias_gelu(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.gelu(torch.addmm(bias, a, b))


def _transpose(x: torch.Tensor) -> torch.Tensor:
    return x.t().contiguous()


def _scores(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query @ key.transpose(-1, -2)


def _rows(count: int, length: int) -> dict[str, Spec]:
    return {"x": ((count, length), f32)}


def _layer_norm(count: int, length: int) -> Case:
    parameters: dict[str, Spec] = {"weight": ((length,), f32), "bias": ((length,), f32)}

    def function(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (length,), weight, bias)

    return Case(f"layer_norm, {count}×{length}", function, _rows(count, length) | parameters)


def _rms_norm(count: int, length: int) -> Case:
    def function(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (length,), weight, 1e-5)

    return Case(f"rms_norm, {count}×{length}", function, _rows(count, length) | {"weight": ((length,), f32)})


def _softmax(count: int, length: int) -> Case:
    return Case(f"softmax, {count}×{length}", partial(torch.softmax, dim=-1), _rows(count, length))


def _matmul(m: int, n: int, k: int, dtype: torch.dtype, precision: str = "highest") -> Case:
    inputs: dict[str, Spec] = {"a": ((m, k), dtype), "b": ((k, n), dtype)}
    name = {f32: "f32" if precision == "highest" else "tf32", f16: "f16 → f32"}[dtype]
    function = torch.matmul if dtype == f32 else _matmul_widened
    tolerance = {"f32": 1e-5, "tf32": 1e-2}.get(name, 1e-3)
    return Case(f"matmul {name}, {m}×{n}×{k}", function, inputs, precision, tolerance)


def _attention(length: int) -> Case:
    """Causal, of 8 heads of 64 channels."""
    inputs: dict[str, Spec] = {name: ((8, length, 64), f16) for name in ("query", "key", "value")}
    function = partial(F.scaled_dot_product_attention, is_causal=True)
    return Case(f"causal attention, f16, 8 heads of {length}×64", function, inputs, tolerance=2e-3)


def _decoding(heads: int, shared: int, keys: int, depth: int) -> Case:
    """One query for each head, which shares keys and values with others."""
    rows: dict[str, Spec] = {name: ((1, shared, keys, depth), f16) for name in ("key", "value")}
    inputs: dict[str, Spec] = {"query": ((1, heads, 1, depth), f16)} | rows
    function = partial(F.scaled_dot_product_attention, enable_gqa=True)
    title = f"attention of 1 query, f16, {heads} heads, {shared} of {keys}×{depth} keys"
    return Case(title, function, inputs, tolerance=2e-3)


CASES: dict[str, Case] = {
    "silu_add_f32": Case("x·sigmoid(x) + y, f32, 16 Mi", _silu_add, {"x": ((1 << 24,), f32), "y": ((1 << 24,), f32)}),
    "silu_add_f16": Case(
        "x·sigmoid(x) + y, f16, 16 Mi",
        _silu_add,
        {"x": ((1 << 24,), f16), "y": ((1 << 24,), f16)},
        tolerance=2e-3,
    ),
    "softmax_1024": _softmax(4096, 1024),
    "softmax_2048": _softmax(57344, 2048),
    "softmax_65536": _softmax(64, 65536),
    "layer_norm_2048": _layer_norm(4096, 2048),
    "layer_norm_4097": _layer_norm(1024, 4097),
    "rms_norm_2048": _rms_norm(4096, 2048),
    "rms_norm_4097": _rms_norm(1024, 4097),
    "sum_rows": Case("sum over rows, 4096×1024", partial(torch.sum, dim=1), _rows(4096, 1024)),
    "sum_columns": Case("sum over columns, 4096×1024", partial(torch.sum, dim=0), _rows(4096, 1024)),
    "sum_all": Case("sum of 4096×1024", torch.sum, _rows(4096, 1024)),
    "argmax": Case("argmax of rows, 4096×1024", partial(torch.argmax, dim=1), _rows(4096, 1024)),
    "transpose": Case("transpose, 1024×1024", _transpose, _rows(1024, 1024)),
    "matmul_f16_512": _matmul(512, 512, 512, f16),
    "matmul_f16_1024": _matmul(1024, 1024, 1024, f16),
    "matmul_f16_1000": _matmul(1000, 1000, 1000, f16),
    "matmul_f16_k64": _matmul(4096, 4096, 64, f16),
    "matmul_bf16_gelu": Case(
        "gelu(matmul + bias), bf16, 1024³",
        _matmul_bias_gelu,
        {"a": ((1024, 1024), bf16), "b": ((1024, 1024), bf16), "bias": ((1024,), bf16)},
        tolerance=1e-2,
    ),
    "matmul_f32_512": _matmul(512, 512, 512, f32),
    "matmul_f32_1024": _matmul(1024, 1024, 1024, f32),
    "matmul_tf32_1024": _matmul(1024, 1024, 1024, f32, "high"),
    "matmul_f16_m1": _matmul(1, 4096, 4096, f16),
    "matmul_f16_m8": _matmul(8, 4096, 4096, f16),
    "bmm_scores": Case(
        "q·kᵀ, f16, 32 heads of 512×64",
        _scores,
        {"query": ((32, 512, 64), f16), "key": ((32, 512, 64), f16)},
        tolerance=2e-3,
    ),
    "bmm_values": Case(
        "p·v, f16, 32 heads of 512×512 by 512×64",
        torch.bmm,
        {"weights": ((32, 512, 512), f16), "value": ((32, 512, 64), f16)},
        tolerance=2e-3,
    ),
    "attention_512": _attention(512),
    "attention_1024": _attention(1024),
    "attention_decode": _decoding(32, 8, 4096, 64),
    "conv2d": Case(
        "conv2d 3×3, f16, 2×64×56×56 → 64",
        partial(F.conv2d, padding=1),
        {"x": ((2, 64, 56, 56), f16), "weight": ((64, 64, 3, 3), f16)},
        tolerance=2e-3,
    ),
    "cumsum": Case("cumsum of rows, 4096×1024", partial(torch.cumsum, dim=1), _rows(4096, 1024)),
}
"""Name → program."""
