"""Extents: polynomials in symbols, their values, their bounds, their text."""

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from uop.dialects.symbols import Extent, ExtentAttr
from uop.tools.plugins import make_context

CONTEXT = make_context()
NAMES = ("s0", "s1", "batch")


def _combined(children: st.SearchStrategy[Extent]) -> st.SearchStrategy[Extent]:
    pairs = st.tuples(children, children)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        st.tuples(children, st.integers(1, 7)).map(lambda p: p[0] // p[1]),
    )


LEAVES = st.one_of(st.integers(-9, 9).map(Extent.of), st.sampled_from(NAMES).map(Extent.of))
EXTENTS = st.recursive(LEAVES, _combined, max_leaves=6)
VALUES = st.fixed_dictionaries({name: st.integers(0, 20) for name in NAMES})

few = settings(max_examples=40, deadline=None)


@few
@given(EXTENTS)
def test_the_text_of_an_extent_is_read_back(extent: Extent) -> None:
    attribute = ExtentAttr(extent)
    assert Parser(CONTEXT, str(attribute)).parse_attribute() == attribute


@few
@given(EXTENTS, EXTENTS, VALUES, st.integers(1, 7))
def test_arithmetic_is_that_of_the_values(x: Extent, y: Extent, values: dict[str, int], divisor: int) -> None:
    a, b = x.evaluate(values), y.evaluate(values)
    assert (x + y).evaluate(values) == a + b
    assert (x - y).evaluate(values) == a - b
    assert (x * y).evaluate(values) == a * b
    assert (x // divisor).evaluate(values) == a // divisor


@few
@given(EXTENTS, VALUES)
def test_values_are_within_the_range(extent: Extent, values: dict[str, int]) -> None:
    low, high = extent.range(dict.fromkeys(NAMES, (0, 20)))
    assert low <= extent.evaluate(values) <= high


@few
@given(EXTENTS, EXTENTS, EXTENTS)
def test_equal_polynomials_are_equal(x: Extent, y: Extent, z: Extent) -> None:
    assert (x + y) * z == z * x + y * z
    assert x - x == Extent.of(0)


@few
@given(EXTENTS, st.sampled_from(NAMES))
def test_a_product_is_divided_by_its_factors(extent: Extent, name: str) -> None:
    symbol = Extent.of(name)
    assert (extent * symbol * 3).divided_by(symbol * 3) == extent
    assert (extent * symbol + 1).divided_by(symbol) is None


def test_what_divides_goes_in_front() -> None:
    s = Extent.of("s")
    assert (4 * s + 3) // 4 == s
    assert str((5 * s + 7) // 4) == "s + (s + 3) floordiv 4 + 1"
    assert ((s + 1) // 2).range({"s": (1, 10)}) == (1, 5)
