"""uop-factor-rows gives equal polynomials: a certificate.

Both sides are polynomials with integer coefficients, of x, of the statistic of its rows, of the gains and of the other
operands, of degrees that are known. Where they differ they differ nearly everywhere (J. T. Schwartz, "Fast
Probabilistic Algorithms for Verification of Polynomial Identities", 1980), and of small integers all that is computed
is exact, in f32 and in f16: so programs before and after the pass give the same bits of some of them, or are no equals.
"""

import numpy as np
import pytest
from module_text import parse
from test_tile_to_gpu_kernel import Array, run_pass
from xdsl.dialects.builtin import ModuleOp

from uop.dialects.traversal import ops_inside
from uop.dialects.types import shape_of
from uop.dialects.uop import MulOp
from uop.runtime.interpret.program import interpret_program

ROWS, COLUMNS, DEPTH = 8, 32, 64

SCALED = {
    "scale, then gain": "%a = uop.mul {x}, {r} : {t}\n%s = uop.mul %a, {g} : {t}",
    "gain, then scale": "%a = uop.mul {x}, {g} : {t}\n%s = uop.mul {r}, %a : {t}",
    "gain of the scale": "%a = uop.mul {r}, {g} : {t}\n%s = uop.mul %a, {x} : {t}",
    "scale alone": "%s = uop.mul {r}, {x} : {t}",
    "two scales": "%a = uop.mul {x}, {r} : {t}\n%b = uop.mul %a, {r} : {t}\n%s = uop.mul {g}, %b : {t}",
}
"""How x, what is computed of its rows, and the gains of columns are multiplied."""


def _text(scaled: str, element: str, swapped: bool, products: int) -> str:
    """Products of scaled rows with `products` other matrices. element: what the scaled rows are rounded to."""
    x, w = f"tensor<{ROWS}x{DEPTH}x{element}>", f"tensor<{COLUMNS}x{DEPTH}x{element}>"
    wide, row = f"tensor<{ROWS}x{DEPTH}xf32>", f"tensor<{ROWS}x1xf32>"
    result, cube = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{ROWS}x{COLUMNS}x{DEPTH}xf32>"
    whole = f"tensor<{ROWS}x{COLUMNS}x1xf32>"

    def cast(name: str, value: str, type: str) -> str:
        return f"{name} = uop.cast {value} : {type} -> {type.replace(element, 'f32')}" if element != "f32" else ""

    def wider(name: str) -> str:
        return f"{name}_wide" if element != "f32" else name

    narrow = f"%h = uop.cast %s : {wide} -> {x}\n{cast('%h_wide', '%h', x)}" if element != "f32" else ""
    of_rows = "%h_wide" if element != "f32" else "%s"
    each: list[str] = []
    for n in range(products):
        factors = ("%left", f"%right{n}")[:: -1 if swapped else 1]
        each.append(
            f"""
  {cast(f"%w{n}_wide", f"%w{n}", w)}
  %w{n}_row = uop.reshape {wider(f"%w{n}")} : tensor<{COLUMNS}x{DEPTH}xf32> -> tensor<1x{COLUMNS}x{DEPTH}xf32>
  %right{n} = uop.expand %w{n}_row : tensor<1x{COLUMNS}x{DEPTH}xf32> -> {cube}
  %product{n} = uop.mul {", ".join(factors)} : {cube}
  %sum{n} = uop.reduce_axis add %product{n} axes [2] : ({cube}) -> {whole}
  %result{n} = uop.reshape %sum{n} : {whole} -> {result}"""
        )
    arguments = ", ".join(["%x: " + x, f"%g: tensor<{DEPTH}xf32>", *(f"%w{n}: {w}" for n in range(products))])
    return f"""
func.func @f({arguments}) -> ({", ".join([result] * products)}) {{
  {cast("%x_wide", "%x", x)}
  %squares = uop.mul {wider("%x")}, {wider("%x")} : {wide}
  %statistic = uop.reduce_axis add %squares axes [1] : ({wide}) -> {row}
  %r = uop.expand %statistic : {row} -> {wide}
  %g_row = uop.reshape %g : tensor<{DEPTH}xf32> -> tensor<1x{DEPTH}xf32>
  %gains = uop.expand %g_row : tensor<1x{DEPTH}xf32> -> {wide}
  {scaled.format(x=wider("%x"), r="%r", g="%gains", t=wide)}
  {narrow}
  %left_row = uop.reshape {of_rows} : {wide} -> tensor<{ROWS}x1x{DEPTH}xf32>
  %left = uop.expand %left_row : tensor<{ROWS}x1x{DEPTH}xf32> -> {cube}
  {"".join(each)}
  func.return {", ".join(f"%result{n}" for n in range(products))} : {", ".join([result] * products)}
}}
"""


def _results(module: ModuleOp, seed: int, element: str, products: int) -> list[Array]:
    """Of few x other than 0, so that all numbers are integers that f16 holds."""
    generator = np.random.default_rng(seed)
    x = np.zeros((ROWS, DEPTH))
    for row in x:
        row[generator.choice(DEPTH, 5, replace=False)] = generator.choice((-1, 1, 2), 5)
    g = generator.integers(-3, 4, DEPTH).astype(np.float32)
    others = [generator.integers(-7, 8, (COLUMNS, DEPTH)) for _ in range(products)]
    dtype = np.float16 if element == "f16" else np.float32
    arguments = [x.astype(dtype), g, *(other.astype(dtype) for other in others)]
    return [np.array(result) for result in interpret_program(module, "f", arguments)]


def _outer_scales(module: ModuleOp) -> list[MulOp]:
    """The multiplications of sums, and not of what is summed."""
    ops = (op for function in module.ops for op in ops_inside(function.regions[0]))
    return [op for op in ops if isinstance(op, MulOp) and shape_of(op.result.type)[2:] == (1,)]


@pytest.mark.parametrize("products", [1, 2])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("scaled", SCALED)
def test_both_sides_are_equal(scaled: str, element: str, swapped: bool, products: int) -> None:
    text = _text(SCALED[scaled], element, swapped, products)
    before, after = parse(text), parse(text)
    run_pass(after, "uop-factor-rows")
    assert _outer_scales(after)
    for seed in range(3):
        expected = _results(before, seed, element, products)
        assert any(np.abs(array).max() > 0 for array in expected)
        for result, array in zip(_results(after, seed, element, products), expected, strict=True):
            np.testing.assert_array_equal(result, array)


def test_a_factor_that_is_left_out_is_found() -> None:
    text = _text(SCALED["scale, then gain"], "f32", False, 1)
    before, after = parse(text), parse(text)
    run_pass(after, "uop-factor-rows")
    (scale,) = _outer_scales(after)
    scale.result.replace_all_uses_with(scale.operands[0])
    (result,), (expected,) = (_results(module, 0, "f32", 1) for module in (after, before))
    assert (result != expected).any()
