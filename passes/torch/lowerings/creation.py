"""Tensors out of nothing: constants, sequences, and triangles of ones."""

from __future__ import annotations

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import Attribute

from ....dialects.monoids import Number
from ....dialects.types import is_float
from .lowering import Lowering
from .registry import lowering
from .sizes import is_size
from .tensor import Tensor


@lowering("full")
def full(b: Lowering, size: list[int], fill_value: Number, *, dtype: Attribute | None = None) -> Tensor:
    return b.full(size, fill_value)


@lowering("full_like")
def full_like(b: Lowering, self: Tensor, fill_value: Number, *, dtype: Attribute | None = None) -> Tensor:
    return b.full(self.shape, fill_value)


@lowering("new_full")
def new_full(
    b: Lowering, self: Tensor, size: list[int], fill_value: Number, *, dtype: Attribute | None = None
) -> Tensor:
    return b.full(size, fill_value)


@lowering("zeros", "empty.memory_format")
def zeros(b: Lowering, size: list[int], *, dtype: Attribute | None = None) -> Tensor:
    """The contents of an empty tensor are open; zeros do."""
    return b.full(size, 0)


@lowering("ones")
def ones(b: Lowering, size: list[int], *, dtype: Attribute | None = None) -> Tensor:
    return b.full(size, 1)


@lowering("zeros_like", "empty_like")
def zeros_like(b: Lowering, self: Tensor, *, dtype: Attribute | None = None) -> Tensor:
    return b.full(self.shape, 0)


@lowering("zero")
def zero(b: Lowering, self: Tensor) -> Tensor:
    return b.full(self.shape, 0)


@lowering("ones_like")
def ones_like(b: Lowering, self: Tensor, *, dtype: Attribute | None = None) -> Tensor:
    return b.full(self.shape, 1)


@lowering("new_zeros", "new_empty")
def new_zeros(b: Lowering, self: Tensor, size: list[int], *, dtype: Attribute | None = None) -> Tensor:
    return b.full(size, 0)


@lowering("new_ones")
def new_ones(b: Lowering, self: Tensor, size: list[int], *, dtype: Attribute | None = None) -> Tensor:
    return b.full(size, 1)


@lowering("empty_strided")
def empty_strided(b: Lowering, size: list[int], stride: list[int], *, dtype: Attribute | None = None) -> Tensor:
    return b.full(size, 0)


@lowering("empty_permuted")
def empty_permuted(
    b: Lowering, size: list[int], physical_layout: list[int], *, dtype: Attribute | None = None
) -> Tensor:
    return b.full(size, 0)


@lowering("new_empty_strided")
def new_empty_strided(
    b: Lowering, self: Tensor, size: list[int], stride: list[int], *, dtype: Attribute | None = None
) -> Tensor:
    return b.full(size, 0)


@lowering("fill.Scalar")
def fill_scalar(b: Lowering, self: Tensor, value: Number) -> Tensor:
    return b.full(self.shape, value)


@lowering("fill.Tensor")
def fill_tensor(b: Lowering, self: Tensor, value: Tensor) -> Tensor:
    return value.cast(b.element).broadcast_to(self.shape)


@lowering("scalar_tensor")
def scalar_tensor(b: Lowering, s: Number, *, dtype: Attribute | None = None) -> Tensor:
    return b.full((), s)


@lowering("arange")
def arange_to(b: Lowering, end: Number, *, dtype: Attribute | None = None) -> Tensor:
    return _sequence(b, 0, 1)


@lowering("arange.start")
def arange_from(b: Lowering, start: Number, end: Number, *, dtype: Attribute | None = None) -> Tensor:
    return _sequence(b, start, 1)


@lowering("arange.start_step")
def arange(b: Lowering, start: Number, end: Number, step: Number = 1, *, dtype: Attribute | None = None) -> Tensor:
    return _sequence(b, start, step)


@lowering("linspace")
def linspace(b: Lowering, start: Number, end: Number, steps: int, *, dtype: Attribute | None = None) -> Tensor:
    return _linspace(b, _end(b, start), _end(b, end), steps)


@lowering("linspace.Tensor_Scalar")
def linspace_from(b: Lowering, start: Tensor, end: Number, steps: int, *, dtype: Attribute | None = None) -> Tensor:
    return _linspace(b, _end(b, start), _end(b, end), steps)


@lowering("linspace.Scalar_Tensor")
def linspace_to(b: Lowering, start: Number, end: Tensor, steps: int, *, dtype: Attribute | None = None) -> Tensor:
    return _linspace(b, _end(b, start), _end(b, end), steps)


@lowering("linspace.Tensor_Tensor")
def linspace_between(b: Lowering, start: Tensor, end: Tensor, steps: int, *, dtype: Attribute | None = None) -> Tensor:
    return _linspace(b, _end(b, start), _end(b, end), steps)


