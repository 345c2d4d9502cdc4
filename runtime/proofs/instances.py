"""Instances of a rule: its term as a function, rewritten by the driver, for chosen constants and ranges."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import prod
from typing import Any

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.monoids import Number
from ...dialects.types import element_of, integer_bounds, is_bool, is_integer
from ...rewriting.builder import Builder
from ...rewriting.driver import Order, rewrite
from ...rewriting.patterns import (
    RESULT,
    Bound,
    Capture,
    Condition,
    Constant,
    Leaf,
    Remainder,
    Rule,
    Term,
    Uses,
    Variable,
    parameters_of,
)
from ...rewriting.rules import Rules
from .samples import constants_of
from .typings import Node, Typing

STEPS = ((4, 0), (2, 1), (8, 0), (4, 2), (6, 3), (12, 0), (8, 5))
"""A modulus and what is left: of variables for whose remainders a guard asks."""

RANGES = ((0, 0), (0, 1), (0, 2), (0, 3), (0, 7), (1, 5), (3, 3), (-6, 5), (-9, -3), (8, 11))


@dataclass(frozen=True)
class Instance:
    """A typed term with numbers for its constants, and what is known of variables of which the guard asks.

    ranges: their least and greatest number
    steps: modulus and residue: such a variable is modulus · n + residue, where n is in the variable's range, if any
    more_uses: of values, beyond those that the term shows
    """

    rule: Rule
    typing: Typing
    constants: Mapping[str, Number]
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    steps: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    more_uses: Mapping[str, int] = field(default_factory=dict[str, int])

    def fired(self, count: int | None) -> tuple[FuncOp, FuncOp] | None:
        """The functions of the variables before and after the rule; None where it does not fire.

        count: elements of each argument's tensor; None for scalars.
        """
        after, root = self.function(count)
        if not rewrite(after, _alone(self.rule), order=Order.ONE_SWEEP, assuming=self.rule.assumes).fired:
            return None
        if returned(after) is root:  # it fired on what makes the ranges
            return None
        after.verify()
        return self.function(count)[0], after

    def function(self, count: int | None, values: dict[str, SSAValue] | None = None) -> tuple[FuncOp, SSAValue]:
        """The function that returns the term (and after it what has more uses), and the term's value.

        values: gets the values of variables and captures by name
        """

        def sized(type: Attribute) -> Attribute:
            return type if self.typing.moves or count is None else TensorType(element_of(type), [count])

        types = [sized(type) for type in self.typing.variables.values()]
        block = Block(arg_types=types)
        builder = Builder(block)
        values = {} if values is None else values
        values.update(zip(self.typing.variables, block.args, strict=True))
        for name, (low, high) in self.ranges.items():
            value = builder.alu("min", values[name], builder.constant_like(high, values[name]))
            values[name] = builder.alu("max", value, builder.constant_like(low, values[name]))
        for name, (modulus, residue) in self.steps.items():
            value = builder.alu("mul", values[name], builder.constant_like(modulus, values[name]))
            values[name] = builder.alu("add", value, builder.constant_like(residue, values[name]))
        root = self._build(self.typing.root, builder, values, sized)
        results = [root]
        for name, count in self.more_uses.items():
            results += [root if name == RESULT.name else values[name]] * count
        block.add_op(ReturnOp(*results))
        function = FuncOp("rule", (types, [value.type for value in results]), Region(block))
        ModuleOp([function])
        return function, root

    def _build(
        self, node: Node, builder: Builder, values: dict[str, SSAValue], sized: Callable[[Attribute], Attribute]
    ) -> SSAValue:
        pattern = node.pattern
        type = sized(node.type)
        if isinstance(pattern, Variable):
            return values[pattern.name]
        if isinstance(pattern, Capture):
            value = self._build(node.operands[0], builder, values, sized)
            values[pattern.variable.name] = value
            return value
        if not isinstance(pattern, Term):
            number = self.constants[pattern.name] if isinstance(pattern, Constant) else pattern
            assert isinstance(number, int | float)
            return builder.expand(builder.const(number, element_of(type)), type)
        operands = [self._build(operand, builder, values, sized) for operand in node.operands]
        return builder.pure(pattern.head.op, operands, (type,), node.properties).results[0]

    def __str__(self) -> str:
        parts = [str(self.typing)]
        parts += [f"{name} = {number}" for name, number in self.constants.items()]
        parts += [f"{low} <= {name} <= {high}" for name, (low, high) in self.ranges.items()]
        parts += [f"{modulus} * {name} + {residue} for {name}" for name, (modulus, residue) in self.steps.items()]
        return ", ".join(parts)


@cache
def _alone(rule: Rule) -> Rules:
    """A set of one rule, whose matcher is compiled once."""
    return Rules(rule)


def holds_of_types(rule: Rule, typing: Typing) -> bool:
    """Whether the guards that are functions of values say yes to values of these types."""
    example = Instance(rule, typing, {name: _constants(type)[0] for name, type in typing.constants.items()})
    values: dict[str, Any] = {}
    _function, root = example.function(None, values)  # the values live in it
    values |= {"op": root.owner, "result": root}
    guards = [guard for guard in rule.guards if not isinstance(guard, Condition)]
    return all(guard(*(values[name] for name in parameters_of(guard))) for guard in guards)


def returned(function: FuncOp) -> SSAValue:
    """What a function returns."""
    terminator = function.body.block.last_op
    assert terminator is not None
    return terminator.operands[0]


def instances(rule: Rule, typing: Typing, limit: int) -> Iterator[Instance]:
    """Choices of constants and of what is known of variables: all of them, or `limit` at random (always the same)."""
    leaves = [leaf for guard in rule.guards if isinstance(guard, Condition) for leaf in guard.leaves()]
    bounded = _bounded_variables(rule, leaves)
    elements = {name: element_of(type) for name, type in typing.variables.items()}
    ranged = [name for name in elements if bounded is None or name in bounded]
    divided = {leaf.variable.name for leaf in leaves if isinstance(leaf, Bound) and isinstance(leaf.of, Remainder)}
    stepped = [name for name, element in elements.items() if name in divided and is_integer(element)]
    used = list(dict.fromkeys(leaf.variable.name for leaf in leaves if isinstance(leaf, Uses)))
    pools: list[Sequence[Any]] = [_constants(type) for type in typing.constants.values()]
    pools += [_ranges(elements[name], always=bounded is not None) for name in ranged]
    pools += [(None, *STEPS) for _ in stepped] + [range(4) for _ in used]
    for choice in _choices(pools, limit):
        chosen = iter(choice)
        numbers = {name: next(chosen) for name in typing.constants}
        ranges, steps, uses = ({name: next(chosen) for name in names} for names in (ranged, stepped, used))
        yield Instance(rule, typing, numbers, _given(ranges), _given(steps), uses)


Pair = tuple[int, int]


def _given(pairs: Mapping[str, Pair | None]) -> dict[str, Pair]:
    return {name: pair for name, pair in pairs.items() if pair is not None}


def _choices(pools: Sequence[Sequence[Any]], limit: int) -> Iterator[tuple[Any, ...]]:
    """One of each, in all combinations or, where these are too many, at random."""
    if prod(map(len, pools)) <= limit:
        yield from product(*pools)
        return
    generator = random.Random(3)
    for _ in range(limit):
        yield tuple(map(generator.choice, pools))


def _constants(type: Attribute) -> Sequence[Number]:
    return constants_of(element_of(type))


def _bounded_variables(rule: Rule, leaves: Sequence[Leaf]) -> set[str] | None:
    """Variables of whose bounds the guard speaks; None where a function may ask for those of any."""
    if not all(isinstance(guard, Condition) for guard in rule.guards):
        return None
    return {leaf.variable.name for leaf in leaves if isinstance(leaf, Bound)}


def _ranges(element: Attribute, always: bool) -> Sequence[Pair | None]:
    """Ranges for a variable of whose bounds a guard speaks (`always`) or may speak."""
    if is_bool(element):
        return ((0, 0), (0, 1), (1, 1)) if always else (None,)
    if not is_integer(element):
        return (None,)
    low = integer_bounds(element)[0]
    limits = [limits for limits in RANGES if limits[0] >= low]
    return limits if always else (None, *limits)
