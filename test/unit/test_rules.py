"""What the proofs of rules (runtime/proofs, test_proofs.py) do not cover: Python folds constants as the table says.

A proof tries some constants; here are all of 8 bits.
"""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.ir import Attribute

from uop.dialects.semantics import ALU, evaluate, numpy_dtype
from uop.dialects.types import i8, integer_bounds, ui8
from uop.passes.uop.rules.folding import INTEGER_FUNCTIONS, evaluate_constant


@pytest.mark.parametrize("name", INTEGER_FUNCTIONS)
@pytest.mark.parametrize("element", [i8, ui8], ids=str)
def test_python_folds_like_the_table(name: str, element: Attribute) -> None:
    low, high = integer_bounds(element)
    divides = "div" in name or "mod" in name
    pairs = [(x, y) for x in range(low, high + 1) for y in range(low, high + 1, 5) if y or not divides]
    sides = [np.array(side, numpy_dtype(element)) for side in zip(*pairs, strict=True)]
    expected = evaluate(np, ALU[name], element, sides)
    folded = np.array([evaluate_constant(ALU[name], element, [x, y]) for x, y in pairs])
    np.testing.assert_array_equal(folded.astype(expected.dtype), expected)
