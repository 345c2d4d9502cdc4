"""The element types and shapes that a rule's term can have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation

from ...dialects import get_all_dialects
from ...dialects.monoids import Number
from ...dialects.syntax import integers
from ...dialects.types import (
    ELEMENT_TYPES,
    element_count,
    element_of,
    f32,
    i1,
    i8,
    integer_bounds,
    is_bool,
    is_float,
    shape_of,
    type_name,
    with_element,
    with_shape,
)
from ...dialects.uop import AluOp, CastOp, MovementOp
from ...rewriting.patterns import Capture, Constant, Operand, Rule, Term, TypeClass, Variable
from ...rewriting.values import kind_of_type

ELEMENTS = tuple(ELEMENT_TYPES.values())


@dataclass
class Node:
    """A pattern of which the type is chosen: a scalar's element type, or a tensor type where the rule moves elements.

    operands: of a term, or the term of a capture
    """

    pattern: Operand
    type: Attribute
    operands: Sequence[Node] = ()
    properties: dict[str, Attribute] | None = None


@dataclass
class Typing:
    """A rule's term with types: of its parts, its variables and its constants, by name."""

    root: Node
    variables: dict[str, Attribute]
    constants: dict[str, Attribute]

    @property
    def moves(self) -> bool:
        """Whether the types are tensor types, for shapes matter."""
        return isinstance(self.root.type, TensorType)

    def __str__(self) -> str:
        parts = [f"{name}: {_short(type)}" for name, type in (self.variables | self.constants).items()]
        return ", ".join((*parts, f"result: {_short(self.root.type)}"))


def _short(type: Attribute) -> str:
    shape = shape_of(type)
    return "x".join((*map(str, shape), type_name(element_of(type))))


def can_be_typed(rule: Rule) -> bool:
    """Whether the rule is about ALU ops, casts and movement alone, with operands in order."""
    return _is_plain(rule.term)


def ops_without_meaning(rule: Rule) -> list[str]:
    """Names of the rule's ops whose meaning is unknown to all that checks rules: ops of other dialects."""
    found: dict[str, None] = {}
    stack: list[object] = [rule.replacement, rule.term]
    while stack:
        part = stack.pop()
        if isinstance(part, Capture):
            stack.append(part.term)
        elif isinstance(part, Term):
            if part.head.op.name.partition(".")[0] not in get_all_dialects() and not issubclass(part.head.op, AluOp):
                found[part.head.op.name] = None
            stack += reversed((*(part.operands or ()), *(operand for _, operand in part.named)))
    return list(found)


def _is_plain(pattern: Operand) -> bool:
    if isinstance(pattern, Capture):
        return _is_plain(pattern.term)
    if isinstance(pattern, Term):
        known = issubclass(pattern.head.op, AluOp | CastOp) or pattern.head.op.name in _MOVEMENTS
        plain = pattern.operands is not None and not pattern.named and not pattern.properties
        return known and plain and all(map(_is_plain, pattern.operands or ()))
    return isinstance(pattern, Variable | Constant | int | float)


def moves_elements(pattern: Operand) -> bool:
    """Whether there is a movement op in a pattern."""
    if isinstance(pattern, Capture):
        return moves_elements(pattern.term)
    if not isinstance(pattern, Term):
        return False
    return issubclass(pattern.head.op, MovementOp) or any(map(moves_elements, pattern.operands or ()))


def typings(rule: Rule) -> list[Typing]:
    """All ways to give types to a rule that `can_be_typed`; where it moves elements, some shapes and types."""
    roots: Sequence[Attribute] = ELEMENTS
    if moves_elements(rule.term):
        roots = [TensorType(element, [2, 3, 2]) for element in (f32, i8, i1)]
    found: list[Typing] = []
    for root in roots:
        for node in _typings(rule.term, root):
            variables: dict[str, Attribute] = {}
            constants: dict[str, Attribute] = {}
            if all(_agrees(leaf, variables, constants) for leaf in _leaves(node)):
                found.append(Typing(node, variables, constants))
    return found


def _agrees(leaf: Node, variables: dict[str, Attribute], constants: dict[str, Attribute]) -> bool:
    """Note the type of a variable or constant; whether it can have it."""
    if isinstance(leaf.pattern, Constant):
        return constants.setdefault(leaf.pattern.name, leaf.type) == leaf.type
    assert isinstance(leaf.pattern, Variable)
    return in_class(leaf.type, leaf.pattern.types) and variables.setdefault(leaf.pattern.name, leaf.type) == leaf.type


