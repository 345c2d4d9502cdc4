"""Index expressions: normal forms mean what the arithmetic says, and stay linear where they can."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from uop.passes.uop.index_algebra import ZERO, Index, IndexAlgebra
from uop.passes.uop.reshape_groups import reshape_groups

EXTENTS = (2, 3, 4, 6)


def evaluate(algebra: IndexAlgebra, index: Index, values: Sequence[int]) -> int:
    """The index where the ranges have these values."""
    result, terms = index
    for number, coefficient in terms:
        atom = algebra.atoms[number]
        if atom.kind == "range":
            assert isinstance(atom.key, int)
            value = values[atom.key]
        else:
            dividend, divisor = atom.division
            quotient, remainder = divmod(evaluate(algebra, dividend, values), divisor)
            value = quotient if atom.kind == "floordiv" else remainder
        result += coefficient * value
    return result


def points() -> list[tuple[int, ...]]:
    return list(product(*(range(extent) for extent in EXTENTS)))


STEPS = st.lists(
    st.tuples(st.sampled_from(("add", "scale", "offset", "div", "mod")), st.integers(-6, 12), st.integers(0, 20)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_arithmetic(steps: list[tuple[str, int, int]]) -> None:
    algebra = IndexAlgebra()
    indices = [algebra.range(extent)[1] for extent in EXTENTS]
    places = np.array(points())
    known: list[tuple[Index, Any]] = [(index, places[:, d]) for d, index in enumerate(indices)]
    for step, number, which in steps:
        index, values = known[-1] if which % 3 else known[which % len(known)]
        match step:
            case "add":
                other, other_values = known[which % len(known)]
                known.append((algebra.sum(index, other), values + other_values))
            case "scale":
                known.append((algebra.affine(index, number), values * number))
            case "offset":
                known.append((algebra.affine(index, 1, number), values + number))
            case "div":
                known.append((algebra.floordiv(index, abs(number) + 1), values // (abs(number) + 1)))
            case _:
                known.append((algebra.floormod(index, abs(number) + 1), values % (abs(number) + 1)))
    for index, values in known:
        assert [evaluate(algebra, index, place) for place in points()] == list(values)
        bounds = algebra.bounds(index)
        assert bounds is not None
        assert bounds[0] <= min(values)
        assert max(values) <= bounds[1]
        assert all(coefficient for _, coefficient in index[1])
        assert [atom for atom, _ in index[1]] == sorted({atom for atom, _ in index[1]})


def test_splitting_and_merging_is_nothing() -> None:
    algebra = IndexAlgebra()
    _, i = algebra.range(24)
    split = algebra.reshape([i], [24], [2, 3, 4])
    assert algebra.reshape(split, [2, 3, 4], [24]) == [i]
    assert algebra.reshape(algebra.reshape(split, [2, 3, 4], [6, 4]), [6, 4], [24]) == [i]


def test_merging_and_splitting_is_nothing() -> None:
    algebra = IndexAlgebra()
    i, j, k = (algebra.range(extent)[1] for extent in (2, 3, 4))
    (merged,) = algebra.reshape([i, j, k], [2, 3, 4], [24])
    assert merged == algebra.sum(algebra.affine(i, 12), algebra.affine(j, 4), k)
    assert algebra.reshape([merged], [24], [2, 3, 4]) == [i, j, k]
    assert algebra.reshape([merged], [24], [1, 6, 1, 4]) == [ZERO, algebra.sum(algebra.affine(i, 3), j), ZERO, k]


def test_common_factors() -> None:
    """(32 · a + b) // 64 is a // 2, and its remainder 32 · (a % 2) + b."""
    algebra = IndexAlgebra()
    _, a = algebra.range(8)
    _, b = algebra.range(32)
    index = algebra.sum(algebra.affine(a, 32), b)
    assert algebra.floordiv(index, 64) == algebra.floordiv(a, 2)
    assert algebra.floormod(index, 64) == algebra.sum(algebra.affine(algebra.floormod(a, 2), 32), b)


def test_places_that_go_across_two_axes() -> None:
    """A diagonal of 4 × 5 is a place on each axis; so is a row that begins one element earlier than the row before."""
    algebra = IndexAlgebra()
    _, i = algebra.range(4)
    assert algebra.reshape([algebra.affine(i, 6, 1)], [20], [4, 5]) == [i, algebra.affine(i, 1, 1)]
    _, row = algebra.range(3)
    _, column = algebra.range(10)
    place = algebra.sum(algebra.affine(row, 15), column, (2, ()))
    skewed = algebra.sum(column, algebra.affine(row, -1), (2, ()))
    assert algebra.reshape([place], [48], [3, 16]) == [row, skewed]


@st.composite
def two_shapes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two shapes with the same number of elements."""
    factors = draw(st.lists(st.sampled_from((2, 3, 5)), max_size=4))

    def shape() -> list[int]:
        result = [1] * draw(st.integers(1, 4))
        for factor in draw(st.permutations(factors)):
            result[draw(st.integers(0, len(result) - 1))] *= factor
        return result

    return shape(), shape()


@settings(max_examples=200, deadline=None)
@given(two_shapes())
def test_reshape(shapes: tuple[list[int], list[int]]) -> None:
    shape, target = shapes
    algebra = IndexAlgebra()
    indices = [algebra.range(extent)[1] for extent in shape]
    moved = algebra.reshape(indices, shape, target)
    for place in product(*(range(extent) for extent in shape)):
        expected = np.unravel_index(np.ravel_multi_index(place, shape), target)
        assert [evaluate(algebra, index, place) for index in moved] == [int(i) for i in expected]


@settings(max_examples=200, deadline=None)
@given(two_shapes())
def test_groups_hold_the_same_number_of_elements(shapes: tuple[list[int], list[int]]) -> None:
    shape, target = shapes
    groups = reshape_groups(shape, target)
    for merged, split in groups:
        assert prod(shape[axis] for axis in merged) == prod(target[axis] for axis in split)
    assert [axis for merged, _ in groups for axis in merged] == [d for d, n in enumerate(shape) if n != 1]
    assert [axis for _, split in groups for axis in split] == [d for d, n in enumerate(target) if n != 1]
