"""uop-simplify: the rules that make a program smaller, at every level from tensors to tiles."""

import sys
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...rewriting.cse import eliminate_common_subexpressions
from ...rewriting.driver import RewriteStatistics, rewrite
from ...rewriting.hoist import hoist_invariants
from .rules import SIMPLIFY


@dataclass(frozen=True)
class UOpSimplifyPass(ModulePass):
    """Apply the rules of passes/uop/rules, merge equal pure ops, move loop invariants out of loops, remove
    dead ops.

    Works on tensor, range, loop and tile form, in kernels and functions alike, and on the arithmetic of
    gpu_kernel. Every result keeps its bits. Leaves alone what reads or writes memory, except that equal reads
    of a buffer that nobody writes become one, reads whose result is unused go, and masks that are always true
    or false go; ranges and tile axes, which are never merged; launches.

    statistics: print on standard error how often each rule fired.
    """

    name = "uop-simplify"

    statistics: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        totals = simplify(op)
        if self.statistics:
            print(f"uop-simplify: {totals.rewrites} rewrites", *totals.lines(), sep="\n", file=sys.stderr)


def simplify(root: Operation) -> RewriteStatistics:
    """Simplify the ops inside `root`; what the rules did."""
    totals = RewriteStatistics()
    eliminate_common_subexpressions(root)
    while True:
        statistics = rewrite(root, SIMPLIFY)
        totals += statistics
        hoist_invariants(root)
        merged = eliminate_common_subexpressions(root)
        # Rules may wait for two values to become one.
        if not merged or not statistics.rewrites:
            return totals
