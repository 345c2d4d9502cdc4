"""Every rewrite rule against the meaning of its two sides, to the last bit.

A rule is instantiated with element types, constants and, where its guard speaks of bounds, ranges of its
variables. Where it fires, the function before and after is interpreted: on all values of 8-bit integers (up to two
variables) and of 16-bit floats (one variable), else on special and random ones. A rule that never fires fails.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from uop.dialects.monoids import Number
from uop.dialects.semantics import ALU, evaluate, numpy_dtype, round_to_bf16
from uop.dialects.syntax import integers
from uop.dialects.types import (
    ELEMENT_TYPES,
    bf16,
    element_count,
    element_of,
    f16,
    f32,
    i1,
    i8,
    index,
    integer_bounds,
    is_bool,
    is_float,
    shape_of,
    type_name,
    ui8,
    with_element,
    with_shape,
)
from uop.dialects.uop import AluOp, CastOp, MovementOp
from uop.passes.gpu_kernel.gpu_kernel_strength_reduce import STRENGTH, SUMS
from uop.passes.uop.rules import MASKS, POSITIONS, REDUCTIONS, SCANS, SIMPLIFY
from uop.passes.uop.rules.folding import INTEGER_FUNCTIONS, evaluate_constant
from uop.rewriting.builder import Builder
from uop.rewriting.driver import rewrite
from uop.rewriting.patterns import (
    Bound,
    Capture,
    Condition,
    Constant,
    Operand,
    Rule,
    Term,
    Variable,
)
from uop.rewriting.rules import Rules
from uop.rewriting.values import kind_of
from uop.runtime.interpret.tensors import interpret_function

Array = np.ndarray[Any, Any]

MAX_TYPINGS = 120
MAX_CONSTANTS = 60
MAX_INSTANCES = 2400
ELEMENTS = [element for name, element in ELEMENT_TYPES.items() if name not in ("i16", "i64")]


# Instances: a term with types, constants and ranges.


@dataclass
class Node:
    """A pattern of which the type is chosen."""

    pattern: Operand
    type: Attribute
    operands: Sequence[Node] = ()
    properties: dict[str, Attribute] | None = None


def typings(pattern: Operand, type: Attribute) -> Iterator[Node]:
    """The ways to give types to the parts of a pattern whose value has type `type`."""
    if isinstance(pattern, Capture):
        for inner in typings(pattern.term, type):
            yield Node(pattern, type, (inner,))
        return
    if not isinstance(pattern, Term):
        if not isinstance(pattern, int | float) or fits(pattern, element_of(type)):
            yield Node(pattern, type)
        return
    for types, properties in operand_types(pattern.head.op, type):
        choices = [list(typings(o, t)) for o, t in zip(pattern.operands or (), types, strict=True)]
        for operands in product(*choices):
            yield Node(pattern, type, operands, properties)


def fits(number: Number, element: Attribute) -> bool:
    """Whether a pattern's number can be a constant of this element type."""
    if is_bool(element) or isinstance(number, bool):
        return is_bool(element) and isinstance(number, bool)
    if is_float(element):
        return True
    low, high = integer_bounds(element)
    return isinstance(number, int) and low <= number <= high


def operand_types(op: type[Any], type: Attribute) -> Iterator[tuple[list[Attribute], dict[str, Attribute] | None]]:
    """Types of operands, and properties, with which `op` gives a value of type `type`."""
    if issubclass(op, AluOp):
        row = op.row()
        if row.compares:
            if is_bool(element_of(type)):
                yield from (([with_element(type, e)] * row.arity, None) for e in ELEMENTS if row.accepts(e))
        elif row.accepts(element_of(type)):
            yield op.operand_types_for(type), None
    elif issubclass(op, CastOp):
        yield from (([with_element(type, element)], None) for element in ELEMENTS)
    elif shape_of(type):
        for shape, properties in MOVEMENTS[op.name](shape_of(type)):
            yield [element_of(type) if shape is None else with_shape(type, shape)], properties


Movement = tuple[Sequence[int] | None, dict[str, Attribute]]


