"""uop-simplify: the rules that make a program smaller, at every level from tensors to tiles."""

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...rewriting.cse import eliminate_common_subexpressions
from ...rewriting.driver import RewriteStatistics, rewrite
from ...rewriting.hoist import hoist_invariants
from ...rewriting.patterns import Assumption
from .rules.plugins import simplify_rules


@dataclass(frozen=True)
class UOpSimplifyPass(ModulePass):
    """Apply the rules of passes/uop/rules, merge equal pure ops, move loop invariants out of loops, remove
    dead ops.

    Works on tensor, range, loop and tile form, in kernels and functions alike, and on the arithmetic of
    gpu_kernel. Every result keeps its bits, unless `fast-math` is on. Leaves alone what reads or writes memory,
    except that equal reads of a buffer that nobody writes become one, reads whose result is unused go, masks that
    are always true or false go, and indices are computed as their mask allows; ranges and tile axes, which are
    never merged; launches.

    fast_math: also use the rules that hold only for finite floats or only up to rounding.
    """

    name = "uop-simplify"

    fast_math: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify(op, Assumption if self.fast_math else ())


def simplify(root: Operation, assuming: Collection[Assumption] = ()) -> RewriteStatistics:
    """Simplify the ops inside `root` with the rules that assume no more than this; what they did."""
    totals = RewriteStatistics()
    rules = simplify_rules()
    eliminate_common_subexpressions(root)
    while True:
        statistics = rewrite(root, rules, assuming=assuming)
        totals += statistics
        hoist_invariants(root)
        merged = eliminate_common_subexpressions(root)
        # Rules may wait for two values to become one.
        if not merged or not statistics.rewrites:
            return totals
