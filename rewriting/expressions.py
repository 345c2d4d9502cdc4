"""What rules know of values and numbers: type classes, arithmetic on constants and bounds, and conditions.

All of it is data: guards are compiled (`matcher.py`), printed and proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ..dialects.types import element_of
from .values import kind_of_type


@dataclass(frozen=True)
class TypeClass:
    """Element types that a variable stands for.

    kinds: `float`, `signed`, `unsigned`, `index`, `bool`
    elements: the element types themselves, where not all of these kinds are meant
    """

    name: str
    kinds: frozenset[str]
    elements: frozenset[Attribute] | None = None


def exactly(*elements: Attribute) -> TypeClass:
    """These element types only: `variables("h", exactly(f16, bf16))`."""
    names = " or ".join(map(str, elements))
    return TypeClass(names, frozenset(map(kind_of_type, elements)), frozenset(elements))


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

    variable: Value
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


@dataclass(frozen=True, eq=False)
class Fact:
    """`x.one_use`, `x.dtype == f32`: part of a guard that is about values, not about numbers.

    names: the variables whose values `test` is called with, in order
    """

    text: str
    names: tuple[str, ...]
    test: Callable[..., bool]

    @property
    def __name__(self) -> str:
        return self.text

    def __call__(self, *values: SSAValue) -> bool:
        return self.test(*values)

    def __bool__(self) -> bool:
        raise TypeError(f"`{self}` is not true or false yet: give `when` several conditions instead of combining them")

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class TypeExpression:
    """`x.type`, or `x.dtype`, its element type; == and != give a `Fact`."""

    variable: Value
    of_elements: bool

    def type_of(self, value: SSAValue) -> Attribute:
        return element_of(value.type) if self.of_elements else value.type

    def _compare(self, other: TypeExpression | Attribute, sign: str) -> Fact:
        text, equal = f"{self} {sign} {other}", sign == "=="
        if isinstance(other, Attribute):

            def is_so(x: SSAValue) -> bool:
                return (self.type_of(x) == other) is equal

            return Fact(text, (self.variable.name,), is_so)

        def agree(x: SSAValue, y: SSAValue) -> bool:
            return (self.type_of(x) == other.type_of(y)) is equal

        return Fact(text, (self.variable.name, other.variable.name), agree)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Fact:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, TypeExpression | Attribute)
        return self._compare(other, "==")

    def __ne__(self, other: object) -> Fact:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, TypeExpression | Attribute)
        return self._compare(other, "!=")

    def __str__(self) -> str:
        return f"{self.variable}.{'dtype' if self.of_elements else 'type'}"


def _has_one_use(value: SSAValue) -> bool:
    return value.has_one_use()


class Pattern:
    """What may stand in a term."""


@dataclass(frozen=True, eq=False)
class Value:
    """A value of which guards speak, by name."""

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

    @property
    def type(self) -> TypeExpression:
        """Its type: a scalar, tensor or vector type."""
        return TypeExpression(self, False)

    @property
    def dtype(self) -> TypeExpression:
        """Its element type."""
        return TypeExpression(self, True)

    @property
    def one_use(self) -> Fact:
        """Whether it has one use, the one that the term shows: then it dies with the rewrite."""
        return Fact(f"{self}.one_use", (self.name,), _has_one_use)

    def __str__(self) -> str:
        return self.name


RESULT = Value("result")
"""The value of the matched op, in guards: `x.type == RESULT.type`."""


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
