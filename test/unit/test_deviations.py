"""Means and squared deviations in one walk: the certificate of the monoid, and what is made of programs with it.

Count, sum and sum of squares of samples that are put together add up. Elements (n, p, d, q) of `welford` stand for
them as (n, n·p + d, q + 2·p·d + n·p²), whatever the point p is, and combine as they do: so `welford` is associative and
commutative as addition is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
import pytest
import torch
import z3
from test_tile_to_gpu_kernel import needs_nvrtc
from xdsl.ir import Attribute, SSAValue

import uop
from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.dialects.monoids import MONOIDS, ALUBuilder, Combine, Number, Stages
from uop.dialects.uop import ReduceAxisOp
from uop.frontends.capture import capture_expression
from uop.passes.uop import uop_fuse_deviations
from uop.passes.uop.rules.deviations import deviating
from uop.passes.uop.rules.reductions import reduce_axis
from uop.rewriting.driver import RewriteBuilder
from uop.rewriting.rules import Rules
from uop.runtime.nvrtc import compile_cuda
from uop.runtime.program import Program
from uop.runtime.proofs.kernels import check_on_kernels
from uop.tools.compilation import compile_stages
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

INFINITY, NAN = float("inf"), float("nan")
Adapt = Callable[[ALUBuilder, Sequence[SSAValue], Sequence[SSAValue]], list[SSAValue]]


class Reals:
    """Builds what a monoid builds as terms of z3; there is no infinity that a real number is not below."""

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        x, y, z = cast(tuple[z3.ArithRef, ...], (*operands, operands[0], operands[0]))[:3]
        term: object = {
            "abs": lambda: z3.If(x >= 0, x, -x),
            "add": lambda: x + y,
            "div": lambda: x / y,
            "eq": lambda: x == y,
            "lt": lambda: z3.BoolVal(True) if isinstance(y, float) else x < y,
            "mul": lambda: x * y,
            "sub": lambda: x - y,
            "where": lambda: z3.If(x, y, z),
        }[name]()
        return cast(SSAValue, term)

    def constant_like(self, value: Number, like: SSAValue) -> SSAValue:
        return cast(SSAValue, INFINITY if value == INFINITY else z3.RealVal(float(value)))

    def expand_like(self, value: SSAValue, like: SSAValue) -> SSAValue:
        return value

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        raise NotImplementedError


Terms = list[z3.ArithRef]
WELFORD = MONOIDS["welford"]


def sample(name: str) -> Terms:
    return [z3.Real(f"{name}_{part}") for part in ("count", "point", "deviations", "squares")]


def is_sample(x: Terms) -> z3.BoolRef:
    """Of no elements, sums are 0."""
    count, point, deviations, squares = x
    return z3.And(count >= 0, z3.Implies(count == 0, z3.And(point == 0, deviations == 0, squares == 0)))


def sums(x: Terms) -> Terms:
    """Count, sum and sum of squares of a sample."""
    count, point, deviations, squares = x
    return [count, count * point + deviations, squares + 2 * point * deviations + count * point * point]


def prove(claims: Sequence[z3.BoolRef], *assumptions: z3.BoolRef) -> z3.CheckSatResult:
    """unsat where all claims follow."""
    for claim in claims:
        solver = z3.Solver()
        solver.set("timeout", 20_000)
        solver.add(*assumptions, z3.Not(claim))
        if (result := solver.check()) != z3.unsat:
            return result
    return z3.unsat


def equal(x: Terms, y: Terms) -> list[z3.BoolRef]:
    return [a == b for a, b in zip(x, y, strict=True)]


def combined(combine: Combine, x: Terms, y: Terms) -> Terms:
    return cast(Terms, combine(Reals(), cast(list[SSAValue], x), cast(list[SSAValue], y)))


def prove_sums(combine: Combine) -> z3.CheckSatResult:
    """That what is combined is a sample, whose sums are those of both, whatever points these have."""
    x, y = sample("x"), sample("y")
    both = combined(combine, x, y)
    claims = [total == a + b for total, a, b in zip(sums(both), sums(x), sums(y), strict=True)]
    return prove([is_sample(both), *claims], is_sample(x), is_sample(y))


def prove_moves(adapt: Adapt) -> z3.CheckSatResult:
    """That a sample whose deviations are from any other point has the same sums: it does not matter where a mean is
    rounded to."""
    x, (count, point) = sample("x"), z3.Reals("count point")
    moved = adapt(Reals(), cast(list[SSAValue], x), cast(list[SSAValue], [count, point]))
    return prove(equal(sums([x[0], point, *cast(Terms, moved)]), sums(x)), is_sample(x))


def test_samples_add_up() -> None:
    assert prove_sums(WELFORD.combine) == z3.unsat


def test_points_do_not_matter() -> None:
    assert WELFORD.stages is not None
    assert prove_moves(WELFORD.stages.adapt) == z3.unsat


def test_samples_with_the_same_sums_are_the_same() -> None:
    """Those whose points are their means, as they are but for rounding."""
    x, y = sample("x"), sample("y")
    means = [x[2] == 0, y[2] == 0]
    assert prove(equal(x, y), is_sample(x), is_sample(y), *means, *equal(sums(x), sums(y))) == z3.unsat
    assert prove([combined(WELFORD.combine, x, y)[2] == 0], is_sample(x), is_sample(y), *means) == z3.unsat


def test_the_identity_is_neutral() -> None:
    x = sample("x")
    nothing: Terms = [z3.RealVal(0)] * 4
    for both in (combined(WELFORD.combine, x, nothing), combined(WELFORD.combine, nothing, x)):
        assert prove(equal(both, x), is_sample(x)) == z3.unsat


# Rules that are broken on purpose: the proofs refuse them.


def broken(adapt: Adapt) -> Combine:
    """The combination of a monoid that moves samples like this."""
    return Stages("mean", "add", adapt).combine


def test_squares_that_are_not_moved_are_refused() -> None:
    def adapt(b: ALUBuilder, x: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
        assert WELFORD.stages is not None
        return [WELFORD.stages.adapt(b, x, totals)[0], x[3]]

    assert prove_moves(adapt) == z3.sat
    assert prove_sums(broken(adapt)) == z3.sat


def test_squares_that_are_moved_as_if_of_one_element_are_refused() -> None:
    def adapt(b: ALUBuilder, x: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
        assert WELFORD.stages is not None
        delta = b.alu("sub", x[1], totals[1])
        return [WELFORD.stages.adapt(b, x, totals)[0], b.alu("add", x[3], b.alu("mul", delta, delta))]

    assert prove_moves(adapt) == z3.sat
    assert prove_sums(broken(adapt)) == z3.sat


def test_a_point_that_is_not_the_mean_is_refused() -> None:
    """All sums would be right, but the point could be far from the mean, and digits be lost."""

    def combine(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
        count, _ = MONOIDS["mean"].combine(b, x[:2], y[:2])
        return [count, x[1]]

    x, y = sample("x"), sample("y")
    count, point = combined(combine, x[:2], y[:2])
    is_mean = count * point == x[0] * x[1] + y[0] * y[1]
    assert prove([is_mean], is_sample(x), is_sample(y)) == z3.sat
    count, point = combined(MONOIDS["mean"].combine, x[:2], y[:2])
    is_mean = count * point == x[0] * x[1] + y[0] * y[1]
    assert prove([is_mean], is_sample(x), is_sample(y)) == z3.unsat


# Programs: one walk over memory, in the simulator with the race check on.


PROGRAMS = {
    "F.layer_norm(torch.randn(1, 32771) + 100, (32771,), torch.randn(32771), torch.randn(32771))": 2,
    "torch.std(torch.randn(67, 131) + 1, dim=0)": 1,
    "torch.var(torch.randn(1009, 1), dim=0, correction=2)": 1,
    "torch.var(torch.randn(3, 65, 7), dim=1, keepdim=True)": 1,
    "torch.var(torch.randn(181, 191))": 2,
    "torch.var(torch.randn(8, 6, 31, 37), dim=(0, 2, 3))": 2,
    "torch.var((torch.randn(40961) + 5).half())": 2,
}
"""Expressions, and how many kernels they are, where that is due to the reduction."""

MORE_PROGRAMS = (
    "nn.GroupNorm(1, 3)(torch.randn(2, 3, 11, 1009) * 3)",
    "F.batch_norm(torch.randn(5, 6, 31, 37) - 7, None, None, training=True)",
    "F.batch_norm(torch.randn(4099, 33) - 7, None, None, training=True)",
    "F.instance_norm(torch.randn(1, 2, 181, 191))",
    "torch.var_mean(torch.randn(40, 32771, dtype=torch.float64), dim=1)",
    "torch.var((torch.randn(40961) + 5).bfloat16())",
    "torch.std(torch.randn(3, 65536) * 1e-3 + 1, dim=1)",
)


def check_program(code: str, kernels: int | None) -> None:
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    for each in result.run.kernels:
        for arch in ARCHITECTURES:
            resources = compile_cuda(each.compiled.text, arch).resources[each.compiled.name]
            assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (each.compiled.name, arch)
    assert kernels is None or len(result.run.kernels) == kernels


@needs_nvrtc
@pytest.mark.parametrize("code", PROGRAMS)
def test_program(code: str) -> None:
    check_program(code, PROGRAMS[code])


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("code", MORE_PROGRAMS)
def test_more_programs(code: str) -> None:
    check_program(code, None)


@needs_nvrtc
@pytest.mark.parametrize(
    "code", ["torch.var(torch.randn(40001) + 1e4)", "torch.var(torch.randn(1999, 33) + 1e4, dim=0)"]
)
def test_no_digits_are_lost_where_the_mean_is_large(code: str) -> None:
    """Each element is off by up to 2⁻¹¹, and deviations by no more."""
    (comparison,) = run_captured(capture_expression(code), CompileOptions()).comparisons
    assert comparison.error < 1e-4


@needs_nvrtc
@pytest.mark.parametrize("numbers", [(INFINITY,), (-INFINITY,), (INFINITY, -INFINITY), (NAN,), (NAN, INFINITY)])
def test_infinities_and_nan(numbers: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """They reach the results of their column, as in two walks: an infinite mean, deviations of NaN."""
    monkeypatch.setattr(uop_fuse_deviations, "LAUNCH_BYTES", 0)
    x = np.random.default_rng(0).normal(size=(130, 3)).astype(np.float32)
    for place, number in enumerate(numbers):
        x[40 + 50 * place, 1] = number
    imported = capture_expression("torch.var_mean(torch.randn(130, 3), dim=0)").imported()
    for _ in compile_stages(imported, CompileOptions()):
        pass
    variance, mean = Program(imported.module).run([x]).outputs
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(variance, x.var(0, ddof=1), 1e-5)
        np.testing.assert_allclose(mean, x.mean(0), 1e-5, 1e-6)


def test_equal_elements_do_not_deviate() -> None:
    """The squares are not below 0, whatever the mean is rounded to: their root would be NaN."""
    result = run_captured(capture_expression("torch.std(torch.full((101, 70), 0.1), dim=0)"), CompileOptions())
    assert np.all(result.run.outputs[0] >= 0)
    assert np.all(result.run.outputs[0] < 1e-8)


def test_a_rule_that_forgets_the_mean_is_refused() -> None:
    """The squares of all elements instead of those of deviations."""

    def broken_rule(builder: RewriteBuilder, op: ReduceAxisOp) -> Sequence[SSAValue] | None:
        if (found := deviating(op)) is None:
            return None
        return builder.reduce_axis("add", [builder.alu("mul", found.value, found.value)], op.axis_list())

    (rule,) = Rules((reduce_axis[...] >> broken_rule).up_to_rounding())
    assert any(wrong is not None for _, _, wrong in check_on_kernels(rule))


class Variance(torch.nn.Module):
    """Of rows."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.var_mean(x, dim=1)


@pytest.mark.parametrize("size", [(1 << 18) + 1, 600_011])
def test_rows_beyond_the_caches_of_a_cpu(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One walk for both, and as few digits lost as in two."""
    monkeypatch.setattr(uop_fuse_deviations, "LAUNCH_BYTES", 0)
    x = torch.randn(2, size, generator=torch.Generator().manual_seed(0)) + 1e4
    program = uop.compile(Variance(), (x,), target="c", device="cpu")
    variance, mean = program(x)
    expected, expected_mean = torch.var_mean(x.double(), dim=1)
    torch.testing.assert_close(variance.double(), expected, rtol=3e-5, atol=0)
    torch.testing.assert_close(mean.double(), expected_mean, rtol=1e-7, atol=0)
    assert "welford" in program.stages["range"]
    x[0, 1000], x[1, 2000] = INFINITY, NAN
    variance, mean = program(x)
    assert variance.isnan().all()
    assert mean[0] == INFINITY
    assert mean[1].isnan()
