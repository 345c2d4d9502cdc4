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
from ...rewriting.patterns import Bound, Capture, Condition, Constant, Rule, Term, Variable, parameters_of
from ...rewriting.rules import Rules
from .samples import constants_of
from .typings import Node, Typing

RANGES = ((0, 0), (0, 1), (0, 2), (0, 3), (0, 7), (1, 5), (3, 3), (-6, 5), (-9, -3), (8, 11))


@dataclass(frozen=True)
class Instance:
    """A typed term with numbers for its constants, and ranges of variables of which the guard asks."""

    rule: Rule
    typing: Typing
    constants: Mapping[str, Number]
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

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
        """The function that returns the term, and the term's value.

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
        root = self._build(self.typing.root, builder, values, sized)
        block.add_op(ReturnOp(root))
        function = FuncOp("rule", (types, [root.type]), Region(block))
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
    """Choices of constants and ranges: all of them, or `limit` at random (always the same)."""
    bounded = _bounded_variables(rule)
    names = [name for name in typing.variables if bounded is None or name in bounded]
    numbers = [_constants(type) for type in typing.constants.values()]
    ranges = [_ranges(element_of(typing.variables[name]), always=bounded is not None) for name in names]
    for chosen, limits in _choices(numbers, ranges, limit):
        known = {name: bounds for name, bounds in zip(names, limits, strict=True) if bounds is not None}
        yield Instance(rule, typing, dict(zip(typing.constants, chosen, strict=True)), known)


Bounds = tuple[int, int] | None
Choice = tuple[tuple[Number, ...], tuple[Bounds, ...]]


def _choices(numbers: Sequence[Sequence[Number]], ranges: Sequence[Sequence[Bounds]], limit: int) -> Iterator[Choice]:
    """One of each, in all combinations or, where these are too many, at random."""
    if prod(map(len, (*numbers, *ranges))) <= limit:
        yield from product(product(*numbers), product(*ranges))
        return
    generator = random.Random(3)
    for _ in range(limit):
        yield tuple(map(generator.choice, numbers)), tuple(map(generator.choice, ranges))


def _constants(type: Attribute) -> Sequence[Number]:
    return constants_of(element_of(type))


def _bounded_variables(rule: Rule) -> set[str] | None:
    """Variables of whose bounds the guard speaks; None where a function may ask for those of any."""
    if not all(isinstance(guard, Condition) for guard in rule.guards):
        return None
    leaves = [leaf for guard in rule.guards if isinstance(guard, Condition) for leaf in guard.leaves()]
    return {leaf.variable.name for leaf in leaves if isinstance(leaf, Bound)}


def _ranges(element: Attribute, always: bool) -> Sequence[Bounds]:
    """Ranges for a variable of whose bounds a guard speaks (`always`) or may speak."""
    if is_bool(element):
        return ((0, 0), (0, 1), (1, 1)) if always else (None,)
    if not is_integer(element):
        return (None,)
    low = integer_bounds(element)[0]
    limits = [limits for limits in RANGES if limits[0] >= low]
    return limits if always else (None, *limits)
