"""PyTorch's rules for the common type of operands (`torch.result_type`).

Source: `aten/src/ATen/native/TypeProperties.cpp` and `c10/core/ScalarType.cpp`.
"""

from collections.abc import Iterable

from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from ....dialects.monoids import Number
from ....dialects.types import bit_width, is_bool, is_float, ui8
from .tensor import Tensor

_ORDER: tuple[Attribute, ...] = (i1, ui8, i8, i16, i32, i64, f16, bf16, f32, f64)


def promote_types(first: Attribute, second: Attribute) -> Attribute:
    """The least type that both convert to."""
    pair = {first, second}
    if pair == {ui8, i8}:
        return i16
    if pair == {f16, bf16}:
        return f32
    return max(first, second, key=_ORDER.index)


def result_type(operands: Iterable[Tensor | Number]) -> Attribute:
    """The type in which an elementwise op on these operands computes.

    Tensors with axes decide within their category (bool < integer < float), then tensors of rank 0, then numbers.
    """
    groups: list[Attribute | None] = [None, None, None]
    for operand in operands:
        if isinstance(operand, Tensor):
            place, type = (0 if operand.rank else 1), operand.element
        else:
            place, type = 2, number_type(operand)
        group = groups[place]
        groups[place] = type if group is None else promote_types(group, type)
    with_axes, rank_0, numbers = groups
    result = _combine(with_axes, _combine(rank_0, numbers))
    assert result is not None, "an op has operands"
    return result


def number_type(number: Number) -> Attribute:
    """What a Python number is by itself: bool, int64 or the default float type."""
    return i1 if isinstance(number, bool) else i64 if isinstance(number, int) else f32


def _combine(higher: Attribute | None, lower: Attribute | None) -> Attribute | None:
    """`higher`, unless `lower` is of a greater category."""
    if higher is None or lower is None:
        return higher if lower is None else lower
    if is_float(higher):
        return higher
    return promote_types(higher, lower) if is_bool(higher) or is_float(lower) else higher


def compute_type(element: Attribute) -> Attribute:
    """The type that arithmetic on `element` is done in: f32 for floats of 16 bits."""
    return f32 if is_float(element) and bit_width(element) == 16 else element
