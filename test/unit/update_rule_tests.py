"""Writes test/passes/uop/uop-simplify-<family>.mlir: for each rule of `uop-simplify` a function in which it fires.

Usage: python test/unit/update_rule_tests.py [FAMILY …]. What comes out is what the rules do now: read the difference
before committing it. Rules of kernels, and those that no scalar function shows, have tests written by hand in
uop-simplify.mlir; test_rule_coverage.py notices rules that have neither.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from itertools import chain, product, zip_longest
from pathlib import Path

from test_rules import ELEMENTS, ON_KERNELS, Instance, Node, constant_types, limits_of, numbers, typings, variable_types
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from uop.dialects.monoids import Number
from uop.dialects.types import element_of, f32, i1, i8, index
from uop.dialects.uop import MovementOp
from uop.passes.uop.rules import FAMILIES
from uop.passes.uop.rules.fast_math import FAST_MATH
from uop.passes.uop.uop_simplify import simplify
from uop.rewriting.builder import Builder
from uop.rewriting.patterns import Assumption, Bound, Condition, Constant, Rule

FOLDER = Path(__file__).parents[1] / "passes" / "uop"
HEADER = """\
// RUN: uop-opt %s --pass-pipeline 'builtin.module({pass_})' | filecheck %s

// Written by test/unit/update_rule_tests.py: a function for each rule of the family, in which it fires.
"""
FAST = "fast-math"

TRIES = 3000
CHOICES = 200
"""How many choices of constants and ranges are tried of one choice of types."""

PREFERRED = [f32, index, *(element for element in ELEMENTS if element not in (f32, index))]


def preference(types: dict[str, Attribute]) -> list[int]:
    return [PREFERRED.index(element_of(type)) for type in types.values()]


def conditions(rule: Rule) -> list[Condition]:
    return [guard for guard in rule.guards if isinstance(guard, Condition)]


def allows(rule: Rule, constants: dict[str, Number]) -> bool:
    """Whether the guards that speak of constants alone hold."""

    def number(leaf: Constant | Bound) -> str:
        assert isinstance(leaf, Constant)
        return f"({constants[leaf.name]!r})"

    for condition in conditions(rule):
        if all(isinstance(leaf, Constant) for leaf in condition.leaves()):
            try:
                if not eval(condition.render(number), {"inf": float("inf"), "nan": float("nan")}):
                    return False
            except ZeroDivisionError:
                return False
    return True


def instances(rule: Rule) -> Iterator[Instance]:
    """Terms of the rule with types, constants and ranges: all types in turn, those that read best first."""
    moves = issubclass(rule.term.head.op, MovementOp)
    roots: list[Attribute] = [TensorType(e, [2, 3, 2]) for e in (f32, i8, i1)] if moves else PREFERRED
    nodes = [node for root in roots for node in typings(rule.term, root)]
    typed = [(node, types) for node in nodes if (types := variable_types(node)) is not None]
    typed.sort(key=lambda pair: preference(pair[1]))
    return chain.from_iterable(
        (instance for instance in turn if instance is not None)
        for turn in zip_longest(*(choices(rule, node, types, moves) for node, types in typed))
    )


def choices(rule: Rule, node: Node, types: dict[str, Attribute], moves: bool) -> Iterator[Instance]:
    """The instances of a term whose types are chosen, in random order."""
    names = constant_types(node)
    pools = [numbers(element_of(type), True) for type in names.values()]
    constants = [dict(zip(names, chosen, strict=True)) for chosen in product(*pools)]
    constants = [chosen for chosen in constants if allows(rule, chosen)]
    bounds = {leaf.variable.name for c in conditions(rule) for leaf in c.leaves() if isinstance(leaf, Bound)}
    bounded = [name for name in types if name in bounds]
    ranges = list(product(*(limits_of(element_of(types[name])) for name in bounded)))
    generator = random.Random(1)
    for _ in range(min(CHOICES, len(constants) * len(ranges))):
        limits = dict(zip(bounded, generator.choice(ranges), strict=True))
        yield Instance(node, types, generator.choice(constants), limits, moves)


def function(instance: Instance, name: str) -> FuncOp:
    """A function of the variables that returns the term."""
    types = list(instance.types.values())
    block = Block(arg_types=types)
    builder = Builder(block)
    bound: dict[str, SSAValue] = dict(zip(instance.types, block.args, strict=True))
    for variable, argument in zip(instance.types, block.args, strict=True):
        argument.name_hint = variable
    for variable, (low, high) in instance.ranges.items():
        value = builder.alu("min", bound[variable], builder.constant_like(high, bound[variable]))
        bound[variable] = builder.alu("max", value, builder.constant_like(low, bound[variable]))
    root = instance.build(instance.node, builder, bound, lambda type: type)
    block.add_op(ReturnOp(root))
    return FuncOp(name, (types, [root.type]), Region(block))


def example(rule: Rule, name: str) -> tuple[str, str] | None:
    """A function in which the rule fires among all others, before and after."""
    for _, instance in zip(range(TRIES), instances(rule), strict=False):
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
