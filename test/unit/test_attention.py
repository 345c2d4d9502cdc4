# torch.manual_seed and the like have no types.
# pyright: reportUnknownMemberType=false
"""Attention in the forms in which people write and mask it: one kernel each, derived by rules.

Whole programs run in the simulator with the race check on, and are compared with eager PyTorch and with float64, at
every level that has an interpreter, too. test_monoids.py has the certificate of the monoid that the rules lead to.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from test_every_stage import check as check_every_stage
from test_programs import check as check_program
from torch.nn import functional as F
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import uop.dialects.monoids as monoids
from uop.dialects.monoids import MONOIDS, ALUBuilder, Monoid, Stages
from uop.dialects.uop import KernelOp, ReduceOp
from uop.frontends.capture import capture_expression, capture_file
from uop.frontends.captured import Call, Captured
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

TENSORS = """\
q, k, v = torch.randn(1, 2, 17, 16), torch.randn(1, 2, 19, 16), torch.randn(1, 2, 19, 16)
i, j = torch.arange(17).view(17, 1), torch.arange(19)
scores = q @ k.transpose(-1, -2) * 0.25
"""
HALF = "q, k, v = q.half(), k.half(), v.half()\n"
SOME = "(i % 3 != 0) & (j <= i)"
"""Rows of a mask that see nothing, and a causal one."""


def sdpa(arguments: str = "", shapes: str = "(1, 2, 17, 16), (1, 2, 19, 16), (1, 2, 19, 16)", of: str = "") -> str:
    """scaled_dot_product_attention of random numbers in these shapes."""
    return (
        f"q, k, v = (torch.randn(*shape){of} for shape in ({shapes}))\n"
        f"F.scaled_dot_product_attention(q, k, v{arguments})"
    )


def softmax(scores: str, ending: str = " @ v") -> str:
    """A softmax of scores, written out."""
    return f"{TENSORS}torch.softmax({scores}, -1){ending}"


FORMS: dict[str, str] = {
    "sdpa": sdpa(),
    "causal": sdpa(", is_causal=True"),
    "causal f16": sdpa(", is_causal=True", of=".half()"),
    "bool mask, rows that see nothing": f"{TENSORS}F.scaled_dot_product_attention(q, k, v, attn_mask={SOME})",
    "softmax in f32 of f16": f"{TENSORS}{HALF}torch.softmax((q @ k.transpose(-1, -2)).float(), -1).half() @ v",
    "divided after the product": TENSORS + "p = (scores - scores.amax(-1, keepdim=True)).exp()\n"
    "(p @ v) / p.sum(-1, keepdim=True)",
    "soft cap, causal": softmax("torch.where(j <= i, torch.tanh(scores / 30) * 30, -torch.inf)"),
    "ALiBi": softmax("scores - torch.tensor([0.5, 0.25]).view(2, 1, 1) * (i - j).abs()"),
    "four heads to one, batches": sdpa(", enable_gqa=True", "(2, 4, 5, 16), (2, 1, 9, 16), (2, 1, 9, 16)"),
    "written out, rows of NaN": softmax(f"torch.where({SOME}, scores, -torch.inf)"),
}
"""Name → program; each is one kernel."""

MORE_FORMS: dict[str, str] = {
    "float mask": TENSORS + f"F.scaled_dot_product_attention(q, k, v, attn_mask=torch.where({SOME}, 0.0, -torch.inf))",
    "float bias": TENSORS + "F.scaled_dot_product_attention(q, k, v, attn_mask=torch.randn(17, 19))",
    "sliding window": TENSORS + "F.scaled_dot_product_attention(q, k, v, attn_mask=(j <= i) & (i - j < 5))",
    "the least number for −∞": softmax(f"scores + torch.where({SOME}, 0.0, torch.finfo(torch.float32).min)"),
    "0 for a maximum of −∞": TENSORS + f"s = torch.where({SOME}, scores, -torch.inf)\nm = s.amax(-1, keepdim=True)\n"
    "p = (s - torch.where(m == -torch.inf, 0.0, m)).exp()\n(p @ v) / (p.sum(-1, keepdim=True) + 1e-9)",
    "log_softmax": TENSORS + "torch.log_softmax(scores, -1).exp() @ v",
    "logsumexp": TENSORS + "(scores - scores.logsumexp(-1, keepdim=True)).exp() @ v",
    "times a reciprocal": TENSORS + "p = (scores - scores.amax(-1, keepdim=True)).exp()\n"
    "(p * (1 / p.sum(-1, keepdim=True))) @ v",
    "weights that are dropped": softmax("scores", " * ((i + j) % 5 != 0) @ v"),
    "as transformers writes it": TENSORS + HALF + "w = q @ k.transpose(2, 3) * 0.25\n"
    "w = w + torch.where(j <= i, 0.0, torch.finfo(torch.float16).min).half()\n"
    "(F.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype) @ v).transpose(1, 2).contiguous()",
    "heads repeated": "q, k, v = torch.randn(1, 8, 17, 16), torch.randn(1, 2, 19, 16), torch.randn(1, 2, 19, 16)\n"
    "k, v = (x[:, :, None].expand(1, 2, 4, 19, 16).reshape(1, 8, 19, 16) for x in (k, v))\n"
    "torch.softmax(q @ k.transpose(2, 3) * 0.25, -1) @ v",
    "a bias for each distance": TENSORS + "b = torch.randn(2, 37)\ntorch.softmax(scores + b[:, (i - j) + 18], -1) @ v",
    "residual": sdpa() + " + torch.randn(1, 2, 17, 16)",
    "heads side by side": sdpa() + ".transpose(1, 2).reshape(1, 17, 32)",
    "batches, written out": "q, k, v = torch.randn(2, 3, 9, 16), torch.randn(2, 3, 11, 16), torch.randn(2, 3, 11, 16)\n"
    "torch.softmax(q @ k.transpose(-1, -2) / 4.0, -1) @ v",
    "baddbmm": "q, k, v = torch.randn(6, 9, 16), torch.randn(6, 11, 16), torch.randn(6, 11, 16)\n"
    "torch.bmm(torch.softmax(torch.baddbmm(torch.randn(6, 9, 11), q, k.transpose(1, 2)), -1), v)",
    "one tensor": "x = torch.randn(1, 2, 17, 16)\nF.scaled_dot_product_attention(x, x, x)",
    "f64": sdpa(of=".double()"),
    "bf16, 80 channels": sdpa("", "(1, 1, 33, 80), (1, 1, 70, 80), (1, 1, 70, 80)", ".bfloat16()"),
    "bf16, 72 channels of 17 queries": sdpa("", "(1, 2, 17, 72), (1, 2, 70, 72), (1, 2, 70, 72)", ".bfloat16()"),
    "bf16, 40 channels of 17 queries": sdpa("", "(1, 2, 17, 40), (1, 2, 65, 40), (1, 2, 65, 40)", ".bfloat16()"),
    "40 channels of values": sdpa("", "(1, 1, 7, 16), (1, 1, 30, 16), (1, 1, 30, 40)"),
    "256 channels": sdpa("", "(1, 1, 10, 256), (1, 1, 20, 256), (1, 1, 20, 256)", ".half()"),
    "four heads to one f16": sdpa(", enable_gqa=True", "(1, 8, 17, 64), (1, 2, 70, 64), (1, 2, 70, 64)", ".half()"),
    "causal 128": sdpa(", is_causal=True", "(1, 1, 128, 16), (1, 1, 128, 16), (1, 1, 128, 16)"),
    "causal 128 f16": sdpa(", is_causal=True", "(1, 1, 128, 64), (1, 1, 128, 64), (1, 1, 128, 64)", ".half()"),
    "1000 keys f16": sdpa("", "(1, 1, 130, 64), (1, 1, 1000, 64), (1, 1, 1000, 64)", ".half()"),
    "more queries than keys, causal": sdpa(", is_causal=True", "(1, 1, 40, 16), (1, 1, 17, 16), (1, 1, 17, 16)"),
}

SPECIAL: dict[str, str] = {
    "NaN in a key": sdpa(", is_causal=True").replace("\n", "\nk = k.index_fill(2, torch.tensor([5]), math.nan)\n"),
    "±10⁴, and ∞": softmax(
        "torch.where((i == 3) & (j == 5), torch.inf, torch.where((i + j) % 2 == 0, 1e4, -1e4) + scores)"
    ),
}
MORE_SPECIAL: dict[str, str] = {
    "NaN in a value": sdpa().replace("\n", "\nv = v.index_fill(2, torch.tensor([5]), math.nan)\n"),
    "∞ in a value": sdpa().replace("\n", "\nv = v.index_fill(2, torch.tensor([5]), math.inf)\n"),
    "−∞ for a key": softmax("torch.where(j == 5, -torch.inf, scores)"),
    "scores of some 10⁴": sdpa(", is_causal=True").replace("(q, k", "(q * 100, k * 100"),
}


PROGRAMS = {**FORMS, **MORE_FORMS, **SPECIAL, **MORE_SPECIAL}


def reductions(code: str, stage: str = "range") -> list[list[str]]:
    """The monoids of each kernel's reductions over ranges."""
    for name, module in compile_stages(capture_expression(code).imported(), CompileOptions()):
        if name == stage:
            return kernels_of(module)
    raise AssertionError(stage)


