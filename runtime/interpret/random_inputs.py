"""Inputs to try a program on: random numbers of several kinds, always the same for one seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ...dialects.semantics import numpy_dtype, round_to_element
from ...dialects.types import (
    bf16,
    element_of,
    f16,
    f32,
    index,
    integer_bounds,
    is_bool,
    is_float,
    is_value_type,
    shape_of,
)
from .arrays import NotExecutableError
from .entries import Entry, faults

Array = np.ndarray[Any, Any]
Generator = np.random.Generator

KINDS = ("normal", "integers", "special", "extremes")
"""normal: floats of mean 0 and variance 1, integers from 1 to 9.
integers: whole numbers from −4 to 4, on which most sums and products are exact.
special: of the floats one in ten is NaN, ±∞, ±0 or subnormal; integers of every size.
extremes: of the numbers one in ten is the greatest or the least of its type, or next to it.
"""

_SPECIAL_SHARE = 0.1

_GREATEST: Mapping[Attribute, float] = {
    f16: 65504.0,
    bf16: (2 - 2**-7) * 2.0**127,
    f32: float(np.finfo(np.float32).max),
}
_SUBNORMAL: Mapping[Attribute, float] = {f16: 6e-8, bf16: 9.2e-41, f32: 1e-45}


def random_inputs(module: ModuleOp, entry: Entry, kind: str, seed: int) -> list[Array]:
    """Inputs of a kind for an entry, as the interpreters hold them.

    Integers that the program uses as indices are such that it stays inside its buffers, as far as that is found by
    running it. Raises `NotExecutableError` for an argument that is no number, tensor or buffer of a known shape.
    """
    for type in entry.inputs:
        if not is_value_type(type):
            raise NotExecutableError(f"an argument of type {type} cannot be made up", module)
    limits = index_limits(module, entry)
    while True:
        generator = np.random.default_rng([seed, KINDS.index(kind)])
        arrays = [_array(type, kind, generator, limit) for type, limit in zip(entry.inputs, limits, strict=True)]
        arrays = entry.sized(arrays, lambda low, high: int(generator.integers(low, high, endpoint=True)))
        bounded = [limit for limit in limits if limit is not None and limit > 1]
        if not bounded or not faults(module, entry, arrays):
            return arrays
        # Indices that are made of several inputs: smaller ones, down to zeros.
        limits = [None if limit is None else max(1, limit // 2) for limit in limits]


def index_limits(module: ModuleOp, entry: Entry) -> list[int | None]:
    """For each input that the program uses as an index, one more than the greatest number that it may hold; else None.

    Found by running the program on that number alone, the other inputs being zero, and sizes the greatest.
    """
    symbols = () if entry.sizes is None else entry.sizes.symbols.values()
    sizes = {place for place, _ in symbols}
    return [
        _index_limit(module, entry, place) if _is_integer(type) and place not in sizes else None
        for place, type in enumerate(entry.inputs)
    ]


def _index_limit(module: ModuleOp, entry: Entry, place: int) -> int | None:
    type = entry.inputs[place]
    low, high = integer_bounds(element_of(type))

    def fits(number: int) -> bool:
        arrays = [np.zeros(shape_of(other), numpy_dtype(element_of(other))) for other in entry.inputs]
        arrays[place] = np.full(shape_of(type), number, numpy_dtype(element_of(type)))
        return not faults(module, entry, entry.sized(arrays, max))

    if prod(shape_of(type)) == 0 or (fits(high) and fits(low)):
        return None
    if not fits(0):
        return 1  # it faults for another reason
    inside, outside = 0, 1
    while outside < high and fits(outside):
        inside, outside = outside, 2 * outside
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if fits(middle) else (inside, middle)
    return inside + 1


def _is_integer(type: Attribute) -> bool:
    element = element_of(type)
    return not is_float(element) and not is_bool(element)


def _array(type: Attribute, kind: str, generator: Generator, limit: int | None) -> Array:
    element, shape = element_of(type), shape_of(type)
    if is_bool(element):
        return generator.integers(0, 2, shape).astype(bool)
    if is_float(element):
        return _FLOATS[kind](generator, shape, element)
    if limit is not None:
        return generator.integers(0, limit, shape).astype(numpy_dtype(element))
    return _integers(generator, shape, element, kind)


def _integers(generator: Generator, shape: tuple[int, ...], element: Attribute, kind: str) -> Array:
    low, high = integer_bounds(element)
    if kind == "normal":
        numbers = generator.integers(1, 9, shape, np.int64, endpoint=True)
    elif kind == "integers":
        numbers = generator.integers(max(low, -4), 4, shape, np.int64, endpoint=True)
    elif element == index:  # an index does not wrap: numbers whose products stay inside
        numbers = generator.integers(-1000, 1000, shape, np.int64)
    else:
        numbers = generator.integers(low, high, shape, np.int64, endpoint=True)
        if kind == "special":
            numbers = numbers >> generator.integers(0, np.iinfo(numpy_dtype(element)).bits, shape)
        else:
            numbers = _mixed(generator, generator.integers(max(low, -9), 9, shape), [low, low + 1, high - 1, high])
    return np.asarray(numbers).astype(numpy_dtype(element))


def _rounded(numbers: Any, element: Attribute) -> Array:
    with np.errstate(all="ignore"):
        return round_to_element(np, np.asarray(numbers), element)


def _normal(generator: Generator, shape: tuple[int, ...], element: Attribute) -> Array:
    return _rounded(generator.standard_normal(shape), element)


def _whole(generator: Generator, shape: tuple[int, ...], element: Attribute) -> Array:
    return _rounded(generator.integers(-4, 4, shape, endpoint=True).astype(np.float64), element)


def _special(generator: Generator, shape: tuple[int, ...], element: Attribute) -> Array:
    subnormal = _SUBNORMAL.get(element, 5e-324)
    numbers = [np.nan, np.inf, -np.inf, 0.0, -0.0, subnormal, -subnormal, 3 * subnormal]
    return _rounded(_mixed(generator, generator.standard_normal(shape), numbers), element)


def _extremes(generator: Generator, shape: tuple[int, ...], element: Attribute) -> Array:
    greatest = _GREATEST.get(element, float(np.finfo(np.float64).max))
    return _rounded(_mixed(generator, generator.standard_normal(shape), [greatest, -greatest, greatest / 2]), element)


_FLOATS: Mapping[str, Callable[[Generator, tuple[int, ...], Attribute], Array]] = {
    "normal": _normal,
    "integers": _whole,
    "special": _special,
    "extremes": _extremes,
}


def _mixed(generator: Generator, numbers: Array, others: Sequence[float | int]) -> Array:
    """`numbers` with a share of them replaced by some of `others`; in small arrays, half of them."""
    share = _SPECIAL_SHARE if numbers.size > 16 else 0.5
    chosen = generator.choice(np.asarray(others, np.asarray(numbers).dtype), np.shape(numbers))
    return np.where(generator.random(np.shape(numbers)) < share, chosen, numbers)
