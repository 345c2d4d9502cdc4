"""Reductions. Floats of 16 bits are reduced in f32, sums and products of bools and integers in i64."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute

from ....dialects.monoids import Number
from ....dialects.types import element_count, integer_bounds, is_bool, is_float, ui8
from .errors import Unsupported
from .lowering import Lowering
from .promotion import compute_type
from .registry import lowering
from .sizes import bound_of, is_size
from .tensor import Tensor, along, bool_tensor, reduced


@lowering("sum")
def sum_all(b: Lowering, self: Tensor, *, dtype: Attribute | None = None) -> Tensor:
    return _kept(_combined(b, "add", self, None), self, None, False)


@lowering("sum.dim_IntList")
def sum_(
    b: Lowering, self: Tensor, dim: list[int] | None, keepdim: bool = False, *, dtype: Attribute | None = None
) -> Tensor:
    return _kept(_combined(b, "add", self, dim), self, dim, keepdim)


@lowering("nansum")
def nansum(
    b: Lowering,
    self: Tensor,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: Attribute | None = None,
) -> Tensor:
    x = _summand(b, self)
    numbers = x.alu("isnan").where(0, x) if is_float(x.element) else x
    return _kept(numbers.sum(x.axes(dim)), x, dim, keepdim)


@lowering("mean")
def mean_all(b: Lowering, self: Tensor, *, dtype: Attribute | None = None) -> Tensor:
    return _kept(_summand(b, self).mean(self.axes(None)), self, None, False)


@lowering("mean.dim")
def mean(
    b: Lowering, self: Tensor, dim: list[int] | None, keepdim: bool = False, *, dtype: Attribute | None = None
) -> Tensor:
    return _kept(_summand(b, self).mean(self.axes(dim)), self, dim, keepdim)


@lowering("prod")
def prod_all(b: Lowering, self: Tensor, *, dtype: Attribute | None = None) -> Tensor:
    return _kept(_combined(b, "mul", self, None), self, None, False)


@lowering("prod.dim_int")
def prod(b: Lowering, self: Tensor, dim: int, keepdim: bool = False, *, dtype: Attribute | None = None) -> Tensor:
    return _kept(_combined(b, "mul", self, [dim]), self, [dim], keepdim)


def _combined(b: Lowering, monoid: str, x: Tensor, dims: Sequence[int] | None) -> Tensor:
    """The sum or the product; of bools, whether any or whether all are true."""
    x = _summand(b, x)
    return x.reduce({"add": "or", "mul": "and"}[monoid] if is_bool(x.element) else monoid, x.axes(dims))


def _summand(b: Lowering, x: Tensor) -> Tensor:
    """The tensor rounded to the result's type, as `dtype` asks, then as wide as it is computed in."""
    return x.cast(b.element).cast(b.compute)


@lowering("amax", "amin")
def extremum(b: Lowering, self: Tensor, dim: list[int] | None = None, keepdim: bool = False) -> Tensor:
    return _kept(_extremum(b.op.overload.data[1:], self, dim), self, dim, keepdim)


@lowering("max", "min")
def extremum_of_all(b: Lowering, self: Tensor) -> Tensor:
    return _kept(_extremum(b.op.overload.data, self, None), self, None, False)


