"""Sizes that are known when a program is called: symbols, whose values the shapes of its arguments tell.

A plan has a symbol's greatest value wherever a type needs a number. What is given is copied into buffers of that size,
what lies behind it is open, and results are narrowed to the extents that are meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Size = int | tuple["Term", ...]
"""An extent: a number, or the sum of terms."""
Term = tuple[tuple["Factor", ...], int]
"""A product of factors, and its coefficient."""
Factor = str | tuple[Size, int]
"""A symbol, or the floor of a size divided by a number."""

Sizes = Mapping[str, int]
"""Symbol → its value in a call."""

NO_SIZES: Sizes = {}


class SizeError(ValueError):
    """What a program is called with does not have sizes that it takes."""


@dataclass(frozen=True)
class Symbol:
    """A size by its name.

    low, high: its least and its greatest value
    place:     the value of the plan that holds it when the program runs, an i64 of no dimensions
    argument, axis: the value, and its dimension, that is given with a length of factor · symbol + offset
    """

    name: str
    low: int
    high: int
    place: int
    argument: int
    axis: int
    factor: int = 1
    offset: int = 0


def size_value(size: Size, sizes: Sizes) -> int:
    """What a size is in a call."""
    if isinstance(size, int):
        return size
    total = 0
    for factors, coefficient in size:
        for factor in factors:
            coefficient *= sizes[factor] if isinstance(factor, str) else size_value(factor[0], sizes) // factor[1]
        total += coefficient
    return total


def size_text(size: Size) -> str:
    """A size for people: `2 * s0 + 1`."""
    if isinstance(size, int):
        return str(size)
    text = ""
    for factors, coefficient in size:
        parts = [str(abs(coefficient))] if abs(coefficient) != 1 or not factors else []
        parts += [each if isinstance(each, str) else f"(({size_text(each[0])}) // {each[1]})" for each in factors]
        sign = "-" if coefficient < 0 else "+"
        product = " * ".join(parts)
        text = f"{text} {sign} {product}" if text else product if coefficient > 0 else f"-{product}"
    return text or "0"


def size_of_json(data: Any) -> Size:
    """The size that JSON has lists for. Raises `TypeError` or `ValueError` for what is none."""
    if isinstance(data, int):
        return data
    return tuple(
        (
            tuple(each if isinstance(each, str) else (size_of_json(each[0]), int(each[1])) for each in factors),
            int(coefficient),
        )
        for factors, coefficient in data
    )


def widen(buffer: Any, given: Any) -> Any:
    """Copy an array or tensor to the beginning of each dimension of a buffer; the buffer."""
    buffer[tuple(map(slice, given.shape))] = given
    return buffer


def narrow(value: Any, shape: Sequence[int]) -> Any:
    """The elements of an array or tensor that are meant, as a view."""
    return value[tuple(map(slice, shape))]
