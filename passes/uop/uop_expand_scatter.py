"""uop-expand-scatter: scatters become reductions over their updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i1, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass

from ...dialects.monoids import MonoidAttr
from ...dialects.types import element_count, element_of, integer_bounds, is_float, is_tensor, shape_of, with_shape
from ...dialects.uop import (
    AddOp,
    AluOp,
    ExpandOp,
    IotaOp,
    KernelOp,
    PermuteOp,
    ReshapeOp,
    ScatterOp,
    WhereOp,
    constant_value,
)
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.ranges import RangeAnalysis
from ...rewriting.uses import replace_uses

FEW = 4
"""Up to so many updates along the axis a scatter is a chain of selects, without a reduction."""


class UOpExpandScatterPass(ModulePass):
    """Rewrite each `uop.scatter` as what every place of its result finds among the updates.

    - Few updates along the axis (one position of a KV cache): a comparison and a select for each, in their order.
    - Indices that are `start + step · position` (`index_copy` at an `arange`), or `start + position` with a start that
      is data (several positions of a KV cache): each place computes the position of its update. Where some of them are
      sent outside by a select (`where(position < s, index, outside)`), that is asked of the position.
    - Without a monoid: the last update that names the place, found by a maximum, is read by a gather; a place that none
      names keeps the input. Where all updates along the axis are one value, whether one names the place is enough.
    - With a monoid: the input combined with the reduction of the updates that name the place.

    Indices that are repeated along other axes (`index_put` of rows) are looked at once for all of them. An index
    outside the axis names no place, so its update is dropped.

    The result is deterministic, sums too, and needs no atomics. It costs places × updates comparisons, where atomics
    would take one step for each update; a form with atomics can take the place of this one where that is too much.
    Leaves alone: everything else.
    """

    name = "uop-expand-scatter"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp | KernelOp):
                for block in function.body.blocks:
                    _expand_in(block)


def _expand_in(block: Block) -> None:
    scatters = [op for op in block.ops if isinstance(op, ScatterOp)]
    builder = Builder(block)
    for op in scatters:
        builder.before = op
        with builder.at(op.location):
            result = _Scatter(builder, op).expanded()
        replace_uses(op.result, result)
    if scatters:
        erase_unused(block)


class _Scatter:
    """One scatter, restricted to the part of the input that has updates in the other axes.

    shape: of that part. count: updates along the axis.
    """

    def __init__(self, builder: Builder, op: ScatterOp):
        self.builder = builder
        self.monoid = op.monoid
        self.axis = op.axis.value.data
        self.whole = op.input
        self.updates = op.updates
        updates = shape_of(op.updates.type)
        places = shape_of(op.input.type)[self.axis]
        self.count = updates[self.axis]
        self.shape = (*updates[: self.axis], places, *updates[self.axis + 1 :])
        self.input = builder.shrink(op.input, [0] * len(self.shape), self.shape)
        self.indices = _holding(builder, _unrepeated(builder, op.indices, self.axis), places)

    def expanded(self) -> SSAValue:
        """The result of the scatter."""
        if not self.count or not element_count(self.shape):
            return self.whole
        if self.count <= FEW:
            result = self.in_order()
        elif (progression := self.progression()) is not None:
            result = self.in_steps(progression)
        elif self.monoid is None:
            result = self.put()
        else:
            result = self.combined(self.monoid)
        return self.in_whole(result)

    def in_whole(self, part: SSAValue) -> SSAValue:
        """The part of the input replaced, the rest as it is."""
        whole = shape_of(self.whole.type)
        if self.shape == whole:
            return part
        low, high = [0] * len(whole), [n - m for n, m in zip(whole, self.shape, strict=True)]
        inside = self.builder.pad(self.builder.expand(self.builder.const(True, i1), _bools(self.shape)), low, high)
        return self.builder.alu("where", inside, self.builder.pad(part, low, high), self.whole)

    # Few updates.

    def in_order(self) -> SSAValue:
        """One update after the other."""
        result = self.input
        for number in range(self.count):
            index, update = self.nth(self.indices, number), self.nth(self.updates, number)
            here = self.builder.alu("eq", self.to_part(index), self.places(self.shape, element_of(index.type)))
            value = self.to_part(update)
            if self.monoid is not None:
                (value,) = self.monoid.monoid.combine(self.builder, [result], [value])
            result = self.builder.alu("where", here, value, result)
        return result

    def nth(self, value: SSAValue, number: int) -> SSAValue:
        """The indices or updates at one position along the axis."""
        shape = shape_of(value.type)
        offsets = [number if axis == self.axis else 0 for axis in range(len(shape))]
        return self.builder.shrink(value, offsets, [1 if axis == self.axis else n for axis, n in enumerate(shape)])

    # Updates at places that are known.

    def progression(self) -> _Progression | None:
        """Indices that go up in equal steps; None for others."""
        value, named = _row(self.indices), None
        if isinstance(value.owner, WhereOp):
            single = _single(value.owner.operands[2])
            outside = None if single is None else constant_value(single)
            if outside is None or 0 <= outside < self.shape[self.axis]:
                return None
            named, value = (_row(operand) for operand in value.owner.operands[:2])
        if shape_of(value.type) != (self.count,):
            return None
        form = RangeAnalysis().form(value)
        if len(form.terms) == 1:
            ((leaf, step),) = form.terms.items()
            if isinstance(leaf.owner, IotaOp) and step > 0:
                return _Progression(self.builder.const(int(form.constant), i64), step, named)
        start = self.start(value)
        return None if start is None else _Progression(start, 1, named)

    def start(self, value: SSAValue) -> SSAValue | None:
        """What `value` is more than its position: a tensor of one element, or a scalar; None where that differs."""
        start: SSAValue | None = None
        while isinstance(value.owner, AddOp):
            left, right = value.owner.operands
            value, same = (left, right) if _single(right) is not None else (right, left)
            single = _single(same)
            if single is None:
                return None
            start = single if start is None else self.builder.alu("add", start, single)
        return start if isinstance(value.owner, IotaOp) and element_of(value.type) == i64 else None

    def in_steps(self, steps: _Progression) -> SSAValue:
        """The update whose position leads to the place, if there is one."""
        ones = [n if axis == self.axis else 1 for axis, n in enumerate(self.shape)]
        places = self.places(ones, i64)
        start = self.builder.expand(_of_rank(self.builder, steps.start, len(ones)), places.type)
        distance = self.builder.alu("sub", places, start)
        inside = self.alu_with("ge", distance, 0)
        inside = self.builder.alu("and", inside, self.alu_with("lt", distance, self.count * steps.step))
        position = distance
        if steps.step > 1:
            on_step = self.alu_with("eq", self.alu_with("floormod", distance, steps.step), 0)
            inside = self.builder.alu("and", inside, on_step)
            position = self.alu_with("floordiv", distance, steps.step)
        position = self.builder.alu("where", inside, position, self.builder.constant_like(0, position))
        if steps.named is not None:
            inside = self.builder.alu("and", inside, self.at(steps.named, distance, position))
        value = self.builder.gather(self.updates, self.to_part(position), self.axis)
        if self.monoid is not None:
            (value,) = self.monoid.monoid.combine(self.builder, [self.input], [value])
        return self.builder.alu("where", self.to_part(inside), value, self.input)

    def at(self, condition: SSAValue, distance: SSAValue, position: SSAValue) -> SSAValue:
        """What a condition of each position is at that of each place: computed, where it compares positions with a
        number, else read. distance: the position, also where there is no such"""
        owner = condition.owner
        if isinstance(owner, AluOp) and len(owner.operands) == 2:
            left, right = owner.operands
            limit = _single(right)
            if isinstance(left.owner, IotaOp) and element_of(left.type) == i64 and limit is not None:
                other = self.builder.expand(_of_rank(self.builder, limit, len(self.shape)), distance.type)
                return self.builder.alu(owner.row().name, distance, other)
        row = self.builder.reshape(position, [self.shape[self.axis]])
        return self.builder.reshape(self.builder.gather(condition, row, 0), shape_of(position.type))

    def alu_with(self, name: str, value: SSAValue, number: int) -> SSAValue:
        return self.builder.alu(name, value, self.builder.constant_like(number, value))

    # Many.

    def put(self) -> SSAValue:
        """The last update of each place, or the input."""
        same = _repeated_along(self.updates, self.axis)
        if same is not None:
            named = self.to_part(self.over_updates("or", self.matches(self.indices)))
            return self.builder.alu("where", named, self.to_part(same), self.input)
        matches = self.matches(self.indices)
        element = i32 if self.count <= integer_bounds(i32)[1] else i64
        positions = self.along_last(self.builder.iota(self.count, element), shape_of(matches.type))
        none = self.builder.constant_like(-1, positions)
        last = self.over_updates("max", self.builder.alu("where", matches, positions, none))
        zero = self.builder.constant_like(0, last)
        named = self.to_part(self.builder.alu("ge", last, zero))
        position = self.to_part(self.builder.alu("max", last, zero))
        return self.builder.alu("where", named, self.builder.gather(self.updates, position, self.axis), self.input)

    def combined(self, monoid: MonoidAttr) -> SSAValue:
        """The input and all updates of each place together."""
        element = element_of(self.updates.type)
        updates = self.facing_places(self.updates)
        matches = self.builder.expand(self.matches(self.indices), _bools(shape_of(updates.type)))
        (identity,) = monoid.monoid.identity([element])
        chosen = self.builder.alu("where", matches, updates, self.builder.constant_like(identity, updates))
        total = self.over_updates(monoid.data, chosen)
        (result,) = monoid.monoid.combine(self.builder, [self.input], [total])
        if monoid.data == "add" and is_float(element):
            # A sum begins at +0, and −0 + 0 is +0: an input that nothing is added to stays −0.
            nothing = self.builder.alu("eq", total, self.builder.constant_like(0.0, total))
            return self.builder.alu("where", nothing, self.input, result)
        return result

    def matches(self, indices: SSAValue) -> SSAValue:
        """Whether an update (the last axis) names a place (the axis of the scatter)."""
        facing = self.facing_places(indices)
        return self.builder.alu("eq", facing, self.places(shape_of(facing.type), element_of(indices.type)))

    def facing_places(self, value: SSAValue) -> SSAValue:
        """Indices or updates with the axis of the scatter moved to the end, repeated for each place."""
        shape = shape_of(value.type)
        order = [*(axis for axis in range(len(shape)) if axis != self.axis), self.axis]
        before, behind = shape[: self.axis], shape[self.axis + 1 :]
        moved = self.builder.reshape(self.builder.permute(value, order), (*before, 1, *behind, self.count))
        places = self.shape[self.axis]
        return self.builder.expand(moved, with_shape(value.type, (*before, places, *behind, self.count)))

    def over_updates(self, monoid: str, value: SSAValue) -> SSAValue:
        """The last axis combined, and gone."""
        shape = shape_of(value.type)
        return self.builder.reshape(self.builder.reduce_axis(monoid, [value], [len(shape) - 1])[0], shape[:-1])

    def places(self, shape: Sequence[int], element: Attribute) -> SSAValue:
        """0, 1, … along the axis of the scatter, in this shape."""
        iota = self.builder.iota(shape[self.axis], element)
        ones = [n if axis == self.axis else 1 for axis, n in enumerate(shape)]
        return self.builder.expand(self.builder.reshape(iota, ones), TensorType(element, shape))

    def along_last(self, vector: SSAValue, shape: Sequence[int]) -> SSAValue:
        ones = [*(1,) * (len(shape) - 1), shape[-1]]
        return self.builder.expand(self.builder.reshape(vector, ones), with_shape(vector.type, shape))

    def to_part(self, value: SSAValue) -> SSAValue:
        """A value, or a scalar, repeated to the shape of the part."""
        return self.builder.expand(value, TensorType(element_of(value.type), self.shape))


@dataclass(frozen=True)
class _Progression:
    """Indices that go up in equal steps.

    start: the first, a scalar or a tensor of one element. named: of each position, whether its index is this one, and
    not one outside
    """

    start: SSAValue
    step: int
    named: SSAValue | None


def _row(value: SSAValue) -> SSAValue:
    """The tensor of one axis that the value is in another shape."""
    while isinstance(value.owner, ReshapeOp | PermuteOp):
        value = value.owner.input
    return value


def _single(value: SSAValue) -> SSAValue | None:
    """The scalar, or the tensor of one element, that is repeated to give the value; None if nothing is."""
    if not isinstance(value.owner, ExpandOp) or element_count(shape_of(value.owner.input.type)) != 1:
        return None
    return value.owner.input


def _of_rank(builder: Builder, value: SSAValue, rank: int) -> SSAValue:
    """A tensor of one element with as many axes; a scalar as it is."""
    return builder.reshape(value, [1] * rank) if is_tensor(value.type) else value


def _bools(shape: Sequence[int]) -> TensorType[Attribute]:
    return TensorType(i1, shape)


def _unrepeated(builder: Builder, indices: SSAValue, axis: int) -> SSAValue:
    """The indices with extent 1 in those of the other axes along which they are repeated."""
    if not isinstance(indices.owner, ExpandOp):
        return indices
    source, shape = indices.owner.input, list(shape_of(indices.owner.input.type)) or [1] * len(shape_of(indices.type))
    shape[axis] = shape_of(indices.type)[axis]
    return builder.expand(source, with_shape(indices.type, shape))


def _repeated_along(value: SSAValue, axis: int) -> SSAValue | None:
    """What is repeated along the axis to give the value; None if nothing is."""
    if not isinstance(value.owner, ExpandOp):
        return None
    shape = shape_of(value.owner.input.type)
    return value.owner.input if not shape or shape[axis] == 1 else None


def _holding(builder: Builder, indices: SSAValue, places: int) -> SSAValue:
    """The indices in a type that holds the number of every place."""
    return indices if integer_bounds(element_of(indices.type))[1] >= places else builder.cast(indices, i64)
