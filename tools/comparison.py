"""Is a result right? Compared with eager PyTorch and with the same computation in float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}
"""Largest error, relative to the largest value, that a result of each dtype may have against float64: sums of
thousands of
products come out within it; one wrong element of a tile does not."""

EAGER_FACTOR = 2.0
"""A result that eager PyTorch gets wrong by more than the tolerance may be this many times as wrong as eager."""


@dataclass(frozen=True)
class Comparison:
    """One output against its references.

    error: greatest |ours − float64| over the greatest finite |float64|; for integers and bools, the share of
      elements that differ
      from eager. eager_error: the same of eager PyTorch. mismatches: elements where one is NaN or infinite and the
      other is
      not the same. right: the verdict.
    """

    shape: tuple[int, ...]
    dtype: str
    error: float
    eager_error: float
    mismatches: int
    right: bool


def compare(ours: Array, eager: Array, exact: Array, dtype: str) -> Comparison:
    """Compare an output with eager's and the float64 result.

    ours, eager: numbers of the output's dtype (16-bit floats widened to f32). exact: the float64 computation's.
    """
    if dtype not in TOLERANCE:
        differ = np.asarray(ours != eager)
        share = float(differ.mean()) if differ.size else 0.0
        return Comparison(ours.shape, dtype, share, 0.0, int(differ.sum()), not differ.any())
    y, e, r = (np.asarray(x, np.float64) for x in (ours, eager, exact))
    special = ~(np.isfinite(e) & np.isfinite(y))
    same = (np.isnan(y) & np.isnan(e)) | (y == e)
    mismatches = int((special & ~same).sum())
    usable = ~special & np.isfinite(r)
    scale = float(np.abs(r[usable]).max()) if usable.any() else 0.0

    def relative(x: Array) -> float:
        if not usable.any():
            return 0.0
        difference = float(np.abs(x[usable] - r[usable]).max())
        return difference / scale if scale > 0 else difference

    error, eager_error = relative(y), relative(e)
    limit = max(TOLERANCE[dtype], EAGER_FACTOR * eager_error)
    return Comparison(ours.shape, dtype, error, eager_error, mismatches, mismatches == 0 and error <= limit)
