"""How the arrays of a program hold their elements in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute

from ..dialects.semantics import numpy_dtype
from ..dialects.types import byte_count, element_of, shape_of, type_name

Array = np.ndarray[Any, Any]

POISON = 0xFF
"""The byte that outputs hold before a kernel runs: every float of it is NaN, so a missing store shows."""


def storage_dtype(type: Attribute) -> np.dtype[Any]:
    """How numpy holds elements of an element type, tensor or memref: bf16, which it lacks, as its bits in uint16;
    bool as bytes of 0 and 1."""
    element = element_of(type)
    return np.dtype({"bf16": "uint16", "i1": "uint8"}.get(type_name(element)) or numpy_dtype(element))


def poisoned(type: Attribute, memory: np.ndarray[Any, np.dtype[np.uint8]] | None = None) -> Array:
    """An array for a tensor or memref type whose elements are not written yet.

    memory: as many bytes as it takes, to lie in; new ones where not given.
    """
    if memory is None:
        memory = np.empty(byte_count(type), np.uint8)
    memory.fill(POISON)
    return memory.view(storage_dtype(type)).reshape(shape_of(type))
