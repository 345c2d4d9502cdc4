"""Python's garbage collector while programs are compiled."""

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


@contextmanager
def old_objects_spared() -> Generator[None]:
    """Let Python look for garbage only among what is made meanwhile.

    It would look through all that there is, PyTorch's objects too, a few times, which takes 0.2 s or more: as long as
    all passes over a small program.
    """
    if gc.get_freeze_count():  # somebody else does that already, and would have it go on
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