def kernels_of(module: ModuleOp) -> list[list[str]]:
    return [
        [op.monoid.data for op in kernel.body.block.ops if isinstance(op, ReduceOp)]
        for kernel in module.body.block.ops
        if isinstance(kernel, KernelOp)
    ]


@pytest.mark.parametrize("name", [*FORMS, *MORE_FORMS])
def test_every_form_is_one_kernel_of_one_pass(name: str) -> None:
    assert reductions(PROGRAMS[name]) == [["add", "online_attention"]]


QUICK = [
    *("causal f16", "divided after the product", "soft cap, causal", "four heads to one, batches"),
    *("written out, rows of NaN", "NaN in a key", "±10⁴, and ∞"),
]
"""What test_programs.py does not run."""


@pytest.mark.parametrize("name", QUICK)
def test_forms(name: str) -> None:
    check_program(capture_expression(PROGRAMS[name]), 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in QUICK])
def test_more_forms(name: str) -> None:
    check_program(capture_expression(PROGRAMS[name]), 1)


LEVELS = ["bool mask, rows that see nothing", "±10⁴, and ∞"]


@pytest.mark.parametrize("name", LEVELS)
def test_every_level(name: str) -> None:
    check_every_stage(capture_expression(PROGRAMS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in LEVELS])
def test_every_level_of_more_forms(name: str) -> None:
    check_every_stage(capture_expression(PROGRAMS[name]))


