"""Writes at indices that are data, as new tensors: scatter, index_put, index_add and their kin.

PyTorch raises for an index out of range; a compiled program drops that update. Of several updates of one place
without a reduction the last stays, as on a CPU. Floats of 16 bits are combined in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1, i64

from ....dialects.monoids import MONOIDS, Number
from ....dialects.types import is_bool, is_float
from .bounded_tensor import aligned
from .errors import Unsupported
from .lowering import Lowering, Operand
from .masks import chosen_places, coordinates, count_before, is_mask, pairs
from .places import Places, first_elements, from_front, inverse, with_axis
from .registry import lowering
from .sizes import ADVICE
from .tensor import Tensor, along, bool_tensor, full

_REDUCTIONS = {
    "add": "add",
    "multiply": "mul",
    "sum": "add",
    "prod": "mul",
    "mean": "add",
    "amax": "max",
    "amin": "min",
}
"""PyTorch's names of reductions → monoids."""


@lowering("scatter.src")
def scatter(b: Lowering, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return _scatter_into(self, dim, index, src)


@lowering("scatter.value")
def scatter_value(b: Lowering, self: Tensor, dim: int, index: Tensor, value: Number) -> Tensor:
    return _scatter_into(self, dim, index, b.full(index.shape, value))


@lowering("scatter.reduce")
def scatter_with(b: Lowering, self: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor:
    return _scatter_into(self.cast(b.compute), dim, index, src, _monoid(reduce))


@lowering("scatter.value_reduce")
def scatter_value_with(b: Lowering, self: Tensor, dim: int, index: Tensor, value: Number, *, reduce: str) -> Tensor:
    return _scatter_into(self.cast(b.compute), dim, index, b.full(index.shape, value), _monoid(reduce))


@lowering("scatter_add")
def scatter_add(b: Lowering, self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return _scatter_into(self.cast(b.compute), dim, index, src, "add")


@lowering("scatter_reduce.two")
def scatter_reduce(
    b: Lowering, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    if not index.count:  # it may have any shape
        return self
    x, places = with_axis(self), with_axis(index)
    updates = first_elements(with_axis(src), places.shape)
    return _reduced(b, x, dim, places, updates, reduce, include_self).reshape(b.shape)


@lowering("index_reduce")
def index_reduce(
    b: Lowering, self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    x, updates = with_axis(self), with_axis(source)
    return _reduced(b, x, dim, _slices(x, dim, index, updates), updates, reduce, include_self).reshape(b.shape)


def _reduced(
    b: Lowering, self: Tensor, dim: int, places: Tensor, updates: Tensor, reduce: str, include_self: bool
) -> Tensor:
    """Without `include_self` a place that is named begins with nothing, and one that is not keeps its element."""
    x, monoid = self.cast(b.compute), _monoid(reduce)
    start = x
    if not include_self:
        (identity,) = MONOIDS[monoid].identity([x.element])
        start = _named(x, dim, places).where(identity, x)
    result = _scatter(start, dim, places, updates, monoid)
    if reduce != "mean":
        return result
    one = full(b.builder, (), 1, i64)
    counts = one.broadcast_to(x.shape) if include_self else one.like(0).broadcast_to(x.shape)
    counts = _scatter(counts, dim, places, one.broadcast_to(places.shape), "add").maximum(1).cast(x.element)
    return result / counts if is_float(x.element) else result.alu("floordiv", counts)


@lowering("index_add")
def index_add(b: Lowering, self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    x, updates = with_axis(self).cast(b.compute), with_axis(source).cast(b.compute)
    places = _slices(x, dim, index, updates)
    if alpha != 1:
        updates = updates.alu("and", bool(alpha)) if is_bool(x.element) else updates * alpha
    return _scatter(x, dim, places, updates, "add").reshape(b.shape)


@lowering("index_copy")
def index_copy(b: Lowering, self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    x, updates = with_axis(self), with_axis(source)
    return _scatter(x, dim, _slices(x, dim, index, updates), updates).reshape(b.shape)


@lowering("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(b: Lowering, self: Tensor, dim: int, index: Tensor, value: Operand) -> Tensor:
    x = with_axis(self)
    axis = x.axis(dim)
    slices = (*x.shape[:axis], index.count, *x.shape[axis + 1 :])
    places = along(from_front(index.reshape((index.count,)), x.shape[axis]), axis, slices)
    return _scatter(x, dim, places, b.operand(value, x.element).broadcast_to(slices)).reshape(b.shape)


def _slices(x: Tensor, dim: int, index: Tensor, updates: Tensor) -> Tensor:
    """The places of whole slices along one axis, which a tensor of rank 0 or 1 names."""
    axis = x.axis(dim)
    expected = (*x.shape[:axis], index.count, *x.shape[axis + 1 :])
    if updates.shape != expected:  # PyTorch says so when it runs, not when it exports
        raise Unsupported(f"its source has shape {[*updates.shape]} where {[*expected]} is needed")
    return along(index.reshape((index.count,)), axis, updates.shape)


# `x[indices] = values`.


@lowering("index_put", "_unsafe_index_put")
def index_put(
    b: Lowering, self: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """With `accumulate`, values put at one place add up; else the last of them stays."""
    masks = [tensor for tensor in indices if tensor is not None and is_mask(tensor)]
    if masks and len([tensor for tensor in indices if tensor is not None]) == 1:
        return _masked_put(b, self, indices, values, accumulate)
    if masks:
        return _paired_put(b, self, indices, values, accumulate)
    places = Places.of(self, indices)
    rows = places.rows(self.cast(b.compute) if accumulate else self)
    put = _put_rows(rows, places, places.flat, values, accumulate)
    return places.from_rows(put, self.shape)


def _put_rows(rows: Tensor, places: Places, flat: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    order = places.result_order()
    taken_shape = (*places.shape, *rows.shape[1:])
    updates = values.broadcast_to([taken_shape[axis] for axis in order]).permute(inverse(order))
    updates = updates.reshape((flat.count, *rows.shape[1:]))
    return _scatter(rows, 0, along(flat, 0, updates.shape), updates, "add" if accumulate else None)


@lowering("_unsafe_masked_index_put_accumulate")
def unsafe_masked_index_put_accumulate(
    b: Lowering, self: Tensor, mask: Tensor, indices: list[Tensor | None], values: Tensor
) -> Tensor:
    """Where the mask is false an index may be anything, and nothing is added."""
    if self.count == 0:
        return self
    inside = [
        None if tensor is None else tensor.cast(i64).maximum(0).minimum(self.shape[axis] - 1)
        for axis, tensor in enumerate(indices)
    ]
    return index_put(b, self, inside, bool_tensor(mask).where(values, 0), accumulate=True)


def _paired_put(b: Lowering, x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Tensor:
    """`x[mask, other] = values`: what there are fewer pairs of than could be goes into a row behind the last."""
    length = _number_of_pairs(x, indices, values)
    if not x.count or length == 0:
        return x
    together = pairs(indices, length)
    places = Places.of(x, together.indices)
    rows = places.rows(x.cast(b.compute) if accumulate else x)
    flat = together.exist.where(places.flat, rows.shape[0])
    put = _put_rows(rows.pad(0, 0, 1), places, flat, values, accumulate)
    return places.from_rows(put.shrink(0, 0, rows.shape[0]), x.shape)


def _number_of_pairs(x: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> int | None:
    """The extent of the axis of `values` that goes along the pairs, unless all pairs have one value."""
    extents = [1 if index is None or not is_mask(index) else index.rank for index in indices]
    given = [place for place, index in enumerate(indices) if index is not None]
    together = given == list(range(given[0], given[-1] + 1))
    before = given[0] if together else 0
    rank = 1 + x.rank - sum(extents[place] for place in given)
    axis = before - (rank - values.rank)
    return values.shape[axis] if axis >= 0 and values.shape[axis] != 1 else None


def _masked_put(b: Lowering, x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Tensor:
    """`x[:, mask] = values`: one value for all elements that the mask chooses, or one for each in their order."""
    ((axis, mask),) = [(axis, tensor) for axis, tensor in enumerate(indices) if tensor is not None]
    end = axis + mask.rank
    chosen = bool_tensor(mask).reshape((*mask.shape, *(1,) * (x.rank - end)))
    # In `values` one axis, the elements chosen, stands for all of the mask's.
    chosen_axis = values.rank - (x.rank - end) - 1
    if not values.count:
        return x
    if chosen_axis >= 0 and values.shape[chosen_axis] != 1:
        flat = bool_tensor(mask).reshape((mask.count,))
        values = values.take(chosen_axis, count_before(flat, values.shape[chosen_axis] - 1))
        values = values.reshape((*values.shape[:chosen_axis], *mask.shape, *values.shape[chosen_axis + 1 :]))
    elif chosen_axis >= 0:
        before, behind = values.shape[:chosen_axis], values.shape[chosen_axis + 1 :]
        values = values.reshape((*before, *(1,) * mask.rank, *behind))
    element = b.compute if accumulate else x.element
    x, values = x.cast(element), values.cast(element).broadcast_to(x.shape)
    return chosen.broadcast_to(x.shape).where(_added(x, values) if accumulate else values, x)


@lowering("masked_scatter")
def masked_scatter(b: Lowering, self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of `source`, in order, where the mask holds."""
    if not is_bool(mask.element):  # PyTorch says so when it runs, not when it exports
        raise Unsupported(f"its mask is of {mask.element}, only one of bools is known")
    x, chosen = self.broadcast_to(b.shape), mask.broadcast_to(b.shape)
    if not source.count:
        return x
    places = count_before(chosen.reshape((chosen.count,)), source.count - 1)
    return chosen.where(source.reshape((source.count,)).take(0, places).reshape(b.shape), x)


@lowering("nonzero_static")
def nonzero_static(b: Lowering, self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The places of the first elements that are not 0, one a row, and rows of `fill_value` behind them."""
    if not self.count or not size or not self.rank:
        return b.full(b.shape, fill_value)
    flat = chosen_places(bool_tensor(self).reshape((self.count,)), size).unsqueeze(1)
    result = full(b.builder, b.shape, fill_value, i64)
    for axis, place in enumerate(coordinates(flat, self.shape)):
        result = (b.iota(self.rank, i64).equal(axis) & (flat >= 0)).where(place, result)
    return result


@lowering("put")
def put(b: Lowering, self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Elements of the flat tensor; negative indices count from its end."""
    flat = self.cast(b.compute if accumulate else self.element).reshape((self.count,))
    places = from_front(index.reshape((index.count,)), self.count)
    updates = source.reshape((source.count,))
    return _scatter(flat, 0, places, updates, "add" if accumulate else None).reshape(self.shape)


# Parts that are known without data.


@lowering("diagonal_scatter")
def diagonal_scatter(b: Lowering, self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Element `d` of the last axis goes to `d + max(−offset, 0)` of `dim1` and `d + max(offset, 0)` of `dim2`."""
    if not src.count:
        return self
    first, second = self.axis(dim1), self.axis(dim2)
    order = [*(axis for axis in range(self.rank) if axis not in (first, second)), first, second]
    x = self.permute(order)
    rows, columns = x.shape[-2:]
    low = max(-offset, 0)
    values = src.cast(x.element).pad(-1, low, rows - low - src.shape[-1]).unsqueeze(-1).expand(x.shape)
    row, column = b.iota(rows, i64).unsqueeze(-1), b.iota(columns, i64).unsqueeze(0)
    on_diagonal = (row + offset).equal(column).broadcast_to(x.shape)
    return on_diagonal.where(values, x).permute(inverse(order))


@lowering("as_strided_scatter")
def as_strided_scatter(
    b: Lowering, self: Tensor, src: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None
) -> Tensor:
    """Places in memory: those of a contiguous tensor, as all are."""
    places = full(b.builder, size, storage_offset or 0, i64)
    for axis, (extent, step) in enumerate(zip(size, stride, strict=True)):
        places = places + along(b.iota(extent, i64) * step, axis, size)
    flat, updates = self.reshape((self.count,)), src.reshape((src.count,))
    return _scatter(flat, 0, places.reshape((places.count,)), updates).reshape(self.shape)


# The op.


def _monoid(reduce: str) -> str:
    if reduce not in _REDUCTIONS:
        raise Unsupported(f"there is no reduction {reduce!r}", f"there are {', '.join(_REDUCTIONS)}")
    return _REDUCTIONS[reduce]


def _scatter_into(x: Tensor, dim: int, index: Tensor, source: Tensor, monoid: str | None = None) -> Tensor:
    """`source` may be larger than `index`: its first elements go."""
    places = with_axis(index)
    if not places.count:  # it may have any shape
        return x
    updates = first_elements(with_axis(source), places.shape)
    return _scatter(with_axis(x), dim, places, updates, monoid).reshape(x.shape)


def _scatter(x: Tensor, dim: int, places: Tensor, updates: Tensor, monoid: str | None = None) -> Tensor:
    """`uop.scatter`; bools add up to whether one is true, and multiply to whether all are."""
    if is_bool(x.element) and monoid is not None:
        monoid = {"add": "or", "max": "or"}.get(monoid, "and")
    axis, updates = x.axis(dim), updates.cast(x.element)
    if places.dims is not None or updates.dims is not None or x.dims is not None:
        return _scatter_bounded(x, axis, places, updates, monoid)
    return Tensor(x.builder, x.builder.scatter(x.value, places.value, updates.value, axis, monoid))


def _scatter_bounded(x: Tensor, axis: int, places: Tensor, updates: Tensor, monoid: str | None) -> Tensor:
    """With sizes that are known when the program runs: what is not meant is not written."""
    x = x.straight(axis)
    (places, updates), dims = aligned([places, updates])
    for d, (mine, other) in enumerate(zip(x.layout, dims, strict=True)):
        if d != axis and mine.digits != other.digits:
            raise Unsupported(f"updates of {list(updates.shape)} of {list(x.shape)}", ADVICE)
    cut = [d for d, dim in enumerate(places.layout) if dim.is_cut and (d == axis or not dim.uniform)]
    named = places.masked(cut, -1)
    written = x.builder.scatter(x.bounded, named.bounded, updates.bounded, axis, monoid)
    return x.new(written, x.layout)


def _named(x: Tensor, dim: int, places: Tensor) -> Tensor:
    """Whether any of the places on an axis of `x` is this one."""
    none = full(x.builder, x.shape, False, i1)
    return _scatter(none, dim, places, full(x.builder, places.shape, True, i1))


def _added(x: Tensor, y: Tensor) -> Tensor:
    return x | y if is_bool(x.element) else x + y
