"""The rewrite engine beside stock xDSL's, on the same IR in the same run.

Usage: python bench/rewriting.py [--ops N] [--repeats N] [--no-scaling] [--check]

The IR is a function of N ops of xDSL's arith dialect, built anew for each run of what changes it. Times are CPU time,
the best of several, with the garbage collector off, for both. `reach` is what the project wants the quotient to stay
below; with --check the exit code says whether it does.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import cse

from uop.rewriting.builder import Builder
from uop.rewriting.cse import eliminate_common_subexpressions
from uop.rewriting.driver import rewrite
from uop.rewriting.patterns import Rule, constants, op, variables
from uop.rewriting.rules import Rules

NO_OVERFLOW_FLAGS: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}
BINARY = (
    *(arith.AddiOp, arith.MuliOp, arith.SubiOp, arith.AndIOp, arith.OrIOp),
    *(arith.XOrIOp, arith.ShLIOp, arith.ShRSIOp, arith.DivSIOp, arith.MinSIOp),
)

# The IR.


def function(fill: Callable[[Block, SSAValue, SSAValue], SSAValue]) -> ModuleOp:
    """A module with one function of two integers; `fill` puts ops into its block and gives what is returned."""
    block = Block(arg_types=(i32, i32))
    block.add_op(func.ReturnOp(fill(block, *block.args)))
    return ModuleOp([func.FuncOp("f", ([i32, i32], [i32]), Region(block))])


def sums_with_zero(count: int) -> ModuleOp:
    """x + 0 + 0 + …: every sum folds away."""

    def fill(block: Block, x: SSAValue, y: SSAValue) -> SSAValue:
        zero = arith.ConstantOp(IntegerAttr(0, i32))
        block.add_op(zero)
        for _ in range(count):
            op = arith.AddiOp(x, zero)
            block.add_op(op)
            x = op.result
        return x

    return function(fill)


def chain(count: int) -> ModuleOp:
    """Sums and products of what came before: nothing to simplify."""

    def fill(block: Block, x: SSAValue, y: SSAValue) -> SSAValue:
        for i in range(count):
            op = arith.AddiOp(x, y) if i % 2 else arith.MuliOp(x, y)
            block.add_op(op)
            x = op.result
        return x

    return function(fill)


def with_duplicates(count: int) -> ModuleOp:
    """Every third op is the same as the one before it."""

    def fill(block: Block, x: SSAValue, y: SSAValue) -> SSAValue:
        for _ in range(count // 3):
            ops = arith.AddiOp(x, y), arith.AddiOp(x, y)
            product = arith.MuliOp(ops[0], ops[1])
            block.add_ops((*ops, product))
            x = product.result
        return x

    return function(fill)


def hash_consed(count: int) -> ModuleOp:
    """The same, built by the builder that gives what is there."""

    def fill(block: Block, x: SSAValue, y: SSAValue) -> SSAValue:
        builder = Builder(block)
        types = (i32,)
        for _ in range(count // 3):
            first = builder.pure(arith.AddiOp, (x, y), types, NO_OVERFLOW_FLAGS).results[0]
            second = builder.pure(arith.AddiOp, (x, y), types, NO_OVERFLOW_FLAGS).results[0]
            x = builder.pure(arith.MuliOp, (first, second), types, NO_OVERFLOW_FLAGS).results[0]
        return x

    return function(fill)


def built_and_merged(count: int) -> ModuleOp:
    """The same again as stock xDSL does it: build all, then merge."""
    module = with_duplicates(count)
    cse(module)
    return module


# The rules, and the same as patterns of xDSL.

x, y = variables("x y")
a, b = constants("a b")
addi = op(arith.AddiOp, constant=arith.ConstantOp)
ADD_ZERO = Rules(addi[x, 0] >> x)


class AddZero(RewritePattern):
    """x + 0 → x"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
        constant = op.rhs.owner
        if (
            isinstance(constant, arith.ConstantOp)
            and isinstance(constant.value, IntegerAttr)
            and constant.value.value.data == 0
        ):
            rewriter.replace(op, [], [op.lhs])


def ten_rules(cls: type[Operation]) -> list[Rule]:
    """Ten rules of an op that never match in `chain`."""
    head = op(cls, constant=arith.ConstantOp).ordered
    numbers = [head[x, number] >> x for number in range(1, 7)]
    return [*numbers, head[a, b] >> a, head[x, head[x, y]] >> x, head[head[x, a], b] >> x, head[x, x] >> x]


HUNDRED_RULES = Rules(*(rule for cls in BINARY for rule in ten_rules(cls)))


class Never(RewritePattern):
    """A pattern of an op, one of ten that are not there or hold no constant."""

    def __init__(self, cls: type[Operation], number: int) -> None:
        self.cls = cls
        self.number = number

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, self.cls):
            return
        constant = op.operands[1].owner
        if (
            isinstance(constant, arith.ConstantOp)
            and isinstance(constant.value, IntegerAttr)
            and constant.value.value.data == self.number
        ):
            rewriter.replace(op, [], [op.operands[0]])


HUNDRED_PATTERNS: list[RewritePattern] = [Never(cls, number) for cls in BINARY for number in range(1, 11)]


# What is measured.


