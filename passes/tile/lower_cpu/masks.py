"""Masks of vectors: how many lanes, whether at all, which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.uop import constant_value
from ....rewriting.linear import LinearForm
from ..linear import conjuncts, negative_form
from ..lower.indices import ZERO
from .lowering import CPULowering, Place
from .vector_scope import VectorScope, lanes_of


@dataclass(frozen=True)
class Mask:
    """count: the first lanes, if not all. condition: whether at all, or in which lanes, if that is not known."""

    count: int | None = None
    condition: SSAValue | None = None


def mask_at(
    lowering: CPULowering, scope: VectorScope, mask: SSAValue | None, tile: Sequence[int], place: Place
) -> Mask | None:
    """The mask at one place of a tile of this shape; None where it is false in all lanes."""
    forms: list[LinearForm] = []
    conditions: list[SSAValue] = []
    for condition in [] if mask is None else conjuncts(mask):
        form = negative_form(condition)
        if form is None:
            conditions.append(lowering.elements.scalar(scope, lowering.at(scope, condition, tile, place)))
        else:
            forms.append(lowering.sum_at(scope, form, tile, place))
    return mask_of(lowering, scope, forms, conditions)


def mask_of(
    lowering: CPULowering, scope: VectorScope, forms: Sequence[LinearForm], conditions: Sequence[SSAValue] = ()
) -> Mask | None:
    """The mask that holds where all forms are negative and all conditions hold; None where it is false in all lanes."""
    count = lowering.lanes
    lane = lowering.lane.terms if lowering.lane_dimensions else None
    left = list(conditions)
    for form in forms:
        bounds = lowering.indices.bounds(form)
        if form.terms == lane and bounds.low < 0 <= bounds.high:
            count = min(count, -form.constant)
        else:
            left.append(lowering.indices.compare(scope, "lt", form, ZERO))
    known = [constant_value(condition) for condition in left]
    if any(value is False for value in known):
        return None
    left = [condition for condition, value in zip(left, known, strict=True) if value is None]
    if count < lowering.lanes and any(lanes_of(condition.type) for condition in left):
        left.append(lowering.indices.compare(scope, "lt", lowering.lane, LinearForm({}, count)))
        count = lowering.lanes
    total: SSAValue | None = None
    for condition in left:
        total = condition if total is None else scope.alu("and", total, condition)
    return Mask(None if count == lowering.lanes else count, total)


def lanewise(lowering: CPULowering, scope: VectorScope, mask: Mask) -> SSAValue | None:
    """The mask without a count, for lanes that lie anywhere."""
    if mask.count is None:
        return mask.condition
    first = lowering.indices.compare(scope, "lt", lowering.lane, LinearForm({}, mask.count))
    return first if mask.condition is None else scope.alu("and", first, mask.condition)
