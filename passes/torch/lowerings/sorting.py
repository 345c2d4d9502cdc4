"""Sorting, and choosing by order, in PyTorch's order: NaN is greater than every number, −0 equals 0.

An element's rank is the number of elements that come before it; the order is the inverse of the ranks. Both are
reductions over pairs, n² steps for an axis of n elements, spread over all threads, without a word of scratch memory. A
network of n · log² n steps can take their place where rows are long. Equal elements always keep their order, as
`stable=True` asks and other calls allow.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32, f64, i32, i64

from ....dialects.types import integer_bounds, is_bool, is_float, ui8
from .errors import Unsupported
from .lowering import Lowering
from .places import with_axis
from .registry import lowering
from .tensor import Tensor, along, iota


@lowering("sort")
def sort(b: Lowering, self: Tensor, dim: int = -1, descending: bool = False) -> list[Tensor]:
    return _sorted(b, self, dim, descending, None)


@lowering("sort.stable")
def sort_stable(
    b: Lowering, self: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> list[Tensor]:
    return _sorted(b, self, dim, descending, None)


@lowering("msort")
def msort(b: Lowering, self: Tensor) -> Tensor:
    return _sorted(b, self, 0, False, None)[0]


@lowering("argsort")
def argsort(b: Lowering, self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return _sorted(b, self, dim, descending, None)[1]


@lowering("argsort.stable")
def argsort_stable(b: Lowering, self: Tensor, *, stable: bool, dim: int = -1, descending: bool = False) -> Tensor:
    return _sorted(b, self, dim, descending, None)[1]


@lowering("topk")
def topk(b: Lowering, self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> list[Tensor]:
    """The first k of the order; they are sorted even where that is not asked for."""
    return _sorted(b, self, dim, largest, k)


def _sorted(b: Lowering, self: Tensor, dim: int, descending: bool, count: int | None) -> list[Tensor]:
    """The first elements in order, all without `count`, and where they were."""
    x = with_axis(self)
    axis = x.axis(dim)
    count = x.shape[axis] if count is None else count
    if count > x.shape[axis]:
        raise Unsupported(f"there are no {count} elements among {x.shape[axis]}")
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    if not shape[axis] or not x.count:
        return [b.full(self.shape if self.rank == 0 else shape, 0, x.element), b.full(shape, 0, i64)]
    ranks = _ranks(_keys(x), axis, descending)
    wanted = iota(b.builder, count, i32).reshape([count if d == axis else 1 for d in range(x.rank)])
    order = _with_rank(ranks, axis, wanted.expand(shape))
    shape = shape if self.rank else ()
    return [x.gather(axis, order).reshape(shape), order.reshape(shape)]


@lowering("kthvalue")
def kthvalue(b: Lowering, self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> list[Tensor]:
    """The k-th smallest, counted from 1."""
    x = with_axis(self)
    axis = x.axis(dim)
    if not 1 <= k <= x.shape[axis]:
        raise Unsupported(f"there is no element {k} among {x.shape[axis]}")
    rank = _one_rank(x, axis, k - 1)
    return _chosen(b, x, axis, _with_rank(_ranks(_keys(x), axis), axis, rank))


@lowering("median.dim", "nanmedian.dim")
def median(b: Lowering, self: Tensor, dim: int, keepdim: bool = False) -> list[Tensor]:
    """The lower of the two in the middle; the first NaN, if there is one, or without the NaNs, if not all are."""
    x = with_axis(self)
    axis = x.axis(dim)
    if not x.shape[axis]:
        raise Unsupported("nothing has no median")
    return _chosen(b, x, axis, _median(b, x, axis))


@lowering("median", "nanmedian")
def median_of_all(b: Lowering, self: Tensor) -> Tensor:
    if not self.count and is_float(self.element):
        return b.full((), float("nan"))
    if not self.count:
        raise Unsupported("nothing has no median")
    flat = self.reshape((self.count,))
    return flat.gather(0, _median(b, flat, 0)).reshape(())


def _median(b: Lowering, x: Tensor, axis: int) -> Tensor:
    """Where the median is, with extent 1 along the axis."""
    count = x.shape[axis]
    rank = _one_rank(x, axis, (count - 1) // 2)
    if is_float(x.element):
        numbers = (~x.alu("isnan")).cast(i32).sum([axis])
        if b.op.overload.data.startswith("nan"):
            # Of −1, which is halved for no numbers at all, the maximum with 0 is left.
            rank = (numbers - 1).maximum(0).alu("floordiv", 2)
        else:
            rank = (numbers < count).where(numbers, rank)
    return _with_rank(_ranks(_keys(x), axis), axis, rank)


@lowering("mode")
def mode(b: Lowering, self: Tensor, dim: int = -1, keepdim: bool = False) -> list[Tensor]:
    """The least of the most frequent elements, where it stands last.

    A NaN differs from every other. (PyTorch's result depends on their order, as NaN is not comparable there.)
    """
    x = with_axis(self)
    axis = x.axis(dim)
    if not x.shape[axis]:
        raise Unsupported("nothing has no most frequent element")
    keys = _keys(x)
    mine, others = _pairs(keys, axis)
    equal = mine.equal(others)
    if is_float(x.element):
        mine_x, others_x = _pairs(x, axis)
        equal = mine_x.equal(others_x)
    counts = _over_pairs(equal.cast(i32), "add")
    frequent = counts.equal(counts.max([axis]))
    least = frequent.where(keys, integer_bounds(keys.element)[1]).reduce("min", [axis])
    places = along(b.iota(x.shape[axis], i32), axis, x.shape)
    place = (frequent & keys.equal(least)).where(places, 0).max([axis])
    return _chosen(b, x, axis, place.cast(i64))


def _chosen(b: Lowering, x: Tensor, axis: int, place: Tensor) -> list[Tensor]:
    """The element at a place of the axis, and the place."""
    return [x.gather(axis, place).reshape(b.shape), place.reshape(b.shape)]


def _keys(x: Tensor) -> Tensor:
    """Integers in the order of the elements: a float's bits count upwards, those of a negative one downwards."""
    if not is_float(x.element):
        return x.cast(ui8) if is_bool(x.element) else x
    if x.element != f64:
        x = x.cast(f32)
    element = i64 if x.element == f64 else i32
    greatest = integer_bounds(element)[1]
    bits = x.bitcast(element)
    ordered = (bits < 0).where(bits.alu("xor", greatest), bits)
    return x.alu("isnan").where(greatest, x.equal(0.0).where(0, ordered))


def _pairs(x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Each element along the axis beside each, which a new last axis walks; both are to be broadcast."""
    return x.unsqueeze(-1), x.move_axis(axis, -1).unsqueeze(axis)


def _over_pairs(x: Tensor, monoid: str) -> Tensor:
    """What a reduction over the others of each pair gives."""
    return x.reduce(monoid, [x.rank - 1]).reshape(x.shape[:-1])


def _ranks(keys: Tensor, axis: int, descending: bool = False) -> Tensor:
    """How many elements of the axis come before each: the smaller (greater) ones, and equal ones in front."""
    mine, others = _pairs(keys, axis)
    count, rank = keys.shape[axis], mine.rank
    place = iota(keys.builder, count, i32)
    in_front = place.reshape((1, count)).expand((count, count)) < place.reshape((count, 1))
    in_front = in_front.reshape([count if d in (axis, rank - 1) else 1 for d in range(rank)])
    if descending:
        before = in_front.where(others >= mine, others > mine)
    else:
        before = in_front.where(others <= mine, others < mine)
    return _over_pairs(before.cast(i32), "add")


def _one_rank(x: Tensor, axis: int, rank: int) -> Tensor:
    """A rank for each row."""
    one = iota(x.builder, 1, i32) + rank
    return one.reshape((1,) * x.rank).expand([1 if d == axis else n for d, n in enumerate(x.shape)])


def _with_rank(ranks: Tensor, axis: int, wanted: Tensor) -> Tensor:
    """Where on the axis the elements of the wanted ranks are; these stand along the same axis."""
    count = ranks.shape[axis]
    others = ranks.move_axis(axis, -1).unsqueeze(axis)
    shape = (*wanted.shape, count)
    places = along(iota(ranks.builder, count, i32), len(shape) - 1, shape)
    return _over_pairs(wanted.unsqueeze(-1).equal(others).where(places, 0), "max").cast(i64)
