"""The one table of monoids: what reductions and scans combine with.

A monoid may be several values wide (argmax: value and index). `combine` is associative, has `identity` as its
neutral element on both sides, and combine(identity, identity) = identity; reductions may therefore combine in any
order, pad with identities, and be spread over threads. All are commutative. NaN rules are PyTorch's: max, min and
argmax propagate NaN.

Of some, many elements are combined in two stages with less work than by `combine`, one after the other: the first
values alone, and then, that being known, the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import e, log2
from typing import Protocol, cast

from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, f32, i16, i32, i64
from xdsl.ir import Attribute, Data, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .types import byte_width, element_of, integer_bounds, is_bool, is_float, is_integer


class ALUBuilder(Protocol):
    """What `combine` needs: somewhere to build uop ops. It serves tensors, vectors and scalars alike."""

    def alu(self, name: str, *operands: SSAValue) -> SSAValue: ...

    def constant_like(self, value: float | int | bool, like: SSAValue) -> SSAValue:
        """The number as a value of the type of `like`."""
        ...

    def expand_like(self, value: SSAValue, like: SSAValue) -> SSAValue:
        """The value in the shape of `like`: repeated where `like` has more elements."""
        ...

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The same bits as values of another element type."""
        ...


Number = float | int | bool
Combine = Callable[[ALUBuilder, Sequence[SSAValue], Sequence[SSAValue]], list[SSAValue]]
Reduce = Callable[["Monoid", list[SSAValue]], list[SSAValue]]
"""Combines many elements with a monoid, the values of an element standing side by side."""


