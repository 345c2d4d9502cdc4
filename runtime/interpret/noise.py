"""Which digits of a result mean something: runs that round at random, and sum in a random order.

After Parker's Monte Carlo arithmetic: what varies between such runs depends on how the machine rounds, in which order a
reduction goes, or on what has no meaning at all (an integer divided by zero). Wherever a result is exact it is left as
it is, so programs that do not round do not vary.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from ...dialects.semantics import Semantics, numpy_dtype
from ...dialects.types import bf16, f16, f32, f64, integer_bounds, is_bool, is_float

Array = np.ndarray[Any, Any]

_EXACT = frozenset(
    "neg abs sign floor ceil round trunc to_tf32 isnan isinf max min where floordiv floormod truncdiv truncmod".split()
)
"""Ops on floats whose result is never rounded."""

_STEPS: Mapping[Attribute, int] = {f16: 2, bf16: 2, f32: 8, f64: 8}
"""By how many units in the last place a rounded number is moved, at most: implementations of exp and its like differ by
a few of the larger types."""

_DIVISIONS = frozenset(("floordiv", "floormod", "truncdiv", "truncmod"))


class Noise:
    """What varies in a run.

    rounds: the rounding of floats and the order of reductions too, not only what has no meaning
    exact: results that are not rounded too, for another algorithm may round them
    """

    def __init__(self, seed: int, *, rounds: bool, exact: bool = False) -> None:
        self.rounds = rounds
        self.exact = exact
        self._generator = np.random.default_rng(seed)

    def alu(self, row: Semantics, element: Attribute, operands: Sequence[Array], result: Array) -> Array:
        """The result of an ALU op, moved."""
        if row.compares:
            return result
        if not is_float(element):
            return self._without_meaning(row, element, operands, result)
        if not self.rounds or row.name in _EXACT:
            return result
        wide = np.longdouble if element == f64 else np.float64
        with np.errstate(all="ignore"):
            exact = row.numpy(np, *(operand.astype(wide) for operand in operands))
        return self._nudge(result, element, exact)

    def cast(self, array: Array, target: Attribute, result: Array) -> Array:
        """A converted array, moved where it was rounded, and any number where it was too great for an integer."""
        if array.dtype.kind != "f" or is_bool(target):
            return result
        if is_float(target):
            return self._nudge(result, target, array) if self.rounds else result
        low, high = integer_bounds(target)
        with np.errstate(all="ignore"):
            inside = (array > float(low) - 1) & (array < float(high) + 1)
        return np.where(inside, result, self._any(target, result.shape))

    def order(self, count: int) -> Array | None:
        """In which order a reduction of so many elements takes them; None for as they come."""
        return self._generator.permutation(count) if self.rounds else None

    def _without_meaning(self, row: Semantics, element: Attribute, operands: Sequence[Array], result: Array) -> Array:
        if row.name not in _DIVISIONS:
            return result
        wrong = operands[1] == 0
        return np.where(wrong, self._any(element, result.shape), result) if wrong.any() else result

    def _any(self, element: Attribute, shape: tuple[int, ...]) -> Array:
        low, high = integer_bounds(element)
        return self._generator.integers(low, high, shape, numpy_dtype(element), endpoint=True)

    def _nudge(self, result: Array, element: Attribute, exact: Array) -> Array:
        """`result` with a number near by in place of each that is not `exact`."""
        with np.errstate(all="ignore"):
            moves = np.isfinite(result) & (result != 0)
            if not self.exact:
                moves &= result.astype(exact.dtype) != exact
        if not moves.any():
            return result
        bits = np.ascontiguousarray(result).view(f"i{result.dtype.itemsize}")
        unit = 1 << 16 if element == bf16 else 1  # bf16 is held in the upper half of f32
        steps = cast(Array, self._generator.integers(1, _STEPS[element], result.shape, endpoint=True))
        signs = cast(Array, self._generator.integers(0, 1, result.shape, endpoint=True)) * 2 - 1
        return np.where(moves, _moved(bits, steps * signs * unit).view(result.dtype), result)


def _moved(bits: Array, steps: Array) -> Array:
    """The bits of floats, their magnitudes so many steps greater: not less than 0, nor greater than infinity."""
    sign = np.array(np.iinfo(bits.dtype).min, bits.dtype)
    infinity = {2: 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}[bits.dtype.itemsize]
    magnitude = np.clip((bits & ~sign).astype(np.int64) + steps, 0, infinity)
    return magnitude.astype(bits.dtype) | (bits & sign)


_noise: ContextVar[Noise | None] = ContextVar("noise", default=None)


def current_noise() -> Noise | None:
    return _noise.get()


@contextmanager
def noisy(noise: Noise) -> Generator[None]:
    """Let the interpreters run with `noise`."""
    token = _noise.set(noise)
    try:
        yield
    finally:
        _noise.reset(token)