@dataclass(frozen=True)
class Case:
    """One thing that both do. `make` builds what a run gets; `ours` and `stock` are timed.

    left: how many ops are to be left in the function, as a share of those that there were
    """

    name: str
    peer: str
    make: Callable[[int], ModuleOp]
    ours: Callable[[ModuleOp, int], object]
    stock: Callable[[ModuleOp, int], object]
    reach: float
    left: float


def nothing(count: int) -> ModuleOp:
    return ModuleOp([])


CASES = (
    Case(
        "all match",
        "PatternRewriteWalker",
        sums_with_zero,
        lambda module, _: rewrite(module, ADD_ZERO),
        lambda module, _: PatternRewriteWalker(AddZero()).rewrite_module(module),
        0.5,
        0.0,
    ),
    Case(
        "no match, 100 rules",
        "canonicalize",
        chain,
        lambda module, _: rewrite(module, HUNDRED_RULES),
        lambda module, _: CanonicalizePass().apply(Context(), module),
        0.2,
        1.0,
    ),
    Case(
        "no match, 100 rules",
        "walker, 100 patterns",
        chain,
        lambda module, _: rewrite(module, HUNDRED_RULES),
        lambda module, _: PatternRewriteWalker(GreedyRewritePatternApplier(HUNDRED_PATTERNS)).rewrite_module(module),
        0.2,
        1.0,
    ),
    Case(
        "CSE, a third duplicates",
        "cse",
        with_duplicates,
        lambda module, _: eliminate_common_subexpressions(module),
        lambda module, _: cse(module),
        0.5,
        2 / 3,
    ),
    Case(
        "build and hash-cons",
        "constructors, then cse",
        nothing,
        lambda _, count: hash_consed(count),
        lambda _, count: built_and_merged(count),
        0.5,
        2 / 3,
    ),
)


def best(run: Callable[[ModuleOp, int], object], make: Callable[[int], ModuleOp], count: int, repeats: int) -> float:
    """CPU seconds of the fastest of several runs."""
    times: list[float] = []
    for _ in range(repeats):
        module = make(count)
        gc.collect()
        start = time.process_time()
        run(module, count)
        times.append(time.process_time() - start)
    return min(times)


def check_work(case: Case, count: int) -> None:
    """Both have done what they are timed for: how many ops are left."""
    for run in (case.ours, case.stock):
        module = case.make(count)
        result = run(module, count)
        if isinstance(result, ModuleOp):
            module = result
        left = sum(isinstance(op, BINARY) for op in module.walk())
        assert abs(left - case.left * count) <= 3, f"{case.name}: {left} of {count} ops are left"


def compare(count: int, repeats: int) -> tuple[Table, bool]:
    """The table of both beside each other, and whether all is within reach."""
    table = Table(title=f"{count:,} ops, CPU time in µs an op, best of {repeats}", title_justify="left")
    for title in ("case", "beside", "xDSL", "uop", "uop ÷ xDSL", "reach", ""):
        table.add_column(title, justify="left" if title in ("case", "beside") else "right")
    within = True
    for case in CASES:
        check_work(case, 300)
        ours = best(case.ours, case.make, count, repeats)
        stock = best(case.stock, case.make, count, repeats)
        ratio = ours / stock
        within &= ratio < case.reach
        times = f"{stock / count * 1e6:.2f}", f"{ours / count * 1e6:.2f}"
        verdict = "[green]yes[/]" if ratio < case.reach else "[red]no[/]"
        table.add_row(case.name, case.peer, *times, f"{ratio:.2f}", f"< {case.reach}", verdict)
    return table, within


GROWTH = 1.5
"""What an op of the largest program may cost of one of the smallest: more is not linear. Caches make it more than 1."""


def scaling(counts: tuple[int, ...], repeats: int) -> tuple[Table, bool]:
    """The table of our times an op as programs grow, and whether they stay the same."""
    table = Table(title="uop, CPU time in µs an op, as the program grows", title_justify="left")
    table.add_column("case")
    for count in counts:
        table.add_column(f"{count:,} ops", justify="right")
    table.add_column("last ÷ first", justify="right")
    table.add_column("reach", justify="right")
    linear = True
    for name, case in {case.name: case for case in CASES}.items():
        times = [best(case.ours, case.make, count, repeats) / count * 1e6 for count in counts]
        growth = times[-1] / times[0]
        linear &= growth < GROWTH
        colour = "green" if growth < GROWTH else "red"
        table.add_row(name, *(f"{t:.2f}" for t in times), f"[{colour}]{growth:.2f}[/]", f"< {GROWTH}")
    return table, linear


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ops", type=int, default=10_000, help="size of the program")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-scaling", action="store_true", help="leave out the programs of up to 100,000 ops")
    parser.add_argument("--check", action="store_true", help="fail where something is out of reach")
    options = parser.parse_args()
    gc.disable()
    console = Console(highlight=False)
    console.width = max(console.width, 120)  # not cut where it goes to a file
    table, ok = compare(options.ops, options.repeats)
    console.print(table)
    if not options.no_scaling:
        table, linear = scaling((10_000, 30_000, 100_000), min(options.repeats, 3))
        console.print(table)
        ok &= linear
    return 1 if options.check and not ok else 0


if __name__ == "__main__":
    sys.exit(main())