@dataclass(frozen=True)
class Stages:
    """How many elements are combined in two stages.

    first: the monoid of the elements' first values. rest: that of each of the others. adapt: what takes the place of an
    element's other values when the first values are `totals` together.

    Then combine(x, y) is (totals, rest(adapt(x, totals), adapt(y, totals))). It is associative because what elements
    adapted to their totals give, adapted to greater totals, is what they give adapted to these at once.
    """

    first: str
    rest: str
    adapt: Callable[[ALUBuilder, Sequence[SSAValue], Sequence[SSAValue]], list[SSAValue]]

    def fold(
        self, b: ALUBuilder, state: Sequence[SSAValue] | None, elements: Sequence[SSAValue], reduce: Reduce
    ) -> list[SSAValue]:
        """`state`, if there is one, combined with the `elements`, which `reduce` makes one of."""
        first, rest = MONOIDS[self.first], MONOIDS[self.rest]
        totals = first.reduce(b, elements[: first.width], reduce)
        if state is not None:
            totals = first.combine(b, state[: first.width], totals)
        others = [reduce(rest, [value])[0] for value in self.adapt(b, elements, totals)]
        if state is not None:
            before = self.adapt(b, state, totals)
            others = [rest.combine(b, [x], [y])[0] for x, y in zip(before, others, strict=True)]
        return [*totals, *others]

    def combine(self, b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
        """Two elements."""
        return self.fold(b, x, y, lambda _, values: values)


@dataclass(frozen=True)
class Monoid:
    """One monoid.

    width: how many values an element has.
    identity: the neutral element for the given element types.
    combine: builds the combination of two elements in uop ops.
    accepts: whether the element types are in its domain.
    stages: how many elements are combined, where that is not one after the other.
    """

    name: str
    summary: str
    width: int
    accepts: Callable[[Sequence[Attribute]], bool]
    identity: Callable[[Sequence[Attribute]], tuple[Number, ...]]
    combine: Combine
    stages: Stages | None = None

    def firsts(self, place: int) -> int:
        """How many first values take part in combining the value at a place: it has no fewer elements than they."""
        if self.stages is None:
            return self.width
        first = MONOIDS[self.stages.first]
        return first.firsts(place) if place < first.width else first.width

    def reduce(self, b: ALUBuilder, elements: Sequence[SSAValue], reduce: Reduce) -> list[SSAValue]:
        """Many elements combined, given how it is done for monoids without stages."""
        return reduce(self, list(elements)) if self.stages is None else self.stages.fold(b, None, elements, reduce)


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


def _reciprocal(b: ALUBuilder, count: SSAValue) -> SSAValue:
    """1 ÷ count; 1 for 0, which nothing is divided by."""
    one = b.constant_like(1.0, count)
    return b.alu("div", one, b.alu("where", b.alu("eq", count, b.constant_like(0.0, count)), one, count))


def _combine_means(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
    """(count, mean) of two samples together.

    The mean moves by the share of the sample that comes: where that is small, the mean keeps all its digits. Of
    infinities that would be NaN, but their mean is their sum.
    """
    (x_count, x_mean), (y_count, y_mean) = x, y
    count, delta = b.alu("add", x_count, y_count), b.alu("sub", y_mean, x_mean)
    share = b.alu("mul", y_count, _reciprocal(b, count))
    moved = b.alu("add", x_mean, b.alu("mul", delta, b.expand_like(share, delta)))
    is_finite = b.alu("lt", b.alu("abs", delta), b.constant_like(float("inf"), delta))
    return [count, b.alu("where", is_finite, moved, b.alu("add", x_mean, y_mean))]


def _weighted(b: ALUBuilder, sample: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
    """What a sample adds to the mean of so many elements."""
    count, mean = sample
    share = b.alu("mul", count, b.expand_like(_reciprocal(b, totals[0]), count))
    return [b.alu("mul", mean, b.expand_like(share, mean))]


def _moved(b: ALUBuilder, sample: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
    """Sums of deviations from one point, and of their squares, as those from another: from wherever the mean of all was
    rounded to. The difference of two such points is exact, so that nothing is lost by their rounding."""
    (count, mean, deviations, squares), (_, point) = sample, totals
    delta = b.alu("sub", mean, b.expand_like(point, mean))
    more = b.alu("mul", b.expand_like(count, delta), delta)
    twice = b.alu("mul", deviations, b.constant_like(2.0, deviations))
    spread = b.alu("mul", b.alu("add", more, twice), delta)
    return [b.alu("add", more, deviations), b.alu("add", spread, squares)]


def _welford() -> Monoid:
    """How many elements there are, their mean, rounded, and the sums of what they deviate from that and of the squares.

    Welford, "Note on a method for calculating corrected sums of squares and products" (1962); of two samples, and with
    the sum of deviations, which corrects what the mean was rounded by, Chan, Golub and LeVeque, "Algorithms for
    computing the sample variance" (1983).
    """
    stages = Stages("mean", "add", _moved)
    identity = (0.0, 0.0, -0.0, -0.0)
    summary = "count, mean, sums of deviations from it and of their squares"
    return Monoid("welford", summary, 4, _all_one_float, lambda _: identity, stages.combine, stages)


def _neighbour(b: ALUBuilder, value: SSAValue, up: bool) -> SSAValue:
    """The next greater float, or the next smaller one: as integers, the bits of a greater magnitude are greater by 1.

    Beyond an infinity there is NaN, and of NaN the neighbour is the last infinity.
    """
    element = element_of(value.type)
    bits = b.bitcast(value, {2: i16, 4: i32, 8: i64}[byte_width(element)])
    is_negative = b.alu("lt", value, b.constant_like(0.0, value))
    one, minus_one = b.constant_like(1, bits), b.constant_like(-1, bits)
    step = b.alu("where", is_negative, *((minus_one, one) if up else (one, minus_one)))
    neighbour = b.bitcast(b.alu("add", bits, step), element)
    least = b.bitcast(one, element)
    of_zero = least if up else b.alu("neg", least)
    neighbour = b.alu("where", b.alu("eq", value, b.constant_like(0.0, value)), of_zero, neighbour)
    last = b.constant_like(float("-inf" if up else "inf"), value)
    return b.alu("where", b.alu("isnan", value), last, neighbour)


def _arg_stages(first: str, no_better: str, rest: str) -> Stages:
    """The best value, and of the indices of those that have it the least or the greatest.

    A value that is not beyond the neighbour of the best one is the best, or it is NaN: one comparison for both. Where
    the best is NaN, the neighbour is an infinity, that only NaN is beyond of.
    """

    def adapt(b: ALUBuilder, element: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
        (value, place), (best,) = element, totals
        if is_float(element_of(value.type)):
            wins = b.alu("not", b.alu(no_better, value, _neighbour(b, best, up=first == "min")))
        else:
            wins = b.alu("eq", value, best)
        (none,) = MONOIDS[rest].identity([element_of(place.type)])
        return [b.alu("where", wins, place, b.constant_like(none, place))]

    return Stages(first, rest, adapt)


LOG2_E = log2(e)
GREATEST_F32 = (2 - 2.0**-23) * 2.0**127


def exp_of_at_most_zero(b: ALUBuilder, value: SSAValue) -> SSAValue:
    """eᵗ for t ≤ 0, in a sum that has a term of 1. Of f32 as a power of 2, for which GPUs have an instruction: wrong by
    |t| · eᵗ · 2⁻²⁴ at most, which is below 2.3e-8, or by 2⁻¹²⁶."""
    if element_of(value.type) != f32:
        return b.alu("exp", value)
    return b.alu("exp2_ftz", b.alu("mul", value, b.constant_like(LOG2_E, value)))


def base_of_exponents(b: ALUBuilder, maximum: SSAValue) -> SSAValue:
    """What is subtracted from values that are at most `maximum`. Where that is −∞, so are they, but −∞ + ∞ is NaN:
    exp(−∞ − 0) is 0."""
    is_nothing = b.alu("eq", maximum, b.constant_like(float("-inf"), maximum))
    return b.alu("where", is_nothing, b.constant_like(0.0, maximum), maximum)


def _rescaled(b: ALUBuilder, element: Sequence[SSAValue], totals: Sequence[SSAValue]) -> list[SSAValue]:
    """Sums of terms times exp(value − own maximum) as those times exp(value − maximum): the exponent of the one factor
    is never above 0. A sum may have more elements than the maximum, along axes that the values do not depend on."""
    (own, *sums), (maximum,) = element, totals
    factor = exp_of_at_most_zero(b, b.alu("sub", own, base_of_exponents(b, maximum)))
    return [b.alu("mul", each, b.expand_like(factor, each)) for each in sums]


def _online(name: str, summary: str, width: int) -> Monoid:
    """A maximum of values, and `width` − 1 sums of terms times exp(value − maximum).

    Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018); with a sum of vectors, Rabe and Staats,
    "Self-attention does not need O(n²) memory" (2021).
    """
    stages = Stages("max", "add", _rescaled)
    identity = (float("-inf"), *[0.0] * (width - 1))
    return Monoid(name, summary, width, _all_one_float, lambda _: identity, stages.combine, stages)


def _combine_logaddexp(b: ALUBuilder, x: Sequence[SSAValue], y: Sequence[SSAValue]) -> list[SSAValue]:
    """log(exp(x) + exp(y)) = max + log1p(exp(min − max)); of infinities the greater one, for ∞ − ∞ is NaN."""
    low, high = (b.alu(name, x[0], y[0]) for name in ("min", "max"))
    more = b.alu("log1p", b.alu("exp", b.alu("sub", low, high)))
    return [b.alu("where", b.alu("isinf", high), high, b.alu("add", high, more))]


def _all_one_float(types: Sequence[Attribute]) -> bool:
    return is_float(types[0]) and all(t == types[0] for t in types)


def _rows() -> list[Monoid]:
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
            _arg_stages("max", "le", "min"),
        ),
        Monoid(
            "argmin",
            "least and its first index; NaN counts as least",
            2,
            is_arg,
            lambda t: (greatest(t[0]), integer_bounds(t[1])[1]),
            _combine_arg("ge", "lt"),
            _arg_stages("min", "ge", "min"),
        ),
        Monoid(
            "argmax_last",
            "greatest and its last index; NaN counts as greatest",
            2,
            is_arg,
            lambda t: (least(t[0]), integer_bounds(t[1])[0]),
            _combine_arg("le", "gt"),
            _arg_stages("max", "le", "max"),
        ),
        Monoid(
            "argmin_last",
            "least and its last index; NaN counts as least",
            2,
            is_arg,
            lambda t: (greatest(t[0]), integer_bounds(t[1])[0]),
            _combine_arg("ge", "gt"),
            _arg_stages("min", "ge", "max"),
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
            "mean",
            "count and mean",
            2,
            _all_one_float,
            lambda t: (0.0, 0.0),
            _combine_means,
            Stages("add", "add", _weighted),
        ),
        _welford(),
        _online("online_softmax", "maximum and sum of weights times exp(value − maximum)", 2),
        _online("online_attention", "maximum, and sums of weights and of terms, each times exp(value − maximum)", 3),
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
