"""Where masks choose elements, as places: whose number depends on data, so up to a number that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1, i64

from ....dialects.types import element_count, is_bool, ui8
from .errors import Unsupported
from .tensor import Tensor, bool_tensor, full, iota


def is_mask(index: Tensor) -> bool:
    """Whether an index chooses by its elements; u8 stands for bool, as it did in old PyTorch."""
    return is_bool(index.element) or index.element == ui8


def count_before(chosen: Tensor, most: int) -> Tensor:
    """How many elements are chosen before each of a tensor of rank 1, at most `most`."""
    before = chosen.cast(i64).running("add", 0) - chosen.cast(i64)
    return before.minimum(most)


def chosen_places(chosen: Tensor, size: int) -> Tensor:
    """The places of the first `size` elements chosen in a tensor of rank 1; −1 where there are no more."""
    # What is not chosen, or too much, goes behind the last.
    targets = chosen.where(count_before(chosen, size), size)
    nowhere = full(chosen.builder, (size + 1,), -1, i64)
    places = iota(chosen.builder, chosen.count, i64)
    written = chosen.builder.scatter(nowhere.value, targets.value, places.value, 0)
    return Tensor(chosen.builder, written).shrink(0, 0, size)


def coordinates(flat: Tensor, shape: Sequence[int]) -> list[Tensor]:
    """The place on each axis of a shape, of places in its elements in order."""
    strides = [element_count(shape[axis + 1 :]) for axis in range(len(shape))]
    return [flat.alu("floordiv", stride).alu("floormod", extent) for extent, stride in zip(shape, strides, strict=True)]


@dataclass(frozen=True)
class Pairs:
    """Indices of rank 1 that go together, one for each axis that is indexed, and which of them there are."""

    indices: list[Tensor | None]
    exist: Tensor


def pairs(indices: Sequence[Tensor | None], length: int | None) -> Pairs:
    """Masks and integers that index together: the k-th place that each mask chooses, with the k-th integers.

    length: their number, where it is known. A mask that chooses one place goes with all of the others.
    """
    given = [index for index in indices if index is not None]
    integers = [index for index in given if not is_mask(index)]
    if any(index.rank > 1 for index in integers):
        raise Unsupported("masks beside indices of several dimensions", "put one mask alone, or use torch.where")
    masks = [bool_tensor(index).reshape((index.count,)) for index in given if is_mask(index)]
    lengths = {count for count in (length, *(index.count for index in integers)) if count not in (None, 1)}
    if len(lengths) > 1:
        raise Unsupported(f"{' and '.join(map(str, sorted(lengths)))} indices do not go together")
    size = next(iter(lengths)) if lengths else max(mask.count for mask in masks)
    counts = [mask.cast(i64).sum([0]) for mask in masks]
    place = iota(masks[0].builder, size, i64)
    exist = full(place.builder, (size,), True, i1)
    if not lengths:
        greatest = counts[0]
        for count in counts[1:]:
            greatest = greatest.maximum(count)
        exist = place < greatest
    result: list[Tensor | None] = []
    numbers = iter(zip(masks, counts, strict=True))
    for index in indices:
        if index is None:
            result.append(None)
        elif not is_mask(index):
            result.append(index.cast(i64).broadcast_to((size,)))
        else:
            mask, count = next(numbers)
            single = count.equal(1)
            exist = exist & (single | (place < count))
            flat = chosen_places(mask, size)
            flat = single.where(flat.shrink(0, 0, min(size, 1)), flat) if size else flat
            result += coordinates(flat.maximum(0), index.shape)
    return Pairs(result, exist)