def in_class(type: Attribute, types: TypeClass) -> bool:
    """Whether a variable of this class can have values of this type."""
    return kind_of_type(type) in types.kinds and (types.elements is None or element_of(type) in types.elements)


def _leaves(node: Node) -> Iterator[Node]:
    """Variables and constants of a typed pattern."""
    if isinstance(node.pattern, Variable | Constant):
        yield node
    for operand in node.operands:
        yield from _leaves(operand)


def captures(node: Node) -> Iterator[Node]:
    """The typed captures in a pattern."""
    if isinstance(node.pattern, Capture):
        yield node
    for operand in node.operands:
        yield from captures(operand)


def _typings(pattern: Operand, type: Attribute) -> Iterator[Node]:
    """The ways to give types to the parts of a pattern whose value has type `type`."""
    if isinstance(pattern, Capture):
        if in_class(type, pattern.variable.types):
            for inner in _typings(pattern.term, type):
                yield Node(pattern, type, (inner,))
        return
    if not isinstance(pattern, Term):
        if not isinstance(pattern, int | float) or fits(pattern, element_of(type)):
            yield Node(pattern, type)
        return
    operands = pattern.operands or ()
    for types, properties in _operand_types(pattern.head.op, type, len(operands)):
        choices = [list(_typings(operand, t)) for operand, t in zip(operands, types, strict=True)]
        for chosen in product(*choices):
            yield Node(pattern, type, chosen, properties)


def fits(number: Number, element: Attribute) -> bool:
    """Whether a pattern's number can be a constant of this element type."""
    if is_bool(element) or isinstance(number, bool):
        return is_bool(element) and isinstance(number, bool)
    if is_float(element):
        return True
    low, high = integer_bounds(element)
    return isinstance(number, int) and low <= number <= high


Properties = dict[str, Attribute] | None


def _operand_types(
    op: type[Operation], type: Attribute, count: int
) -> Iterator[tuple[Sequence[Attribute], Properties]]:
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
        assert count == 1
        for shape, properties in _MOVEMENTS[op.name](shape_of(type)):
            yield [element_of(type) if shape is None else with_shape(type, shape)], properties


# Movement: shapes of the operand, None for a scalar, and the op's properties, by the result's shape.

Movement = tuple[Sequence[int] | None, dict[str, Attribute]]


def _expands(shape: tuple[int, ...]) -> Iterator[Movement]:
    yield None, {}
    yield shape, {}
    for axis in range(len(shape)):
        yield (*shape[:axis], 1, *shape[axis + 1 :]), {}


def _reshapes(shape: tuple[int, ...]) -> Iterator[Movement]:
    yield shape, {}
    yield (1, element_count(shape), 1), {}
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
    if shape[0] > 1:
        yield (shape[0] - 1, *shape[1:]), {"low": integers([1, *none[1:]]), "high": integers(none)}


def _shrinks(shape: tuple[int, ...]) -> Iterator[Movement]:
    none = [0] * len(shape)
    yield shape, {"offsets": integers(none)}
    yield (shape[0] + 1, *shape[1:]), {"offsets": integers([1, *none[1:]])}
    strides = [1] * (len(shape) - 1) + [2]
    source = (*shape[:-1], 2 * shape[-1] + 1)
    yield source, {"offsets": integers([*none[:-1], 1]), "strides": integers(strides)}


def _windows(shape: tuple[int, ...]) -> Iterator[Movement]:
    if len(shape) > 1:
        source = (*shape[:-2], 2 * shape[-2] + shape[-1])
        yield source, {"axis": IntegerAttr(len(shape) - 2, i64), "strides": integers([2, 1])}


def _flips(shape: tuple[int, ...]) -> Iterator[Movement]:
    yield shape, {"axes": integers([len(shape) - 1])}
    yield shape, {"axes": integers([0])}


_MOVEMENTS: Mapping[str, Callable[[tuple[int, ...]], Iterator[Movement]]] = {
    "uop.expand": _expands,
    "uop.reshape": _reshapes,
    "uop.permute": _permutes,
    "uop.pad": _pads,
    "uop.shrink": _shrinks,
    "uop.window": _windows,
    "uop.flip": _flips,
}
