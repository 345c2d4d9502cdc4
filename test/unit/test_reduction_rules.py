"""Rules of reductions, of positions and of masks: kernels before and after give the same bits.

Each case says which ops are gone afterwards, so that a rule that stops firing is noticed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from uop.dialects import get_all_dialects
from uop.dialects.semantics import numpy_dtype
from uop.dialects.types import element_of, is_bool, is_float, shape_of
from uop.dialects.uop import KernelOp
from uop.passes.uop.uop_simplify import simplify
from uop.rewriting.patterns import Assumption
from uop.runtime.interpret.program import interpret_kernel

Array = np.ndarray[Any, Any]


def parse(text: str) -> tuple[ModuleOp, KernelOp]:
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    return module, kernel


def values(type: Any, generator: np.random.Generator) -> Array:
    """Special numbers among random ones; positions lie inside and outside of small axes."""
    shape, element = shape_of(type), element_of(type)
    if is_bool(element):
        return generator.random(shape) < 0.5
    if is_float(element):
        special = generator.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -3.25, 1e-3], shape)
        return special.astype(numpy_dtype(element))
    return generator.integers(-3, 12, shape).astype(numpy_dtype(element))


def run(kernel: KernelOp, seed: int) -> Array:
    generator = np.random.default_rng(seed)
    out, *inputs = (argument.type for argument in kernel.body.block.args)
    result = np.zeros(shape_of(out), numpy_dtype(element_of(out)))
    with np.errstate(all="ignore"):
        interpret_kernel(kernel, [result, *(values(type, generator) for type in inputs)])
    return result


def check(text: str, gone: str, assuming: tuple[Assumption, ...] = (), signed_zeros: bool = True) -> str:
    """Simplify the kernel; its text afterwards.

    signed_zeros: whether the sign of zeros is compared. A sum of −0 is +0 in eager PyTorch, which begins at +0; the
      interpreter begins at an element.
    """
    _, before = parse(text)
    module, after = parse(text)
    simplify(module, assuming)
    module.verify()
    simplified = str(module)
    assert gone in text
    assert gone not in simplified, simplified
    if not assuming:
        for seed in range(20):
            expected, actual = run(before, seed), run(after, seed)
            np.testing.assert_array_equal(expected, actual)
            if signed_zeros and np.issubdtype(expected.dtype, np.floating):
                np.testing.assert_array_equal(np.signbit(expected[expected == 0]), np.signbit(actual[expected == 0]))
    return simplified


ONE_HOT = """
uop.kernel @one_hot(%out: memref<6x4xf32>, %w: memref<9x4xf32>, %t: memref<6xi64>) {
  %i = uop.range i = 6
  %j = uop.range j = 4
  %k = uop.range k = 9
  %0 = uop.load %t[%i] : memref<6xi64>
  %1 = uop.cast %k : index -> i64
  %2 = uop.eq %0, %1 : i64
  %3 = uop.load %w[%k, %j] : memref<9x4xf32>
  %zero = uop.const 0.0 : f32
  ELEMENT
  %6 = uop.reduce add %5 over %k : f32
  %finite = uop.mul %6, %6 : f32
  uop.store %6, %out[%i, %j] : memref<6x4xf32>
}
"""

COUNT = """
uop.kernel @count(%out: memref<6xTYPE>, %t: memref<6xBOUND>) {
  %i = uop.range i = 6
  %k = uop.range k = 9
  %0 = uop.load %t[%i] : memref<6xBOUND>
  %1 = uop.cast %k : index -> BOUND
  %2 = uop.COMPARE %1, %0 : BOUND
  %3 = uop.cast %2 : i1 -> TYPE
  %4 = uop.reduce add %3 over %k : TYPE
  uop.store %4, %out[%i] : memref<6xTYPE>
}
"""

INVARIANT = """
uop.kernel @invariant(%out: memref<6xTYPE>, %x: memref<6xTYPE>) {
  %i = uop.range i = 6
  %k = uop.range k = EXTENT
  %0 = uop.load %x[%i] : memref<6xTYPE>
  %1 = uop.reduce MONOID %0 over %k : TYPE
  uop.store %1, %out[%i] : memref<6xTYPE>
}
"""

PARTS = """
uop.kernel @parts(%out: memref<6xi8>, %x: memref<6xi8>, %y: memref<5xi8>) {
  %i = uop.range i = 6
  %k = uop.range k = 5
  %0 = uop.load %x[%i] : memref<6xi8>
  %1 = uop.load %y[%k] : memref<5xi8>
  %2 = uop.OP %ORDER : i8
  %3 = uop.reduce add %2 over %k : i8
  uop.store %3, %out[%i] : memref<6xi8>
}
"""


def replaced(text: str, **parts: str) -> str:
    for name, value in parts.items():
        text = text.replace(name, value)
    return text


def test_select_one() -> None:
    simplified = check(ONE_HOT.replace("ELEMENT", "%5 = uop.where %2, %3, %zero : f32"), "uop.reduce")
    assert "uop.where" not in simplified  # the mask of the load says it


def test_select_one_where_not_equal() -> None:
    element = "%4 = uop.ne %0, %1 : i64\n  %5 = uop.where %4, %zero, %3 : f32"
    check(ONE_HOT.replace("ELEMENT", element), "uop.reduce")


def test_select_one_and_another_condition() -> None:
    element = (
        "%n = uop.const 5 : index\n  %p = uop.lt %k, %n : index\n  %q = uop.and %p, %2 : i1\n"
        "  %5 = uop.where %q, %3, %zero : f32"
    )
    check(ONE_HOT.replace("ELEMENT", element), "uop.reduce")


def test_product_with_one_hot_folds_for_finite_numbers_only() -> None:
    text = ONE_HOT.replace("ELEMENT", "%4 = uop.cast %2 : i1 -> f32\n  %5 = uop.mul %4, %3 : f32")
    check(text, "uop.reduce", (Assumption.FINITE,))
    check(text, "%finite")  # the reduction stays: 0 · ∞ is NaN


def test_one_of_two_ranges_is_selected() -> None:
    text = """
