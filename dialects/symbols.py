"""Sizes that are known when a program runs: symbols with bounds, and extents made of them.

From uop down a type has the greatest values that its extents may have; which elements are meant stands beside it, as
attributes of the function's arguments and results: see `function_sizes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

Bounds = Mapping[str, tuple[int, int]]
"""Symbol → its least and its greatest value."""


@dataclass(frozen=True)
class Quotient:
    """The floor of an extent divided by a positive constant: an unknown of its own in the extents that it is in."""

    dividend: Extent
    divisor: int

    def __str__(self) -> str:
        text = str(self.dividend)
        return f"{text if text.isalnum() else f'({text})'} floordiv {self.divisor}"


Factor = str | Quotient
Monomial = tuple[Factor, ...]


def _order(factor: Factor) -> tuple[bool, str]:
    return isinstance(factor, Quotient), str(factor)


@dataclass(frozen=True)
class Extent:
    """A polynomial in symbols with integer coefficients: `s0 * s1 + 2 * s0 - 1`.

    terms: (product of symbols and quotients, coefficient), ordered, no coefficient 0, the constant the last. Two
      extents without quotients are equal exactly where they have the same value whatever their symbols are.
    """

    terms: tuple[tuple[Monomial, int], ...] = ()

    @staticmethod
    def of(value: int | str) -> Extent:
        """A number, or a symbol by its name."""
        if isinstance(value, str):
            return Extent((((value,), 1),))
        return _extent({(): value})

    @property
    def constant(self) -> int | None:
        """Its value, where it has no symbols."""
        if not self.terms:
            return 0
        ((monomial, value), *others) = self.terms
        return value if not others and not monomial else None

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The names in it, ordered."""
        names: set[str] = set()
        for monomial, _ in self.terms:
            for factor in monomial:
                names.update((factor,) if isinstance(factor, str) else factor.dividend.symbols)
        return tuple(sorted(names))

    def __add__(self, other: Extent | int) -> Extent:
        sums = dict(self.terms)
        for monomial, value in _as_extent(other).terms:
            sums[monomial] = sums.get(monomial, 0) + value
        return _extent(sums)

    __radd__ = __add__

    def __neg__(self) -> Extent:
        return Extent(tuple((monomial, -value) for monomial, value in self.terms))

    def __sub__(self, other: Extent | int) -> Extent:
        return self + -_as_extent(other)

    def __rsub__(self, other: int) -> Extent:
        return -self + other

    def __mul__(self, other: Extent | int) -> Extent:
        products: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in _as_extent(other).terms:
                monomial = tuple(sorted((*left, *right), key=_order))
                products[monomial] = products.get(monomial, 0) + a * b
        return _extent(products)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Extent:
        """The floor of it divided by a positive number. What divides goes in front: `(2 * s0 + 1) // 2` is `s0`."""
        if divisor < 1:
            raise ValueError(f"an extent divided by {divisor}")
        whole = _extent({monomial: value // divisor for monomial, value in self.terms})
        rest = _extent({monomial: value % divisor for monomial, value in self.terms})
        if rest.constant is not None:  # less than the divisor
            return whole
        return whole + Extent((((Quotient(rest, divisor),), 1),))

    def divided_by(self, divisor: Extent) -> Extent | None:
        """The extent whose product with `divisor` this is, if there is one: the division of polynomials."""
        if not divisor.terms:
            return None
        (taken, by), *_ = divisor.terms
        rest, quotient = self, Extent()
        while rest.terms:
            (monomial, value), *_ = rest.terms  # the leading term, which only the leading terms make
            left = list(monomial)
            for factor in taken:
                if factor not in left:
                    return None
                left.remove(factor)
            if value % by:
                return None
            term = Extent(((tuple(left), value // by),))
            rest, quotient = rest - term * divisor, quotient + term
        return quotient

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Its value, given those of its symbols."""
        total = 0
        for monomial, coefficient in self.terms:
            for factor in monomial:
                coefficient *= (
                    values[factor] if isinstance(factor, str) else factor.dividend.evaluate(values) // factor.divisor
                )
            total += coefficient
        return total

    def solved(self, value: int) -> int | None:
        """The value of its symbol that gives it `value`, where it is a · symbol + b and there is one."""
        (monomial, factor), *rest = self.terms
        offset = rest[0][1] if rest else 0
        if len(monomial) != 1 or not isinstance(monomial[0], str) or any(other for other, _ in rest):
            return None
        return None if (value - offset) % factor else (value - offset) // factor

    def range(self, bounds: Bounds) -> tuple[int, int]:
        """A least and a greatest value, given those of its symbols: what its terms can have, added up.

        Both are reached where no symbol is in two terms of different sign.
        """
        low = high = 0
        for monomial, coefficient in self.terms:
            least = greatest = coefficient
            for factor in monomial:
                if isinstance(factor, str):
                    a, b = bounds[factor]
                else:
                    a, b = (value // factor.divisor for value in factor.dividend.range(bounds))
                corners = (least * a, least * b, greatest * a, greatest * b)
                least, greatest = min(corners), max(corners)
            low, high = low + least, high + greatest
        return low, high

    def __str__(self) -> str:
        text = ""
        for monomial, value in self.terms:
            size = abs(value)
            parts = [str(size)] if size != 1 or not monomial else []
            alone = not parts and len(monomial) == 1
            parts += [str(factor) if alone or isinstance(factor, str) else f"({factor})" for factor in monomial]
            term = " * ".join(parts)
            text += f"{' - ' if value < 0 else ' + '}{term}" if text else f"{'-' if value < 0 else ''}{term}"
        return text or "0"


def _as_extent(value: Extent | int) -> Extent:
    return value if isinstance(value, Extent) else Extent.of(value)


def _extent(terms: Mapping[Monomial, int]) -> Extent:
    """Of products in any order: the longest first, then by name."""
    kept = [(monomial, value) for monomial, value in terms.items() if value]
    kept.sort(key=lambda term: (-len(term[0]), [_order(factor) for factor in term[0]]))
    return Extent(tuple(kept))


def parse_extent(parser: AttrParser) -> Extent:
    """`s0 * s1 + 2 * (s0 + 1) floordiv 3 - 1`; a product binds as tightly as a quotient, from left to right."""
    negative = parser.parse_optional_punctuation("-") is not None
    total = _parse_product(parser)
    total = -total if negative else total
    while True:
        if parser.parse_optional_punctuation("+"):
            total = total + _parse_product(parser)
        elif parser.parse_optional_punctuation("-"):
            total = total - _parse_product(parser)
        else:
            return total


def _parse_product(parser: AttrParser) -> Extent:
    product = _parse_factor(parser)
    while True:
        if parser.parse_optional_punctuation("*"):
            product = product * _parse_factor(parser)
        elif parser.parse_optional_keyword("floordiv"):
            position = parser.pos
            divisor = parser.parse_integer(allow_boolean=False, allow_negative=False)
            if divisor < 1:
                parser.raise_error("an extent is divided by a positive number", position)
            product = product // divisor
        else:
            return product


def _parse_factor(parser: AttrParser) -> Extent:
    if parser.parse_optional_punctuation("("):
        inner = parse_extent(parser)
        parser.parse_punctuation(")")
        return inner
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    return Extent.of(parser.parse_identifier() if number is None else number)


@dataclass(frozen=True)
class Symbol:
    """A size that a program is given when it runs, and its least and greatest value."""

    name: str
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.name}, {self.low} to {self.high}"


@irdl_attr_definition
class SymbolAttr(Data[Symbol]):
    """`#uop.symbol<s0, 1 to 4096>`, attribute `uop.symbol` of an argument that is an i64 tensor of rank 0: the argument
    is the value of a symbol. Whoever reads it may take it to be within its bounds."""

    name = "uop.symbol"

    def verify(self) -> None:
        symbol = self.data
        if not symbol.name.isidentifier() or symbol.name == "floordiv":
            raise VerifyException(f"{symbol.name!r} is no name of a symbol")
        if not 0 <= symbol.low <= symbol.high:
            raise VerifyException(
                f"symbol {symbol.name} is from {symbol.low} to {symbol.high}: a size is 0 <= low <= high"
            )

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Symbol:
        with parser.in_angle_brackets():
            name = parser.parse_identifier()
            parser.parse_punctuation(",")
            low = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("to")
            return Symbol(name, low, parser.parse_integer(allow_boolean=False))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class ExtentAttr(Data[Extent]):
    """`#uop.extent<s0 - 1>`: a number that is known when a program runs, as an argument of an operation."""

    name = "uop.extent"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Extent:
        with parser.in_angle_brackets():
            return parse_extent(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class ExtentsAttr(Data[tuple[Extent, ...]]):
    """`#uop.extents<1, s0, 2048>`: the extents of a tensor, where not all of them are numbers.

    As attribute `uop.extents` of an argument or result of a function whose type has the greatest extents: of each
    dimension the elements in front of its extent are meant, what the others are is open. As the encoding of a tensor
    type, in the torch dialect, it says what its `?` are.
    """

    name = "uop.extents"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Extent, ...]:
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, lambda: parse_extent(parser)))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(map(str, self.data))}>")