@lowering("aminmax")
def aminmax(b: Lowering, self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> list[Tensor]:
    dims = None if dim is None else [dim]
    return [_kept(_extremum(monoid, self, dims), self, dims, keepdim) for monoid in ("min", "max")]


def _extremum(monoid: str, x: Tensor, dims: Sequence[int] | None) -> Tensor:
    axes = x.axes(dims)
    if any(x.shape[axis] == 0 for axis in axes):
        raise Unsupported("nothing has no greatest element")
    return x.cast(compute_type(x.element)).reduce(monoid, axes)


@lowering("argmax", "argmin")
def arg_extremum(b: Lowering, self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The place of the first greatest (least) element, of all without `dim`; NaN is greatest, and least."""
    x = self.reshape((self.count,)) if dim is None or self.rank == 0 else self
    _, places = _arg_extremum(b, b.op.overload.data, x, 0 if dim is None else x.axis(dim))
    return places.reshape(b.shape)


@lowering("max.dim", "min.dim")
def extremum_and_place(b: Lowering, self: Tensor, dim: int, keepdim: bool = False) -> list[Tensor]:
    x = self.reshape((1,)) if self.rank == 0 else self
    monoid = f"arg{b.op.overload.data[:3]}"
    return [result.reshape(b.shape) for result in _arg_extremum(b, monoid, x, x.axis(dim))]


def _arg_extremum(b: Lowering, monoid: str, x: Tensor, axis: int) -> list[Tensor]:
    if x.shape[axis] == 0:
        raise Unsupported("nothing has no greatest element")
    element = x.element
    x = x.cast(ui8 if is_bool(element) else compute_type(element))  # the monoid is one of numbers
    extent = x.shape[axis]
    # Compared, selected and exchanged in 32 bits, places cost half of what the i64 of the result would.
    places = along(b.iota(extent, i32 if bound_of(extent) <= integer_bounds(i32)[1] else i64), axis, x.shape)
    values, indices = reduced(monoid, [x, places], [axis])
    return [values.cast(element), indices.cast(i64)]


@lowering("any", "all")
def any_or_all(b: Lowering, self: Tensor) -> Tensor:
    return _any_or_all(b, self, None, False)


@lowering("any.dim", "all.dim")
def any_or_all_dim(b: Lowering, self: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    return _any_or_all(b, self, [dim], keepdim)


@lowering("any.dims", "all.dims")
def any_or_all_dims(b: Lowering, self: Tensor, dim: list[int] | None = None, keepdim: bool = False) -> Tensor:
    if dim == []:
        return bool_tensor(self).cast(b.element)
    return _any_or_all(b, self, dim, keepdim)


def _any_or_all(b: Lowering, x: Tensor, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
    """Of uint8 the result is uint8, too."""
    monoid = "or" if b.op.overload.data.startswith("any") else "and"
    return _kept(bool_tensor(x).reduce(monoid, x.axes(dims)), x, dims, keepdim).cast(b.element)


@lowering("count_nonzero", "count_nonzero.dim_IntList")
def count_nonzero(b: Lowering, self: Tensor, dim: list[int] | None = None) -> Tensor:
    return _kept(bool_tensor(self).cast(i64).sum(self.axes(dim)), self, dim, False)


@lowering("var.correction", "std.correction")
def var(
    b: Lowering,
    self: Tensor,
    dim: list[int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Tensor:
    _, variance = mean_and_variance(self.cast(b.compute), self.axes(dim), 1 if correction is None else correction)
    result = variance.alu("sqrt") if b.op.overload.data.startswith("std") else variance
    return _kept(result, self, dim, keepdim)


@lowering("var.dim", "std.dim")
def var_dim(b: Lowering, self: Tensor, dim: list[int] | None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return var(b, self, dim, correction=int(unbiased), keepdim=keepdim)


@lowering("var", "std")
def var_all(b: Lowering, self: Tensor, unbiased: bool = True) -> Tensor:
    return var(b, self, None, correction=int(unbiased))


@lowering("var_mean.correction", "std_mean.correction")
def var_mean(
    b: Lowering,
    self: Tensor,
    dim: list[int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> list[Tensor]:
    average, variance = mean_and_variance(self.cast(b.compute), self.axes(dim), 1 if correction is None else correction)
    spread = variance.alu("sqrt") if b.op.overload.data.startswith("std") else variance
    return [_kept(result, self, dim, keepdim) for result in (spread, average)]


def mean_and_variance(x: Tensor, axes: Sequence[int], correction: Number = 0) -> tuple[Tensor, Tensor]:
    """Two passes: the mean, then the mean of the squared deviations from it. Reduced axes stay with extent 1.

    The squares are divided by their number less `correction`, or by 0: the variance of one element is NaN.
    """
    count = element_count([x.shape[axis] for axis in axes])
    average = x.mean(axes)
    deviation = x - average
    freedom = (x.scalar(count) - correction).maximum(0) if is_size(count) else max(count - correction, 0)
    return average, (deviation * deviation).sum(axes) / freedom


@lowering("logsumexp")
def logsumexp(b: Lowering, self: Tensor, dim: list[int], keepdim: bool = False) -> Tensor:
    """With the greatest element taken out, unless it is infinite."""
    x = self.cast(b.compute)
    axes = x.axes(dim)
    if any(x.shape[axis] == 0 for axis in axes):
        return _kept(x.exp().sum(axes).log(), x, dim, keepdim)
    greatest = x.max(axes)
    greatest = greatest.alu("abs").equal(inf).where(0.0, greatest)  # as PyTorch decomposes it, which rules know
    return _kept((x - greatest).exp().sum(axes).log() + greatest, x, dim, keepdim)


@lowering("linalg_vector_norm")
def vector_norm(
    b: Lowering,
    self: Tensor,
    ord: Number = 2,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: Attribute | None = None,
) -> Tensor:
    x = _summand(b, self)
    axes = x.axes(dim)
    return _kept(norm_along(x, axes, float(ord)), x, dim, keepdim)


@lowering("norm.Scalar")
def norm_all(b: Lowering, self: Tensor, p: Number = 2) -> Tensor:
    return vector_norm(b, self, p)


@lowering("norm.ScalarOpt_dim")
def norm(b: Lowering, self: Tensor, p: Number | None, dim: list[int], keepdim: bool = False) -> Tensor:
    return vector_norm(b, self, 2 if p is None else p, dim, keepdim)


def norm_along(x: Tensor, axes: Sequence[int], order: float) -> Tensor:
    """The p-norm of a tensor of floats over axes, for any order p, 0 and ±∞ included. The axes keep extent 1."""
    if order == 2:
        return (x * x).sum(axes).alu("sqrt")
    if order == 0:
        return x.alu("ne", 0).cast(x.element).sum(axes)
    size = x.alu("abs")
    if order == 1:
        return size.sum(axes)
    if order == float("inf"):
        return size.max(axes)
    if order == float("-inf"):
        return size.reduce("min", axes)
    return size.alu("pow", order).sum(axes).alu("pow", 1 / order)


def _kept(reduced: Tensor, source: Tensor, dims: Sequence[int] | None, keepdim: bool) -> Tensor:
    """The reduced axes of extent 1 kept or dropped, as asked."""
    if keepdim:
        return reduced
    axes = source.axes(dims)
    return reduced.reshape([n for axis, n in enumerate(source.shape) if axis not in axes])
