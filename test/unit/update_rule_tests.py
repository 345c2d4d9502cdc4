"""Writes test/passes/uop/uop-simplify-<family>.mlir: for each rule of `uop-simplify` a function in which it fires.

Usage: python test/unit/update_rule_tests.py [FAMILY …]. What comes out is what the rules do now: read the difference
before committing it. Rules of kernels, and those that no scalar function shows, have tests written by hand in
uop-simplify.mlir; test_rule_coverage.py notices rules that have neither.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain, zip_longest
from math import gcd, inf, nan
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from uop.dialects.types import ELEMENT_TYPES, element_of, f32, index
from uop.passes.gpu_kernel.gpu_kernel_strength_reduce import SUMS
from uop.passes.uop.rules import FAMILIES, MASKS, POSITIONS, REDUCTIONS, SCANS
from uop.passes.uop.rules.fast_math import FAST_MATH
from uop.passes.uop.uop_simplify import simplify
from uop.rewriting.patterns import Assumption, Condition, Constant, Leaf, Rule
from uop.runtime.proofs.instances import Instance, instances
from uop.runtime.proofs.typings import Typing, typings

FOLDER = Path(__file__).parents[1] / "passes" / "uop"
HEADER = """\
// RUN: uop-opt %s --pass-pipeline 'builtin.module({pass_})' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.
"""
FAST = "fast-math"

ON_KERNELS = {*MASKS, *REDUCTIONS, *SCANS, *POSITIONS, *SUMS}
"""Rules that no scalar function shows: test_reduction_rules.py and lit tests written by hand do."""

TRIES = 3000
CHOICES = 5000
"""How many choices of constants and ranges are tried of one choice of types."""

PREFERRED = [f32, index, *(element for element in ELEMENT_TYPES.values() if element not in (f32, index))]


def preference(typing: Typing) -> list[int]:
    return [PREFERRED.index(element_of(type)) for type in typing.variables.values()]


def allows(instance: Instance) -> bool:
    """Whether the guards that speak of constants alone hold."""

    def number(leaf: Leaf) -> str:
        assert isinstance(leaf, Constant)
        return f"({instance.constants[leaf.name]!r})"

    for guard in instance.rule.guards:
        if isinstance(guard, Condition) and all(isinstance(leaf, Constant) for leaf in guard.leaves()):
            try:
                if not eval(guard.render(number), {"inf": inf, "nan": nan, "gcd": gcd}):
                    return False
            except ZeroDivisionError:
                return False
    return True


def candidates(rule: Rule) -> Iterator[Instance]:
    """Terms of the rule with types, constants and ranges: all types in turn, those that read best first."""
    typed = sorted(typings(rule), key=preference)
    turns = zip_longest(*(filter(allows, instances(rule, typing, CHOICES)) for typing in typed))
    return chain.from_iterable((instance for instance in turn if instance is not None) for turn in turns)


def function(instance: Instance, name: str) -> FuncOp:
    """A function of the variables that returns the term."""
    func, _ = instance.function(None)
    func.detach()
    func.properties["sym_name"] = StringAttr(name)
    for variable, argument in zip(instance.typing.variables, func.args, strict=True):
        argument.name_hint = variable
    return func


def example(rule: Rule, name: str) -> tuple[str, str] | None:
    """A function in which the rule fires among all others, before and after."""
    for _, instance in zip(range(TRIES), candidates(rule), strict=False):
        func = function(instance, name)
        module = ModuleOp([func])
        module.verify()
        before = str(func)
        if rule in simplify(module, rule.assumes and Assumption).fired:
            return before, str(func)
    return None


def written(family: str) -> str:
    """The text of a family's file; names on standard error the rules without an example."""
    rules = FAST_MATH if family == FAST else FAMILIES[family]
    parts = [HEADER.format(pass_="uop-simplify{fast-math=true}" if family == FAST else "uop-simplify")]
    for number, rule in enumerate(rule for rule in rules if rule not in ON_KERNELS):
        found = example(rule, f"{family.replace('-', '_')}_{number}")
        if found is None:
            print(f"no example of {rule} ({rule.place})", file=sys.stderr)
            continue
        before, after = found
        head, *body = after.splitlines()
        checks = [f"// CHECK-LABEL: {head.split('(')[0]}", *(f"// CHECK-NEXT:  {line}" for line in body)]
        parts.append("\n".join((f"// {rule}", *checks, before, "")))
    return "\n".join(parts)


def main() -> None:
    for family in sys.argv[1:] or (*FAMILIES, FAST):
        if family == FAST or not set(FAMILIES[family]) <= ON_KERNELS:
            (FOLDER / f"uop-simplify-{family}.mlir").write_text(written(family))


if __name__ == "__main__":
    main()