def _expands(shape: tuple[int, ...]) -> Iterator[Movement]:
    yield None, {}
    yield shape, {}
    for axis in range(len(shape)):
        yield (*shape[:axis], 1, *shape[axis + 1 :]), {}


def _reshapes(shape: tuple[int, ...]) -> Iterator[Movement]:
    yield shape, {}
    yield (1, int(np.prod(shape)), 1), {}
    yield shape[::-1], {}


def _permutes(shape: tuple[int, ...]) -> Iterator[Movement]:
    for order in ([*range(len(shape))], [*range(len(shape))][::-1], [*range(1, len(shape)), 0]):
        source = [0] * len(shape)
        for d, axis in enumerate(order):
            source[axis] = shape[d]
        yield source, {"order": integers(order)}


def _pads(shape: tuple[int, ...]) -> Iterator[Movement]:
    none = [0] * len(shape)
    yield shape, {"low": integers(none), "high": integers(none)}
    if shape[-1] > 1:
        yield (*shape[:-1], shape[-1] - 1), {"low": integers(none), "high": integers([*none[:-1], 1])}


def _shrinks(shape: tuple[int, ...]) -> Iterator[Movement]:
    none = [0] * len(shape)
    yield shape, {"offsets": integers(none)}
    strides = [1] * (len(shape) - 1) + [2]
    source = (*shape[:-1], 2 * shape[-1] + 1)
    yield source, {"offsets": integers([*none[:-1], 1]), "strides": integers(strides)}


def _windows(shape: tuple[int, ...]) -> Iterator[Movement]:
    if len(shape) > 1:
        source = (*shape[:-2], 2 * shape[-2] + shape[-1])
        yield source, {"axis": IntegerAttr(len(shape) - 2, i64), "strides": integers([2, 1])}


def _flips(shape: tuple[int, ...]) -> Iterator[Movement]:
    yield shape, {"axes": integers([len(shape) - 1])}


MOVEMENTS: dict[str, Callable[[tuple[int, ...]], Iterator[Movement]]] = {
    "uop.expand": _expands,
    "uop.reshape": _reshapes,
    "uop.permute": _permutes,
    "uop.pad": _pads,
    "uop.shrink": _shrinks,
    "uop.window": _windows,
    "uop.flip": _flips,
}


def leaves(node: Node) -> Iterator[Node]:
    """Variables and constants of a typed pattern."""
    if isinstance(node.pattern, Variable | Constant):
        yield node
    for operand in node.operands:
        yield from leaves(operand)


def variable_types(node: Node) -> dict[str, Attribute] | None:
    """The type of each variable; None if they do not agree or a variable is of another class."""
    types: dict[str, Attribute] = {}
    for leaf in leaves(node):
        if isinstance(leaf.pattern, Variable):
            if types.setdefault(leaf.pattern.name, leaf.type) != leaf.type:
                return None
            if kind_of(Block(arg_types=(leaf.type,)).args[0]) not in leaf.pattern.types.kinds:
                return None
    return types


def constant_types(node: Node) -> dict[str, Attribute]:
    return {leaf.pattern.name: leaf.type for leaf in leaves(node) if isinstance(leaf.pattern, Constant)}


# Numbers.


