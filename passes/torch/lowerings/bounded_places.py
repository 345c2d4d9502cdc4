"""Places of elements in bounded tensors, as values that are computed when the program runs: i64 tensors of rank 1."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects.types import element_count
from ....rewriting.builder import Builder
from .sizes import Dim, as_size, bound_of, is_size, value_of


def on_places(builder: Builder, name: str, places: SSAValue, number: int | SSAValue) -> SSAValue:
    """An ALU op on places and a number: an int, a size, or an i64 of rank 0."""
    if not isinstance(number, SSAValue) and not is_size(number):
        return builder.alu(name, places, builder.constant_like(number, places))
    scalar = number if isinstance(number, SSAValue) else value_of(builder, number)
    return builder.alu(name, places, builder.expand(builder.reshape(scalar, (1,)), places.type))


def is_meant(builder: Builder, dim: Dim) -> SSAValue:
    """Whether each of the elements of a dimension's greatest extent is meant: a tensor of rank 1."""
    place = builder.iota(dim.extent, i64)
    result: SSAValue | None = None
    stride = dim.extent
    for digit in dim.digits:
        above = stride
        stride //= bound_of(digit)
        if as_size(digit) is None:
            continue
        here = place if stride == 1 else on_places(builder, "floordiv", place, stride)
        here = here if above == dim.extent else on_places(builder, "floormod", here, bound_of(digit))
        inside = on_places(builder, "lt", here, digit)
        result = inside if result is None else builder.alu("and", result, inside)
    assert result is not None, "a dimension whose elements are all meant"
    return result


def places_of(builder: Builder, dims: Sequence[Dim], shape: Sequence[int]) -> SSAValue:
    """Where elements stand that lie as `dims` say, for each place of a tensor of the greatest extents of `shape`, in
    row-major order; some place of the tensor for those that are not meant."""
    extents = [bound_of(n) for n in shape]
    place = builder.iota(element_count(extents), i64)
    count = zeros = builder.constant_like(0, place)
    for axis, n in enumerate(shape):
        index = on_places(builder, "floordiv", place, element_count(extents[axis + 1 :]))
        index = on_places(builder, "floormod", index, extents[axis])
        count = builder.alu("add", on_places(builder, "mul", count, n), index)
    found, stride = zeros, 1
    for digit in reversed([digit for dim in dims for digit in dim.digits]):
        bound, size = bound_of(digit), value_of(builder, digit)
        size = builder.alu("max", size, builder.constant_like(1, size))
        of_digit = on_places(builder, "floormod", count, size)
        of_digit = on_places(builder, "min", of_digit, bound - 1)
        found = builder.alu("add", found, on_places(builder, "mul", of_digit, stride))
        count = on_places(builder, "floordiv", count, size)
        stride *= bound
    return found
