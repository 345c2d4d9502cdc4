"""uop.reduce_axis over registers and tile.reduce_across over threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, SSAValue

from ....dialects.gpu_kernel import ForOp, IfOp, LoadOp, ShuffleOp, StoreOp
from ....dialects.monoids import MonoidAttr
from ....dialects.tile import AxisOp, ReduceAcrossOp
from ....dialects.types import bit_width, element_of, is_float, shape_of
from ....dialects.uop import ReduceAxisOp
from ..linear import LinearForm
from .grid import Digit, Grid
from .indices import ZERO
from .lowering import Lowering
from .scopes import Scope
from .values import Place, array_type, is_one_element

WARP = 32

_NOUNS = {"add": "sum", "mul": "product"}


def _hint(op: ReduceAxisOp | ReduceAcrossOp) -> str:
    name = op.monoid.data
    return op.results[0].name_hint or f"{_NOUNS.get(name, name)}_r"


def lower_reduce_axis(lowering: Lowering, scope: Scope, op: ReduceAxisOp) -> None:
    """Combine element by element, in order, in unrolled loops over the whole tile."""
    values, monoid = lowering.values, op.monoid.monoid
    shape, kept = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    types = [element_of(result.type) for result in op.results]
    arrays = [values.array_of(scope, result, _hint(op)) for result in op.results]
    with values.nest(scope, kept) as (inner, place):
        for number, type, array in zip(monoid.identity(types), types, arrays, strict=True):
            inner.insert(StoreOp.of(inner.const(number, type), array, values.array_place(inner, op.results[0], place)))
    with values.nest(scope, shape) as (inner, place):
        at = values.array_place(inner, op.results[0], place)
        elements = values.scalars(inner, op.operands, place)
        state = [inner.insert(LoadOp.of(array, at)).result for array in arrays]
        for new, array in zip(monoid.combine(inner, state, elements), arrays, strict=True):
            inner.insert(StoreOp.of(new, array, at))
    _set_results(lowering, scope, op.results, arrays)


def _set_results(lowering: Lowering, scope: Scope, results: Sequence[SSAValue], arrays: Sequence[SSAValue]) -> None:
    for result, array in zip(results, arrays, strict=True):
        if is_one_element(result):
            lowering.values.known[result] = scope.insert(LoadOp.of(array, ())).result
        else:
            lowering.values.arrays[result] = array


@dataclass(frozen=True)
class Exchange:
    """How the threads of a `tile.reduce_across` combine.

    A digit of a thread's number whose stride is a power of two has its low bits in bits of the lane: lanes that differ in
    these bits combine by shuffles. What is left of the reduced digits goes through shared memory: `partials` values of each
    group of threads that get one result.

    masks: exclusive-or masks of lanes, in the order in which they are applied.
    shuffled: for each reduced digit, by how many values of it the shuffles combine.
    """

    over: tuple[Digit, ...]
    shuffled: tuple[int, ...]
    masks: tuple[int, ...]
    partials: int

    @staticmethod
    def of(grid: Grid, op: ReduceAcrossOp) -> Exchange:
        over: list[Digit] = []
        for axis in op.over:
            assert isinstance(axis.owner, AxisOp)
            digit = grid.bind(axis.owner)
            if digit not in over:
                over.append(digit)
        shuffled: list[int] = []
        masks: list[int] = []
        for digit in over:
            mask = digit.stride
            # All 32 lanes must be there to take part.
            if grid.threads % WARP == 0 and mask & (mask - 1) == 0:
                while mask < WARP and digit.extent % (2 * mask // digit.stride) == 0:
                    masks.append(mask)
                    mask *= 2
                shuffled.append(mask // digit.stride)
            else:
                shuffled.append(1)
        partials = prod(digit.extent // count for digit, count in zip(over, shuffled, strict=True))
        return Exchange(tuple(over), tuple(shuffled), tuple(sorted(masks, reverse=True)), partials)


def uses_shared_memory(grid: Grid, op: ReduceAcrossOp) -> bool:
    return Exchange.of(grid, op).partials > 1


def lower_reduce_across(lowering: Lowering, scope: Scope, op: ReduceAcrossOp) -> None:
    """Shuffles within a warp, then shared memory for the rest; every thread gets the result."""
    exchange = Exchange.of(lowering.grid, op)
    values = lowering.values
    one_element = is_one_element(op.inputs[0])
    arrays = [] if one_element else [_result_array(lowering, scope, op, value) for value in op.inputs]
    shape = shape_of(op.inputs[0].type)

    def keep(inner: Scope, place: Place, elements: Sequence[SSAValue]) -> None:
        if one_element:
            values.known.update(zip(op.outputs, elements, strict=True))
            return
        for element, array in zip(elements, arrays, strict=True):
            inner.insert(StoreOp.of(element, array, values.array_place(inner, op.inputs[0], place)))

    through_memory = _SharedExchange.of(lowering, op, exchange) if exchange.partials > 1 else None
    if through_memory is not None:
        lowering.barrier_before(scope, op)
    with values.nest(scope, shape) as (inner, place):
        elements = values.scalars(inner, op.inputs, place)
        elements = _shuffle(lowering, inner, op.monoid, elements, exchange.masks)
        if through_memory is None:
            keep(inner, place, elements)
        else:
            through_memory.put(inner, place, elements)
    if through_memory is not None:
        lowering.barrier(scope)
        through_memory.shorten(scope)
        with values.nest(scope, shape) as (inner, place):
            keep(inner, place, through_memory.get(inner, place))
    values.arrays.update(zip(op.outputs, arrays, strict=False))


def _result_array(lowering: Lowering, scope: Scope, op: ReduceAcrossOp, value: SSAValue) -> SSAValue:
    """The array of the value that is reduced, if nobody else reads it; else a new one."""
    array = lowering.values.arrays.get(value)
    if array is not None and len(list(value.uses)) == 1:
        return array
    return lowering.values.array_of(scope, value, _hint(op))


def _shuffle(
    lowering: Lowering, scope: Scope, monoid: MonoidAttr, elements: Sequence[SSAValue], masks: Sequence[int]
) -> Sequence[SSAValue]:
    """Combine with the lanes whose numbers differ in the bits of the masks."""
    for mask in masks:
        others = [_from_lane(lowering, scope, element, mask) for element in elements]
        elements = monoid.monoid.combine(scope, elements, others)
    return elements


def _from_lane(lowering: Lowering, scope: Scope, value: SSAValue, mask: int) -> SSAValue:
    """What the lane at exclusive or `mask` holds. Shuffles move 32 or 64 bits: smaller types go as f32 or i32, unchanged."""
    element = value.type
    moved = value
    if bit_width(element) < 32:
        moved = scope.cast(value, f32 if is_float(element) else i32)
    shuffled = scope.insert(ShuffleOp.of("xor", moved, lowering.indices.constant(mask))).result
    return scope.cast(shuffled, element)


@dataclass
class _SharedExchange:
    """Partial results in shared memory: for each element of the tile, those of one group of threads side by side.

    group: number of the group that a thread is in; all its threads get one result.
    part: which of the group's partial results the thread has; threads that shuffles made equal share one.
    """

    lowering: Lowering
    monoid: MonoidAttr
    types: Sequence[Attribute]
    exchange: Exchange
    shape: tuple[int, ...]
    group: LinearForm
    groups: int
    part: LinearForm
    first: SSAValue | None
    scratch: Sequence[SSAValue]
    count: int
    hint: str

    @staticmethod
    def of(lowering: Lowering, op: ReduceAcrossOp, exchange: Exchange) -> _SharedExchange:
        indices, root = lowering.indices, lowering.root
        group, groups = ZERO, 1
        for digit in lowering.grid.digits:
            if digit not in exchange.over:
                group, groups = group * digit.extent + digit.position, groups * digit.extent
        part = ZERO
        first: SSAValue | None = None
        for digit, count in zip(exchange.over, exchange.shuffled, strict=True):
            part = part * (digit.extent // count) + indices.quotient(root, digit.position, count)
            if count > 1:
                lane = indices.remainder(root, digit.position, count)
                is_first = indices.compare(root, "eq", lane, ZERO)
                first = is_first if first is None else root.alu("and", first, is_first)
        shape = shape_of(op.inputs[0].type)
        types = [element_of(value.type) for value in op.inputs]
        hint = "partial"
        self = _SharedExchange(
            lowering, op.monoid, types, exchange, shape, group, groups, part, first, (), exchange.partials, hint
        )
        self.scratch = self._arrays(exchange.partials)
        return self

    def _arrays(self, count: int) -> list[SSAValue]:
        size = prod(self.shape) * self.groups * count
        return [self.lowering.shared_array(size, array_type(type, (1,)), self.hint) for type in self.types]

    def _index(self, scope: Scope, place: Place, part: LinearForm) -> list[SSAValue]:
        element = ZERO
        for extent, coordinate in zip(self.shape, place, strict=True):
            element = element * extent + coordinate
        form = (element * self.groups + self.group) * self.count + part
        return [self.lowering.indices.value(scope, form)]

    def put(self, scope: Scope, place: Place, elements: Sequence[SSAValue]) -> None:
        """Write this thread's partial results of one element."""
        for element, array in zip(elements, self.scratch, strict=True):
            scope.insert(StoreOp.of(element, array, self._index(scope, place, self.part), self.first))

    def shorten(self, scope: Scope) -> None:
        """Where a group has more partial results than a warp has lanes, that many of its threads first combine them."""
        if self.count <= WARP:
            return
        lowering, indices = self.lowering, self.lowering.indices
        works = indices.compare(scope, "lt", self.part, LinearForm({}, WARP))
        if self.first is not None:
            works = scope.alu("and", works, self.first)
        shorter = self._arrays(WARP)
        branch = IfOp.of(works)
        with scope.inside(branch, branch.then.block) as part_of_group:
            with lowering.values.nest(part_of_group, self.shape) as (inner, place):
                elements = self._combined(inner, place, self.part, WARP, unroll=None)
                scratch, count = self.scratch, self.count
                self.scratch, self.count = shorter, WARP
                for element, array in zip(elements, self.scratch, strict=True):
                    inner.insert(StoreOp.of(element, array, self._index(inner, place, self.part)))
                self.scratch, self.count = scratch, count
        self.scratch, self.count = shorter, WARP
        lowering.barrier(scope)

    def get(self, scope: Scope, place: Place) -> Sequence[SSAValue]:
        """The result of one element."""
        digit, shuffled = max(zip(self.exchange.over, self.exchange.shuffled, strict=True), key=lambda pair: pair[1])
        if self.count & (self.count - 1) == 0 and self.count <= shuffled:
            # Each lane takes one partial result; shuffles combine them.
            part = self.lowering.indices.remainder(scope, digit.position, self.count)
            elements = self._load(scope, place, part)
            masks = [digit.stride * self.count >> step for step in range(1, self.count.bit_length())]
            return _shuffle(self.lowering, scope, self.monoid, elements, masks)
        return self._combined(scope, place, ZERO, 1, unroll=0)

    def _load(self, scope: Scope, place: Place, part: LinearForm) -> list[SSAValue]:
        at = self._index(scope, place, part)
        return [scope.insert(LoadOp.of(array, at)).result for array in self.scratch]

    def _combined(self, scope: Scope, place: Place, start: LinearForm, step: int, unroll: int | None) -> list[SSAValue]:
        """The partial results `start`, `start + step`, … of this thread's group, combined in order."""
        values, indices = self.lowering.values, self.lowering.indices
        monoid = self.monoid.monoid
        arrays = [values.allocate(scope, array_type(type, (1,)), "acc") for type in self.types]
        for number, type, array in zip(monoid.identity(self.types), self.types, arrays, strict=True):
            scope.insert(StoreOp.of(scope.const(number, type), array, ()))
        loop = ForOp.of(indices.value(scope, start), self.count, step, unroll)
        loop.index.name_hint = "part"
        with scope.inside(loop, loop.body.block) as inner:
            elements = self._load(inner, place, indices.leaf(loop.index, (0, self.count - 1)))
            state = [inner.insert(LoadOp.of(array, ())).result for array in arrays]
            for new, array in zip(monoid.combine(inner, state, elements), arrays, strict=True):
                inner.insert(StoreOp.of(new, array, ()))
        return [scope.insert(LoadOp.of(array, ())).result for array in arrays]
