"""Maximum and sum of exponentials in one walk: whole programs in the simulator, with the race check on, against eager
PyTorch and float64, on ragged extents and on NaN, infinities and large numbers."""

from __future__ import annotations

import pytest

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.dialects.loop import ReduceOp
from uop.frontends.capture import capture_expression
from uop.runtime.nvrtc import compile_cuda
from uop.tools.compilation import compile_stages
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

LONG = 65539
"""Elements that a block does not hold on the chip."""

SPECIAL = """torch.cat([
    torch.full((1, {n}), -torch.inf),
    torch.randn(3, {n}).where(torch.rand(3, {n}) < 0.01, -torch.inf),
    torch.randn(1, {n}).index_fill(1, torch.tensor([{n} - 1]), torch.inf),
    torch.randn(1, {n}).index_fill(1, torch.tensor([{n} // 2]), torch.nan),
    torch.full((1, {n}), -torch.inf).index_fill(1, torch.tensor([{n} - 1]), -3e38),
    torch.randn(10, {n}) * 3e37])"""
"""Rows of −∞ alone, of few numbers, with ∞, with NaN, and of large numbers."""


def check(code: str, monoids: list[str]) -> None:
    """Run a program that reduces with these monoids, and compile its kernels for every architecture."""
    captured = capture_expression(code)
    forms = compile_stages(captured.imported(), CompileOptions())
    loops = next(module for name, module in forms if name == "loop")
    assert [op.monoid.data for op in loops.walk() if isinstance(op, ReduceOp)] == monoids
    result = run_captured(captured, CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    for run in result.run.kernels:
        for arch in ARCHITECTURES:
            resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
            assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (run.compiled.name, arch)


# Of up to 16 rows, uop-split-reduce makes several parts.


def test_softmax_of_special_rows() -> None:
    check(f"(lambda x: x.softmax(1))({SPECIAL.format(n=LONG)})", ["online_softmax"])


@pytest.mark.parametrize("sign", "+-")
def test_maxima_that_rise_or_fall(sign: str) -> None:
    check(f"(torch.rand(17, {LONG}) {sign} torch.arange({LONG}) * 0.005).log_softmax(1)", ["online_softmax"])


def test_softmax_of_all_magnitudes() -> None:
    check(f"(torch.randn(17, {LONG}) - 10.0 ** torch.linspace(-3, 38, 17)[:, None]).softmax(1)", ["online_softmax"])


def test_other_float_types() -> None:
    check("torch.randn(17, 65544, dtype=torch.float16).softmax(1)", ["online_softmax"])


@pytest.mark.parametrize("extent", [2049, 3001])
def test_log_sum_exp_of_special_rows(extent: int) -> None:
    check(f"(lambda x: x.logsumexp(1))({SPECIAL.format(n=extent)})", ["online_softmax"])


def test_log_sum_exp_of_f64() -> None:
    check("torch.randn(3, 2500, dtype=torch.float64).logsumexp(1)", ["online_softmax"])


def test_rows_that_fit_in_registers_compute_each_exponential_once() -> None:
    check("torch.randn(3, 3001).softmax(1)", ["max", "add"])


def test_a_sum_along_another_axis_stays() -> None:
    check("(lambda x: (x - x.amax(1, keepdim=True)).exp().sum((0, 1)))(torch.randn(3, 2500))", ["max", "add", "add"])


@pytest.mark.parametrize("multiple", ["1", "0.5", "-1"])
def test_powers_of_2_are_not_those_of_e(multiple: str) -> None:
    check(
        f"torch.exp2((lambda x: (x - x.amax(1, keepdim=True)) * {multiple})(torch.randn(17, 2500))).sum(1)",
        ["max", "add"],
    )
