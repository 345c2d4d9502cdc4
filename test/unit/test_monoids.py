"""Laws of the monoids that combine many elements in two stages (dialects/monoids.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np
import pytest
import z3
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i32
from xdsl.ir import Attribute, SSAValue

from uop.dialects.monoids import MONOIDS, ALUBuilder, Combine, Monoid, Number, Stages
from uop.dialects.semantics import ALU
from uop.runtime.interpret.arrays import Array, bitcast_array, constant, evaluate_alu

INFINITY, NAN = float("inf"), float("nan")
ONLINE = [("online_softmax", 2), ("online_attention", 3)]
"""Monoids of a maximum and sums of exponentials, and how many values their elements have."""

SPECIAL = (NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0, -1.5, 65504.0, -65504.0)


# On arrays.


@dataclass
class Typed:
    """What stands for a value: an array, one place for each element that is combined."""

    type: Attribute
    array: Array


class Evaluator:
    """Computes what a monoid builds."""

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        values = cast(Sequence[Typed], operands)
        element = values[-1].type
        with np.errstate(all="ignore"):
            array = evaluate_alu(ALU[name], element, [value.array for value in values])
        return cast(SSAValue, Typed(i1 if ALU[name].compares else element, array))

    def constant_like(self, value: Number, like: SSAValue) -> SSAValue:
        element = cast(Typed, like).type
        return cast(SSAValue, Typed(element, constant(value, element)))

    def expand_like(self, value: SSAValue, like: SSAValue) -> SSAValue:
        return value

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        typed = cast(Typed, value)
        return cast(SSAValue, Typed(element, bitcast_array(typed.array, typed.type, element)))


def one_after_the_other(monoid: Monoid, values: list[SSAValue]) -> list[SSAValue]:
    """Each value's array reduced to its last element of `combine`."""
    typed = cast(list[Typed], values)
    state = [cast(SSAValue, Typed(v.type, v.array[:1])) for v in typed]
    for place in range(1, len(typed[0].array)):
        element = [cast(SSAValue, Typed(v.type, v.array[place : place + 1])) for v in typed]
        state = monoid.combine(Evaluator(), state, element)
    return state


def arrays(values: Sequence[SSAValue]) -> list[list[float]]:
    return [np.asarray(cast(Typed, value).array, np.float64).tolist() for value in values]


def columns(element: Attribute, numbers: Sequence[Number], count: int) -> Typed:
    """All sequences of `count` of the numbers, side by side."""
    return Typed(
        element, np.stack([[constant(x, element) for x in row] for row in zip(*product(numbers, repeat=count))])
    )


@pytest.mark.parametrize("name", ["argmax", "argmin", "argmax_last", "argmin_last"])
@pytest.mark.parametrize("element", [f64, f32, f16, bf16, i32])
def test_places_in_two_stages_are_those_of_one(name: str, element: Attribute) -> None:
    monoid = MONOIDS[name]
    numbers = (3, -2, 0, 2**31 - 1, -(2**31)) if element == i32 else SPECIAL
    x = columns(element, numbers, 3)
    places = Typed(i32, np.broadcast_to(np.array([[7], [5], [11]], np.int32), x.array.shape))
    values = cast(list[SSAValue], [x, places])
    expected = arrays(one_after_the_other(monoid, values))
    at_once = arrays(monoid.reduce(Evaluator(), values, one_after_the_other))
    np.testing.assert_array_equal(at_once, expected)


@pytest.mark.parametrize("element", [f64, f32])
@pytest.mark.parametrize(("name", "width"), ONLINE)
def test_online_sums_of_any_split_are_the_sums(name: str, width: int, element: Attribute) -> None:
    monoid = MONOIDS[name]
    x = columns(element, (NAN, INFINITY, -INFINITY, 0.0, -1.5, 87.0, -1e30, 3e38), 4)
    ones = np.ones_like(x.array)
    terms = np.broadcast_to(np.array([[0.5], [-3.0], [2.0], [1.25]], ones.dtype), ones.shape)
    weights = [ones, terms][: width - 1]
    values = cast(list[SSAValue], [x, *(Typed(element, weight) for weight in weights)])
    with np.errstate(all="ignore"):
        wide = x.array.astype(np.float64)
        largest = np.max(wide, 0)
        # Of nothing but −∞ the reduction gives 0: what uses it says NaN there.
        nothing = largest == -INFINITY
        totals = [np.where(nothing, 0.0, (weight * np.exp(wide - largest)).sum(0)) for weight in weights]
    for reduced in (
        one_after_the_other(monoid, values),
        monoid.reduce(Evaluator(), values, one_after_the_other),
        monoid.combine(Evaluator(), *(one_after_the_other(monoid, half(values, first)) for first in (0, 2))),
    ):
        (got_largest,), *got_totals = arrays(reduced)
        np.testing.assert_array_equal(got_largest, largest)
        for (got_total,), total in zip(got_totals, totals, strict=True):
            np.testing.assert_allclose(got_total, total, 1e-6, 1e-6)


