"""The language of rewrite rules: `add[x, 0] >> x` is a rule, and a rule is data.

A pattern is a term over ops: a variable, a constant, a number, or an op applied to patterns. Rules are compiled
(`matcher.py`), printed, counted and checked; nothing here looks at an operation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType

from xdsl.ir import Operation, SSAValue

from ..dialects.monoids import Number


@dataclass(frozen=True)
class TypeClass:
    """Element types that a variable stands for, by kind: `float`, `signed`, `unsigned`, `index`, `bool`."""

    name: str
    kinds: frozenset[str]


ANY = TypeClass("any", frozenset(("float", "signed", "unsigned", "index", "bool")))
FLOAT = TypeClass("float", frozenset(("float",)))
INTEGER = TypeClass("integer", frozenset(("signed", "unsigned", "index")))
SIGNED = TypeClass("signed", frozenset(("signed", "index")))
INDEX = TypeClass("index", frozenset(("index",)))
BOOL = TypeClass("bool", frozenset(("bool",)))
BITS = TypeClass("bits", INTEGER.kinds | BOOL.kinds)


class NumberExpression:
    """A number known when a rule has matched: a constant's value, a bound of a variable, or arithmetic on
    such.

    Numbers are Python's: integers have no width. Comparisons give a `Condition`, as data.
    """

    def __add__(self, other: NumberExpression | int) -> Arithmetic:
        return Arithmetic("+", self, other)

    def __radd__(self, other: int) -> Arithmetic:
        return Arithmetic("+", other, self)

    def __sub__(self, other: NumberExpression | int) -> Arithmetic:
        return Arithmetic("-", self, other)

    def __rsub__(self, other: int) -> Arithmetic:
        return Arithmetic("-", other, self)

    def __mul__(self, other: NumberExpression | int) -> Arithmetic:
        return Arithmetic("*", self, other)

    def __floordiv__(self, other: NumberExpression | int) -> Arithmetic:
        return Arithmetic("//", self, other)

    def __mod__(self, other: NumberExpression | int) -> Arithmetic:
        return Arithmetic("%", self, other)

    def __neg__(self) -> Arithmetic:
        return Arithmetic("-", 0, self)

    def __lt__(self, other: NumberExpression | int) -> Condition:
        return Condition("<", self, other)

    def __le__(self, other: NumberExpression | int) -> Condition:
        return Condition("<=", self, other)

    def __gt__(self, other: NumberExpression | int) -> Condition:
        return Condition(">", self, other)

    def __ge__(self, other: NumberExpression | int) -> Condition:
        return Condition(">=", self, other)

    # As in z3, == makes a formula. Identity is what Python's containers need.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, NumberExpression | int)
        return Condition("==", self, other)

    def __ne__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, NumberExpression | int)
        return Condition("!=", self, other)

    def render(self, leaf: Callable[[Constant | Bound], str]) -> str:
        """Python source of the expression, where `leaf` says how constants and bounds are spelled."""
        raise NotImplementedError

    def leaves(self) -> Iterator[Constant | Bound]:
        """The constants and bounds in the expression."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.render(str)


@dataclass(frozen=True, eq=False)
class Arithmetic(NumberExpression):
    """`a + b`; floor division and modulo."""

    sign: str
    left: NumberExpression | int
    right: NumberExpression | int

    def render(self, leaf: Callable[[Constant | Bound], str]) -> str:
        if self.sign == "-" and isinstance(self.left, int) and self.left == 0:
            return f"-{_render(self.right, leaf, brackets=True)}"
        return f"{_render(self.left, leaf, brackets=True)} {self.sign} {_render(self.right, leaf, brackets=True)}"

    def leaves(self) -> Iterator[Constant | Bound]:
        for side in (self.left, self.right):
            if isinstance(side, NumberExpression):
                yield from side.leaves()


@dataclass(frozen=True, eq=False)
class Bound(NumberExpression):
    """`n.min` or `n.max`: what the range analysis knows of a variable."""

    variable: Variable
    end: str

    def render(self, leaf: Callable[[Constant | Bound], str]) -> str:
        return leaf(self)

    def leaves(self) -> Iterator[Constant | Bound]:
        yield self

    def __str__(self) -> str:
        return f"{self.variable}.{self.end}"


def _render(part: NumberExpression | int, leaf: Callable[[Constant | Bound], str], brackets: bool = False) -> str:
    if not isinstance(part, NumberExpression):
        return str(part)
    text = part.render(leaf)
    return f"({text})" if brackets and isinstance(part, Arithmetic) else text


@dataclass(frozen=True, eq=False)
class Condition:
    """`0 <= n.min`: part of a guard."""

    sign: str
    left: NumberExpression | int
    right: NumberExpression | int

    def __bool__(self) -> bool:
        raise TypeError(f"`{self}` is not true or false yet: give `when` several conditions instead of chaining them")

    def render(self, leaf: Callable[[Constant | Bound], str]) -> str:
        return f"{_render(self.left, leaf)} {self.sign} {_render(self.right, leaf)}"

    def leaves(self) -> Iterator[Constant | Bound]:
        for side in (self.left, self.right):
            if isinstance(side, NumberExpression):
                yield from side.leaves()

    def __str__(self) -> str:
        return self.render(str)


class Pattern:
    """What may stand in a term."""


