"""uop-approximate: exponentials, quotients and error functions by fewer instructions, within a stated error."""

from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...rewriting.driver import rewrite
from ...rewriting.patterns import Assumption
from ...rewriting.rules import Rules
from .rules.approximations import APPROXIMATIONS
from .rules.error_function import ERROR_FUNCTION

APPROXIMATE = Rules(APPROXIMATIONS, ERROR_FUNCTION)
"""All rules of the pass."""


class UOpApproximatePass(ModulePass):
    """Apply the rules of approximations.py and error_function.py in passes/uop/rules to kernels in range form.

    In a softmax, exp(x − max x) becomes a power of 2, and a row is divided by its sum once; where exponentials are
    only divided by their sum, the exponent of 2 is one multiply-add. The logistic function becomes a power of 2 and an
    approximate reciprocal. That moves results by less than 2.3e-8; 1 + erf x, of gelu, becomes one power of 2, which
    moves it by less than 4.5e-8; beside the two units in the last place that the GPU's `ex2` may be off, as its `expf`
    and `erff` may. NaN and infinities are as before. Leaves alone: every other exponential,
    quotient and error function, and f64.
    """

    name = "uop-approximate"

    rounding: ClassVar[str] = "exponentials, quotients and 1 + erf x are computed in other steps, within a stated error"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, APPROXIMATE, assuming=(Assumption.ROUNDING,))
