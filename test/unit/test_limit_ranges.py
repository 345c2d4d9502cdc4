"""uop-limit-ranges changes no result, whatever the numbers: NaN, infinities, masks that leave nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from module_text import make_context, parse

from uop.dialects.uop import KernelOp, RangeOp
from uop.passes.uop.uop_limit_ranges import UOpLimitRangesPass
from uop.runtime.interpret.buffers import poisoned_buffer
from uop.runtime.interpret.program import interpret_kernel

Array = np.ndarray[Any, Any]

COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")

IDENTITIES = {"add": "0.0", "mul": "1.0", "max": "0xFF800000", "min": "0x7F800000"}

MASKED = "%m = uop.where %c, %x0, %other : f32\n"
ELEMENTS = {
    "masked": "%e = uop.where %c, %x0, %other : f32",
    "squared": MASKED + "%e = uop.mul %m, %m : f32",
    "product": MASKED + "%y = uop.load %x[%i, %j] : memref<5x9xf32>\n%e = uop.mul %m, %y : f32",
    "exponential": MASKED + "%e = uop.exp %m : f32",
    "maximum taken off": MASKED
    + "%top = uop.reduce max %m over %k : f32\n%d = uop.sub %m, %top : f32\n%e = uop.exp %d : f32",
    "masked load": "%e = uop.load %x[%i, %k] mask %c : memref<5x9xf32>",
}


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """A reduction of 9 elements that a condition on their place masks, and what is made of its result."""
    conditions: list[str] = []
    for number in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(COMPARISONS))
        left = draw(st.sampled_from(("%kk", "%moved", "%twice")))
        right = draw(st.sampled_from(("%ii", "%n0", "%five")))
        pair = (left, right) if draw(st.booleans()) else (right, left)
        conditions.append(f"%c{number} = uop.{name} {pair[0]}, {pair[1]} : i64")
    joined = draw(st.sampled_from(("and", "or"))) if len(conditions) == 2 else None
    text = f"%b = uop.{joined} %c0, %c1 : i1" if joined else "%b = uop.and %c0, %c0 : i1"
    negated = "%c = uop.not %b : i1" if draw(st.booleans()) else "%c = uop.or %b, %b : i1"
    monoid = draw(st.sampled_from(tuple(IDENTITIES)))
    other = draw(st.sampled_from((IDENTITIES[monoid], "0xFF800000", "-0.0")))
    newline = "\n"
    return f"""
    uop.kernel @f(%out: memref<5x9xf32>, %x: memref<5x9xf32>, %n: memref<i64>) {{
      %i = uop.range i = 5
      %j = uop.range j = 9
      %k = uop.range k = 9
      %ii = uop.cast %i : index -> i64
      %kk = uop.cast %k : index -> i64
      %n0 = uop.load %n[] : memref<i64>
      %five = uop.const 5 : i64
      %two = uop.const 2 : i64
      %moved = uop.sub %kk, %n0 : i64
      %twice = uop.mul %kk, %two : i64
      {newline.join(conditions)}
      {text}
      {negated}
      %x0 = uop.load %x[%i, %k] : memref<5x9xf32>
      %other = uop.const {other} : f32
      {draw(st.sampled_from(tuple(ELEMENTS.values())))}
      %r = uop.reduce {monoid} %e over %k : f32
      %xj = uop.load %x[%i, %j] : memref<5x9xf32>
      %s = uop.add %r, %xj : f32
      uop.store %s, %out[%i, %j] : memref<5x9xf32>
    }}
    """


def interpret(kernel: KernelOp, inputs: Sequence[Array]) -> Array:
    out = poisoned_buffer(kernel.body.block.args[0].type)
    with np.errstate(all="ignore"):
        interpret_kernel(kernel, [out, *inputs])
    return out


@given(kernels(), st.integers(-3, 12), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_result_changes(text: str, n: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.integers(-3, 4, (5, 9)).astype(np.float32)  # sums and products are exact
    special = generator.random((5, 9)) < 0.1
    x[special] = generator.choice([np.nan, np.inf, -np.inf, -0.0], int(special.sum()))
    inputs = [x, np.array(n, np.int64)]
    (kernel,) = parse(text).ops
    assert isinstance(kernel, KernelOp)
    expected = interpret(kernel, inputs)
    module = parse(text)
    UOpLimitRangesPass().apply(make_context(), module)
    module.verify()
    (kernel,) = module.ops
    assert isinstance(kernel, KernelOp)
    np.testing.assert_allclose(interpret(kernel, inputs), expected, rtol=1e-6, equal_nan=True)


def test_limits_are_found() -> None:
    """In several of the kernels above."""
    found = 0

    @given(kernels())
    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    def count(text: str) -> None:
        nonlocal found
        module = parse(text)
        UOpLimitRangesPass().apply(make_context(), module)
        found += any(isinstance(op, RangeOp) and op.operands for op in module.walk())

    count()
    assert found > 4


def test_page() -> None:
    """The second text of docs/limits.md is what the pass makes of the first."""
    page = (Path(__file__).parents[2] / "docs" / "limits.md").read_text()
    before, after = re.findall(r"```mlir\n(.*?)```", page, re.DOTALL)
    module = parse(before)
    UOpLimitRangesPass().apply(make_context(), module)
    assert str(module) == str(parse(after))