@cache
def numbers(element: Attribute, few: bool) -> list[Number]:
    """Special numbers of an element type, as Python's."""
    if is_bool(element):
        return [False, True]
    if is_float(element):
        special = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 0.5, -2.0, 3.0, 1e-40, 6e-8, 65504.0, 1e-3]
        return [round_number(x, element) for x in (special[:8] if few else special)]
    if element == index:
        return [0, 1, -1, 2, -2, 3, 4, 6, -3, 8, 12, -8] if few else [*range(-25, 26), 1 << 20, 1 - (1 << 20)]
    low, high = integer_bounds(element)
    special = [0, 1, 2, 3, 7, low, low + 1, high, high - 1, high // 2 + 1, -1, -2, -3, -7]
    return [x for x in special if low <= x <= high]


def round_number(x: float, element: Attribute) -> float:
    with np.errstate(all="ignore"):
        if type_name(element) == "bf16":
            return float(round_to_bf16(np, np.float32(x)))
        return float(np.asarray(x, numpy_dtype(element)))


@cache
def values(element: Attribute, variables: int) -> Array:
    """What a variable of this element type takes, when there are so many variables."""
    if variables <= 2 and element in (i8, ui8):
        return np.arange(256).astype(numpy_dtype(element))
    if variables == 1 and element == f16:
        return np.arange(65536, dtype=np.uint16).view(np.float16)
    if variables == 1 and element == bf16:
        return (np.arange(65536, dtype=np.uint32) << 16).view(np.float32)
    special = numbers(element, False)
    if is_float(element) and variables <= 2:
        generator = random.Random(1)
        exponents = [generator.randint(-30, 30) for _ in range(30)]
        special = special + [round_number(generator.uniform(-1, 1) * 2.0**e, element) for e in exponents]
    with np.errstate(all="ignore"):
        return np.asarray(special, numpy_dtype(element))


RANGES = [(0, 0), (0, 1), (1, 2), (3, 4), (0, 2), (0, 3), (0, 7), (1, 5), (3, 3), (-6, 5), (-9, -3), (8, 11)]


def limits_of(element: Attribute) -> list[tuple[int, int]]:
    """Ranges for a variable of whose bounds a guard speaks."""
    if is_bool(element):
        return [(0, 0), (0, 1), (1, 1)]
    low = integer_bounds(element)[0]
    return [limits for limits in RANGES if limits[0] >= low]


# The check.


@dataclass
class Report:
    """How many instances fired, and the first that was wrong."""

    instances: int = 0
    counterexample: str | None = None


def bounded_variables(rule: Rule) -> set[str]:
    """Variables of whose bounds the guard speaks."""
    leaves = [leaf for guard in rule.guards if isinstance(guard, Condition) for leaf in guard.leaves()]
    return {leaf.variable.name for leaf in leaves if isinstance(leaf, Bound)}


def check(rule: Rule) -> Report:
    """Try a rule on instances until one is wrong."""
    report = Report()
    rules = Rules(rule)
    bounded = bounded_variables(rule)
    moves = issubclass(rule.term.head.op, MovementOp)
    root_types = [TensorType(e, [2, 3, 2]) for e in (f32, i8, i1)] if moves else [TensorType(e, [1]) for e in ELEMENTS]
    nodes = [node for type in root_types for node in typings(rule.term, type)]
    typed = [(node, types) for node in nodes if (types := variable_types(node)) is not None]
    if len(typed) > MAX_TYPINGS:
        typed = random.Random(2).sample(typed, MAX_TYPINGS)
    for node, types in typed:
        constant = constant_types(node)
        pools = [numbers(element_of(type), True) for type in constant.values()]
        choices = list(product(*pools))
        if len(choices) > MAX_CONSTANTS:
            choices = random.Random(3).sample(choices, MAX_CONSTANTS)
        names = [name for name in types if name in bounded]
        ranges = product(*(limits_of(element_of(types[name])) for name in names))
        pairs = list(product(choices, ranges))
        if len(pairs) > (share := MAX_INSTANCES // len(typed)):
            pairs = random.Random(4).sample(pairs, share)
        for chosen, limits in pairs:
            chosen_constants = dict(zip(constant, chosen, strict=True))
            chosen_ranges = dict(zip(names, limits, strict=True))
            wrong = Instance(node, types, chosen_constants, chosen_ranges, moves).refute(rules, report)
            if wrong is not None:
                report.counterexample = f"{rule}: {wrong}"
                return report
    return report


@dataclass
class Instance:
    """A term with its choices."""

    node: Node
    types: dict[str, Attribute]
    constants: dict[str, Number]
    ranges: dict[str, tuple[int, int]]
    moves: bool

    def refute(self, rules: Rules, report: Report) -> str | None:
        """What is wrong with the rule here, if anything is."""
        arguments = self.arguments()
        rewritten, root = self.function(arguments)
        fired = rewrite(rewritten, rules).fired
        terminator = rewritten.body.block.last_op
        assert terminator is not None
        if not fired or terminator.operands[0] is root:
            return None
        rewritten.verify()
        report.instances += 1
        original, _ = self.function(arguments)
        expected, actual = (interpret_function(f, list(arguments.values()))[0] for f in (original, rewritten))
        wrong = np.nonzero(~same_bits(expected, actual))
        if len(wrong[0]) == 0:
            return None
        place = tuple(int(axis[0]) for axis in wrong)
        inputs = arguments if self.moves else {name: array[place] for name, array in arguments.items()}
        return f"{inputs} {self.constants} {self.ranges} gives {actual[place]} for {expected[place]}"

    def arguments(self) -> dict[str, Array]:
        """All combinations of what the variables take, one after the other; of movement ops numbered
        elements."""
        if self.moves:
            return {
                name: np.arange(1, element_count(shape_of(type)) + 1)
                .reshape(shape_of(type))
                .astype(numpy_dtype(element_of(type)))
                for name, type in self.types.items()
            }
        grids: list[Array] = []
        for name, type in self.types.items():
            element = element_of(type)
            if (limits := self.ranges.get(name)) is not None:
                grids.append(np.arange(limits[0], limits[1] + 1).astype(numpy_dtype(element)))
            else:
                grids.append(values(element, len(self.types)))
        mesh: Sequence[Array] = np.meshgrid(*grids, indexing="ij") if grids else ()
        return {name: array.reshape(-1) for name, array in zip(self.types, mesh, strict=True)}

    def function(self, arguments: dict[str, Array]) -> tuple[FuncOp, SSAValue]:
        """A function of the variables that returns the term, and the term's value."""
        count = next((array.size for array in arguments.values()), 1)

        def sized(type: Attribute) -> Attribute:
            return type if self.moves else TensorType(element_of(type), [count])

        types = [sized(type) for type in self.types.values()]
        block = Block(arg_types=types)
        builder = Builder(block)
        bound: dict[str, SSAValue] = dict(zip(self.types, block.args, strict=True))
        for name, (low, high) in self.ranges.items():
            value = builder.alu("min", bound[name], builder.constant_like(high, bound[name]))
            bound[name] = builder.alu("max", value, builder.constant_like(low, bound[name]))
        root = self.build(self.node, builder, bound, sized)
        block.add_op(ReturnOp(root))
        function = FuncOp("f", (types, [root.type]), Region(block))
        ModuleOp([function])
        return function, root

    def build(
        self,
        node: Node,
        builder: Builder,
        bound: dict[str, SSAValue],
        sized: Callable[[Attribute], Attribute],
    ) -> SSAValue:
        pattern = node.pattern
        type = sized(node.type)
        if isinstance(pattern, Variable):
            return bound[pattern.name]
        if isinstance(pattern, Capture):
            return self.build(node.operands[0], builder, bound, sized)
        if not isinstance(pattern, Term):
            number = self.constants[pattern.name] if isinstance(pattern, Constant) else pattern
            assert isinstance(number, int | float)
            return builder.expand(builder.const(number, element_of(type)), type)
        operands = [self.build(operand, builder, bound, sized) for operand in node.operands]
        return builder.pure(pattern.head.op, operands, (type,), node.properties).results[0]


def same_bits(x: Array, y: Array) -> Array:
    """Where two arrays agree: any NaN is NaN, +0.0 is not −0.0."""
    if not np.issubdtype(x.dtype, np.floating):
        return np.asarray(x == y)
    return np.asarray((np.isnan(x) & np.isnan(y)) | ((x == y) & (np.signbit(x) == np.signbit(y))))


ON_KERNELS = {*MASKS, *REDUCTIONS, *SCANS, *POSITIONS, *SUMS}
"""Rules that test_reduction_rules.py and the lit tests check, on kernels."""

CHECKED = [rule for rule in (*SIMPLIFY, *STRENGTH) if rule not in ON_KERNELS]


@pytest.mark.parametrize("rule", CHECKED, ids=str)
def test_rule(rule: Rule) -> None:
    report = check(rule)
    assert report.counterexample is None
    assert report.instances > 0, f"nothing satisfies the guard of {rule}"


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
