"""uop's ops on numpy arrays: what the interpreters of all levels share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ...dialects.monoids import Monoid, Number
from ...dialects.semantics import ALU, evaluate, numpy_dtype, round_to_element
from ...dialects.types import type_name

Array = np.ndarray[Any, Any]


class ExecutionError(DiagnosticException):
    """The program does something that has no meaning, such as reading out of bounds; `op` is the op that does it."""


def constant(value: Number, element: Attribute) -> Array:
    """A number as an array of no dimensions."""
    return round_to_element(np, np.asarray(value), element)


def cast_array(array: Array, target: Attribute) -> Array:
    """`uop.cast` of numbers of any element type."""
    with np.errstate(all="ignore"):
        return round_to_element(np, array, target)


def bitcast_array(array: Array, source: Attribute, target: Attribute) -> Array:
    """`uop.bitcast`. bf16, which is kept as f32, has the upper half of the bits."""
    if source == target:
        return array
    array = np.ascontiguousarray(array)
    if type_name(source) == "bf16":
        array = (array.view(np.uint32) >> 16).astype(np.uint16)
    if type_name(target) == "bf16":
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.view(numpy_dtype(target))


@dataclass(frozen=True)
class _Typed:
    """An array and its element type: what stands for a value when a monoid builds its `combine`."""

    type: Attribute
    array: Array


class _Evaluator:
    """Does at once what a builder would build; a monoid's `combine` cannot tell the difference."""

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        row, values = ALU[name], cast(Sequence[_Typed], operands)
        element = values[-1].type
        array = evaluate(np, row, element, [value.array for value in values])
        return cast(SSAValue, _Typed(i1 if row.compares else element, array))

    def constant_like(self, value: Number, like: SSAValue) -> SSAValue:
        element = cast(_Typed, like).type
        return cast(SSAValue, _Typed(element, constant(value, element)))


def combine(monoid: Monoid, elements: Sequence[Attribute], x: Sequence[Array], y: Sequence[Array]) -> list[Array]:
    """The combination of two elements of a monoid whose values have these element types."""

    def typed(arrays: Sequence[Array]) -> list[SSAValue]:
        return [cast(SSAValue, _Typed(e, a)) for e, a in zip(elements, arrays, strict=True)]

    return [cast(_Typed, value).array for value in monoid.combine(_Evaluator(), typed(x), typed(y))]


def fold(monoid: Monoid, elements: Sequence[Attribute], arrays: Sequence[Array], dimension: int) -> list[Array]:
    """The arrays combined along one dimension, which stays with extent 1; an empty one gives the identity."""
    arrays = list(arrays)
    count = arrays[0].shape[dimension]
    if count == 0:
        shape = [1 if d == dimension else n for d, n in enumerate(arrays[0].shape)]
        identities = zip(monoid.identity(elements), elements, strict=True)
        return [np.broadcast_to(constant(value, element), shape) for value, element in identities]

    def part(start: int, stop: int) -> list[Array]:
        return [a[(slice(None),) * dimension + (slice(start, stop),)] for a in arrays]

    while count > 1:  # in halves, which keeps the rounding errors of sums small
        half = count // 2
        folded = combine(monoid, elements, part(0, half), part(half, 2 * half))
        rest = part(2 * half, count)
        arrays = [np.concatenate(pair, dimension) for pair in zip(folded, rest, strict=True)]
        count -= half
    return arrays


def same_bits(x: Array, y: Array) -> Array:
    """Where two arrays of one element type hold the same bits (NaN equals itself, 0 differs from −0)."""
    if x.dtype == np.bool_:
        return x == y
    bits = f"u{x.dtype.itemsize}"
    return np.ascontiguousarray(x).view(bits) == np.ascontiguousarray(y).view(bits)
