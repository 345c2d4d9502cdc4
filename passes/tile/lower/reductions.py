"""uop.reduce_axis over registers and tile.reduce_across over threads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import product
from math import prod

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ....dialects.gpu_kernel import IfOp, LoadOp, StoreOp
from ....dialects.tile import AxisOp, ReadOp, ReduceAcrossOp, WriteOp
from ....dialects.types import element_of, shape_of
from ....dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, EqOp, ExpandOp, ReduceAxisOp, constant_value
from ....rewriting.linear import LinearForm
from ..linear import conjuncts
from .exchanges import Element, Exchange, SharedExchange, can_share_out, combine_lanes, combine_rows, share_out
from .grid import Grid
from .lane_rows import can_write_held, write_held
from .lowering import Lowering
from .scopes import Scope
from .values import Place, is_one_element

_ROWS_AT_ONCE = 8
"""Elements that lanes combine in a text without loops."""

_NOUNS = {"add": "sum", "mul": "product"}


def _hint(op: ReduceAxisOp | ReduceAcrossOp) -> str:
    name = op.monoid.data
    return op.results[0].name_hint or f"{_NOUNS.get(name, name)}_r"


def lower_reduce_axis(lowering: Lowering, scope: Scope, op: ReduceAxisOp) -> None:
    """Combine element by element, in order, in unrolled loops over the whole tile: from the first element on, where it
    lies in registers and the identity does not change it, else from the identity."""
    values, monoid = lowering.values, op.monoid.monoid
    shape, kept = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    types = [element_of(result.type) for result in op.results]
    arrays = [values.array_of(scope, result, _hint(op)) for result in op.results]
    from_first = not values.splits(shape) and all(x in values.arrays for x in op.operands) and _keeps_first(op)
    with values.nest(scope, kept) as (inner, place):
        if from_first:
            firsts = values.scalars(inner, op.operands, place)
        else:
            firsts = [inner.const(number, type) for number, type in zip(monoid.identity(types), types, strict=True)]
        for first, array in zip(firsts, arrays, strict=True):
            inner.insert(StoreOp.of(first, array, values.array_place(inner, op.results[0], place)))
    reduced = [dimension for dimension, (all, one) in enumerate(zip(shape, kept, strict=True)) if all != one]
    for inner, place in values.behind_first(scope, shape, reduced) if from_first else values.parts(scope, shape):
        at = values.array_place(inner, op.results[0], place)
        elements = values.scalars(inner, op.operands, place)
        state = [inner.insert(LoadOp.of(array, at)).result for array in arrays]
        for new, array in zip(monoid.combine(inner, state, elements), arrays, strict=True):
            inner.insert(StoreOp.of(new, array, at))
    set_results(lowering, scope, op.results, arrays)


_NO_NEGATIVE_ZEROS = ("abs", "exp", "exp2", "exp2_ftz")


def _keeps_first(op: ReduceAxisOp) -> bool:
    """Whether the identity combined with an element is the element: 0.0 + -0.0 is 0.0, as eager PyTorch sums."""
    if op.monoid.data in ("max", "min"):
        return True
    element = op.operands[0].owner
    return op.monoid.data == "add" and isinstance(element, AluOp) and element.row().name in _NO_NEGATIVE_ZEROS


def set_results(lowering: Lowering, scope: Scope, results: Sequence[SSAValue], arrays: Sequence[SSAValue]) -> None:
    for result, array in zip(results, arrays, strict=True):
        if is_one_element(result):
            lowering.values.known[result] = scope.insert(LoadOp.of(array, ())).result
        else:
            lowering.values.arrays[result] = array


def uses_shared_memory(grid: Grid, op: ReduceAcrossOp) -> bool:
    return Exchange.of(grid, op).partials > 1


def lower_reduce_across(lowering: Lowering, scope: Scope, op: ReduceAcrossOp, branches: ExitStack) -> Scope | None:
    """Shuffles within a warp, then shared memory for the rest; every thread gets the result that goes on.

    Returns the scope of what stands behind: where nothing but the first threads write there, a branch that only their
    warps take, which `branches` closes. None where that is done, too: each lane wrote what it held (lane_rows.py).
    """
    exchange = Exchange.of(lowering.grid, op)
    values = lowering.values
    one_element = is_one_element(op.inputs[0])
    arrays = [] if one_element else [_result_array(lowering, scope, op, value) for value in op.inputs]
    shape = shape_of(op.inputs[0].type)

    def keep(inner: Scope, place: Place, elements: Sequence[SSAValue]) -> None:
        if one_element:
            for output, element in zip(op.outputs, elements, strict=True):
                values.set_known(output, element)
            return
        for element, array in zip(elements, arrays, strict=True):
            inner.insert(StoreOp.of(element, array, values.array_place(inner, op.inputs[0], place, array)))

    def combined(inner: Scope, place: Place) -> Element:
        return combine_lanes(lowering, inner, op.monoid, values.scalars(inner, op.inputs, place), exchange.masks)

    if exchange.partials > 1:
        writes = _writes_of_first(op) if op.parent is lowering.kernel.body.block else None
        first_keeps = writes is not None and exchange.keeps_first
        shared = SharedExchange(lowering, op, exchange, first_keeps=first_keeps)
        if not one_element:
            lowering.barrier_before(scope, op)
        with values.steps(scope, shape, shared.run) as (inner, place):
            run = [combined(inner, at) for at in shared.places(place)]
            if one_element:
                lowering.barrier_before(scope, op)
            shared.put(inner, place, run)
        lowering.barrier(scope)
        shared.shorten(scope)
        if writes is not None:
            scope = _branch_of_first(lowering, scope, op, shared, writes, branches)
        with values.steps(scope, shape, shared.run) as (inner, place):
            places = shared.places(place)
            own = [values.scalars(inner, op.inputs, at) for at in places] if first_keeps else ()
            for at, elements in zip(places, shared.get(inner, place, own), strict=True):
                keep(inner, at, elements)
    elif 1 < prod(shape) <= _ROWS_AT_ONCE:
        places = [[LinearForm({}, at) for at in place] for place in product(*map(range, shape))]
        rows = [values.scalars(scope, op.inputs, place) for place in places]
        writes = _writes_of_first(op) if can_share_out(len(rows), exchange.masks) else None
        if writes and op.monoid.monoid.stages is None and can_write_held(lowering, op, writes):
            write_held(lowering, scope, op, share_out(lowering, scope, op.monoid.monoid, rows), writes)
            return None
        for place, elements in zip(places, combine_rows(lowering, scope, op.monoid, rows, exchange.masks), strict=True):
            keep(scope, place, elements)
    else:
        with values.nest(scope, shape) as (inner, place):
            keep(inner, place, combined(inner, place))
    values.arrays.update(zip(op.outputs, arrays, strict=False))
    return scope


_WITHOUT_OTHERS = (AluOp, AxisOp, BitcastOp, CastOp, ConstOp, ExpandOp, ReadOp, ReduceAxisOp)
"""What a thread does by itself, and nobody else sees."""


def _writes_of_first(op: ReduceAcrossOp) -> list[WriteOp] | None:
    """The writes behind the op, if each is masked to threads at 0 along all that is reduced, and nothing else behind
    it takes several threads."""
    writes: list[WriteOp] = []
    behind = op.next_op
    while behind is not None:
        if isinstance(behind, WriteOp):
            if not set(op.over) <= _zeros(behind).keys():
                return None
            writes.append(behind)
        elif not isinstance(behind, _WITHOUT_OTHERS):
            return None
        behind = behind.next_op
    return writes


def _zeros(write: WriteOp) -> dict[SSAValue, SSAValue]:
    """What is 0 wherever the write is carried out, and the condition that says so."""
    conditions = [] if write.mask is None else conjuncts(write.mask)
    return {
        condition.owner.operands[0]: condition
        for condition in conditions
        if isinstance(condition.owner, EqOp) and constant_value(condition.owner.operands[1]) == 0
    }


def _branch_of_first(
    lowering: Lowering,
    scope: Scope,
    op: ReduceAcrossOp,
    exchange: SharedExchange,
    writes: Sequence[WriteOp],
    branches: ExitStack,
) -> Scope:
    """The scope of the warps that have the first threads, if whole warps have others; else `scope`."""
    condition = exchange.is_first_warp(scope)
    if condition is None:
        return scope
    branch = IfOp.of(condition)
    inner = branches.enter_context(scope.inside(branch, branch.then.block))
    if not exchange.exchange.masks:
        for write in writes:
            zeros = _zeros(write)
            for axis in op.over:
                lowering.values.known[zeros[axis]] = inner.const(True, i1)
    return inner


def _result_array(lowering: Lowering, scope: Scope, op: ReduceAcrossOp, value: SSAValue) -> SSAValue:
    """The array of the value that is reduced, if nobody else reads it; else a new one."""
    array = lowering.values.arrays.get(value)
    if array is not None and len(list(value.uses)) == 1:
        return array
    return lowering.values.array_of(scope, value, _hint(op))
