"""Tensors put together: joined, repeated, and with parts replaced."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1, i64

from ....dialects.types import is_bool
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .sizes import ADVICE, is_size
from .tensor import Tensor, along
from .views import first_place, slice_places
from .windows import spread


@lowering("cat")
def cat(b: Lowering, tensors: list[Tensor], dim: int = 0) -> Tensor:
    """Empty tensors of rank 1 are left out, whatever the rank of the others."""
    parts = [x.cast(b.element) for x in tensors if x.shape != (0,)]
    return _joined(b, parts, parts[0].axis(dim)) if parts else tensors[0].cast(b.element)


@lowering("stack")
def stack(b: Lowering, tensors: list[Tensor], dim: int = 0) -> Tensor:
    axis = dim % (tensors[0].rank + 1)
    return _joined(b, [x.cast(b.element).unsqueeze(axis) for x in tensors], axis)


@lowering("diff")
def diff(
    b: Lowering,
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Each element less the one before it, `n` times over; of bools, whether they differ."""
    x = cat(b, [part.cast(b.element) for part in (prepend, self, append) if part is not None], dim)
    for _ in range(n):
        count = x.shape[x.axis(dim)] - 1
        if count < 0:
            return x
        later, earlier = x.shrink(dim, 1, count), x.shrink(dim, 0, count)
        x = later.alu("xor", earlier) if is_bool(b.element) else later - earlier
    return x


def _joined(b: Lowering, parts: Sequence[Tensor], axis: int) -> Tensor:
    """Each part padded to the whole, chosen by the place on the axis."""
    parts = [x for x in parts if x.shape[axis]] or parts[:1]
    extents = [x.shape[axis] for x in parts]
    extent = sum(extents)
    ends = [sum(extents[: part + 1]) for part in range(len(parts))]
    if is_size(extent):
        padded = [x.placed(axis, end - n, extent) for x, n, end in zip(parts, extents, ends, strict=True)]
    else:
        padded = [x.pad(axis, end - n, extent - end) for x, n, end in zip(parts, extents, ends, strict=True)]
    if len(parts) == 1:
        return padded[0]
    places = along(b.iota(extent, i64), axis, padded[0].shape)
    result = padded[-1]
    for part, end in zip(reversed(padded[:-1]), reversed(ends[:-1]), strict=True):
        result = (places < end).where(part, result)
    return result


@lowering("repeat")
def repeat(b: Lowering, self: Tensor, repeats: list[int]) -> Tensor:
    return _tiled(self, repeats)


@lowering("tile")
def tile(b: Lowering, self: Tensor, dims: list[int]) -> Tensor:
    return _tiled(self, [*(1,) * (self.rank - len(dims)), *dims])


def _tiled(x: Tensor, repeats: Sequence[int]) -> Tensor:
    shape = (*(1,) * (len(repeats) - x.rank), *x.shape)
    split = x.reshape([extent for n in shape for extent in (1, n)])
    expanded = split.expand([extent for r, n in zip(repeats, shape, strict=True) for extent in (r, n)])
    return expanded.reshape([r * n for r, n in zip(repeats, shape, strict=True)])


@lowering("repeat_interleave.self_int")
def repeat_interleave(
    b: Lowering, self: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    x = self.reshape((self.count,)) if dim is None else self
    axis = 0 if dim is None else x.axis(dim)
    front, extent, back = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    expanded = x.reshape((*front, extent, 1, *back)).expand((*front, extent, repeats, *back))
    return expanded.reshape((*front, extent * repeats, *back))


@lowering("roll")
def roll(b: Lowering, self: Tensor, shifts: list[int], dims: list[int] | None = None) -> Tensor:
    if not dims:
        flat = self.reshape((self.count,))
        return _rolled(flat, 0, shifts[0]).reshape(self.shape)
    result = self
    for shift, axis in zip(shifts, dims, strict=True):
        result = _rolled(result, self.axis(axis), shift)
    return result


def _rolled(x: Tensor, axis: int, shift: int) -> Tensor:
    """The part of the axis, followed by itself, that begins `shift` elements in front of the second."""
    extent = x.shape[axis]
    shift = shift % extent if extent else 0
    if shift == 0:
        return x
    twice = x.unsqueeze(axis).expand((*x.shape[:axis], 2, *x.shape[axis:]))
    twice = twice.reshape((*x.shape[:axis], 2 * extent, *x.shape[axis + 1 :]))
    return twice.shrink(axis, extent - shift, extent)


@lowering("select_scatter")
def select_scatter(b: Lowering, self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    axis = self.axis(dim)
    place = first_place(self.shape[axis], index)
    here = along(b.iota(self.shape[axis], i64), axis, self.shape).equal(place)
    return here.where(src.cast(self.element).unsqueeze(axis).expand(self.shape), self)


@lowering("slice_scatter")
def slice_scatter(
    b: Lowering,
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """`src` spread over the places of the slice: each of its elements followed by step − 1 others, then cut to size."""
    axis = self.axis(dim)
    extent = self.shape[axis]
    if is_size(extent) or is_size(src.shape[axis]) or is_size(start):
        return _replaced_slice(b, self, src.cast(self.element), axis, first_place(extent, start), step)
    places = slice_places(extent, start, end, step)
    if not len(places):
        return self
    inside = b.full(src.shape, True, i1)
    values, mask = (
        _spread(x, axis, step, places.start, extent) for x in (src.cast(self.element).broadcast_to(src.shape), inside)
    )
    return mask.where(values, self)


def _replaced_slice(b: Lowering, x: Tensor, source: Tensor, axis: int, start: int, step: int) -> Tensor:
    """`source` in the place of as many elements from `start` on."""
    if step != 1:
        raise Unsupported(f"a slice of step {step} of an axis of {x.shape[axis]}", ADVICE)
    places = along(b.iota(x.shape[axis], i64), axis, x.shape)
    inside = (places >= start) & (places < start + source.shape[axis])
    return inside.where(source.placed(axis, start, x.shape[axis]), x)


def _spread(x: Tensor, axis: int, step: int, start: int, extent: int) -> Tensor:
    """Element `i` of an axis put at `start + i · step` of an axis of `extent`, zeros elsewhere."""
    x = spread(x, axis, step)
    return x.pad(axis, start, extent - start - x.shape[axis])
