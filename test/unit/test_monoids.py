"""Laws of the monoids that combine many elements in two stages (dialects/monoids.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np
import pytest
import z3
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i32
from xdsl.ir import Attribute, SSAValue

from uop.dialects.monoids import MONOIDS, Monoid, Number
from uop.dialects.semantics import ALU
from uop.runtime.interpret.arrays import Array, bitcast_array, constant, evaluate_alu

INFINITY, NAN = float("inf"), float("nan")
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
def test_online_softmax_of_any_split_is_the_sum(element: Attribute) -> None:
    monoid = MONOIDS["online_softmax"]
    x = columns(element, (NAN, INFINITY, -INFINITY, 0.0, -1.5, 87.0, -1e30, 3e38), 4)
    values = cast(list[SSAValue], [x, Typed(element, np.ones_like(x.array))])
    with np.errstate(all="ignore"):
        wide = x.array.astype(np.float64)
        largest = np.max(wide, 0)
        # Of nothing but −∞ the reduction gives 0: what uses it says NaN there.
        total = np.where(largest == -INFINITY, 0.0, np.exp(wide - largest).sum(0))
    for reduced in (
        one_after_the_other(monoid, values),
        monoid.reduce(Evaluator(), values, one_after_the_other),
        monoid.combine(Evaluator(), *(one_after_the_other(monoid, half(values, first)) for first in (0, 2))),
    ):
        (got_largest,), (got_total,) = arrays(reduced)
        np.testing.assert_array_equal(got_largest, largest)
        np.testing.assert_allclose(got_total, total, 1e-6)


def half(values: Sequence[SSAValue], first: int) -> list[SSAValue]:
    return [cast(SSAValue, Typed(v.type, v.array[first : first + 2])) for v in cast(Sequence[Typed], values)]


@pytest.mark.parametrize("name", [name for name, monoid in MONOIDS.items() if monoid.stages is not None])
def test_identities_stay_identities(name: str) -> None:
    monoid = MONOIDS[name]
    types = [f32, f32] if name == "online_softmax" else [f32, i32]
    identity = [
        cast(SSAValue, Typed(type, constant(number, type)[None]))
        for number, type in zip(monoid.identity(types), types, strict=True)
    ]
    assert arrays(monoid.combine(Evaluator(), identity, identity)) == arrays(identity)
    assert arrays(monoid.reduce(Evaluator(), identity, lambda _, values: values)) == arrays(identity)


# In the reals: the certificate of the online softmax.


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

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        raise NotImplementedError


@pytest.fixture
def real_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms have no element type: exponentials stay `exp`."""

    def exponential(b: Reals, value: SSAValue) -> SSAValue:
        return b.alu("exp", value)

    monkeypatch.setattr("uop.dialects.monoids.exp_of_at_most_zero", exponential)


def variables(*names: str) -> list[list[SSAValue]]:
    """Elements (exp(maximum), sum); sums of −∞ are 0, as only identities have it."""
    return [[cast(SSAValue, z3.Real(f"{name}_max")), cast(SSAValue, z3.Real(f"{name}_sum"))] for name in names]


def assumed(elements: Sequence[Sequence[SSAValue]]) -> list[z3.BoolRef]:
    return [cast(z3.ArithRef, maximum) >= 0 for maximum, _ in elements]


def prove(claims: Sequence[z3.BoolRef], assumptions: Sequence[z3.BoolRef]) -> z3.CheckSatResult:
    """unsat where all claims follow."""
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.add(*assumptions, z3.Not(z3.And(*claims)))
    return solver.check()


def equal(x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[z3.BoolRef]:
    return [cast(z3.ArithRef, a) == cast(z3.ArithRef, b) for a, b in zip(x, y, strict=True)]


@pytest.mark.usefixtures("real_types")
def test_online_softmax_is_associative_and_commutative() -> None:
    combine = MONOIDS["online_softmax"].combine
    b = Reals()
    x, y, z = variables("x", "y", "z")
    left = combine(b, combine(b, x, y), z)
    right = combine(b, x, combine(b, y, z))
    assert prove(equal(left, right), assumed([x, y, z])) == z3.unsat
    assert prove(equal(combine(b, x, y), combine(b, y, x)), assumed([x, y])) == z3.unsat


@pytest.mark.usefixtures("real_types")
def test_the_identity_of_online_softmax_is_neutral() -> None:
    combine = MONOIDS["online_softmax"].combine
    b = Reals()
    (x,) = variables("x")
    identity = [cast(SSAValue, z3.RealVal(0)), cast(SSAValue, z3.RealVal(0))]
    # −∞ with a sum of its own is no element: exp(−∞ − 0) is 0.
    is_element = z3.Implies(cast(z3.ArithRef, x[0]) == 0, cast(z3.ArithRef, x[1]) == 0)
    for combined in (combine(b, x, identity), combine(b, identity, x)):
        assert prove(equal(combined, x), [*assumed([x]), is_element]) == z3.unsat


@pytest.mark.usefixtures("real_types")
def test_exponents_of_online_softmax_are_never_above_zero() -> None:
    b = Reals()
    x, y = variables("x", "y")
    MONOIDS["online_softmax"].combine(b, x, y)
    assert len(b.exponents) == 2
    assert prove([exponent <= 1 for exponent in b.exponents], assumed([x, y])) == z3.unsat


def test_the_proof_fails_for_a_wrong_rescaling() -> None:
    b = Reals()
    x, y, z = variables("x", "y", "z")

    def combine(x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
        """Only the first sum is rescaled."""
        top = b.alu("max", x[0], y[0])
        return [top, b.alu("add", b.alu("mul", x[1], b.alu("sub", x[0], top)), y[1])]

    assert prove(equal(combine(combine(x, y), z), combine(x, combine(y, z))), assumed([x, y, z])) == z3.sat
