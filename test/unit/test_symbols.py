"""Extents: polynomials in symbols, their values, their bounds, their text; and the sizes of functions."""

import re

import pytest
from generators.symbols import EXTENTS, NAMES
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.func import Func, FuncOp
from xdsl.parser import Parser

from uop.dialects.function_sizes import FunctionSizes, SizeError
from uop.dialects.symbols import Extent, ExtentAttr
from uop.tools.plugins import make_context

CONTEXT = make_context()
CONTEXT.load_dialect(Func)


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


@few
@given(EXTENTS, EXTENTS)
def test_a_product_of_polynomials_is_divided(x: Extent, y: Extent) -> None:
    assert (x * y).divided_by(y) == (x if y.terms else None)


def test_what_divides_goes_in_front() -> None:
    s = Extent.of("s")
    assert (4 * s + 3) // 4 == s
    assert str((5 * s + 7) // 4) == "s + (s + 3) floordiv 4 + 1"
    assert ((s + 1) // 2).range({"s": (1, 10)}) == (1, 5)


FUNCTION = """
func.func @f(
  %s: tensor<i64> {uop.symbol = #uop.symbol<s, 1 to 8>}, %t: tensor<i64> {uop.symbol = #uop.symbol<t, 2 to 4>},
  %x: tensor<15x4xf32> {uop.extents = #uop.extents<2 * s - 1, t>},
  %y: tensor<32x3xf32> {uop.extents = #uop.extents<s * t, 3>}
) {
  func.return
}
"""
NAMES_OF_ARGUMENTS = ("s", "t", "x", "y")


def _sizes() -> FunctionSizes:
    module = Parser(CONTEXT, FUNCTION).parse_module()
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    return FunctionSizes.of(function)


def test_shapes_tell_the_symbols() -> None:
    assert _sizes().values({2: (9, 3), 3: (15, 3)}, NAMES_OF_ARGUMENTS) == {"s": 5, "t": 3}


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({2: (17, 3), 3: (27, 3)}, "length 17 of x in dimension 0: s = 9 is above its bound 8"),
        ({2: (9, 1), 3: (5, 3)}, "length 1 of x in dimension 1: t = 1 is below its bound 2"),
        ({2: (9, 3), 3: (14, 3)}, "length 14 of y in dimension 0: s * t is 15 with s = 5, t = 3"),
        ({2: (9, 3), 3: (15, 2)}, "length 2 of y in dimension 1: it is 3"),
        ({2: (8, 3), 3: (15, 3)}, "no dimension of an argument tells the size s"),
        ({2: (9,), 3: (15, 3)}, "x has 1 dimensions, not 2"),
    ],
)
def test_shapes_that_a_function_does_not_take(shapes: dict[int, tuple[int, ...]], message: str) -> None:
    with pytest.raises(SizeError, match=re.escape(message)):
        _sizes().values(shapes, NAMES_OF_ARGUMENTS)