def half(values: Sequence[SSAValue], first: int) -> list[SSAValue]:
    return [cast(SSAValue, Typed(v.type, v.array[first : first + 2])) for v in cast(Sequence[Typed], values)]


@pytest.mark.parametrize("name", [name for name, monoid in MONOIDS.items() if monoid.stages is not None])
def test_identities_stay_identities(name: str) -> None:
    monoid = MONOIDS[name]
    types = [f32, i32] if "arg" in name else [f32] * monoid.width
    identity = [
        cast(SSAValue, Typed(type, constant(number, type)[None]))
        for number, type in zip(monoid.identity(types), types, strict=True)
    ]
    assert arrays(monoid.combine(Evaluator(), identity, identity)) == arrays(identity)
    assert arrays(monoid.reduce(Evaluator(), identity, lambda _, values: values)) == arrays(identity)


# In the reals: the certificate of online softmax and online attention.


class Reals:
    """Builds what a monoid builds as terms of z3. A value that is only compared, subtracted and exponentiated is
    written as its power, exp(x) ≥ 0: −∞ is 0, a difference is a quotient, its exponential that quotient."""

    def __init__(self) -> None:
        self.exponents: list[z3.ArithRef] = []
        """The arguments of all exponentials, as powers."""

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        x, y = cast(tuple[z3.ArithRef, z3.ArithRef], (*operands, operands[0])[:2])
        if name == "exp":
            self.exponents.append(x)
            return operands[0]
        term: object = {
            "max": lambda: z3.If(x >= y, x, y),
            "eq": lambda: x == y,
            "sub": lambda: x / y,
            "add": lambda: x + y,
            "mul": lambda: x * y,
            "where": lambda: z3.If(cast(z3.BoolRef, operands[0]), y, cast(z3.ArithRef, operands[-1])),
        }[name]()
        return cast(SSAValue, term)

    def constant_like(self, value: Number, like: SSAValue) -> SSAValue:
        return cast(SSAValue, z3.RealVal({-INFINITY: 0, 0.0: 1}[float(value)]))

    def expand_like(self, value: SSAValue, like: SSAValue) -> SSAValue:
        return value

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        raise NotImplementedError


