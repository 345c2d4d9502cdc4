"""Programs against eager PyTorch: exported, imported, read back from text, lowered, and interpreted on numpy."""

# pyright: reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# (the programs are lambdas of tensors, and PyTorch leaves parameters of its functions untyped)

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from uop.dialects.torch import Torch
from uop.dialects.uop import UOp
from uop.frontends.importer import import_exported
from uop.passes.torch.convert_torch_to_uop import ConvertTorchToUopPass
from uop.rewriting.locations import source_lines
from uop.runtime.interpret.tensors import interpret_function

STEP = {torch.float64: 2.0**-52, torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
"""Distance of neighbouring numbers at 1."""


class Function(nn.Module):
    """A module of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def to_numpy(tensor: Tensor) -> np.ndarray[Any, Any]:
    tensor = tensor.detach().contiguous()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def check(program: nn.Module | Callable[..., Any], *args: Any, steps: float = 64) -> FuncOp:
    """The program gives what PyTorch gives; floats within `steps` of their type, at the scale of the result."""
    module = program if isinstance(program, nn.Module) else Function(program)
    with torch.no_grad():
        expected = module(*args)
        imported = import_exported(module, args)
    context = Context()
    for dialect in (Builtin, Func, Torch, UOp):
        context.load_dialect(dialect)
    text = str(imported.module)
    lowered = Parser(context, text).parse_module()
    ConvertTorchToUopPass().apply(context, lowered)
    lowered.verify()
    assert "torch.aten" not in str(lowered)
    function = lowered.body.block.first_op
    assert isinstance(function, FuncOp)
    leaves = [x for x in args if isinstance(x, Tensor)]
    inputs = [
        to_numpy(leaves[x.leaf] if x.leaf is not None else x.value)  # pyright: ignore[reportArgumentType]
        for x in imported.arguments
    ]
    actual = imported.user_outputs(interpret_function(function, inputs))
    for got, wanted in zip(_flat(actual), _flat(expected), strict=True):
        reference = to_numpy(wanted)
        assert got.shape == reference.shape
        assert got.dtype == reference.dtype
        if wanted.dtype.is_floating_point:
            finite = np.abs(reference[np.isfinite(reference)])
            step = STEP[wanted.dtype]
            scale = float(finite.max()) if finite.size else 0.0
            np.testing.assert_allclose(got, reference, rtol=steps * step, atol=steps * step * scale)
        else:
            np.testing.assert_array_equal(got, reference)
    return function


def _flat(value: Any) -> list[Any]:
    return [x for part in value for x in _flat(part)] if isinstance(value, tuple | list) else [value]


def x(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "broadcast": (lambda a, b: a * 2 + b - a / 3, (x(4, 5), x(5))),
    "seed": (lambda a, b, w: torch.relu(torch.matmul(a + b, w)), (x(16, 64), x(64), x(64, 16))),
    "activations": (
        lambda a: (F.gelu(a), F.gelu(a, approximate="tanh"), F.silu(a), F.softplus(a), F.elu(a)),
        (x(4, 5),),
    ),
    "more activations": (
        lambda a: (F.hardswish(a), F.mish(a), F.selu(a), F.relu6(a), F.leaky_relu(a), F.glu(a, 0)),
        (x(4, 5),),
    ),
    "softmax": (lambda a: (a.softmax(-1), F.log_softmax(a, 0), a.logsumexp(1)), (x(4, 5),)),
    "cross entropy": (lambda a, t: F.cross_entropy(a, t), (x(4, 5), torch.tensor([0, 4, -100, 2]))),
    "mean squared error": (lambda a, b: F.mse_loss(a, b), (x(4, 5), x(4, 5, seed=1))),
    "statistics": (
        lambda a: (a.var(-1), a.std((0, 1)), a.mean(), a.sum(1), a.amax(0), a.prod(1), a.max(1), a.argmin(0)),
        (x(4, 5),),
    ),
    "normalize": (lambda a: (F.normalize(a), F.cosine_similarity(a, a + 1), F.instance_norm(a[None])), (x(4, 5),)),
    "layer norm": (
        lambda a, w: (F.layer_norm(a, (5,), w), F.rms_norm(a, (5,), w), F.group_norm(a, 2)),
        (x(3, 4, 5), x(5)),
    ),
    "views": (
        lambda a: (
            a[:, ::2, 1:],
            a[0],
            a[..., None],
            a.flip(1),
            torch.cat([a, a], 1),
            a.unbind(1),
            a.T if a.dim() == 2 else a.mT,
        ),
        (x(4, 5, 6),),
    ),
    "more views": (
        lambda a: (
            a.roll(1, 0),
            a.tril(),
            F.pad(a, (1, 2), value=3.0),
            torch.diagonal(a, dim1=1, dim2=2),
            a.unfold(2, 2, 2),
            a.repeat(1, 2, 1),
        ),
        (x(4, 5, 6),),
    ),
    "products": (
        lambda a, b: (a @ b, torch.einsum("bij,bjk->ik", a, b), torch.outer(a[0, 0], b[0, 0]), F.linear(a, b[0].T)),
        (x(2, 4, 5), x(2, 5, 3)),
    ),
    "masks": (
        lambda a: (a.masked_fill(a > 0, -1), torch.where(a > 0, a, 0.0), a.clamp(-0.5, 0.5), a.nan_to_num()),
        (x(4, 5),),
    ),
    "indices": (
        lambda a, i: (a[i], a[:, i], F.embedding(i, a), a.index_select(1, i), a.gather(1, i[:, None]), F.one_hot(i, 5)),
        (x(4, 4), torch.tensor([0, 3, 1, 1])),
    ),
    "sources": (
        lambda a: (
            torch.arange(5) * a.int().sum(),
            torch.linspace(0, 1, 5) + a.sum(),
            torch.ones(3, 3).tril(),
            torch.eye(3),
        ),
        (x(2),),
    ),
    "integers": (
        lambda a: (a // 3, a % 3, a / 2, a**2, a << 1, ~a, -a, a.float().half(), (a > 0) & (a < 5)),
        (torch.arange(-6, 6),),
    ),
    "dropout in inference": (lambda a: F.dropout(a, 0.5, False) + 1, (x(4, 5),)),
    "written-out attention": (
        lambda q, k, v: (q @ k.mT / math.sqrt(8)).softmax(-1) @ v,
        (x(2, 3, 5, 8), x(2, 3, 7, 8), x(2, 3, 7, 8)),
    ),
    "attention": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        (x(2, 3, 5, 8), x(2, 3, 5, 8), x(2, 3, 5, 8)),
    ),
    "grouped attention": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True),
        (x(2, 4, 5, 8), x(2, 2, 7, 8)),
    ),
    "clamp by a tensor from above": (lambda a, b: torch.clamp(a, max=b), (x(4, 5), x(5))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function, args = FUNCTIONS[name]
    check(function, *args)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("name", ["seed", "softmax", "layer norm", "attention", "activations"])
def test_functions_of_other_types(name: str, dtype: torch.dtype) -> None:
    function, args = FUNCTIONS[name]
    check(function, *(value.to(dtype) for value in args), steps=8 if dtype != torch.float64 else 64)


class LlamaBlock(nn.Module):
    """Rotary attention with grouped heads and a gated feed-forward network, both behind an RMS norm."""

    def __init__(self, width: int = 32, heads: int = 4, groups: int = 2) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.size, bias=False)
        self.value = nn.Linear(width, groups * self.size, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)
        self.attention_norm = nn.RMSNorm(width)
        self.feed_forward_norm = nn.RMSNorm(width)

    def rotate(self, value: Tensor) -> Tensor:
        positions = torch.arange(value.shape[-2], dtype=value.dtype)
        frequencies = 10000.0 ** (-torch.arange(0, self.size, 2, dtype=value.dtype) / self.size)
        angles = torch.outer(positions, frequencies).repeat(1, 2)
        half = torch.cat([-value[..., self.size // 2 :], value[..., : self.size // 2]], -1)
        return value * angles.cos() + half * angles.sin()

    def forward(self, tokens: Tensor) -> Tensor:
        batch, length, width = tokens.shape
        normal = self.attention_norm(tokens)

        def split(value: Tensor, heads: int) -> Tensor:
            return value.view(batch, length, heads, self.size).transpose(1, 2)

        query = self.rotate(split(self.query(normal), self.heads))
        key = self.rotate(split(self.key(normal), self.groups)).repeat_interleave(self.heads // self.groups, 1)
        value = split(self.value(normal), self.groups).repeat_interleave(self.heads // self.groups, 1)
        mask = torch.full((length, length), float("-inf")).triu(1)
        weights = ((query @ key.mT) * self.size**-0.5 + mask).softmax(-1)
        tokens = tokens + self.output((weights @ value).transpose(1, 2).reshape(batch, length, width))
        normal = self.feed_forward_norm(tokens)
        return tokens + self.down(F.silu(self.gate(normal)) * self.up(normal))


def test_a_transformer_block() -> None:
    torch.manual_seed(0)
    function = check(LlamaBlock().eval(), x(2, 6, 32), steps=256)
    lines = {line for op in function.body.block.ops for line in source_lines(op.location)}
    assert lines == set()  # text without locations


@pytest.mark.parametrize(
    "module",
    [
        nn.TransformerEncoderLayer(16, 2, 32, batch_first=True),
        nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(4), nn.GELU(), nn.LayerNorm(8), nn.Softmax(-1)),
        nn.MultiheadAttention(16, 4, batch_first=True),
    ],
    ids=lambda module: type(module).__name__,
)
def test_modules(module: nn.Module) -> None:
    tokens = x(2, 4, 16)
    args = (tokens, tokens, tokens) if isinstance(module, nn.MultiheadAttention) else (tokens,)
    check(module.eval(), *args, steps=256)


def test_locations_are_the_user_s_lines() -> None:
    imported = import_exported(Function(lambda a: torch.softmax(a * 2, -1)), (x(3, 4),))
    ConvertTorchToUopPass().apply(Context(), imported.module)
    for op in imported.function.body.block.ops:
        if op.name.startswith("uop."):
            assert source_lines(op.location), op
            assert all(__file__.endswith(line.split(":")[0]) for line in source_lines(op.location))
