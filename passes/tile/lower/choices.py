"""uop.where on a register tile in a loop, whose condition holds for all of it in most steps: a mask of positions."""

from __future__ import annotations

from collections.abc import Sequence

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
    array = values.arrays.get(value)
    if array is None or not value.has_one_use() or op.parent is lowering.kernel.body.block or element_count(shape) < 2:
        return False
    if shape_of(value.type) != shape or not isinstance(unexpanded(otherwise).owner, ConstOp):
        return False
    worst = [_worst_place(comparison, shape) for comparison in conjuncts(condition)]
    if any(place is None for place in worst):
        return False
    holds: SSAValue | None = None
    for comparison, place in zip(conjuncts(condition), worst, strict=True):
        assert place is not None
        (here,) = values.scalars(scope, [comparison], place)
        holds = here if holds is None else scope.alu("and", holds, here)
    assert holds is not None
    branch = IfOp.of(scope.alu("not", holds))
    with scope.inside(branch, branch.then.block) as masked, values.nest(masked, shape) as (inner, place):
        at = values.array_place(inner, value, place, array)
        chosen, constant = values.scalars(inner, [condition, otherwise], place)
        kept = inner.insert(LoadOp.of(array, at)).result
        inner.insert(StoreOp.of(inner.alu("where", chosen, kept, constant), array, at))
    values.arrays[op.result] = array
    return True


def _worst_place(comparison: SSAValue, shape: Sequence[int]) -> Place | None:
    """Where in the tile a comparison holds only if it does everywhere; None for what is no comparison of positions."""
    form = negative_form(comparison)
    if form is None:
        return None
    place = [LinearForm({})] * len(shape)
    for leaf, coefficient in form.terms.items():
        extents = shape_of(leaf.type)
        for dimension, extent in enumerate(extents):
            if extent > 1 and coefficient > 0:
                place[dimension] = LinearForm({}, extent - 1)
    return place