@pytest.mark.parametrize(
    "ending", ["F.scaled_dot_product_attention(q, k, v, is_causal=True)", "torch.softmax(q @ k.mT, -1) @ v"]
)
def test_as_many_keys_as_a_symbol_says(ending: str, tmp_path: Path) -> None:
    (tmp_path / "attention.py").write_text(f"""
import torch
from torch.nn import functional as F
class Attention(torch.nn.Module):
    def forward(self, q, k, v):
        return {ending}
def make():
    sizes = {{2: torch.export.Dim("length", min=2, max=64)}}
    return Attention(), tuple(torch.randn(1, 2, 17, 16) for _ in range(3)), (sizes, sizes, sizes)
""")
    check_program(capture_file(f"{tmp_path / 'attention.py'}:make"), 1)


HUGE_SCORES = {
    # Scores that f32 holds exactly, so that eager PyTorch tells equal ones from others: the power of 2 is a power of 2.
    "multiples of 2 ** 28": "F.scaled_dot_product_attention(torch.randn(1, 2, 33, 64, dtype={dtype}).sign() * 32768,"
    " torch.randn(1, 2, 200, 64, dtype={dtype}).sign() * 32768, torch.randn(1, 2, 200, 64, dtype={dtype}))",
    "by a large scale": "F.scaled_dot_product_attention(torch.randn(1, 2, 33, 64, dtype={dtype}),"
    " torch.randn(1, 2, 200, 64, dtype={dtype}), torch.randn(1, 2, 200, 64, dtype={dtype}), scale=2.0 ** 40)",
}


