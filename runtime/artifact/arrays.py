"""Values in numpy's arrays: what the simulator works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .elements import STORAGE_DTYPES
from .plan import Plan, Value
from .sizes import narrow, widen

Array = np.ndarray[Any, Any]

POISON = 0xFF
"""The byte that outputs hold before a kernel runs: every float of it is NaN, so a missing store shows."""


def poisoned(dtype: str, shape: Sequence[int], memory: np.ndarray[Any, np.dtype[np.uint8]] | None = None) -> Array:
    """An array whose elements are not written yet. dtype: an element type's name

    memory: as many bytes as it takes, to lie in; new ones where not given.
    """
    storage = STORAGE_DTYPES[dtype]
    if memory is None:
        memory = np.empty(int(np.prod(shape, dtype=np.int64)) * storage.itemsize, np.uint8)
    memory.fill(POISON)
    return memory.view(storage).reshape(shape)


def fit_inputs(plan: Plan, arrays: Sequence[Array]) -> list[Array]:
    """The inputs of a program, given what it is called with: made contiguous, those that it updates copied where they
    cannot be written, those of another size than they have here in buffers that are poisoned behind them.

    Raises `ValueError` for one that is not as the plan says.
    """
    values = plan.without_symbols(arrays)
    if len(values) != len(plan.arguments):
        raise ValueError(f"@{plan.function} takes {len(plan.arguments)} arrays, not {len(values)}")
    sizes = plan.sizes(arrays)
    given: dict[int, Array] = {symbol.place: np.array(sizes[symbol.name], np.int64) for symbol in plan.symbols}
    for place, array in zip(plan.arguments, values, strict=True):
        value = plan.values[place]
        if array.shape != value.shape_in(sizes) or array.dtype != STORAGE_DTYPES[value.dtype]:
            raise ValueError(f"argument {value} is given an array of {array.dtype} of shape {array.shape}")
        is_whole = array.shape == value.shape
        given[place] = array if is_whole else widen(poisoned(value.dtype, value.shape), array)
    fitted = [np.asarray(given[place], order="C") for place in plan.inputs]
    return [
        array.copy() if place in plan.updated_inputs and not array.flags.writeable else array
        for place, array in zip(plan.inputs, fitted, strict=True)
    ]


def meant(plan: Plan, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
    """The results of a program, of which only the elements that are meant. inputs: as `fit_inputs` gave them"""
    if not plan.symbols:
        return list(outputs)
    held = dict(zip(plan.inputs, inputs, strict=True))
    sizes = {symbol.name: int(held[symbol.place]) for symbol in plan.symbols}
    shapes = [plan.values[place].shape_in(sizes) for place in plan.outputs]
    return [np.asarray(narrow(output, shape), order="C") for output, shape in zip(outputs, shapes, strict=True)]


def copy_updated(plan: Plan, arrays: Sequence[Array]) -> list[Array]:
    """The inputs of a program, of which those that it updates are copies."""
    return [
        array.copy() if place in plan.updated_inputs else array
        for place, array in zip(plan.inputs, arrays, strict=True)
    ]


class PoisonedMemory:
    """Memory of a run in arrays, poisoned before each launch."""

    def __init__(self, plan: Plan) -> None:
        self._arena = np.empty(plan.arena_bytes, np.uint8)

    def allocate(self, value: Value) -> Array:
        if value.offset is None:
            return poisoned(value.dtype, value.shape)
        return poisoned(value.dtype, value.shape, self._arena[value.offset : value.offset + value.byte_count])

    def view(self, buffer: Array, value: Value) -> Array:
        return buffer.reshape(value.shape)
