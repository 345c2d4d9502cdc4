"""The one table of monoids: what reductions and scans combine with.

A monoid may be several values wide (argmax: value and index). `combine` is associative, has `identity` as its
neutral element
on both sides, and combine(identity, identity) = identity; reductions may therefore combine in any order, pad with
identities,
and be spread over threads. All are commutative. NaN rules are PyTorch's: max, min and argmax propagate NaN.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Data, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .types import element_of, integer_bounds, is_bool, is_float, is_integer


class ALUBuilder(Protocol):
    """What `combine` needs: somewhere to build uop ops. It serves tensors, vectors and scalars alike."""

    def alu(self, name: str, *operands: SSAValue) -> SSAValue: ...

    def constant_like(self, value: float | int | bool, like: SSAValue) -> SSAValue:
        """The number as a value of the type of `like`."""
        ...


Number = float | int | bool
Combine = Callable[[ALUBuilder, Sequence[SSAValue], Sequence[SSAValue]], list[SSAValue]]


@dataclass(frozen=True)
class Monoid:
    """One monoid.

    width: how many values an element has.
    identity: the neutral element for the given element types.
    combine: builds the combination of two elements in uop ops.
    accepts: whether the element types are in its domain.
    """

    name: str
    summary: str
    width: int
    accepts: Callable[[Sequence[Attribute]], bool]
    identity: Callable[[Sequence[Attribute]], tuple[Number, ...]]
    combine: Combine


def least(element: Attribute) -> Number:
    """−∞, or the least number of an integer type."""
    return float("-inf") if is_float(element) else bool(0) if is_bool(element) else integer_bounds(element)[0]


def greatest(element: Attribute) -> Number:
    """+∞, or the greatest number of an integer type."""
    return float("inf") if is_float(element) else bool(1) if is_bool(element) else integer_bounds(element)[1]


def _simple(
    name: str, op: str, summary: str, accepts: Callable[[Attribute], bool], identity: Callable[[Attribute], Number]
) -> Monoid:
    return Monoid(
        name,
        summary,
        1,
        lambda types: accepts(types[0]),
        lambda types: (identity(types[0]),),
        lambda b, x, y: [b.alu(op, x[0], y[0])],
    )


def _is_number(element: Attribute) -> bool:
    return is_float(element) or is_integer(element)


def _combine_arg(no_better: str, sooner: str) -> Combine:
    """(value, index): the better value, the index that is `sooner` among equals; NaN is better than any number.

    no_better: the comparison of a value that does not beat the other. NaN fails it, so its negation needs no test of
    the new value.
    """

    def combine(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
        (x_value, x_index), (y_value, y_index) = x, y
        wins = b.alu("not", b.alu(no_better, y_value, x_value))
        tie = b.alu("eq", y_value, x_value)
        if is_float(element_of(x_value.type)):
            x_nan, y_nan = b.alu("isnan", x_value), b.alu("isnan", y_value)
            wins = b.alu("and", wins, b.alu("not", x_nan))
            tie = b.alu("or", tie, b.alu("and", x_nan, y_nan))
        wins = b.alu("or", wins, b.alu("and", tie, b.alu(sooner, y_index, x_index)))
        return [b.alu("where", wins, y_value, x_value), b.alu("where", wins, y_index, x_index)]

    return combine


def _combine_welford(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
    """(mean, sum of squared deviations, count) of two samples together.

    Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
    """
    (x_mean, x_m2, x_count), (y_mean, y_m2, y_count) = x, y
    count = b.alu("add", x_count, y_count)
    delta = b.alu("sub", y_mean, x_mean)
    empty = b.alu("eq", count, b.constant_like(0.0, count))
    share = b.alu("div", y_count, b.alu("where", empty, b.constant_like(1.0, count), count))
    mean = b.alu("add", x_mean, b.alu("mul", delta, share))
    spread = b.alu("mul", b.alu("mul", delta, delta), b.alu("mul", x_count, share))
    return [mean, b.alu("add", b.alu("add", x_m2, y_m2), spread), count]


def _combine_online_softmax(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
    """(maximum, sum of exp(value − maximum)). Milakov and Gimelshein, "Online normalizer calculation for softmax"
    (2018)."""
    (x_max, x_sum), (y_max, y_sum) = x, y
    top = b.alu("max", x_max, y_max)

    def rescaled(part_max: SSAValue, part_sum: SSAValue) -> SSAValue:
        # An identity has maximum −∞, and exp(−∞ + ∞) is NaN.
        none = b.alu("eq", part_max, b.constant_like(float("-inf"), part_max))
        factor = b.alu("where", none, b.constant_like(0.0, part_max), b.alu("exp", b.alu("sub", part_max, top)))
        return b.alu("mul", part_sum, factor)

    return [top, b.alu("add", rescaled(x_max, x_sum), rescaled(y_max, y_sum))]


def _combine_logaddexp(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
    """log(exp(x) + exp(y)) = max + log1p(exp(min − max)); of infinities the greater one, for ∞ − ∞ is NaN."""
    low, high = (b.alu(name, x[0], y[0]) for name in ("min", "max"))
    more = b.alu("log1p", b.alu("exp", b.alu("sub", low, high)))
    return [b.alu("where", b.alu("isinf", high), high, b.alu("add", high, more))]


def _rows() -> list[Monoid]:
    def all_one_float(types: Sequence[Attribute]) -> bool:
        return is_float(types[0]) and all(t == types[0] for t in types)

    def is_arg(types: Sequence[Attribute]) -> bool:
        return _is_number(types[0]) and is_integer(types[1])

    def is_bits(element: Attribute) -> bool:
        return is_bool(element) or is_integer(element)

    return [
        _simple("add", "add", "sum", _is_number, lambda t: 0.0 if is_float(t) else 0),
        _simple("mul", "mul", "product", _is_number, lambda t: 1.0 if is_float(t) else 1),
        _simple("max", "max", "greatest; NaN if any is NaN", lambda t: is_float(t) or is_bits(t), least),
        _simple("min", "min", "least; NaN if any is NaN", lambda t: is_float(t) or is_bits(t), greatest),
        _simple(
            "and",
            "and",
            "all bits set in every element; of bools, all",
            is_bits,
            lambda t: True if is_bool(t) else -1 if integer_bounds(t)[0] < 0 else integer_bounds(t)[1],
        ),
        _simple("or", "or", "bits set in any element; of bools, any", is_bits, lambda t: False if is_bool(t) else 0),
        Monoid(
            "argmax",
            "greatest and its first index; NaN counts as greatest",
            2,
            is_arg,
            lambda t: (least(t[0]), integer_bounds(t[1])[1]),
            _combine_arg("le", "lt"),
        ),
        Monoid(
            "argmin",
            "least and its first index; NaN counts as least",
            2,
            is_arg,
            lambda t: (greatest(t[0]), integer_bounds(t[1])[1]),
            _combine_arg("ge", "lt"),
        ),
        Monoid(
            "argmax_last",
            "greatest and its last index; NaN counts as greatest",
            2,
            is_arg,
            lambda t: (least(t[0]), integer_bounds(t[1])[0]),
            _combine_arg("le", "gt"),
        ),
        Monoid(
            "argmin_last",
            "least and its last index; NaN counts as least",
            2,
            is_arg,
            lambda t: (greatest(t[0]), integer_bounds(t[1])[0]),
            _combine_arg("ge", "gt"),
        ),
        Monoid(
            "logaddexp",
            "log of the sum of exp",
            1,
            lambda t: is_float(t[0]),
            lambda t: (float("-inf"),),
            _combine_logaddexp,
        ),
        Monoid(
            "welford",
            "mean, sum of squared deviations, count",
            3,
            all_one_float,
            lambda t: (0.0, 0.0, 0.0),
            _combine_welford,
        ),
        Monoid(
            "online_softmax",
            "maximum and sum of exp(value − maximum)",
            2,
            all_one_float,
            lambda t: (float("-inf"), 0.0),
            _combine_online_softmax,
        ),
    ]


MONOIDS: dict[str, Monoid] = {row.name: row for row in _rows()}
"""The table: name → monoid."""


def number_attribute(value: Number, element: Attribute) -> FloatAttr | IntegerAttr:
    """A number as the attribute that `uop.const` carries."""
    if is_float(element):
        return FloatAttr(float(value), element)
    return _integer_attribute(int(value), cast(IntegerType | IndexType, element))


@cache
def _integer_attribute(value: int, element: IntegerType | IndexType) -> IntegerAttr:
    return IntegerAttr(value, element)


@irdl_attr_definition
class MonoidAttr(Data[str]):
    """`#uop.monoid<add>`: the name of a monoid of the table."""

    name = "uop.monoid"

    @property
    def monoid(self) -> Monoid:
        return MONOIDS[self.data]

    def verify(self) -> None:
        if self.data not in MONOIDS:
            raise VerifyException(f"{self.data} is no monoid: {', '.join(MONOIDS)}")

    @classmethod
    def parse_keyword(cls, parser: AttrParser) -> "MonoidAttr":
        """The bare name, the form in which ops show a monoid."""
        name = parser.parse_optional_keyword_in(tuple(MONOIDS))
        if name is None:
            parser.raise_error(f"expected a monoid: {', '.join(MONOIDS)}")
        return MonoidAttr(name)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return cls.parse_keyword(parser).data

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)