@pytest.mark.parametrize("dtype", ["torch.float16", "torch.bfloat16"])
@pytest.mark.parametrize("name", HUGE_SCORES)
def test_huge_scores(name: str, dtype: str) -> None:
    check_program(capture_expression(HUGE_SCORES[name].format(dtype=dtype)), 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_large_scores_count_alike_in_all_steps(dtype: torch.dtype) -> None:
    """What the maximum is rounded by in each of 16 steps does not add up."""

    class Attention(torch.nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
            return F.scaled_dot_product_attention(q, k, v)

    def make() -> Call:
        signs, values = (-1.0) ** torch.arange(64), torch.arange(1024.0)[:, None] / 1024
        q, k, v = 99 * signs.expand(1, 8, 64, 64), 101 * signs.expand(1, 8, 1024, 64), values.expand(1, 8, 1024, 64)
        return Call(Attention(), tuple(each.to(dtype).contiguous() for each in (q, k, v)))

    check_program(Captured(make(), make, "test"), 1)


@pytest.mark.slow
def test_gradients() -> None:
    """Backward, attention is not one kernel, and right."""

    def run(function: Callable[..., torch.Tensor]) -> list[torch.Tensor]:
        torch.manual_seed(0)
        q, k, v, weights = (torch.randn(1, 2, 9, 16, requires_grad=True) for _ in range(4))
        result = function(q, k, v)
        (result * weights).sum().backward()
        return [result.detach(), *(x.grad for x in (q, k, v) if x.grad is not None)]

    def causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def written_out(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.softmax(q @ k.transpose(-1, -2) * 0.25, -1) @ v

    for function in (causal, written_out):
        compiled: Callable[..., torch.Tensor] = torch.compile(function, backend="uop")
        for ours, eager in zip(run(compiled), run(function), strict=True):
            torch.testing.assert_close(ours, eager, rtol=1e-5, atol=1e-5)


APART: dict[str, str] = {
    "the weights are a result, too": TENSORS + "p = torch.softmax(scores, -1)\np @ v, p",
    "too many channels": sdpa("", "(1, 1, 9, 16), (1, 1, 20, 16), (1, 1, 20, 320)"),
    "weights that are rounded for f32": TENSORS + "torch.softmax(scores, -1).half().float() @ v",
    "weights of the heads mixed": TENSORS + "torch.softmax(scores, -1).sum(1) @ v[:, 0]",
}
"""What is no pass over the keys, or is one that would be dear."""


@pytest.mark.parametrize("name", APART)
def test_what_stays_apart(name: str) -> None:
    assert not any("online_attention" in kernel for kernel in reductions(APART[name]))


def test_a_wrong_rescaling_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The monoid's combination is what the kernel computes: one whose sums keep their own scale gives other results."""

    def adapt(b: ALUBuilder, element: list[SSAValue], maximum: SSAValue) -> list[SSAValue]:
        return list(element[1:])

    right = MONOIDS["online_attention"]
    stages = Stages("max", "add", adapt)  # pyright: ignore[reportArgumentType]
    wrong = Monoid(right.name, right.summary, 3, right.accepts, right.identity, stages.combine, stages)
    monkeypatch.setitem(monoids.MONOIDS, "online_attention", wrong)
    with pytest.raises(AssertionError):
        check_every_stage(capture_expression(FORMS["sdpa"]))
