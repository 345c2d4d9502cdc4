"""Arrays of the interpreters as machines hold them, and back."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute

from ...dialects.types import bf16, element_of, is_bool
from .arrays import Array


def to_storage(array: Array, type: Attribute) -> Array:
    """An array as a machine holds it, flat: bf16 as its bits, bool as bytes."""
    flat = np.array(array).reshape(-1)
    element = element_of(type)
    if element == bf16:
        return (flat.view(np.uint32) >> 16).astype(np.uint16)
    return flat.view(np.uint8) if is_bool(element) else flat


def from_storage(array: Array, type: Attribute) -> Array:
    """An array that a machine holds, as the interpreters do."""
    element = element_of(type)
    if element == bf16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array != 0 if is_bool(element) else array
