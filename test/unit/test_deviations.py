"""Means and squared deviations in one walk: the certificate of the monoid, and what is made of programs with it.

Count, sum and sum of squares of samples that are put together add up. Elements (n, m, q) of `welford` stand for them
one to one, as (n, n·m, q + n·m²), and combine as they do: so `welford` is associative and commutative as addition is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest
import z3
from xdsl.ir import Attribute, SSAValue

from uop.dialects.monoids import MONOIDS, ALUBuilder, Combine, Number, deviations_from

INFINITY = float("inf")


class Reals:
    """Builds what a monoid builds as terms of z3; there is no infinity that a real number is not below."""

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        x, y, z = cast(tuple[z3.ArithRef, ...], (*operands, operands[0], operands[0]))[:3]
        term: object = {
            "abs": lambda: z3.If(x >= 0, x, -x),
            "add": lambda: x + y,
            "div": lambda: x / y,
            "eq": lambda: x == y,
            "lt": lambda: z3.BoolVal(True) if cast(object, y) == INFINITY else x < y,
            "mul": lambda: x * y,
            "sub": lambda: x - y,
            "where": lambda: z3.If(cast(z3.BoolRef, x), y, z),
        }[name]()
        return cast(SSAValue, term)

    def constant_like(self, value: Number, like: SSAValue) -> SSAValue:
        return cast(SSAValue, INFINITY if value == INFINITY else z3.RealVal(float(value)))

    def expand_like(self, value: SSAValue, like: SSAValue) -> SSAValue:
        return value

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        raise NotImplementedError


Terms = list[z3.ArithRef]


def sample(name: str) -> Terms:
    return [z3.Real(f"{name}_{part}") for part in ("count", "mean", "squares")]


def is_sample(x: Terms) -> z3.BoolRef:
    """Of no elements, mean and squares are 0."""
    count, mean, squares = x
    return z3.And(count >= 0, z3.Implies(count == 0, z3.And(mean == 0, squares == 0)))


def sums(x: Terms) -> Terms:
    """Count, sum and sum of squares of a sample."""
    count, mean, squares = x
    return [count, count * mean, squares + count * mean * mean]


def prove(claims: Sequence[z3.BoolRef], *assumptions: z3.BoolRef) -> z3.CheckSatResult:
    """unsat where all claims follow."""
    for claim in claims:
        solver = z3.Solver()
        solver.set("timeout", 20_000)
        solver.add(*assumptions, z3.Not(claim))
        if (result := solver.check()) != z3.unsat:
            return result
    return z3.unsat


def combined(combine: Combine, x: Terms, y: Terms) -> Terms:
    return cast(Terms, combine(Reals(), cast(list[SSAValue], x), cast(list[SSAValue], y)))


def prove_sums(combine: Combine) -> z3.CheckSatResult:
    """That what is combined is a sample, whose sums are those of both."""
    x, y = sample("x"), sample("y")
    both = combined(combine, x, y)
    claims = [total == a + b for total, a, b in zip(sums(both), sums(x), sums(y), strict=True)]
    return prove([is_sample(both), *claims], is_sample(x), is_sample(y))


def in_two_stages(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
    """Two elements combined as many are."""
    stages = MONOIDS["welford"].stages
    assert stages is not None
    return stages.combine(b, x, y)


@pytest.mark.parametrize("combine", [MONOIDS["welford"].combine, in_two_stages])
def test_samples_add_up(combine: Combine) -> None:
    assert prove_sums(combine) == z3.unsat


def test_samples_with_the_same_sums_are_the_same() -> None:
    x, y = sample("x"), sample("y")
    same = [a == b for a, b in zip(sums(x), sums(y), strict=True)]
    assert prove([a == b for a, b in zip(x, y, strict=True)], is_sample(x), is_sample(y), *same) == z3.unsat


def test_the_identity_is_neutral() -> None:
    x = sample("x")
    nothing: Terms = [z3.RealVal(0)] * 3
    for both in (combined(MONOIDS["welford"].combine, x, nothing), combined(MONOIDS["welford"].combine, nothing, x)):
        assert prove([a == b for a, b in zip(both, x, strict=True)], is_sample(x)) == z3.unsat


def prove_deviations(deviations: Callable[[ALUBuilder, Sequence[SSAValue], SSAValue], SSAValue]) -> z3.CheckSatResult:
    """That they are Σ (x − p)² = Σ x² − 2 p Σ x + count · p²."""
    x, point = sample("x"), z3.Real("p")
    count, total, squares = sums(x)
    found = cast(z3.ArithRef, deviations(Reals(), cast(list[SSAValue], x), cast(SSAValue, point)))
    return prove([found == squares - 2 * point * total + count * point * point], is_sample(x))


def test_deviations_from_any_point() -> None:
    assert prove_deviations(deviations_from) == z3.unsat


# Rules that are broken on purpose: the proofs refuse them.


def test_squares_that_are_not_moved_to_the_common_mean_are_refused() -> None:
    def combine(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
        count, mean = MONOIDS["mean"].combine(b, x[:2], y[:2])
        return [count, mean, b.alu("add", x[2], y[2])]

    assert prove_sums(combine) == z3.sat


def test_a_mean_that_takes_the_other_share_is_refused() -> None:
    def combine(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
        count, _, squares = MONOIDS["welford"].combine(b, x, y)
        (_, mean) = MONOIDS["mean"].combine(b, [x[0], y[1]], [y[0], x[1]])
        return [count, mean, squares]

    assert prove_sums(combine) == z3.sat


def test_deviations_with_one_correction_for_all_elements_are_refused() -> None:
    def deviations(b: ALUBuilder, x: Sequence[SSAValue], point: SSAValue) -> SSAValue:
        delta = b.alu("sub", x[1], point)
        return b.alu("add", b.alu("mul", delta, delta), x[2])

    assert prove_deviations(deviations) == z3.sat