def _linspace(b: Lowering, start: Tensor, end: Tensor, steps: int) -> Tensor:
    """From each end to the middle, as PyTorch does, so that both ends are exact; the ends are of f64. Among integers
    every element is truncated."""
    rising = start.broadcast_to((steps,))
    if steps < 2:
        return rising.cast(b.element)
    step = ((end - start) / (steps - 1)).broadcast_to((steps,))
    place = b.iota(steps, f64)
    rising, falling = rising + place * step, end.broadcast_to((steps,)) - (float(steps - 1) - place) * step
    return (place < float(steps // 2)).where(rising, falling).cast(b.element)


def _end(b: Lowering, end: Number | Tensor) -> Tensor:
    """An end of a sequence in f64. Among integers it is truncated."""
    if isinstance(end, Tensor):
        return end.cast(b.element).cast(f64) if not is_float(b.element) else end.cast(f64)
    return b.full((), float(end if is_float(b.element) else int(end)), f64)


@lowering("eye")
def eye(b: Lowering, n: int, *, dtype: Attribute | None = None) -> Tensor:
    return _identity(b, n, n)


@lowering("eye.m")
def eye_m(b: Lowering, n: int, m: int, *, dtype: Attribute | None = None) -> Tensor:
    return _identity(b, n, m)


@lowering("tril")
def tril(b: Lowering, self: Tensor, diagonal: int = 0) -> Tensor:
    rows, columns = _places(b, *self.shape[-2:])
    return (columns <= (rows + diagonal if diagonal else rows)).where(self, 0)


@lowering("triu")
def triu(b: Lowering, self: Tensor, diagonal: int = 0) -> Tensor:
    rows, columns = _places(b, *self.shape[-2:])
    return (columns >= (rows + diagonal if diagonal else rows)).where(self, 0)


@lowering("tril_indices", "triu_indices")
def triangle_indices(b: Lowering, row: int, col: int, offset: int = 0, *, dtype: Attribute | None = None) -> Tensor:
    """The rows and the columns of the elements of a triangle, in order; the row is found by counting rows that end."""
    count = b.shape[1]
    place = b.iota(count, i64)
    first = b.iota(row, i64) + offset
    if b.op.overload.data == "tril_indices":
        widths, skipped = _clamped(first + 1, col), None
        ends = _triangle(first + 1, col) - _triangle_number(offset, col)
    else:
        skipped = _clamped(first, col)
        widths = col - skipped
        ends = (b.iota(row, i64) + 1) * col - (_triangle(first, col) - _triangle_number(offset - 1, col))
    is_over = ends.reshape((1, row)).expand((count, row)) <= place.reshape((count, 1))
    rows = is_over.cast(i64).sum([1]).reshape((count,))
    columns = place - (ends - widths).take(0, rows)
    if skipped is not None:
        columns = columns + skipped.take(0, rows)
    both = b.iota(2, i64).reshape((2, 1)).equal(0).expand((2, count))
    return both.where(rows, columns).cast(b.element)


def _clamped(x: Tensor, high: int) -> Tensor:
    return x.maximum(0).minimum(high)


def _triangle(x: Tensor, high: int) -> Tensor:
    """The numbers up to each element, those below 0 counted as 0 and those above `high` as `high`, added up."""
    low = _clamped(x, high)
    return (low * (low + 1)).alu("floordiv", 2) + (x - high).maximum(0) * high


def _triangle_number(x: int, high: int) -> int:
    low = min(max(x, 0), high)
    return low * (low + 1) // 2 + max(x - high, 0) * high


def _sequence(b: Lowering, start: Number, step: Number) -> Tensor:
    """start + i · step. Whole numbers are exact; others are computed in f64 and rounded once. Among integers both are
    truncated first."""
    count = b.shape[0]
    if not is_float(b.element):
        start, step = (x if is_size(x) else int(x) for x in (start, step))
    whole = not isinstance(start, float) and not isinstance(step, float)
    whole = whole or (float(start).is_integer() and float(step).is_integer())
    places = b.iota(count, i64 if whole else f64)
    start, step = (int(x) if whole and not is_size(x) else x for x in (start, step))
    if step != 1:
        places = places * step
    if start != 0:
        places = places + start
    return places.cast(b.element)


def _places(b: Lowering, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """The row and the column of each element of a matrix."""
    row = b.iota(rows, i64).reshape((rows, 1)).expand((rows, columns))
    return row, b.iota(columns, i64).reshape((1, columns)).expand((rows, columns))


def _identity(b: Lowering, rows: int, columns: int) -> Tensor:
    row, column = _places(b, rows, columns)
    return row.equal(column).cast(b.element)
