"""How elements lie in memory, by the name of their type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

STORAGE_DTYPES: Mapping[str, np.dtype[Any]] = {
    name: np.dtype(dtype)
    for name, dtype in {
        "f64": "float64",
        "f32": "float32",
        "f16": "float16",
        "bf16": "uint16",
        "i1": "uint8",
        "i8": "int8",
        "i16": "int16",
        "i32": "int32",
        "i64": "int64",
        "ui8": "uint8",
        "index": "int64",
    }.items()
}
"""Element type → numpy's dtype: bf16, which it lacks, as its bits, and bool as bytes of 0 and 1."""
