"""Checks of instances by running both functions on many numbers at once.

Results are compared to the bit, but for NaN: eager PyTorch does not say which NaN an op gives, so all are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ...dialects.semantics import numpy_dtype
from ...dialects.types import bf16, element_count, element_of, f16, shape_of
from ...rewriting.patterns import Assumption
from ..interpret.tensors import interpret_function
from .instances import Instance
from .samples import all_of, some_of

Array = np.ndarray[Any, Any]

CHUNK = 1 << 20
"""Elements that are computed at once."""

MODERATE = 8.0
"""Products and quotients of three numbers between 1 ÷ this and this are normal numbers of every type."""

PARTNERS = 64
"""Numbers that stand opposite all numbers of a 16-bit type."""


@dataclass
class Run:
    """What running an instance found, on how many inputs."""

    inputs: int
    counterexample: str | None = None


def run_instance(instance: Instance, exhaustive: bool) -> Run | None:
    """Compare before and after; None where the rule does not fire.

    exhaustive: all pairs of 16-bit floats, which takes minutes
    """
    if instance.fired(None if instance.typing.moves else 1) is None:
        return None
    if instance.typing.moves:
        return _run_movement(instance)
    total = 0
    for inputs in _grids(instance, exhaustive):
        count = next((array.size for array in inputs.values()), 1)
        functions = instance.fired(count)
        assert functions is not None
        total += count
        if (wrong := _compare(instance, functions, inputs)) is not None:
            return Run(total, wrong)
    return Run(total)


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


def _grids(instance: Instance, exhaustive: bool) -> Iterator[dict[str, Array]]:
    """Arguments, in chunks: all numbers of one 16-bit type against some of the others, for each such variable."""
    types = instance.typing.variables
    if not types:
        yield {}
        return
    large = [name for name, type in types.items() if type in (f16, bf16)]
    if exhaustive and len(large) == 2 and len(types) == 2:
        yield from _products({name: _every(type) for name, type in types.items()})
    elif len(types) <= 2 and large:
        for name in large:
            yield from _products({n: _every(t) if n == name else some_of(t, PARTNERS) for n, t in types.items()})
    else:
        count = {1: 4096, 2: 256, 3: 40}.get(len(types), 12)
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
    same = _agree(instance.rule.assumes, arguments, expected, actual)
    if same.all():
        return None
    place = tuple(int(axis[0]) for axis in np.nonzero(~same))
    values = [f"{name} = {_shown(instance, array, place)}" for name, array in inputs.items()]
    return f"{', '.join((str(instance), *values))}: {expected[place]} became {actual[place]}"


def _shown(instance: Instance, array: Array, place: tuple[int, ...]) -> str:
    return f"1 … {array.size} in order" if instance.typing.moves else str(array[place])


def same_results(expected: Array, actual: Array) -> Array:
    """Where two results have the same bits; any NaN is NaN."""
    if expected.dtype.kind != "f":
        return np.asarray(expected == actual)
    both_nan = np.isnan(expected) & np.isnan(actual)
    return both_nan | ((expected == actual) & (np.signbit(expected) == np.signbit(actual)))


def _agree(assumes: frozenset[Assumption], arguments: Sequence[Array], expected: Array, actual: Array) -> Array:
    """Where two results are the same, as far as the rule claims it."""
    same = same_results(expected, actual)
    if not assumes:
        return same
    is_float = expected.dtype.kind == "f"
    with np.errstate(all="ignore"):
        if is_float:
            same |= expected == actual  # the sign of 0 does not matter
        if Assumption.FINITE in assumes:
            finite = np.isfinite(expected)
            for argument in arguments:
                finite &= np.isfinite(argument)
            same |= ~finite
        if Assumption.ROUNDING in assumes and is_float:
            same |= _is_near(arguments, expected, actual)
    return same


def _is_near(arguments: Sequence[Array], expected: Array, actual: Array) -> Array:
    """Where results differ by no more than roundings of the inputs, and of what is as great as they are, can make.

    Of finite inputs that are far from 1 roundings can make anything: parts of the result overflow, or lose bits to
    underflow.
    """
    precision = np.finfo(expected.dtype).eps if expected.dtype != np.float32 else 2.0**-7  # bf16 is kept as float32
    scale = np.maximum(np.abs(expected).astype(np.float64), np.abs(actual).astype(np.float64))
    finite, extreme = np.ones(expected.shape, bool), np.zeros(expected.shape, bool)
    for argument in arguments:
        if argument.dtype.kind == "f":
            magnitude = np.abs(argument).astype(np.float64)
            finite &= np.isfinite(magnitude)
            extreme |= (magnitude != 0) & ((magnitude < 1 / MODERATE) | (magnitude > MODERATE))
            scale = np.maximum(scale, magnitude)
    near = np.abs(expected.astype(np.float64) - actual.astype(np.float64)) <= 16 * precision * scale
    return finite & (near | extreme)
