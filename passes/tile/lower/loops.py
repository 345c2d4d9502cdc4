"""loop.for → gpu_kernel.for: state lives in register arrays, slabs with several buffers are copied ahead."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.ir import Block, SSAValue

from ....dialects.axes import AxisKind
from ....dialects.gpu_kernel import ForOp as GPUForOp
from ....dialects.gpu_kernel import StoreOp
from ....dialects.loop import ForOp
from ....dialects.monoids import Number
from ....dialects.types import element_count, element_of, shape_of
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from .lowering import Lowering
from .scopes import Scope
from .stages import StageGroup
from .steps import Steps

LowerBlock = Callable[[Lowering, Scope, Block, Callable[[Scope], None]], None]


def lower_loop(lowering: Lowering, scope: Scope, op: ForOp, stages: StageGroup, lower_block: LowerBlock) -> None:
    """The loop with its state in arrays, which the body changes only when all new values are known.

    Around matrix instructions, unrolled loops and the steps that use different slots of a pipeline are written out:
    each place in shared memory is then one of few registers and a number.

    stages: what has been staged right in front of the loop.
    """
    _begin_state(lowering, scope, op)
    pipeline = stages.pipeline_of(op)
    extent = op.axis.extent.data
    unrolled = op.axis.axis_kind is AxisKind.UNROLL
    together = 1
    if lowering.values.flat and unrolled:
        together = extent
    elif pipeline is not None:
        together = pipeline.together
    steps = Steps.of(lowering, scope, op, together)
    if pipeline is not None and pipeline is not stages.ahead:
        stages.join(pipeline)
        pipeline.begin(scope, steps)

    def step(inner: Scope, number: LinearForm) -> None:
        with lowering.values.assuming(op.index, number):
            if pipeline is not None:
                pipeline.step(inner, steps)
            lower_block(lowering, inner, op.body.block, partial(_change_state, lowering, op))

    if not steps.all:
        _lower_limited(lowering, scope, op, steps, together, step)
        if pipeline is not None:
            pipeline.end_without_steps(scope, steps)
        return
    whole = 0 if extent < 2 * together else extent // together
    if whole:
        loop = GPUForOp.of(lowering.indices.constant(0), whole, 1, 0 if unrolled else 1 if together > 1 else None)
        loop.index.name_hint = op.index.name_hint
        with scope.inside(loop, loop.body.block) as body:
            first = lowering.indices.leaf(loop.index) * together
            for number in range(together):
                step(body, first + LinearForm({}, number))
    for number in range(whole * together, extent):
        step(scope, LinearForm({}, number))


def _lower_limited(
    lowering: Lowering,
    scope: Scope,
    op: ForOp,
    steps: Steps,
    together: int,
    step: Callable[[Scope, LinearForm], None],
) -> None:
    """The loop over the steps inside its limits, `together` at a time, the last of which may be none."""
    indices = lowering.indices
    first = indices.quotient(scope, steps.first, together)
    end = indices.quotient(scope, steps.end + LinearForm({}, together - 1), together)
    most = -(-steps.extent // together)
    last = indices.value(scope, end) if end.terms else end.constant
    loop = GPUForOp.of(indices.value(scope, first), last, 1, 1 if together > 1 else None)
    loop.index.name_hint = op.index.name_hint
    with scope.inside(loop, loop.body.block) as body:
        begin = indices.leaf(loop.index, Interval.of_extent(most)) * together
        step(body, begin)
        for number in range(1, together):
            following = begin + LinearForm({}, number)
            with steps.executed(lowering, body, following) as inner:
                if inner is not None:
                    step(inner, following)


def _begin_state(lowering: Lowering, scope: Scope, op: ForOp) -> None:
    values = lowering.values
    numbers = op.identities()
    for number, (carried, result) in enumerate(zip(op.carried, op.results, strict=True)):
        init = op.inits[number] if op.inits else None
        if init is not None and _continues_in_place(lowering, op, init):
            array = values.arrays[init]
        else:
            array = values.array_of(scope, carried, carried.name_hint or "acc")
            if init is not None:
                values.fill(scope, init, array)
            else:
                _fill_constant(lowering, scope, carried, array, numbers[number])
        values.arrays[carried] = values.arrays[result] = array


def _continues_in_place(lowering: Lowering, op: ForOp, init: SSAValue) -> bool:
    """Whether nobody reads the state that the loop continues but the loop, which begins once for each such state."""
    owner = init.owner
    block = owner if isinstance(owner, Block) else owner.parent
    is_state = isinstance(owner, Block | ForOp)
    return is_state and block is op.parent and init in lowering.values.arrays and len(list(init.uses)) == 1


def _fill_constant(lowering: Lowering, scope: Scope, value: SSAValue, array: SSAValue, number: Number) -> None:
    with lowering.values.nest(scope, shape_of(value.type)) as (inner, place):
        constant = inner.const(number, element_of(value.type))
        inner.insert(StoreOp.of(constant, array, lowering.values.array_place(inner, value, place)))


def _change_state(lowering: Lowering, op: ForOp, scope: Scope) -> None:
    """Store the yielded values: those of one shape together, once all are computed, larger shapes first.

    Elements are computed from old states of their own shape at the same place, and from smaller ones that are expanded.
    """
    values = lowering.values
    groups: dict[tuple[int, ...], list[tuple[SSAValue, SSAValue]]] = {}
    for state, new in zip(op.carried, op.yielded, strict=True):
        if values.arrays.get(new) is not values.arrays[state]:
            groups.setdefault(shape_of(state.type), []).append((state, new))
    for shape, group in sorted(groups.items(), key=lambda item: -element_count(item[0])):
        with values.nest(scope, shape) as (inner, place):
            elements = values.scalars(inner, [new for _, new in group], place)
            for element, (state, _) in zip(elements, group, strict=True):
                inner.insert(StoreOp.of(element, values.arrays[state], values.array_place(inner, state, place)))
