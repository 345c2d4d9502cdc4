"""How the arrays of a program hold the elements of IR types in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute

from ..dialects.types import element_of, shape_of, type_name
from .artifact import arrays
from .artifact.arrays import POISON, Array
from .artifact.elements import STORAGE_DTYPES

__all__ = ["POISON", "Array", "poisoned", "storage_dtype"]


def storage_dtype(type: Attribute) -> np.dtype[Any]:
    """How numpy holds elements of an element type, tensor or memref."""
    return STORAGE_DTYPES[type_name(element_of(type))]


def poisoned(type: Attribute) -> Array:
    """An array for a tensor or memref type whose elements are not written yet."""
    return arrays.poisoned(type_name(element_of(type)), shape_of(type))