@dataclass(frozen=True, eq=False)
class Variable(Pattern):
    """Any value with elements of a type class. Where it is repeated it is the same value, or an equal
    constant."""

    name: str
    types: TypeClass = ANY

    @property
    def min(self) -> Bound:
        """The least value that it can have."""
        return Bound(self, "min")

    @property
    def max(self) -> Bound:
        """The greatest value that it can have."""
        return Bound(self, "max")

    def __matmul__(self, term: Term) -> Capture:
        """`y @ cast[x]`: the value of `cast[x]`, which is called y."""
        return Capture(self, term)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Constant(Pattern, NumberExpression):
    """A `uop.const`, scalar or expanded, of any element type; it stands for its number."""

    name: str

    def render(self, leaf: Callable[[Constant | Bound], str]) -> str:
        return leaf(self)

    def leaves(self) -> Iterator[Constant | Bound]:
        yield self

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Capture(Pattern):
    """A variable bound to the value of a term."""

    variable: Variable
    term: Term

    def __str__(self) -> str:
        return f"{self.variable} @ {self.term}"


Operand = Pattern | NumberExpression | Number
"""A number matches a constant of any element type that holds exactly this number: 0 is not −0.0, 1 is not
true. Arithmetic stands in replacements only."""

Guard = Condition | Callable[..., bool]
Replacement = Variable | NumberExpression | Number | Callable[..., SSAValue | Sequence[SSAValue] | None]


@dataclass(frozen=True)
class OpPattern:
    """An op of which terms are made: `add[x, y]`; `add[...]` takes any operands.

    commutative: terms of it match in both orders of their two operands; `add.ordered[x, y]` does not.
    """

    name: str
    op: type[Operation]
    commutative: bool = False

    @property
    def ordered(self) -> OpPattern:
        return replace(self, name=f"{self.name}.ordered", commutative=False)

    def __getitem__(self, operands: Operand | tuple[Operand, ...] | EllipsisType) -> Term:
        if isinstance(operands, EllipsisType):
            return Term(self, None)
        return Term(self, operands if isinstance(operands, tuple) else (operands,))


@dataclass(frozen=True, eq=False)
class Term(Pattern):
    """An op applied to patterns; `operands` is None where they do not matter."""

    head: OpPattern
    operands: tuple[Operand, ...] | None

    def when(self, *guards: Guard) -> Guarded:
        """The term under conditions, tried from left to right.

        A guard is a `Condition`, or a function whose parameters are named like variables (it gets their
        values), constants (their numbers), `op` (the matched op) or `result` (its value).
        """
        return Guarded(self, guards)

    def __rshift__(self, replacement: Replacement | Term) -> Rule:
        return _rule(self, (), replacement)

    def __str__(self) -> str:
        inside = "..." if self.operands is None else ", ".join(map(str, self.operands))
        return f"{self.head.name}[{inside}]"


@dataclass(frozen=True, eq=False)
class Guarded:
    """A term under conditions."""

    term: Term
    guards: tuple[Guard, ...]

    def __rshift__(self, replacement: Replacement | Term) -> Rule:
        return _rule(self.term, self.guards, replacement)


@dataclass(frozen=True, eq=False)
class Rule:
    """`term >> replacement`: a value that matches the term is the same as the replacement.

    replacement: a variable, a term, a number, or a function of a builder and, by name, what the term binds
    (as for
      guards); it returns the value (or values) to put in the op's place, `()` to erase an op without results,
      or None: the rule does not apply.
    name: the rule's text, where none is given.
    """

    term: Term
    guards: tuple[Guard, ...]
    replacement: Replacement | Term
    name: str
    file: str
    line: int

    def named(self, name: str) -> Rule:
        return replace(self, name=name)

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return self.name


def variables_of(term: Term) -> Iterator[Variable | Constant]:
    """Variables and constants of a term, in order, repeated ones repeatedly."""
    for operand in term.operands or ():
        if isinstance(operand, Variable | Constant):
            yield operand
        elif isinstance(operand, Capture):
            yield operand.variable
            yield from variables_of(operand.term)
        elif isinstance(operand, Term):
            yield from variables_of(operand)


def _rule(term: Term, guards: tuple[Guard, ...], replacement: Replacement | Term) -> Rule:
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the line of the rule, without inspect's cost
    return Rule(term, guards, replacement, _text(term, guards, replacement), frame.f_code.co_filename, frame.f_lineno)


def _text(term: Term, guards: tuple[Guard, ...], replacement: Replacement | Term) -> str:
    """`add[n, 0] >> n for integer n when …`"""
    right = getattr(replacement, "__name__", None) or str(replacement)
    text = f"{term} >> {right}"
    classes: dict[str, dict[str, None]] = {}
    for variable in variables_of(term):
        if isinstance(variable, Variable) and variable.types is not ANY:
            classes.setdefault(variable.types.name, {})[variable.name] = None
    if classes:
        text += " for " + " and ".join(f"{name} {', '.join(members)}" for name, members in classes.items())
    if guards:
        text += " when " + ", ".join(str(g) if isinstance(g, Condition) else g.__name__ for g in guards)
    return text


def variables(names: str, types: TypeClass = ANY) -> tuple[Variable, ...]:
    """`x, y = variables("x y")`"""
    return tuple(Variable(name, types) for name in names.split())


def constants(names: str) -> tuple[Constant, ...]:
    """`a, b = constants("a b")`"""
    return tuple(Constant(name) for name in names.split())
