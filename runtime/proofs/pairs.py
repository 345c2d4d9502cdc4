"""Checks of rules of two variables on all pairs of numbers of at most 16 bits: 2³² of them for two floats.

What depends on one variable alone is computed once for each of its numbers. The rest is computed in blocks that stay in
the processor's cache, as the semantics table says, with savings that change no result: 16-bit floats are widened to f32
once, and the last result is rounded to 16 bits only where the two sides differ before, for equal numbers round alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.semantics import numpy_dtype, round_to_element
from ...dialects.types import bf16, element_of, f16, is_float
from ...dialects.uop import AluOp, CastOp, ConstOp, ExpandOp
from ..interpret.arrays import ExecutionError, constant
from .agreement import agree, claimed, same_results
from .instances import Instance, returned
from .samples import all_of

Array = np.ndarray[Any, Any]
Part = tuple[slice, slice]

ROWS, COLUMNS = 32, 4096
"""Of a block, whose f32 numbers take 512 KiB; numpy is slow on short rows."""

KEPT_BYTES = 1 << 24
"""When an array of so many bytes was freed, the C library keeps the memory of smaller ones for the next, which saves
three quarters of the time."""


def has_all_pairs(types: Sequence[Attribute]) -> bool:
    """Whether all pairs of numbers of these types are tried: there are two, one of them a 16-bit float and none
    greater."""
    return len(types) == 2 and any(map(_is_narrow, types)) and all(all_of(type) is not None for type in types)


def first_wrong_pair(instance: Instance) -> tuple[int, list[Array] | None]:
    """How many pairs were tried, and the first on which the rule is wrong, as arrays of one number each."""
    functions = instance.fired(None)
    assert functions is not None
    element = element_of(returned(functions[0]).type)
    types = list(instance.typing.variables.values())
    pools = [pool[claimed(instance.rule.assumes, pool, is_float(element))] for pool in map(_numbers, types)]
    rows, columns = (_widened(pool, type) for pool, type in zip(pools, types, strict=True))
    arguments = rows[:, np.newaxis], columns[np.newaxis, :]
    sides = [Side(function, arguments) for function in functions]
    np.empty(KEPT_BYTES, np.uint8)
    for row, column in product(range(0, len(rows), ROWS), range(0, len(columns), COLUMNS)):
        block = slice(row, row + ROWS), slice(column, column + COLUMNS)
        expected, actual = (side.results(block) for side in sides)
        if (_bits(expected) == _bits(actual)).all() or same_results(expected, actual).all():
            continue
        inputs = np.broadcast_arrays(*(_part(argument, block) for argument in arguments))
        results = [np.broadcast_to(_rounded(result, element), inputs[0].shape) for result in (expected, actual)]
        same = agree(instance.rule.assumes, inputs, results[0], results[1])
        if not same.all():
            places = np.unravel_index(int(np.argmin(same)), same.shape)
            starts = (row + int(places[0]), column + int(places[1]))
            wrong = [pool[start : start + 1] for pool, start in zip(pools, starts, strict=True)]
            return starts[0] * len(columns) + starts[1] + 1, wrong
    return len(rows) * len(columns), None


SIGNS = ("neg", "abs")
"""Ops that change the sign of a number alone."""


class Side:
    """A function of two variables, whose numbers run along the two axes of arrays.

    known: values that depend on one variable at most, for all its numbers
    steps: the ops that depend on both
    unrounded: the result and what differs from it in sign, for the nearest numbers to x and −x differ in sign, too
    """

    def __init__(self, function: FuncOp, arguments: Sequence[Array]) -> None:
        block = function.body.block
        self.result = returned(function)
        self.unrounded = [self.result]
        while isinstance(op := self.unrounded[-1].owner, AluOp) and op.row().name in SIGNS:
            self.unrounded.append(op.operands[0])
        self.known: dict[SSAValue, Array] = dict(zip(block.args, arguments, strict=True))
        self.steps: list[Operation] = []
        for op in block.ops:
            if op is block.last_op:
                continue
            operands = [self.known.get(operand) for operand in op.operands]
            arrays = [operand for operand in operands if operand is not None]
            rows, columns = (any(array.shape[axis] > 1 for array in arrays) for axis in (0, 1))
            if len(arrays) < len(operands) or (rows and columns):
                self.steps.append(op)
            else:
                self.known[op.results[0]] = _rounded(_result(op, arrays), element_of(op.results[0].type))

    def results(self, block: Part) -> Array:
        """What the function gives for a block of pairs, or gives before the last rounding; extents may be 1."""
        values: dict[SSAValue, Array] = {}

        def value(operand: SSAValue) -> Array:
            if operand not in values:
                values[operand] = _part(self.known[operand], block)
            return values[operand]

        for op in self.steps:
            result = op.results[0]
            array = _result(op, [value(operand) for operand in op.operands])
            is_rounded = result in self.unrounded or _is_exact(op)
            values[result] = array if is_rounded else _rounded(array, element_of(result.type))
        return value(self.result)


def _result(op: Operation, operands: Sequence[Array]) -> Array:
    """What an op gives; a 16-bit float is not rounded yet to more than f32."""
    type = element_of(op.results[0].type)
    with np.errstate(all="ignore"):
        if isinstance(op, ConstOp):
            return constant(op.number, type).reshape(1, 1)
        if isinstance(op, ExpandOp | CastOp):
            result = operands[0]
        elif isinstance(op, AluOp):
            result = op.row().numpy(np, *operands)
        else:
            raise ExecutionError(f"{op.name} has no meaning on pairs of numbers", op)
        if _is_narrow(type):
            return result.astype(np.float32, copy=False)
        return result if result.dtype == numpy_dtype(type) else round_to_element(np, result, type)


def _is_exact(op: Operation) -> bool:
    """Whether an op gives one of its operands, or that with another sign, and rounds nothing."""
    return isinstance(op, AluOp) and op.row().name in (*SIGNS, "min", "max", "where")


def _rounded(array: Array, element: Attribute) -> Array:
    """What an op gives, in the form in which it is computed with."""
    if not _is_narrow(element):
        return array
    with np.errstate(all="ignore"):
        return _widened(round_to_element(np, array, element), element)


def _widened(array: Array, element: Attribute) -> Array:
    return array.astype(np.float32, copy=False) if _is_narrow(element) else array


def _is_narrow(element: Attribute) -> bool:
    return element in (f16, bf16)


def _numbers(type: Attribute) -> Array:
    numbers = all_of(type)
    assert numbers is not None
    return numbers


def _part(array: Array, block: Part) -> Array:
    """The numbers of a block, of an array that has extent 1 where nothing depends on a variable."""
    rows, columns = (part if extent > 1 else slice(None) for part, extent in zip(block, array.shape, strict=True))
    return array[rows, columns]


def _bits(array: Array) -> Array:
    """Numbers of which equal ones have the same bits."""
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "f" else array
