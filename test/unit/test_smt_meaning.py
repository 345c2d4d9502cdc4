"""The SMT meaning of each ALU op against its numpy meaning: on all numbers of 8 bits, on bools, on small indices."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import z3
from xdsl.ir import Attribute

from uop.dialects import smt, smt_floats
from uop.dialects.semantics import ALU, Semantics, evaluate, numpy_dtype, round_to_element
from uop.dialects.types import (
    ELEMENT_TYPES,
    bit_width,
    i1,
    i8,
    i16,
    i32,
    i64,
    index,
    integer_bounds,
    is_bool,
    is_float,
    ui8,
)
from uop.runtime.proofs.agreement import same_results
from uop.runtime.proofs.samples import some_of

Array = np.ndarray[Any, Any]

ROWS = [row for row in ALU.values() if row.smt is not None]
UNDEFINED_BY_ZERO = ("floordiv", "floormod", "truncdiv", "truncmod")


def bits_of(term: Any, inputs: dict[str, Array]) -> list[Array]:
    """The bits of a term for all rows of its inputs at once: z3 makes a circuit of it, numpy runs the circuit.

    inputs: by the name of a bool constant in the term.
    """
    sort = term.sort()
    conditions = (
        [term]
        if sort == z3.BoolSort()
        else [z3.Extract(bit, bit, term) == z3.BitVecVal(1, 1) for bit in range(sort.size())]
    )
    blast = z3.Then("simplify", "bit-blast", "simplify")
    results: list[Array] = []
    for condition in conditions:
        goal = z3.Goal()
        goal.add(condition)
        (blasted,) = blast(goal)
        results.append(run_circuit(z3.And(*blasted) if len(blasted) else z3.BoolVal(True), inputs))
    return results


def run_circuit(circuit: Any, inputs: dict[str, Array]) -> Array:
    count = next(iter(inputs.values())).size
    known: dict[int, Array] = {}
    stack = [circuit]
    while stack:
        node = stack[-1]
        missing = [child for child in node.children() if child.get_id() not in known]
        if missing:
            stack += missing
            continue
        stack.pop()
        operands = [known[child.get_id()] for child in node.children()]
        known[node.get_id()] = gate(node, operands, inputs, count)
    return known[circuit.get_id()]


def gate(node: Any, operands: list[Array], inputs: dict[str, Array], count: int) -> Array:
    kind = node.decl().kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        return inputs[node.decl().name()]
    if kind == z3.Z3_OP_TRUE or kind == z3.Z3_OP_FALSE:
        return np.full(count, kind == z3.Z3_OP_TRUE)
    if kind == z3.Z3_OP_NOT:
        return ~operands[0]
    if kind == z3.Z3_OP_ITE:
        return np.where(*operands)
    combine = {
        z3.Z3_OP_AND: np.logical_and,
        z3.Z3_OP_OR: np.logical_or,
        z3.Z3_OP_XOR: np.logical_xor,
        z3.Z3_OP_EQ: np.equal,
        z3.Z3_OP_IFF: np.equal,
    }[kind]
    result = operands[0]
    for operand in operands[1:]:
        result = combine(result, operand)
    return result


@cache
def operand(name: str, element: Attribute) -> Any:
    """An operand made of bool constants, `x0` the last bit."""
    if is_bool(element):
        return z3.Bool(f"{name}0")
    bits = [z3.If(z3.Bool(f"{name}{bit}"), z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)) for bit in range(bit_width(element))]
    return z3.Concat(*reversed(bits))


def inputs_of(name: str, element: Attribute, numbers: Array) -> dict[str, Array]:
    width = 1 if is_bool(element) else bit_width(element)
    return {f"{name}{bit}": (numbers.astype(np.int64) >> bit) & 1 == 1 for bit in range(width)}


def all_numbers(element: Attribute) -> Array:
    low, high = integer_bounds(element)
    return np.arange(low, high + 1).astype(numpy_dtype(element))


def number_of(bits: list[Array], element: Attribute) -> Array:
    total = sum(bit.astype(np.int64) << place for place, bit in enumerate(bits))
    return np.asarray(total).astype(numpy_dtype(element))


@pytest.mark.parametrize("element", [i8, ui8, i1], ids=str)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_all_numbers_of_eight_bits(row: Semantics, element: Attribute) -> None:
    if not row.accepts(element):
        pytest.skip("not in its domain")
    names = "xyz"[: row.arity]
    elements = [i1, element, element] if row.name == "where" else [element] * row.arity
    grids = np.meshgrid(*(all_numbers(e) for e in elements), indexing="ij")
    numbers = [grid.reshape(-1) for grid in grids]
    if row.name in UNDEFINED_BY_ZERO:
        defined = numbers[1] != 0
        numbers = [array[defined] for array in numbers]
    if row.name == "pow":  # a large circuit; 5 has no factor in common with 256
        numbers = [array[::5] for array in numbers]
    assert row.smt is not None
    term = row.smt(z3, element, *map(operand, names, elements))
    bits: dict[str, Array] = {}
    for name, e, array in zip(names, elements, numbers, strict=True):
        bits |= inputs_of(name, e, array)
    result = i1 if row.compares else element
    np.testing.assert_array_equal(number_of(bits_of(term, bits), result), evaluate(np, row, element, numbers))


def index_value(term: Any) -> int:
    term = z3.simplify(term)
    return int(z3.is_true(term)) if z3.is_bool(term) else term.as_long()


@pytest.mark.parametrize("row", [row for row in ROWS if row.accepts(index)], ids=lambda row: row.name)
def test_indices(row: Semantics) -> None:
    numbers = [-65, -9, -8, -7, -2, -1, 0, 1, 2, 3, 7, 8, 31, 63, 64]
    assert row.smt is not None
    for operands in product(numbers, repeat=row.arity - (row.name == "where")):
        if row.name in UNDEFINED_BY_ZERO and operands[1] == 0:
            continue
        if row.name in ("shl", "pow") and abs(operands[0]) ** max(operands[1], 1) >= 1 << 63:
            continue  # an index does not get so great
        if row.name == "shl" and operands[1] > 50:
            continue
        arrays = [np.asarray(number) for number in operands]
        terms = [z3.IntVal(number) for number in operands]
        for condition in (True, False) if row.name == "where" else (None,):
            choice = [] if condition is None else [(z3.BoolVal(condition), np.asarray(condition))]
            expected = evaluate(np, row, index, [*(array for _, array in choice), *arrays])
            actual = row.smt(z3, index, *(term for term, _ in choice), *terms)
            assert index_value(actual) == int(expected), (row.name, operands)


INTEGERS = [i1, i8, ui8, i16, i32, i64, index]


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_casts(source: Attribute, target: Attribute) -> None:
    low, high = integer_bounds(source)
    for number in {low, low + 1, high, high - 1, high // 3, *(x for x in (-1, 0, 1, 2, 200) if low <= x <= high)}:
        expected = round_to_element(np, np.asarray(number, numpy_dtype(source)), target).item()
        term = z3.simplify(smt.cast(z3, source, target, smt.literal(z3, source, number)))
        wanted = smt.literal(z3, target, int(expected))
        assert z3.is_true(z3.simplify(term == wanted)), (number, term, expected)


def test_every_op_of_integers_and_bools_has_a_meaning() -> None:
    for row in ALU.values():
        takes = any(row.accepts(element) for element in ELEMENT_TYPES.values() if element in INTEGERS)
        assert takes == (row.smt is not None), row.name


# Floats.

FLOATS = [element for element in ELEMENT_TYPES.values() if is_float(element)]


@pytest.mark.parametrize("element", FLOATS, ids=str)
@pytest.mark.parametrize("name", smt_floats.EXACT)
def test_ops_that_round_nothing(name: str, element: Attribute) -> None:
    row, meaning = ALU[name], smt_floats.EXACT[name]
    numbers = some_of(element, 46)
    conditions = [np.array([False, True])] if name == "where" else []
    pools = [*conditions, *[numbers] * (row.arity - len(conditions))]
    operands = [array.reshape(-1) for array in np.meshgrid(*pools, indexing="ij")]
    expected = evaluate(np, row, element, operands)
    for place in range(0, expected.size, 7):
        terms = [literal_of(array[place], element) for array in operands]
        if name in ("min", "max") and all(array[place] == 0 for array in operands):
            continue  # either
        actual = z3.simplify(meaning(z3, element, *terms))
        assert z3.is_true(z3.simplify(actual == literal_of(expected[place], element))), [x[place] for x in operands]


def literal_of(number: Any, element: Attribute) -> Any:
    return z3.BoolVal(bool(number)) if number.dtype == bool else smt_floats.literal(z3, element, float(number))


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_number_of_a_literal(element: Attribute) -> None:
    for number in map(float, some_of(element, 46)):
        found = smt_floats.number_of(z3, smt_floats.literal(z3, element, number))
        assert same_results(np.array([number]), np.array([found])).all()
