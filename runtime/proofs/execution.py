"""Checks of instances by running both functions on many numbers at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...dialects.semantics import numpy_dtype
from ...dialects.types import bf16, element_count, element_of, f16, shape_of
from ..interpret.tensors import interpret_function
from .agreement import agree
from .instances import Instance
from .pairs import first_wrong_pair
from .samples import all_of, some_of

Array = np.ndarray[Any, Any]

CHUNK = 1 << 20
"""Elements that are computed at once."""

PARTNERS = 64
"""Numbers that stand opposite all numbers of a 16-bit type, before all do or where not all can."""


@dataclass
class Run:
    """What running an instance found, on how many inputs."""

    inputs: int
    counterexample: str | None = None


def run_instance(instance: Instance, all_pairs: bool) -> Run | None:
    """Compare before and after; None where the rule does not fire.

    all_pairs: of two variables, of which `has_all_pairs` is true
    """
    if instance.fired(None if instance.typing.moves else 1) is None:
        return None
    if instance.typing.moves:
        return _run_movement(instance)
    total = 0
    for inputs in _grids(instance):
        count = next((array.size for array in inputs.values()), 1)
        total += count
        if (wrong := _run_on(instance, inputs, count)) is not None:
            return Run(total, wrong)
    if not all_pairs:
        return Run(total)
    total, pair = first_wrong_pair(instance)
    if pair is None:
        return Run(total)
    wrong = _run_on(instance, dict(zip(instance.typing.variables, pair, strict=True)), 1)
    assert wrong is not None, f"{instance}: the interpreter finds nothing wrong with {pair}"
    return Run(total, wrong)


def _run_on(instance: Instance, inputs: Mapping[str, Array], count: int) -> str | None:
    """The first of so many inputs for which the functions differ."""
    functions = instance.fired(count)
    assert functions is not None
    return _compare(instance, functions, inputs)


def _run_movement(instance: Instance) -> Run:
    """With numbered elements."""
    functions = instance.fired(None)
    assert functions is not None
    inputs = {
        name: np.arange(1, element_count(shape_of(type)) + 1)
        .reshape(shape_of(type))
        .astype(numpy_dtype(element_of(type)))
        for name, type in instance.typing.variables.items()
    }
    return Run(1, _compare(instance, functions, inputs))


def _grids(instance: Instance) -> Iterator[dict[str, Array]]:
    """Arguments, in chunks: all numbers of one 16-bit type against some of the others, for each such variable."""
    types = instance.typing.variables
    large = [name for name, type in types.items() if type in (f16, bf16)]
    if not types:
        yield {}
    elif len(types) <= 2 and large:
        for name in large:
            yield from _products({n: _every(t) if n == name else some_of(t, PARTNERS) for n, t in types.items()})
    else:
        count = {1: 4096, 2: 256, 3: 64}.get(len(types), 12)
        yield from _products({name: some_of(type, count) for name, type in types.items()})


def _every(type: Attribute) -> Array:
    numbers = all_of(type)
    assert numbers is not None
    return numbers


def _products(pools: Mapping[str, Array]) -> Iterator[dict[str, Array]]:
    """All combinations of what variables take."""
    shape = tuple(len(pool) for pool in pools.values())
    total = element_count(shape)
    for start in range(0, total, CHUNK):
        places = np.unravel_index(np.arange(start, min(start + CHUNK, total)), shape)
        yield {name: pool[place] for (name, pool), place in zip(pools.items(), places, strict=True)}


def _compare(instance: Instance, functions: tuple[FuncOp, FuncOp], inputs: Mapping[str, Array]) -> str | None:
    """The first input for which the functions differ."""
    arguments = list(inputs.values())
    expected, actual = (interpret_function(function, arguments)[0] for function in functions)
    same = agree(instance.rule.assumes, arguments, expected, actual)
    if same.all():
        return None
    place = tuple(int(axis[0]) for axis in np.nonzero(~same))
    values = [f"{name} = {_shown(instance, array, place)}" for name, array in inputs.items()]
    return f"{', '.join((str(instance), *values))}: {expected[place]} became {actual[place]}"


def _shown(instance: Instance, array: Array, place: tuple[int, ...]) -> str:
    return f"1 … {array.size} in order" if instance.typing.moves else str(array[place])
