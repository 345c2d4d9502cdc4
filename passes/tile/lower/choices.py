"""uop.where on a register tile in a loop, whose condition holds for all of it in most steps: a mask of positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.gpu_kernel import IfOp, LoadOp, StoreOp
from ....dialects.types import element_count, shape_of
from ....dialects.uop import ConstOp, WhereOp
from ....rewriting.linear import LinearForm
from ..linear import conjuncts, negative_form, unexpanded
from .lowering import Lowering
from .scopes import Scope
from .values import Place


def lower_choice(lowering: Lowering, scope: Scope, op: WhereOp) -> bool:
    """In a branch for the steps in which the condition does not hold for all elements of a thread, put the constant in
    the place of those for which it does not; False, and nothing is built, where it is no such choice.

    The tile is nobody else's, and the condition compares positions: so each comparison holds for all elements if it
    does for one.
    """
    condition, value, otherwise = op.operands
    values, shape = lowering.values, shape_of(op.result.type)
    array = None if values.splits(shape) else values.arrays.get(value)
    if array is None or not value.has_one_use() or op.parent is lowering.kernel.body.block or element_count(shape) < 2:
        return False
    if shape_of(value.type) != shape or not isinstance(unexpanded(otherwise).owner, ConstOp):
        return False
    bounds = [_Bound.of(lowering, scope, comparison) for comparison in conjuncts(condition)]
    if not bounds or any(bound is None for bound in bounds):
        return False

    def holds(inner: Scope, place: Place | None) -> SSAValue:
        """Whether all comparisons hold at a place; None is all of the tile."""
        result: SSAValue | None = None
        for bound in bounds:
            assert bound is not None
            here = bound.holds(lowering, inner, shape, place)
            result = here if result is None else inner.alu("and", result, here)
        assert result is not None
        return result

    branch = IfOp.of(scope.alu("not", holds(scope, None)))
    with scope.inside(branch, branch.then.block) as masked, values.nest(masked, shape) as (inner, place):
        at = values.array_place(inner, value, place, array)
        (constant,) = values.scalars(inner, [otherwise], place)
        kept = inner.insert(LoadOp.of(array, at)).result
        inner.insert(StoreOp.of(inner.alu("where", holds(inner, place), kept, constant), array, at))
    values.arrays[op.result] = array
    return True


@dataclass(frozen=True)
class _Bound:
    """A comparison of positions, as `place < slack`: what the registers add to it, and what is left of the rest.

    coefficients: of each register dimension.
    """

    coefficients: Mapping[int, int]
    slack: SSAValue

    @staticmethod
    def of(lowering: Lowering, scope: Scope, comparison: SSAValue) -> _Bound | None:
        """None for what is no comparison of positions. What no loop changes of the slack is found in front of them."""
        form = negative_form(comparison)
        if form is None:
            return None
        coefficients: dict[int, int] = {}
        slack = LinearForm({}, -form.constant)
        for leaf, coefficient in form.terms.items():
            if extents := shape_of(leaf.type):
                dimension = max(range(len(extents)), key=lambda d: extents[d])
                coefficients[dimension] = coefficients.get(dimension, 0) + coefficient
                continue
            (position,) = lowering.values.elements(scope, [leaf])
            assert isinstance(position, LinearForm)
            slack -= position * coefficient
        return _Bound(coefficients, lowering.indices.value(scope, lowering.indices.pinned(slack)))

    def holds(self, lowering: Lowering, scope: Scope, shape: Sequence[int], place: Place | None) -> SSAValue:
        """Whether it holds at a place; None is all of the tile, of which one place has the greatest number."""
        number = LinearForm({})
        for dimension, coefficient in self.coefficients.items():
            last = LinearForm({}, shape[dimension] - 1 if coefficient > 0 else 0)
            number += (last if place is None else place[dimension]) * coefficient
        # Of many pairs of places the numbers are equal, and so are the comparisons.
        return scope.alu("lt", lowering.indices.value(scope, number), self.slack)
