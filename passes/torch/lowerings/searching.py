"""Membership, places in sorted sequences, and counts of values in bins."""

from __future__ import annotations

from xdsl.dialects.builtin import i32, i64

from ....dialects.monoids import Number
from ....dialects.types import element_count, is_float
from .errors import Unsupported
from .lowering import Lowering, Operand
from .promotion import result_type
from .registry import lowering
from .tensor import Tensor, full


@lowering("isin.Tensor_Tensor")
def isin(
    b: Lowering, elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Each element is compared with each of the others; a NaN equals none."""
    return _isin(b, elements, test_elements, invert)


@lowering("isin.Scalar_Tensor")
def isin_of_scalar(
    b: Lowering, element: Number, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    return _isin(b, element, test_elements, invert)


@lowering("isin.Tensor_Scalar")
def isin_scalar(
    b: Lowering, elements: Tensor, test_element: Number, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    x, y = b.operands([elements, test_element], result_type([elements, test_element]))
    return x.alu("ne" if invert else "eq", y)


def _isin(b: Lowering, elements: Operand, others: Tensor, invert: bool) -> Tensor:
    element = result_type([elements, others])
    x, tests = b.operand(elements, element), others.cast(element).reshape((others.count,))
    equal = x.unsqueeze(-1).equal(tests.reshape((*(1,) * x.rank, tests.count)))
    found = equal.reduce("or", [x.rank]).reshape(x.shape)
    return ~found if invert else found


@lowering("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(
    b: Lowering,
    sorted_sequence: Tensor,
    self: Operand,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    sequence = sorted_sequence if sorter is None else sorted_sequence.gather(-1, sorter)
    return _bisected(b, sequence, self, right or side == "right")


@lowering("bucketize.Tensor", "bucketize.Scalar")
def bucketize(
    b: Lowering, self: Operand, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    if boundaries.rank != 1:  # PyTorch says so when it runs, not when it exports
        raise Unsupported(f"boundaries are of 1 dimension, not {boundaries.rank}")
    return _bisected(b, boundaries, self, right)


def _bisected(b: Lowering, sequence: Tensor, values: Operand, right: bool) -> Tensor:
    """PyTorch's bisection, log₂ n steps: the first place whose element is not less (with `right`: is greater).

    A sequence of rank 1 serves all values; of a greater rank, each row those of its own row.
    """
    element = result_type([sequence, values])
    x, sequence = b.operand(values, element), sequence.cast(element)
    count = sequence.shape[-1]
    own_rows = sequence.rank > 1
    flat = x if own_rows else x.reshape((x.count,))
    start, end = (full(b.builder, flat.shape, number, i32) for number in (0, count))
    for _ in range(count.bit_length()):
        middle = start + (end - start).alu("shr", 1)
        # Once the place is found it may lie behind the last element; what is read then changes nothing.
        place = middle.minimum(count - 1)
        found = sequence.gather(-1, place) if own_rows else sequence.take(0, place)
        goes_on = start < end
        is_behind = ~(found > flat if right else found >= flat)
        start, end = (goes_on & is_behind).where(middle + 1, start), (goes_on & ~is_behind).where(middle, end)
    return start.cast(b.element).reshape(b.shape)


@lowering("histc")
def histc(b: Lowering, self: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """How many elements lie in each of `bins` equal parts of [min, max], of the whole range where both are equal.

    Each bin looks at each element. PyTorch raises for a range with infinities or NaN; here the counts are 0.
    """
    if not is_float(self.element):
        raise Unsupported("histc counts floats", "convert them first")
    x = self.reshape((self.count,))
    low, high = (full(b.builder, (1,), number, x.element) for number in (min, max))
    if float(min) == float(max) and x.count:
        low, high = x.reduce("min", [0]), x.reduce("max", [0])
    single = low.equal(high)
    low, high = single.where(low - 1.0, low), single.where(high + 1.0, high)
    inside = (x >= low) & (x <= high)
    scaled = (x - low) * float(bins) / (high - low)
    bin = inside.where(scaled, 0.0).cast(i64).minimum(bins - 1)
    each = b.iota(bins, i64).reshape((bins, 1))
    return (each.equal(bin) & inside).cast(i64).sum([1]).reshape(b.shape).cast(b.element)


@lowering("bincount")
def bincount(b: Lowering, self: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """As many bins as the result has, which must be known when the program is compiled."""
    bins = element_count(b.shape)
    each = b.iota(bins, i64).reshape((bins, 1)).equal(self.cast(i64).reshape((1, self.count)))
    if weights is None:
        return each.cast(i64).sum([1]).reshape(b.shape)
    return each.where(weights.cast(b.compute).reshape((1, self.count)), 0).sum([1]).reshape(b.shape)
