"""uop-approximate: exponentials and quotients by fewer instructions, within a stated error."""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...rewriting.driver import rewrite
from ...rewriting.patterns import Assumption
from .rules.approximations import APPROXIMATIONS


@dataclass(frozen=True)
class UOpApproximatePass(ModulePass):
    """Apply the rules of passes/uop/rules/approximations.py to kernels in range form.

    In a softmax, exp(x − max x) becomes a power of 2, and a row is divided by its sum once; the logistic function
    becomes a power of 2 and an approximate reciprocal. That moves results by less than 2.3e-8, beside the two units in
    the last place that the GPU's `ex2` may be off, as its `expf` may; NaN and infinities are as before. Leaves alone:
    every other exponential and quotient, and f64.
    """

    name = "uop-approximate"

    rounding: ClassVar[str] = "exponentials and quotients are computed in other steps, within a stated error"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, APPROXIMATIONS, assuming=(Assumption.ROUNDING,))