@pytest.fixture
def real_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms have no element type: exponentials stay `exp`."""

    def exponential(b: Reals, value: SSAValue) -> SSAValue:
        return b.alu("exp", value)

    monkeypatch.setattr("uop.dialects.monoids.exp_of_at_most_zero", exponential)


def variables(width: int, *names: str) -> list[list[SSAValue]]:
    """Elements (exp(maximum), sums); sums of −∞ are 0, as only identities have it."""
    values = ["max", *(f"sum{number}" for number in range(1, width))]
    return [[cast(SSAValue, z3.Real(f"{name}_{value}")) for value in values] for name in names]


def assumed(elements: Sequence[Sequence[SSAValue]]) -> list[z3.BoolRef]:
    return [cast(z3.ArithRef, maximum) >= 0 for maximum, *_ in elements]


def prove(claims: Sequence[z3.BoolRef], assumptions: Sequence[z3.BoolRef]) -> z3.CheckSatResult:
    """unsat where all claims follow."""
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(*assumptions, z3.Not(z3.And(*claims)))
    return solver.check()


def equal(x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[z3.BoolRef]:
    return [cast(z3.ArithRef, a) == cast(z3.ArithRef, b) for a, b in zip(x, y, strict=True)]


def prove_associative(combine: Combine, width: int) -> z3.CheckSatResult:
    b = Reals()
    x, y, z = variables(width, "x", "y", "z")
    return prove(equal(combine(b, combine(b, x, y), z), combine(b, x, combine(b, y, z))), assumed([x, y, z]))


def prove_exponents(combine: Combine, width: int) -> z3.CheckSatResult:
    """That none is above 0."""
    b = Reals()
    x, y = variables(width, "x", "y")
    combine(b, x, y)
    assert len(b.exponents) >= 2
    return prove([exponent <= 1 for exponent in b.exponents], assumed([x, y]))


def prove_sums(combine: Combine, width: int) -> z3.CheckSatResult:
    """That sums times exp(maximum), the sums of terms times exp(value), add up."""
    b = Reals()
    x, y = cast(list[list[z3.ArithRef]], variables(width, "x", "y"))
    top, *totals = cast(list[z3.ArithRef], combine(b, cast(list[SSAValue], x), cast(list[SSAValue], y)))
    claims = [
        top * total == x[0] * ours + y[0] * theirs for total, ours, theirs in zip(totals, x[1:], y[1:], strict=True)
    ]
    return prove(claims, [x[0] >= 0, y[0] >= 0])


@pytest.mark.usefixtures("real_types")
@pytest.mark.parametrize(("name", "width"), ONLINE)
def test_online_sums_add_up(name: str, width: int) -> None:
    assert prove_sums(MONOIDS[name].combine, width) == z3.unsat


@pytest.mark.usefixtures("real_types")
@pytest.mark.parametrize(("name", "width"), ONLINE)
def test_online_sums_are_associative_and_commutative(name: str, width: int) -> None:
    combine = MONOIDS[name].combine
    assert prove_associative(combine, width) == z3.unsat
    b = Reals()
    x, y = variables(width, "x", "y")
    assert prove(equal(combine(b, x, y), combine(b, y, x)), assumed([x, y])) == z3.unsat


@pytest.mark.usefixtures("real_types")
@pytest.mark.parametrize(("name", "width"), ONLINE)
def test_the_identity_of_online_sums_is_neutral(name: str, width: int) -> None:
    combine = MONOIDS[name].combine
    b = Reals()
    (x,) = variables(width, "x")
    identity = [cast(SSAValue, z3.RealVal(0)) for _ in range(width)]
    # −∞ with sums of its own is no element: exp(−∞ − 0) is 0.
    maximum, *sums = cast(list[z3.ArithRef], x)
    is_element = z3.Implies(maximum == 0, z3.And(*(total == 0 for total in sums)))
    for combined in (combine(b, x, identity), combine(b, identity, x)):
        assert prove(equal(combined, x), [*assumed([x]), is_element]) == z3.unsat


@pytest.mark.usefixtures("real_types")
@pytest.mark.parametrize(("name", "width"), ONLINE)
def test_exponents_of_online_sums_are_never_above_zero(name: str, width: int) -> None:
    assert prove_exponents(MONOIDS[name].combine, width) == z3.unsat


# Rules that are broken on purpose: the proofs refuse them.


Adapt = Callable[[ALUBuilder, Sequence[SSAValue], Sequence[SSAValue]], list[SSAValue]]


def broken(adapt: Adapt) -> Combine:
    """The combination of a monoid that rescales like this."""
    return Stages("max", "add", adapt).combine


@pytest.mark.parametrize("width", [2, 3])
def test_sums_that_are_not_rescaled_are_refused(width: int) -> None:
    def combine(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
        """Only the first sums are rescaled."""
        top = b.alu("max", x[0], y[0])
        return [
            top,
            *(
                b.alu("add", b.alu("mul", ours, b.alu("sub", x[0], top)), theirs)
                for ours, theirs in zip(x[1:], y[1:], strict=True)
            ),
        ]

    assert prove_associative(combine, width) == z3.sat


@pytest.mark.usefixtures("real_types")
def test_one_sum_that_is_not_rescaled_is_refused() -> None:
    """It is a monoid, of exponents that are never above 0, but of another sum."""

    def adapt(b: ALUBuilder, element: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
        stages = MONOIDS["online_attention"].stages
        assert stages is not None
        return [stages.adapt(b, element, totals)[0], element[2]]

    assert prove_associative(broken(adapt), 3) == z3.unsat
    assert prove_sums(broken(adapt), 3) == z3.sat


@pytest.mark.usefixtures("real_types")
@pytest.mark.parametrize("width", [2, 3])
def test_exponents_of_the_other_sign_are_refused(width: int) -> None:
    def adapt(b: ALUBuilder, element: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
        (own, *sums), (maximum,) = element, totals
        factor = b.alu("exp", b.alu("sub", maximum, own))
        return [b.alu("mul", each, factor) for each in sums]

    assert prove_exponents(broken(adapt), width) == z3.sat
    assert prove_sums(broken(adapt), width) == z3.sat
