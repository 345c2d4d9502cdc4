"""What rules know of values and numbers: arithmetic on constants and bounds, and conditions.

All of it is data: guards are compiled (`matcher.py`), printed and proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ..dialects.types import element_of
from .type_classes import ANY, TypeClass


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
        return Comparison("<", self, other)

    def __le__(self, other: NumberExpression | int) -> Condition:
        return Comparison("<=", self, other)

    def __gt__(self, other: NumberExpression | int) -> Condition:
        return Comparison(">", self, other)

    def __ge__(self, other: NumberExpression | int) -> Condition:
        return Comparison(">=", self, other)

    # As in z3, == makes a formula. Identity is what Python's containers need.
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, NumberExpression | int)
        return Comparison("==", self, other)

    def __ne__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, NumberExpression | int)
        return Comparison("!=", self, other)

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        """Python source of the expression, where `leaf` says how constants and bounds are spelled."""
        raise NotImplementedError

    def leaves(self) -> Iterator[Leaf]:
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

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        if self.sign == "-" and isinstance(self.left, int) and self.left == 0:
            return f"-{_render(self.right, leaf, brackets=True)}"
        return f"{_render(self.left, leaf, brackets=True)} {self.sign} {_render(self.right, leaf, brackets=True)}"

    def leaves(self) -> Iterator[Leaf]:
        yield from _leaves(self.left, self.right)


@dataclass(frozen=True, eq=False)
class CommonDivisor(NumberExpression):
    """`gcd(a, b)`: the greatest number that divides both, which are not both 0."""

    left: NumberExpression | int
    right: NumberExpression | int

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        return f"gcd({_render(self.left, leaf)}, {_render(self.right, leaf)})"

    def leaves(self) -> Iterator[Leaf]:
        yield from _leaves(self.left, self.right)


def gcd(first: NumberExpression | int, *others: NumberExpression | int) -> NumberExpression:
    """The greatest common divisor of two numbers or more, which are not all 0."""
    result = first
    for other in others:
        result = CommonDivisor(result, other)
    assert isinstance(result, NumberExpression)
    return result


@dataclass(frozen=True, eq=False)
class Bound(NumberExpression):
    """`n.min` or `n.max`, `(n % a).min` or `(n % a).max`: what the range analysis knows of a variable."""

    of: Value | Remainder
    end: str

    @property
    def variable(self) -> Value:
        """The variable of which it speaks."""
        return self.of.variable if isinstance(self.of, Remainder) else self.of

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        return leaf(self)

    def leaves(self) -> Iterator[Leaf]:
        yield self

    def __str__(self) -> str:
        return f"{self.of}.{self.end}"


@dataclass(frozen=True, eq=False)
class Remainder:
    """`n % a`: the remainder of a variable, which has bounds. Division is floor division, and a is not 0.

    They are what intervals and congruences know: of n = 4 · m + 2, `(n % 8).min` is 2 and `(n % 8).max` is 6.
    """

    variable: Value
    divisor: NumberExpression | int

    @property
    def min(self) -> Bound:
        return Bound(self, "min")

    @property
    def max(self) -> Bound:
        return Bound(self, "max")

    def __str__(self) -> str:
        return f"({self.variable} % {_render(self.divisor, str, brackets=True)})"


def _render(part: NumberExpression | int, leaf: Callable[[Leaf], str], brackets: bool = False) -> str:
    if not isinstance(part, NumberExpression):
        return str(part)
    text = part.render(leaf)
    return f"({text})" if brackets and isinstance(part, Arithmetic) else text


def _leaves(*parts: NumberExpression | int) -> Iterator[Leaf]:
    for part in parts:
        if isinstance(part, NumberExpression):
            yield from part.leaves()


class Condition:
    """Part of a guard, as data."""

    def __bool__(self) -> bool:
        raise TypeError(f"`{self}` is not true or false yet: give `when` several conditions instead of chaining them")

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        """Python source of the condition, where `leaf` says how constants and bounds are spelled."""
        raise NotImplementedError

    def leaves(self) -> Iterator[Leaf]:
        """The constants, bounds and numbers of uses of which it speaks."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Comparison(Condition):
    """`0 <= n.min`"""

    sign: str
    left: NumberExpression | int
    right: NumberExpression | int

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        return f"{_render(self.left, leaf)} {self.sign} {_render(self.right, leaf)}"

    def leaves(self) -> Iterator[Leaf]:
        yield from _leaves(self.left, self.right)

    def __str__(self) -> str:
        return self.render(str)


@dataclass(frozen=True, eq=False)
class Divisible(Condition):
    """`n.divisible_by(a)`: n is known to be a multiple of a, which is not 0."""

    remainder: Remainder

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        return f"{leaf(self.remainder.min)} == 0 and {leaf(self.remainder.max)} == 0"

    def leaves(self) -> Iterator[Leaf]:
        yield self.remainder.min
        yield self.remainder.max

    def __str__(self) -> str:
        return f"{self.remainder.variable}.divisible_by({_render(self.remainder.divisor, str)})"


@dataclass(frozen=True, eq=False)
class Uses:
    """`x.uses`: by how many operands a value is used. It is compared with numbers."""

    variable: Value

    def __lt__(self, other: int) -> UseCondition:
        return UseCondition("<", self, other)

    def __le__(self, other: int) -> UseCondition:
        return UseCondition("<=", self, other)

    def __gt__(self, other: int) -> UseCondition:
        return UseCondition(">", self, other)

    def __ge__(self, other: int) -> UseCondition:
        return UseCondition(">=", self, other)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> UseCondition:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, int)
        return UseCondition("==", self, other)

    def __ne__(self, other: object) -> UseCondition:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert isinstance(other, int)
        return UseCondition("!=", self, other)

    def __str__(self) -> str:
        return f"{self.variable}.uses"


@dataclass(frozen=True, eq=False)
class UseCondition(Condition):
    """`x.uses <= 2`"""

    sign: str
    uses: Uses
    number: int

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        return f"{leaf(self.uses)} {self.sign} {self.number}"

    def leaves(self) -> Iterator[Leaf]:
        yield self.uses

    def __str__(self) -> str:
        if self.sign == "==" and self.number == 1:
            return f"{self.uses.variable}.one_use"
        return self.render(str)


@dataclass(frozen=True, eq=False)
class Fact:
    """`x.dtype == f32`: part of a guard that is about values, not about numbers.

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

    def __mod__(self, divisor: NumberExpression | int) -> Remainder:
        """Its remainder, of which guards ask the bounds: `(n % a).max`."""
        return Remainder(self, divisor)

    def divisible_by(self, divisor: NumberExpression | int) -> Divisible:
        """Whether it is known to be a multiple of a number, which is not 0."""
        return Divisible(Remainder(self, divisor))

    @property
    def uses(self) -> Uses:
        """How many operands are this value: at least the one that the term shows."""
        return Uses(self)

    @property
    def one_use(self) -> UseCondition:
        """Whether it has one use, the one that the term shows: then it dies with the rewrite."""
        return self.uses == 1

    def __str__(self) -> str:
        return self.name


RESULT = Value("result")
"""The value of the matched op, in guards: `x.type == RESULT.type`."""


@dataclass(frozen=True, eq=False)
class Constant(Pattern, NumberExpression):
    """A `uop.const`, scalar or expanded, of any element type; it stands for its number."""

    name: str

    def render(self, leaf: Callable[[Leaf], str]) -> str:
        return leaf(self)

    def leaves(self) -> Iterator[Leaf]:
        yield self

    def __str__(self) -> str:
        return self.name


Leaf = Constant | Bound | Uses
"""What expressions and conditions are made of."""
