"""Whether the results of a program are right: by eager PyTorch and float64, or by values that a case states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from ...frontends.captured import Captured
from ...frontends.element_types import dtype_name
from ...frontends.errors import FrontendError
from ...runtime.tensors import to_interpreted
from ..execution import compare_tensors
from .levels import Judge, Tensors

CLOSE = {"float64": (1e-12, 1e-12), "float32": (1e-5, 1e-5), "float16": (2e-3, 1e-4), "bfloat16": (2e-2, 1e-4)}
"""Relative and absolute error that each element may have against float64 where eager PyTorch has none there."""

EAGER_FACTOR = 16.0
"""An element that eager PyTorch rounds too (cancellation) may be this many times as wrong."""

NEIGHBOURS = 4
"""Neighbours of the inputs, each a rounding away, that say how far rounding moves a result at all."""

NEIGHBOUR_FACTOR = 4.0
"""A result may be this many times as wrong as the inputs' roundings alone make it."""


def by_eager(captured: Captured, float64_error: float = 0.0) -> Callable[[Tensors], Judge]:
    """Judge by what eager PyTorch and the same computation in float64 make of the inputs.

    float64_error: what PyTorch's float64 is known to be off by itself, relative to the greatest element
    """

    def make_judge(inputs: Tensors) -> Judge:
        eager = captured.reference(inputs)
        try:
            exact = captured.reference64(inputs)
        except FrontendError:
            raise
        except Exception:  # an operation that PyTorch has for this dtype and not for float64
            exact = eager

        def judge(outputs: Tensors) -> str | None:
            if len(outputs) != len(eager):
                return f"{len(outputs)} results where PyTorch gives {len(eager)}"
            for place, three in enumerate(zip(outputs, eager, exact, strict=True)):
                difference = _difference(*three, float64_error)
                if difference is not None and not _is_ill_conditioned(captured, inputs, place, *three):
                    return difference
            return None

        return judge

    return make_judge


def by_values(captured: Captured, expected: Sequence[Any], tolerance: float) -> Judge:
    """Judge what the user gets by arrays, numbers or None.

    expected:  the leaves of the user's outputs
    tolerance: by which each element may be wrong, relative and absolute
    """
    imported = captured.imported()

    def judge(results: Tensors) -> str | None:
        outputs = tree_leaves(imported.user_outputs(results))
        if len(outputs) != len(expected):
            return f"{len(outputs)} results where {len(expected)} are expected"
        return _first(_difference_from(ours, value, tolerance) for ours, value in zip(outputs, expected, strict=True))

    return judge


def _first(differences: Iterable[str | None]) -> str | None:
    return next((difference for difference in differences if difference is not None), None)


def _difference(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, float64_error: float) -> str | None:
    """How our result differs from eager PyTorch's and float64's."""
    pairs = (("dtype", ours.dtype, eager.dtype), ("shape", [*ours.shape], [*eager.shape]))
    for what, of_ours, of_eager in pairs:
        if of_ours != of_eager:
            return f"its {what} is {of_ours} where PyTorch has {of_eager}"
    if exact.shape != eager.shape:
        exact = eager
    comparison = compare_tensors(ours, eager, exact)
    if comparison.mismatches:
        what = "NaN or infinity" if eager.dtype.is_floating_point else "a number"
        return f"{comparison.mismatches} of {eager.numel()} elements: {what} where PyTorch has another"
    if not comparison.right and comparison.error > float64_error:
        return f"its error is {comparison.error:.1e}, eager PyTorch's {comparison.eager_error:.1e}"
    far = _far_elements(ours, eager, exact, float64_error) if eager.dtype.is_floating_point else 0
    return f"{far} of {eager.numel()} elements are not close" if far else None


def _far_elements(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor, float64_error: float) -> int:
    """How many elements are wrong by themselves, however small beside the greatest."""
    relative, absolute = CLOSE[dtype_name(eager.dtype)]
    y, e, r = ours.double(), eager.double(), exact.double()
    finite = y.isfinite() & e.isfinite() & r.isfinite()
    greatest = r.abs().where(finite, 0.0).amax() if r.numel() else 0.0
    allowed = absolute + relative * r.abs() + EAGER_FACTOR * (e - r).abs() + float64_error * greatest
    return int((((y - r).abs() > allowed) & finite).sum())


def _is_ill_conditioned(
    captured: Captured, inputs: Tensors, place: int, ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor
) -> bool:
    """Whether our result is exact for inputs some roundings away, so that eager PyTorch's was but luckier.

    That is backward stability (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", §1.5): where terms
    cancel, like in a mean that comes out near 0, no order of additions is right to the last places of the result.
    """
    if not eager.dtype.is_floating_point or (ours.dtype, ours.shape) != (eager.dtype, eager.shape):
        return False
    y, e, r = ours.double(), eager.double(), exact.double()
    finite = y.isfinite() & e.isfinite() & r.isfinite()
    if r.shape != y.shape or not bool((finite | (y == e) | (y.isnan() & e.isnan())).all()):
        return False
    moved = torch.zeros_like(y)
    generator = torch.Generator().manual_seed(0)
    for _ in range(NEIGHBOURS):
        neighbours = [_rounded_otherwise(value, generator) for value in inputs]
        try:
            result = captured.reference64(neighbours)[place]
        except RuntimeError:  # an input at the end of what is allowed, like a probability of 1
            return False
        moved = torch.maximum(moved, (result.double() - r).abs())
    return bool(((y - r).abs() <= NEIGHBOUR_FACTOR * moved)[finite].all())


def _rounded_otherwise(value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Each float moved by about a unit in its last place, up or down."""
    if not value.dtype.is_floating_point:
        return value
    up = torch.randint(0, 2, value.shape, generator=generator) * 2 - 1
    return (value.double() * (1 + up * torch.finfo(value.dtype).eps)).to(value.dtype)


def _difference_from(ours: Any, expected: Any, tolerance: float) -> str | None:
    if ours is None or expected is None:
        return None if ours is expected else f"{_kind(ours)} where {_kind(expected)} is expected"
    array = to_interpreted(ours) if isinstance(ours, torch.Tensor) else np.asarray(ours)
    value = np.asarray(expected)
    if array.shape != value.shape:
        return f"its shape is {[*array.shape]} where {[*value.shape]} is expected"
    close = np.isclose(array.astype(np.float64), value.astype(np.float64), tolerance, tolerance, equal_nan=True)
    if array.dtype.kind in "iub" and value.dtype.kind in "iub":
        close = array == value  # float64 holds no large integers
    return None if close.all() else f"{int((~close).sum())} of {array.size} elements are not as expected"


def _kind(value: Any) -> str:
    return "None" if value is None else "a value"
