"""Python numbers as PyTorch converts them to element types."""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from ....dialects.monoids import Number, number_attribute
from ....dialects.types import bit_width, integer_bounds, is_bool, is_float
from .errors import Unsupported


def convert_number(number: Number, element: Attribute) -> Number:
    """A Python number as PyTorch converts it to an element type: integers wrap, floats truncate.

    Raises `Unsupported` for a float that no integer holds.
    """
    if is_float(element):
        # To 16 bits by way of f32, as PyTorch does.
        return number_attribute(number, f32 if bit_width(element) == 16 else element).value.data
    if is_bool(element):
        return bool(number)
    try:
        whole = int(number)
    except (OverflowError, ValueError):
        raise Unsupported(f"the number {number} does not convert to {element}") from None
    low, _ = integer_bounds(element)
    return (whole - low) % (1 << bit_width(element)) + low
