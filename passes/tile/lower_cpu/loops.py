"""loop.for → cpu_kernel.for, which carries the parts of its state; the steps behind the last whole one apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, SSAValue

from ....dialects.axes import AxisKind
from ....dialects.cpu_kernel import ForOp as CPUForOp
from ....dialects.cpu_kernel import YieldOp as CPUYieldOp
from ....dialects.loop import ForOp, YieldOp
from ....dialects.tile import ReadOp, TakeAcrossOp
from ....dialects.types import element_of, shape_of
from ....dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from ..lower.values import Value
from .lowering import ONLY, CPULowering, Place
from .vector_scope import VectorScope, lanes_of

LowerBlock = Callable[[CPULowering, VectorScope, Block], None]


def lower_loop(lowering: CPULowering, scope: VectorScope, op: ForOp, lower_block: LowerBlock) -> None:
    """The loop, or one for each part of its state, if that does not fit in registers."""
    parts: list[dict[Place, Value]] = [{} for _ in op.results]
    dimension, windows = _windows(lowering, op)
    for window in windows:
        with lowering.within(dimension, window):
            _lower_loop(lowering, scope, op, lower_block)
        for part, result in zip(parts, op.results, strict=True):
            part |= lowering.parts[result]
    if not windows:
        _lower_loop(lowering, scope, op, lower_block)
        return
    for part, result in zip(parts, op.results, strict=True):
        lowering.parts[result] = part


def _windows(lowering: CPULowering, op: ForOp) -> tuple[int, list[range]]:
    """A dimension of the state of a loop, and which places along it are carried together; none where all are.

    Elements of what the body computes must not depend on others along the dimension.
    """
    shapes = {shape_of(value.type) for value in op.carried}
    if len(shapes) != 1 or not all(isinstance(inside, _ELEMENTWISE) for inside in op.body.block.ops):
        return 0, []
    (shape,) = shapes
    carried, most = len(op.carried) * len(list(lowering.places(shape))), lowering.registers * 3 // 4
    along = lowering.lane_dimension(shape)
    for dimension, extent in enumerate(shape):
        if carried <= most or dimension == along or extent == 1 or along is None:
            continue
        count = next((n for n in range(1, extent) if extent % n == 0 and carried // n <= most), extent)
        return dimension, [range(first, first + extent // count) for first in range(0, extent, extent // count)]
    return 0, []


_ELEMENTWISE = (AluOp, CastOp, BitcastOp, ConstOp, ExpandOp, ReadOp, TakeAcrossOp, YieldOp)


def _lower_loop(lowering: CPULowering, scope: VectorScope, op: ForOp, lower_block: LowerBlock) -> None:
    """The loop over its whole steps, in which the masks of ragged axes hold, and what is left; with limits, as far as
    these are inside of them."""
    extent = op.axis.extent.data
    state = _initial(lowering, scope, op)
    whole = lowering.whole_steps(op.index)
    for start, end in [(0, extent)] if whole is None else [(0, whole), (whole, extent)]:
        if end - start == 1 and not op.limits.values:
            lowering.parts[op.index] = {ONLY: LinearForm({}, start)}
            _set_state(lowering, op.carried, state)
            lower_block(lowering, scope, op.body.block)
            state = _state(lowering, scope, op.yielded)
        elif end > start:
            state = _lower_steps(lowering, scope, op, state, start, end, lower_block)
    del lowering.parts[op.index]
    _set_state(lowering, op.results, state)


def _lower_steps(
    lowering: CPULowering,
    scope: VectorScope,
    op: ForOp,
    state: Sequence[SSAValue],
    start: int,
    end: int,
    lower_block: LowerBlock,
) -> Sequence[SSAValue]:
    unroll = end - start if op.axis.axis_kind is AxisKind.UNROLL else None
    first = _limit(lowering, scope, "max", op.lower, start)
    last = _limit(lowering, scope, "min", op.upper, end)
    loop = CPUForOp.of(first, last, state, 1, unroll)
    loop.index.name_hint = op.index.name_hint
    with scope.inside(loop, loop.body.block) as body:
        lowering.parts[op.index] = {ONLY: lowering.indices.leaf(loop.index, Interval(start, end - 1))}
        _set_state(lowering, op.carried, loop.carried)
        lower_block(lowering, body, op.body.block)
        if op.carried:
            body.insert(CPUYieldOp.create(operands=_state(lowering, body, op.yielded)))
    return loop.outputs


def _limit(lowering: CPULowering, scope: VectorScope, name: str, limit: SSAValue | None, number: int) -> SSAValue:
    """A limit that leaves no more than the steps from, or to, this one."""
    constant = lowering.indices.constant(number)
    if limit is None:
        return constant
    return scope.alu(name, lowering.vector_at(scope, limit, ONLY), constant)


def _initial(lowering: CPULowering, scope: VectorScope, op: ForOp) -> list[SSAValue]:
    """The parts of what the loop begins with: the state that it continues, or identities."""
    if op.inits:
        return _state(lowering, scope, op.inits)
    parts: list[SSAValue] = []
    for number, carried in zip(op.identities(), op.carried, strict=True):
        identity = scope.const(number, element_of(carried.type))
        identity = scope.fit(identity, lanes_of(lowering.part_type(carried.type)))
        parts += [identity for _ in lowering.places(shape_of(carried.type))]
    return parts


def _state(lowering: CPULowering, scope: VectorScope, values: Sequence[SSAValue]) -> list[SSAValue]:
    """The parts of values, one after the other."""
    return [
        lowering.vector_at(scope, value, place) for value in values for place in lowering.places(shape_of(value.type))
    ]


def _set_state(lowering: CPULowering, values: Sequence[SSAValue], parts: Sequence[SSAValue]) -> None:
    left = iter(parts)
    for value in values:
        lowering.set(value, {place: next(left) for place in lowering.places(shape_of(value.type))})