uop.kernel @diagonal(%out: memref<6xf32>, %x: memref<6x7x8xf32>) {
  %i = uop.range i = 6
  %k = uop.range k = 7
  %l = uop.range l = 8
  %one = uop.const 1 : index
  %0 = uop.add %k, %one : index
  %1 = uop.sub %0, %l : index
  %2 = uop.eq %1, %i : index
  %3 = uop.load %x[%i, %k, %l] : memref<6x7x8xf32>
  %zero = uop.const 0.0 : f32
  %4 = uop.where %2, %3, %zero : f32
  %5 = uop.reduce add %4 over %k, %l : f32
  uop.store %5, %out[%i] : memref<6xf32>
}
"""
    check(text, "over %k, %l")


def test_greatest_of_one_element() -> None:
    text = ONE_HOT.replace("reduce add", "reduce max").replace("const 0.0", "const 0xff800000")
    check(text.replace("ELEMENT", "%5 = uop.where %2, %3, %zero : f32"), "uop.reduce")


@pytest.mark.parametrize("compare", ["lt", "le", "gt", "ge", "eq"])
@pytest.mark.parametrize(("type", "bound"), [("i64", "i64"), ("f32", "i64"), ("i8", "i8"), ("f64", "i32")])
def test_count_positions(compare: str, type: str, bound: str) -> None:
    check(replaced(COUNT, COMPARE=compare, TYPE=type, BOUND=bound), "uop.reduce")


def test_count_in_a_type_that_cannot_hold_the_ends_stays() -> None:
    with pytest.raises(AssertionError):
        check(replaced(COUNT, COMPARE="le", TYPE="i64", BOUND="ui8"), "uop.reduce")


def test_count_between_two_positions() -> None:
    text = """
uop.kernel @window(%out: memref<6xi64>, %t: memref<6xi64>, %s: memref<6xi64>) {
  %i = uop.range i = 6
  %k = uop.range k = 9
  %0 = uop.load %t[%i] : memref<6xi64>
  %1 = uop.load %s[%i] : memref<6xi64>
  %2 = uop.cast %k : index -> i64
  %3 = uop.lt %2, %0 : i64
  %4 = uop.ge %2, %1 : i64
  %5 = uop.and %3, %4 : i1
  %zero = uop.const 0 : i64
  %6 = uop.where %5, %1, %zero : i64
  %7 = uop.reduce add %6 over %k : i64
  uop.store %7, %out[%i] : memref<6xi64>
}
"""
    check(text, "uop.reduce")


def test_some_position() -> None:
    text = """
