"""What a rule is made of: a term, guards and a replacement.

A term is an op applied to patterns; `term.when(…) >> replacement` is a rule. Terms are written as `patterns.py` has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import product

from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.monoids import Number
from .expressions import Condition, Constant, Fact, NumberExpression, Pattern
from .type_classes import ANY
from .variables import AttributeVariable, Capture, Variable

Operand = Pattern | NumberExpression | Number
"""A number matches a constant of any element type that holds exactly this number: 0 is not −0.0, 1 is not
true. Arithmetic stands in replacements only."""

PropertyPattern = AttributeVariable | Attribute | Number | str | Sequence[int] | None | Callable[[Attribute], bool]
"""What a property is: bound to a variable, an attribute, what an attribute holds in Python (`"add"`, 0, `(0, 2)`),
absent (None), or what a function says is true of it."""

Guard = Condition | Callable[..., bool]
"""A condition as data (`Condition`; `Fact`, which can be called), or a function: see `Term.when`."""

Replacement = Variable | NumberExpression | Number | Callable[..., SSAValue | Sequence[SSAValue] | None]


class Assumption(StrEnum):
    """What a rule takes for granted beyond the meaning of eager PyTorch, to the bit."""

    FINITE = "finite"
    """No operand is an infinity or NaN, and the sign of 0 does not matter."""

    ROUNDING = "up to rounding"
    """Results may differ as if rounded at other places."""


@dataclass(frozen=True)
class Head:
    """The op of a term.

    commutative: terms of it match in both orders of their two operands
    constant: the op that makes constants in replacements of its terms, with its number as the property
      `value`; uop.const where there is none
    """

    name: str
    op: type[Operation]
    commutative: bool = False
    constant: type[Operation] | None = None


@dataclass(frozen=True, eq=False)
class AnyOf(Pattern):
    """One of several patterns: a rule with it is as many rules (`Rule.alternatives`).

    key: those that share it stand for the same choice
    """

    options: tuple[Operand, ...]
    key: object = field(default_factory=object)

    def __or__(self, other: Term | AnyOf) -> AnyOf:
        return AnyOf((*self.options, *_options(other)))

    def when(self, *guards: Guard) -> GuardedAny:
        return GuardedAny(self, guards)

    def __rshift__(self, replacement: Replacement | Pattern) -> RuleGroup:
        return _rules(self, (), replacement)

    def __str__(self) -> str:
        return f"({' | '.join(map(str, self.options))})"


def _options(pattern: Term | AnyOf) -> tuple[Operand, ...]:
    return pattern.options if isinstance(pattern, AnyOf) else (pattern,)


@dataclass(frozen=True, eq=False)
class Term(Pattern):
    """An op applied to patterns.

    operands: in order; None where they do not matter or are named
    properties: those that matter, by name
    named: operands by the name of their field; None for one that is absent
    type: in a replacement, the result's type: a value that has it, or the type itself; None for that of the
      value in whose place the term stands
    """

    head: Head
    operands: tuple[Operand, ...] | None
    properties: tuple[tuple[str, PropertyPattern], ...] = ()
    named: tuple[tuple[str, Operand | None], ...] = ()
    type: Variable | Attribute | None = None

    def having(self, **properties: PropertyPattern) -> Term:
        """The term whose op has these properties (or attributes): `reduce_axis[x].having(monoid="add")`.

        In a replacement: the op is built with them, each an attribute or a variable for one.
        """
        return replace(self, properties=(*self.properties, *properties.items()))

    def of_type(self, type: Variable | Attribute) -> Term:
        """In a replacement: the term with this result type, or that of a variable."""
        return replace(self, type=type)

    def __or__(self, other: Term | AnyOf) -> AnyOf:
        return AnyOf((self, *_options(other)))

    def when(self, *guards: Guard) -> Guarded:
        """The term under conditions, tried from left to right.

        A guard is a `Condition` (`n.min >= 0`), a `Fact` (`x.dtype == f32`), or a function whose parameters are
        named like variables (it gets their values), constants (their numbers), operands (a sequence of
        values), attributes, `op` (the matched op) or `result` (its value).
        """
        return Guarded(self, guards)

    def __rshift__(self, replacement: Replacement | Pattern) -> Rule:
        return _rule(self, (), replacement)

    def __str__(self) -> str:
        if self.named:
            fields = [f"{name}={pattern}" for name, pattern in (*self.named, *self.properties)]
            return f"{self.head.name}({', '.join(fields)})"
        inside = "..." if self.operands is None else ", ".join(map(str, self.operands))
        text = f"{self.head.name}[{inside}]"
        if self.properties:
            text += f".having({', '.join(f'{name}={_name_of(value)}' for name, value in self.properties)})"
        return text if self.type is None else f"{text}.of_type({self.type})"


@dataclass(frozen=True, eq=False)
class Guarded:
    """A term under conditions."""

    term: Term
    guards: tuple[Guard, ...]

    def __rshift__(self, replacement: Replacement | Pattern) -> Rule:
        return _rule(self.term, self.guards, replacement)


@dataclass(frozen=True, eq=False)
class GuardedAny:
    """One of several terms, under conditions."""

    pattern: AnyOf
    guards: tuple[Guard, ...]

    def __rshift__(self, replacement: Replacement | Pattern) -> RuleGroup:
        return _rules(self.pattern, self.guards, replacement)


@dataclass(frozen=True, eq=False)
class Rule:
    """`term >> replacement`: a value that matches the term is the same as the replacement.

    replacement: a variable, a term, a number, or a function of a builder and, by name, what the term binds
    (as for
      guards); it returns the value (or values) to put in the op's place, `()` to erase an op without results,
      or None: the rule does not apply.
    title: what the rule is called; by default its text.
    is_alternative: it is one of several that a rule of this title stands for.
    assumes: what must be granted for the rule to be used; by default nothing is.
    """

    term: Term
    guards: tuple[Guard, ...]
    replacement: Replacement | Term | AnyOf
    file: str
    line: int
    title: str = ""
    is_alternative: bool = False
    assumes: frozenset[Assumption] = frozenset()

    @cached_property
    def name(self) -> str:
        """Its title, its text, or for an alternative of a rule with a title both."""
        if not self.title:
            return self._text
        return f"{self.title}: {self._text}" if self.is_alternative else self.title

    @cached_property
    def _text(self) -> str:
        """`add[n, 0] >> n for integer n when …`"""
        text = f"{self.term} >> {_name_of(self.replacement)}"
        classes: dict[str, dict[str, None]] = {}
        for variable in variables_of(self.term):
            if isinstance(variable, Variable) and variable.types is not ANY:
                classes.setdefault(variable.types.name, {})[variable.name] = None
        if classes:
            text += " for " + " and ".join(f"{name} {', '.join(members)}" for name, members in classes.items())
        if self.guards:
            text += " when " + ", ".join(map(_name_of, self.guards))
        return text

    def named(self, name: str) -> Rule:
        return replace(self, title=name, is_alternative=False)

    def finite(self) -> Rule:
        """The rule, declared to hold for finite numbers only: used only where that is assumed."""
        return replace(self, assumes=self.assumes | {Assumption.FINITE})

    def up_to_rounding(self) -> Rule:
        """The rule, declared to hold only up to rounding: used only where that may be."""
        return replace(self, assumes=self.assumes | {Assumption.ROUNDING})

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @cached_property
    def alternatives(self) -> tuple[Rule, ...]:
        """The rule once for each choice of its `AnyOf`s; a rule without any is its own only alternative.

        Sets of rules (`Rules`) hold these, so that each is matched, counted and proved on its own.
        """
        keys = _choices(self.term)
        if not keys:
            return (self,)
        found: dict[str, Rule] = {}
        for indices in product(*(range(options) for options in keys.values())):
            chosen = dict(zip(keys, indices, strict=True))
            term = _choose(self.term, chosen)
            replacement = (
                _choose(self.replacement, chosen) if isinstance(self.replacement, Pattern) else self.replacement
            )
            assert isinstance(term, Term)
            assert not isinstance(replacement, Pattern) or isinstance(replacement, _REPLACEMENTS)
            rule = replace(self, term=term, replacement=replacement, is_alternative=True)
            found.setdefault(rule._text, rule)
        return tuple(found.values())

    def __str__(self) -> str:
        return self.name


_REPLACEMENTS = (Variable, Constant, Term, AnyOf)


class RuleGroup(tuple[Rule, ...]):
    """The rules of a term that is one of several."""

    def named(self, name: str) -> RuleGroup:
        return RuleGroup(rule.named(f"{name}: {rule.term}") for rule in self)

    def finite(self) -> RuleGroup:
        return RuleGroup(rule.finite() for rule in self)

    def up_to_rounding(self) -> RuleGroup:
        return RuleGroup(rule.up_to_rounding() for rule in self)


def _choices(operand: Operand | None) -> dict[int, int]:
    """Keys of the choices in a pattern, by identity, and how many options each has."""
    found: dict[int, int] = {}
    for part in _parts(operand):
        if isinstance(part, AnyOf):
            found[id(part.key)] = len(part.options)
        found |= _choices(part)
    return found


def _parts(operand: Operand | None) -> tuple[Operand | None, ...]:
    """The patterns directly inside a pattern."""
    if isinstance(operand, Term):
        return (*(operand.operands or ()), *(pattern for _, pattern in operand.named))
    if isinstance(operand, AnyOf):
        return operand.options
    return (operand.term,) if isinstance(operand, Capture) else ()


def _choose(operand: Operand, chosen: dict[int, int]) -> Operand:
    """The pattern with these choices made."""
    if isinstance(operand, AnyOf):
        if (index := chosen.get(id(operand.key))) is not None:
            return _choose(operand.options[index], chosen)
        return AnyOf(tuple(_choose(option, chosen) for option in operand.options), operand.key)
    if isinstance(operand, Capture):
        inner = _choose(operand.term, chosen)
        assert isinstance(inner, Term | AnyOf), f"{inner} is no term that {operand.variable} could stand for"
        return Capture(operand.variable, inner)
    if not isinstance(operand, Term):
        return operand
    inside = operand.operands and tuple(_choose(o, chosen) for o in operand.operands)
    named = tuple((name, None if o is None else _choose(o, chosen)) for name, o in operand.named)
    return replace(operand, operands=inside, named=named)


def parameters_of(function: Callable[..., object], given: int = 0) -> tuple[str, ...]:
    """The names that a guard or a replacement asks for, after the first `given` parameters."""
    if isinstance(function, Fact):
        return function.names
    code = function.__code__
    return code.co_varnames[given : code.co_argcount]


def variables_of(term: Term) -> Iterator[Variable | Constant]:
    """Variables and constants of a term, in order, repeated ones repeatedly."""
    for part in _parts(term):
        if isinstance(part, Variable | Constant):
            yield part
        elif isinstance(part, Capture):
            yield part.variable
            if isinstance(part.term, Term):
                yield from variables_of(part.term)
        elif isinstance(part, Term):
            yield from variables_of(part)


def _rule(term: Term, guards: tuple[Guard, ...], replacement: Replacement | Pattern, depth: int = 2) -> Rule:
    frame = sys._getframe(depth)  # pyright: ignore[reportPrivateUsage]  # the rule's line, without inspect's cost
    assert not isinstance(replacement, Pattern) or isinstance(replacement, _REPLACEMENTS)
    return Rule(term, guards, replacement, frame.f_code.co_filename, frame.f_lineno)


def _rules(pattern: AnyOf, guards: tuple[Guard, ...], replacement: Replacement | Pattern) -> RuleGroup:
    """The rules of the options, each with the choice made in the replacement too."""
    rules: list[Rule] = []
    for index in range(len(pattern.options)):
        chosen = {id(pattern.key): index}
        term = _choose(pattern, chosen)
        if not isinstance(term, Term):
            raise TypeError(f"{term} is no term: a rule is about an op")
        right = _choose(replacement, chosen) if isinstance(replacement, Pattern) else replacement
        assert not isinstance(right, Pattern) or isinstance(right, _REPLACEMENTS)
        rules.append(_rule(term, guards, right, depth=3))
    return RuleGroup(rules)


def _name_of(part: object) -> str:
    """A function's name, the text of what is data."""
    return getattr(part, "__name__", None) or str(part)
