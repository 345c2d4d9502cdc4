"""Whether interpreters compute what lies outside the limits of ranges and loops: no result may depend on it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from xdsl.ir import SSAValue

from ...dialects.limits import Limits
from .arrays import Array

_honoured: ContextVar[bool] = ContextVar("limits_honoured", default=True)


@contextmanager
def ignoring_limits() -> Generator[None]:
    """Everything is computed while the context is open, whatever the limits say."""
    token = _honoured.set(False)
    try:
        yield
    finally:
        _honoured.reset(token)


def honours_limits() -> bool:
    return _honoured.get()


def inside(limits: Limits, positions: Array, values: dict[SSAValue, Array]) -> Array | None:
    """Where positions are inside limits, whose values are given; None where all count."""
    if limits.values and _honoured.get():
        lower, upper = limits
        after = True if lower is None else positions >= values[lower]
        before = True if upper is None else positions < values[upper]
        return np.logical_and(after, before)
    return None