uop.kernel @any(%out: memref<6xi1>, %t: memref<6xi64>) {
  %i = uop.range i = 6
  %k = uop.range k = 9
  %0 = uop.load %t[%i] : memref<6xi64>
  %1 = uop.cast %k : index -> i64
  %2 = uop.eq %1, %0 : i64
  %3 = uop.reduce or %2 over %k : i1
  uop.store %3, %out[%i] : memref<6xi1>
}
"""
    check(text, "uop.reduce")


@pytest.mark.parametrize("monoid", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("extent", ["1", "2", "5", "0"])
@pytest.mark.parametrize("type", ["i8", "i64", "ui8"])
def test_invariant_integers(monoid: str, extent: str, type: str) -> None:
    check(replaced(INVARIANT, MONOID=monoid, EXTENT=extent, TYPE=type), "uop.reduce")


@pytest.mark.parametrize(
    ("monoid", "extent"), [("add", "1"), ("add", "8"), ("add", "6"), ("add", "0"), ("max", "7"), ("mul", "0")]
)
@pytest.mark.parametrize("type", ["f32", "f64"])
def test_invariant_floats(monoid: str, extent: str, type: str) -> None:
    text = replaced(INVARIANT, MONOID=monoid, EXTENT=extent, TYPE=type)
    check(text, "uop.reduce", signed_zeros=monoid != "add")


@pytest.mark.parametrize(("monoid", "extent", "type"), [("add", "7", "f32"), ("mul", "2", "f32"), ("add", "8", "f16")])
def test_inexact_sums_stay(monoid: str, extent: str, type: str) -> None:
    with pytest.raises(AssertionError):
        check(replaced(INVARIANT, MONOID=monoid, EXTENT=extent, TYPE=type), "uop.reduce")


@pytest.mark.parametrize(("op", "order"), [("mul", "0, %1"), ("mul", "1, %0"), ("add", "0, %1"), ("sub", "0, %1")])
def test_invariant_parts(op: str, order: str) -> None:
    text = replaced(PARTS, OP=op, ORDER=order)
    simplified = check(text, "uop.reduce add %2 over")
    assert simplified.index("uop.reduce") < simplified.index(f"uop.{op}")


def test_invariant_negation() -> None:
    check(PARTS.replace("uop.OP %ORDER", "neg %1").replace("neg", "uop.neg"), "uop.reduce add %2 over")


def test_invariant_condition() -> None:
    text = """
uop.kernel @condition(%out: memref<6xf32>, %c: memref<6xi1>, %y: memref<6x5xf32>) {
  %i = uop.range i = 6
  %k = uop.range k = 5
  %0 = uop.load %c[%i] : memref<6xi1>
  %1 = uop.load %y[%i, %k] : memref<6x5xf32>
  %zero = uop.const 0.0 : f32
  %2 = uop.where %0, %1, %zero : f32
  %3 = uop.reduce add %2 over %k : f32
  uop.store %3, %out[%i] : memref<6xf32>
}
"""
    simplified = check(text, "uop.reduce add %2")
    assert simplified.index("uop.reduce") < simplified.index("uop.where")


@pytest.mark.parametrize(("monoid", "extent"), [("add", "4"), ("max", "7")])
def test_loop(monoid: str, extent: str) -> None:
    text = f"""
uop.kernel @loop(%out: memref<6xf32>, %x: memref<6xf32>) {{
  loop.for %i (i = 6 parallel) {{
    %0 = uop.load %x[%i] : memref<6xf32>
    %1 = loop.reduce %k (k = {extent}) {monoid} : f32 {{
      loop.yield %0 : f32
    }}
    uop.store %1, %out[%i] : memref<6xf32>
  }}
}}
"""
    check(text, "loop.reduce", signed_zeros=False)


def test_indices_within_a_mask() -> None:
    text = """
uop.kernel @shifted(%out: memref<12xf32>, %x: memref<10xf32>) {
  %i = uop.range i = 12
  %one = uop.const -1 : index
  %ten = uop.const 10 : index
  %zero = uop.const 0 : index
  %eleven = uop.const 11 : index
  %0 = uop.add %i, %one : index
  %1 = uop.floormod %0, %ten : index
  %2 = uop.min %1, %eleven : index
  %3 = uop.ge %0, %zero : index
  %4 = uop.lt %0, %ten : index
  %5 = uop.and %3, %4 : i1
  %6 = uop.load %x[%2] mask %5 : memref<10xf32>
  uop.store %6, %out[%i] : memref<12xf32>
}
"""
    check(text, "uop.floormod")


def test_indices_that_a_mask_does_not_bound_stay() -> None:
    text = """
uop.kernel @wrapped(%out: memref<12xf32>, %x: memref<10xf32>) {
  %i = uop.range i = 12
  %ten = uop.const 10 : index
  %one = uop.const 1 : index
  %0 = uop.floormod %i, %ten : index
  %1 = uop.ge %i, %one : index
  %2 = uop.load %x[%0] mask %1 : memref<10xf32>
  %3 = uop.add %2, %2 : f32
  uop.store %3, %out[%i] : memref<12xf32>
}
"""
    assert "uop.floormod" in check(text, "%ten = uop.const 10 : index\n  %one")
