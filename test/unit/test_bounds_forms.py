"""Bounds of indices that are computed in unusual ways: places of greatest elements, powers, slabs of a stage."""

from __future__ import annotations

import pytest
from module_text import parse
from test_bounds import check

from uop.frontends.capture import capture_expression
from uop.rewriting.bounds import Finding, Verdict, check_bounds
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions


def finding(text: str, buffer: str) -> Finding:
    """What is known of the access of a buffer along its first dimension."""
    found = [found for found in check_bounds(parse(text)) if found.access.buffer.name_hint == buffer]
    return found[0]


PLACE = """
uop.kernel @place(%out: memref<5xf32>, %x: memref<5x50xf32>, %t: memref<{extent}xf32>) {{
  %i = uop.range i = 5
  %k = uop.range k = {count}
  %0 = uop.load %x[%i, %k] : memref<5x50xf32>
  %1, %2 = uop.reduce {monoid} %0, %k over %k : f32, index
  %3 = uop.load %t[%2] : memref<{extent}xf32>
  uop.store %3, %out[%i] : memref<5xf32>
}}"""


@pytest.mark.parametrize("monoid", ["argmax", "argmin"])
def test_the_place_of_an_element_is_one_of_the_places(monoid: str) -> None:
    assert finding(PLACE.format(extent=50, count=50, monoid=monoid), "t").verdict is Verdict.BY_RANGES
    assert not finding(PLACE.format(extent=49, count=50, monoid=monoid), "t").verdict.value.startswith("proved")


def test_the_place_in_nothing_is_not_known() -> None:
    assert finding(PLACE.format(extent=50, count=0, monoid="argmax"), "t").verdict is not Verdict.BY_RANGES


def test_a_place_needs_no_sign_and_no_mask_where_it_is_found() -> None:
    captured = capture_expression("x = torch.randn(5, 50)\ntorch.randn(50, 33)[x.argmax(1)]")
    for name, module in compile_stages(captured.imported(), CompileOptions(), verify=False):
        if name == "range":
            first = next(op for op in module.walk() if op.name == "uop.kernel")
            assert not any(op.name in ("uop.where", "uop.lt") for op in first.walk())
    check(captured)


POWER = """
uop.kernel @power(%out: memref<7xf32>, %x: memref<{extent}xf32>) {{
  %i = uop.range i = 7
  %n = uop.const {exponent} : index
  %0 = uop.pow %i, %n : index
  %1 = uop.sub %0, %i : index
  %2 = uop.load %x[%1] : memref<{extent}xf32>
  uop.store %2, %out[%i] : memref<7xf32>
}}"""


def test_powers_are_products() -> None:
    """i² − i is at most 30 and never negative, which intervals alone do not say."""
    assert finding(POWER.format(extent=31, exponent=2), "x").verdict is Verdict.BY_SOLVER
    refuted = finding(POWER.format(extent=30, exponent=2), "x")
    assert refuted.verdict is Verdict.OUTSIDE
    assert refuted.witness == {"i": 6, "index": 30}
    assert "element" in refuted.message
    # Of higher powers the bounds are known, but no witness.
    assert finding(POWER.format(extent=6**9, exponent=9), "x").verdict is Verdict.UNKNOWN


STAGED = "torch.randn(17, 33) @ torch.randn(33, 65)"


def test_slabs_are_read_inside() -> None:
    """A stage leaves no buffer, for what is outside is 0; what reads its slab is checked before it is lowered."""
    for name, module in compile_stages(capture_expression(STAGED).imported(), CompileOptions(), verify=False):
        if name != "tile":
            continue
        text = str(module)
        slabs = [found for found in check_bounds(module) if '"shared"' in str(found.access.buffer.type)]
        assert slabs
        assert not any(found.is_failure() for found in slabs)
        stages = [op for op in module.walk() if op.name == "tile.stage"]
        box = str(stages[0].results[0].type)
        extents = box.removeprefix("memref<").split("x")
        smaller = box.replace(f"<{extents[0]}x", f"<{int(extents[0]) - 1}x", 1)
        broken = check_bounds(parse(text.replace(box, smaller)))
        assert any(found.verdict is Verdict.OUTSIDE and found.witness for found in broken)
