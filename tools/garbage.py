"""How often Python looks for garbage while a command compiles."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

THRESHOLD = 100_000
"""New objects after which Python looks for garbage. Its 700 cost a twentieth of the time of loading xDSL, and a quarter
of the passes over a large program, which make little garbage that has to be looked for."""


@contextmanager
def rare_collections() -> Generator[None]:
    """Let Python look for garbage after `THRESHOLD` new objects."""
    before = gc.get_threshold()
    gc.set_threshold(THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
