"""When two results are the same, as far as a rule claims it.

Results are compared to the bit, but for NaN: eager PyTorch does not say which NaN an op gives, so all are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...rewriting.patterns import Assumption

Array = np.ndarray[Any, Any]

MODERATE = 8.0
"""Products and quotients of three numbers between 1 ÷ this and this are normal numbers of every type."""


def same_results(expected: Array, actual: Array) -> Array:
    """Where two results have the same bits; any NaN is NaN."""
    if expected.dtype.kind != "f":
        return np.asarray(expected == actual)
    both_nan = np.isnan(expected) & np.isnan(actual)
    return both_nan | ((expected == actual) & (np.signbit(expected) == np.signbit(actual)))


def agree(assumes: frozenset[Assumption], arguments: Sequence[Array], expected: Array, actual: Array) -> Array:
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


def claimed(assumes: frozenset[Assumption], argument: Array, is_float: bool) -> Array:
    """For which numbers of a variable a rule claims anything: for others `agree` is true whatever the results are.

    is_float: whether these are floats
    """
    if Assumption.FINITE not in assumes or argument.dtype.kind != "f":
        return np.ones(argument.shape, bool)
    finite = np.isfinite(argument)
    return finite & ~_is_extreme(argument) if Assumption.ROUNDING in assumes and is_float else finite


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
            extreme |= _is_extreme(argument)
            scale = np.maximum(scale, magnitude)
    near = np.abs(expected.astype(np.float64) - actual.astype(np.float64)) <= 16 * precision * scale
    return finite & (near | extreme)


def _is_extreme(argument: Array) -> Array:
    """Finite numbers that are far from 1."""
    magnitude = np.abs(argument)
    return np.isfinite(argument) & (magnitude != 0) & ((magnitude < 1 / MODERATE) | (magnitude > MODERATE))
