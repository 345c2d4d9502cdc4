"""Places of extrema: whole programs, run in the simulator with the race check on, on ragged extents.

Places are exact, so each must be eager PyTorch's: the first of equals, the first NaN.
"""

import pytest

from uop.frontends.capture import capture_expression
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

TIES = "torch.randn({shape}).round()"
NANS = "(torch.randn({shape}).round() + 2).log()"
"""Few are NaN, whose numbers are negative, and some are −∞."""
LEAST = "torch.full(({shape}), float('-inf'))"


def check(code: str) -> None:
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))


@pytest.mark.parametrize("extent", [1, 37, 257, 1031])
@pytest.mark.parametrize("values", [TIES, NANS, LEAST])
def test_rows(values: str, extent: int) -> None:
    x = values.format(shape=f"3, {extent}")
    check(f"(lambda x: (x.argmax(1), x.argmin(1)))({x})")


@pytest.mark.parametrize("name", ["max", "min"])
def test_values_and_places(name: str) -> None:
    check(f"torch.{name}({TIES.format(shape='5, 131')}, 1)")


def test_a_row_longer_than_a_block_holds() -> None:
    check(f"{TIES.format(shape='1, 65537')}.argmax(1)")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "int64"])
def test_other_types(dtype: str) -> None:
    check(f"{TIES.format(shape='3, 131')}.to(torch.{dtype}).argmin(1)")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_nan_is_further_than_infinities(dtype: str) -> None:
    check(f"(lambda x: (x.argmax(1), x.argmin(1)))((torch.randn(5, 131).round() / 0).to(torch.{dtype}))")


def test_of_zeros_of_either_sign_it_is_the_first() -> None:
    check("(lambda x: (x.argmax(1), x.argmin(1)))(torch.randn(5, 131).round() * 0)")
