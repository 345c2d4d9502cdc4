"""What the names in a rule stand for: values, constants, any number of operands, properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from .expressions import Constant, Pattern, Value
from .type_classes import ANY, TypeClass


@dataclass(frozen=True, eq=False)
class Variable(Value, Pattern):
    """Any value with elements of a type class. Where it is repeated it is the same value, or an equal
    constant."""

    def __matmul__(self, term: Pattern) -> Capture:
        """`y @ cast[x]`: the value of `cast[x]`, which is called y."""
        return Capture(self, term)


_anonymous = count()


@dataclass(frozen=True, eq=False)
class Anything(Variable):
    """`...` for one operand: a value that nothing else speaks of."""

    name: str = field(default_factory=lambda: f"_{next(_anonymous)}")

    def __str__(self) -> str:
        return "..."


@dataclass(frozen=True, eq=False)
class Operands(Pattern):
    """Any number of operands, also none; functions get them as a sequence. In a replacement they stand for
    themselves."""

    name: str

    def __str__(self) -> str:
        return f"*{self.name}"


@dataclass(frozen=True, eq=False)
class Capture(Pattern):
    """A variable bound to the value of a term."""

    variable: Variable
    term: Pattern

    def __str__(self) -> str:
        return f"{self.variable} @ {self.term}"


@dataclass(frozen=True, eq=False)
class AttributeVariable:
    """A property of an op; where it is repeated, an equal one. Functions get the attribute."""

    name: str

    def __str__(self) -> str:
        return self.name


def variables(names: str, types: TypeClass = ANY) -> tuple[Variable, ...]:
    """`x, y = variables("x y")`"""
    return tuple(Variable(name, types) for name in names.split())


def constants(names: str) -> tuple[Constant, ...]:
    """`a, b = constants("a b")`"""
    return tuple(Constant(name) for name in names.split())


def operands(names: str) -> tuple[Operands, ...]:
    """`xs, ys = operands("xs ys")`"""
    return tuple(Operands(name) for name in names.split())


def attributes(names: str) -> tuple[AttributeVariable, ...]:
    """`axes, monoid = attributes("axes monoid")`"""
    return tuple(AttributeVariable(name) for name in names.split())
