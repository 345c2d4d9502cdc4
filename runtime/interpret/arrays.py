"""uop's ops on numpy arrays: what the interpreters of all levels share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ...dialects.monoids import Monoid, Number
from ...dialects.semantics import ALU, Semantics, evaluate, numpy_dtype, round_to_element
from ...dialects.types import element_of, type_name
from ...dialects.uop import AluOp
from .noise import current_noise

Array = np.ndarray[Any, Any]

MAX_ELEMENTS = 1 << 27
"""Greatest number of elements that an op may be computed for: a gigabyte of f64."""


class ExecutionError(DiagnosticException):
    """The program does something that has no meaning, such as reading out of bounds; `op` is the op that does it."""

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message, op)
        self.message = message
        self.op = op

    def __str__(self) -> str:
        return self.message


class NotExecutableError(ExecutionError):
    """The program cannot be executed by what we have: an op that no interpreter knows, arrays too large for this
    machine, a package that is missing. It says nothing about the program's meaning."""


def alu(op: AluOp, operands: Sequence[Array]) -> Array:
    """The result of an ALU op. Raises `NotExecutableError` where it has more elements than the machine can hold."""
    count = prod(np.broadcast_shapes(*(operand.shape for operand in operands)))
    if count > MAX_ELEMENTS:
        raise NotExecutableError(f"{op.name} is computed for {count} elements at once: use smaller shapes", op)
    return evaluate_alu(op.row(), element_of(op.operands[-1].type), operands)


def evaluate_alu(row: Semantics, element: Attribute, operands: Sequence[Array]) -> Array:
    """The result of an op of the semantics table on elements of one type."""
    result: Array = evaluate(np, row, element, list(operands))
    noise = current_noise()
    return result if noise is None else noise.alu(row, element, operands, result)


def constant(value: Number, element: Attribute) -> Array:
    """A number as an array of no dimensions."""
    return round_to_element(np, np.asarray(value), element)


def cast_array(array: Array, target: Attribute) -> Array:
    """`uop.cast` of numbers of any element type."""
    with np.errstate(all="ignore"):
        result: Array = round_to_element(np, array, target)
    noise = current_noise()
    return result if noise is None else noise.cast(array, target, result)


def bitcast_array(array: Array, source: Attribute, target: Attribute) -> Array:
    """`uop.bitcast`. bf16, which is kept as f32, has the upper half of the bits."""
    if source == target:
        return array
    array = np.asarray(array, order="C")  # which keeps rank 0
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
        array = evaluate_alu(row, element, [value.array for value in values])
        return cast(SSAValue, _Typed(i1 if row.compares else element, array))

    def constant_like(self, value: Number, like: SSAValue) -> SSAValue:
        element = cast(_Typed, like).type
        return cast(SSAValue, _Typed(element, constant(value, element)))

    def expand_like(self, value: SSAValue, like: SSAValue) -> SSAValue:
        return value  # as the operations on arrays do

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        typed = cast(_Typed, value)
        return cast(SSAValue, _Typed(element, bitcast_array(typed.array, typed.type, element)))


def combine(monoid: Monoid, elements: Sequence[Attribute], x: Sequence[Array], y: Sequence[Array]) -> list[Array]:
    """The combination of two elements of a monoid whose values have these element types."""

    def typed(arrays: Sequence[Array]) -> list[SSAValue]:
        return [cast(SSAValue, _Typed(e, a)) for e, a in zip(elements, arrays, strict=True)]

    return [cast(_Typed, value).array for value in monoid.combine(_Evaluator(), typed(x), typed(y))]


def fold(monoid: Monoid, elements: Sequence[Attribute], arrays: Sequence[Array], dimension: int) -> list[Array]:
    """The arrays combined along one dimension, which stays with extent 1, begun with the identity (a sum at +0)."""
    arrays = list(arrays)
    count = arrays[0].shape[dimension]
    identities = [constant(value, element) for value, element in zip(monoid.identity(elements), elements, strict=True)]
    if count == 0:
        shape = [1 if d == dimension else n for d, n in enumerate(arrays[0].shape)]
        return [np.broadcast_to(identity, shape) for identity in identities]

    noise = current_noise()
    if noise is not None and (order := noise.order(count)) is not None:
        arrays = [np.take(array, order, dimension) for array in arrays]

    def part(start: int, stop: int) -> list[Array]:
        return [a[(slice(None),) * dimension + (slice(start, stop),)] for a in arrays]

    while count > 1:  # in halves, which keeps the rounding errors of sums small
        half = count // 2
        folded = combine(monoid, elements, part(0, half), part(half, 2 * half))
        rest = part(2 * half, count)
        arrays = [np.concatenate(pair, dimension) for pair in zip(folded, rest, strict=True)]
        count -= half
    return combine(monoid, elements, identities, arrays) if monoid.name == "add" else arrays


def scan(monoid: Monoid, elements: Sequence[Attribute], arrays: Sequence[Array], dimension: int) -> list[Array]:
    """Running combinations along one dimension, each of which begins with the identity (a sum at +0).

    The distance between what is combined doubles: Hillis and Steele, "Data parallel algorithms" (1986).
    """
    count = arrays[0].shape[dimension]
    identities = [constant(value, element) for value, element in zip(monoid.identity(elements), elements, strict=True)]
    arrays = combine(monoid, elements, identities, arrays)

    def part(start: int, stop: int) -> list[Array]:
        return [a[(slice(None),) * dimension + (slice(start, stop),)] for a in arrays]

    distance = 1
    while distance < count:
        further = combine(monoid, elements, part(0, count - distance), part(distance, count))
        arrays = [np.concatenate(pair, dimension) for pair in zip(part(0, distance), further, strict=True)]
        distance *= 2
    return arrays


def same_bits(x: Array, y: Array) -> Array:
    """Where two arrays of one element type hold the same bits (NaN equals itself, 0 differs from −0)."""
    if x.dtype == np.bool_:
        return x == y
    bits = f"u{x.dtype.itemsize}"
    return np.ascontiguousarray(x).view(bits) == np.ascontiguousarray(y).view(bits)
