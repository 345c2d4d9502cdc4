"""Programs as C text, built and run on this machine: right, and without touching what is beside their values."""

import pytest
from native_checks import check_natively
from programs import PROGRAMS

from uop.frontends.capture import capture_expression
from uop.runtime.native.compiler import CompilerNotFoundError, find_compiler
from uop.runtime.native.cpu import host

try:
    find_compiler()
except CompilerNotFoundError as error:
    pytest.skip(str(error), allow_module_level=True)

# Each with what is hard about it: sizes that are no multiple of anything, lanes along any axis, masks.
SHAPES = {
    "elementwise, one past a tile": "torch.randn(8193) * 2.0 + torch.randn(1)",
    "short rows": "torch.randn(1000, 7).exp()",
    "rows of primes": "torch.softmax(torch.randn(13, 1009), -1)",
    "rows shorter than a vector": "torch.softmax(torch.randn(37, 5), -1)",
    "columns of primes": "torch.randn(101, 37).sum(0)",
    "transpose": "torch.randn(37, 53).t().contiguous()",
    "transposed twice": "torch.randn(3, 37, 53).permute(2, 0, 1) * torch.randn(37)",
    "transpose of f16": "torch.randn(40, 70).half().t().contiguous()",
    "transpose of rows that repeat": "torch.randn(32, 4).repeat(1, 8).t().contiguous() + torch.randn(32, 1)",
    "transpose of turned rows": "torch.roll(torch.randn(48, 32), 5, 1).t().contiguous()",
    "product, ragged": "torch.randn(67, 45) @ torch.randn(45, 91)",
    "product, packed": "torch.randn(100, 64) @ torch.randn(64, 1024)",
    "product, transposed": "torch.randn(67, 45).t() @ torch.randn(67, 91)",
    "linear, ragged": "F.linear(torch.randn(33, 70), torch.randn(47, 70), torch.randn(47))",
    "linear, several panels": "F.gelu(F.linear(torch.randn(130, 70), torch.randn(67, 70), torch.randn(67)))",
    "linear of few rows": "F.linear(torch.randn(3, 70), torch.randn(67, 70))",
    "linear of bf16": "F.linear(torch.randn(40, 70).bfloat16(), torch.randn(67, 70).bfloat16())",
    "vector by matrix": "torch.randn(1, 300) @ torch.randn(300, 70)",
    "matrix by vector": "torch.randn(70, 300) @ torch.randn(300)",
    "attention": "F.scaled_dot_product_attention(*(torch.randn(1, 4, 37, 16) for _ in range(3)), is_causal=True)",
    "conv": "F.relu(nn.Conv2d(3, 5, 3, padding=1)(torch.randn(2, 3, 9, 37)))",
    "strided conv": "nn.Conv2d(3, 5, 3, stride=2, padding=1)(torch.randn(2, 3, 9, 8))",
    "conv of channels that lie together": "nn.Conv1d(40, 40, 3, padding=1)(torch.randn(17, 40).t()).t()",
    "max pool": "F.max_pool2d(torch.randn(2, 9, 8), 3, 2, 1, ceil_mode=True, return_indices=True)",
    "embedding": "nn.Embedding(50, 33)(torch.randint(0, 50, (4, 7)))",
    "embedding, whole vectors": "nn.Embedding(50, 32)(torch.randint(0, 50, (7,)))",
    "gather": "torch.gather(torch.randn(5, 70), 1, torch.randint(0, 70, (5, 33)))",
    "argmax": "torch.randint(0, 5, (6, 100)).argmax(1)",
    "NaN": "x = torch.randn(6, 100)\nx = torch.where(x > 2.0, math.nan, x)\ntorch.amax(x, 1), torch.relu(x)",
    "integers": "x = torch.randint(-9, 9, (40, 33), dtype=torch.int32)\nx.sum(1), x // 4, x % 4, x.prod(0)",
    "bools": "x = torch.randint(0, 9, (5, 70))\n(x > 7).any(1), (x > 0).all(0), (x > 3)[:, 1:] & (x < 7)[:, :-1]",
    "f64": "torch.softmax(torch.randn(7, 100).double(), -1)",
    "scans": "torch.cumsum(torch.randn(5, 37), 1), torch.cumprod(torch.rand(5, 37), 0)",
    "several kernels": "F.linear(F.gelu(F.linear(torch.randn(40, 30), torch.randn(50, 30))), torch.randn(20, 50))",
    "an argument and a constant": "x = torch.randn(3, 4)\nx, x.reshape(12), torch.ones(3)",
    "nothing": "torch.randn(0, 3) + 1, torch.sum(torch.randn(0, 3), 0)",
}


def check(code: str, vector_bytes: int) -> None:
    check_natively(capture_expression(code), vector_bytes)


@pytest.mark.parametrize("name", SHAPES)
def test_program(name: str) -> None:
    check(SHAPES[name], host().vector_bytes)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("name", ["rows of primes", "linear, several panels", "transposed twice", "argmax"])
def test_widths_of_vectors(name: str, vector_bytes: int) -> None:
    """Those of other machines, too: the compiler makes narrower or several ones of them here."""
    check(SHAPES[name], vector_bytes)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_programs(name: str) -> None:
    check(PROGRAMS[name][0], host().vector_bytes)
