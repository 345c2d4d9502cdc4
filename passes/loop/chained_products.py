"""A reduction in two stages of what one product computes, whose sum of vectors is another: attention.

Of `online_attention` over keys k of (score[i, k], weight, value[k, l]) the scores are a product, of which a warp, or a
task of a CPU, holds a tile. The second sum, Σ exp(score − maximum) · value, is a product of that tile, and what lanes
and registers hold along the columns of the first is what A of the second wants there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.axes import SERIAL_KINDS, AxisAttr, AxisKind
from ...dialects.exponents import Exponents
from ...dialects.limits import UNLIMITED
from ...dialects.loop import ForOp, ReduceOp, YieldOp
from ...dialects.monoids import LOG2_E, MONOIDS, Monoid, MonoidAttr
from ...dialects.schedule import MatrixFactors, Schedule
from ...dialects.tile import AxisOp, LeaveUnlessOp, ReduceAcrossOp, TakeAcrossOp
from ...dialects.types import broadcast_shape, element_of, shape_of, with_shape
from ...dialects.uop import MulOp, WhereOp, constant_value
from ..tile.tile_builder import TileBuilder
from .axis_positions import AxisPositions
from .matrix_products import multiplied
from .serial_loops import SerialLoop
from .step_limits import StepLimits

WEIGHT, VECTOR, SHIFT = 1, 2, 3
"""Places among the values that are carried: of the sum of weights, which are alike for all columns of the second
product, of the sum of vectors, and of what the exponents of a row are shifted by, which is no value of the monoid."""


MOST_OF_F16 = 2.0**80
"""Times log2(e), by what products of f16 are multiplied: a sum of 2 ** 16 of them stays finite."""


class Conversion(Protocol):
    """What carrying out a schedule knows of the kernel: `convert_loop_to_tile._Conversion`."""

    schedule: Schedule
    matrices: Sequence[MatrixFactors]
    positions: AxisPositions
    values: dict[SSAValue, SSAValue]
    varies: dict[SSAValue, frozenset[str]]
    limits: StepLimits

    def convert(self, builder: TileBuilder, ops: Iterable[Operation]) -> None: ...
    def open_axis(self, outer: TileBuilder, siblings: Sequence[ForOp | ReduceOp]) -> Sequence[SerialLoop]: ...
    def axes_of(self, values: Iterable[SSAValue]) -> frozenset[str]: ...


@dataclass(frozen=True)
class ChainedReduction:
    """The reduction of a kernel whose schedule chains two products: rows and column are those of the second.

    over: the factors of its axis that lanes and registers hold, the outermost first.
    """

    conversion: Conversion
    op: ReduceOp
    rows: Sequence[str]
    column: str
    over: Sequence[AxisOp]

    @staticmethod
    def of(conversion: Conversion, op: ReduceOp, column: str) -> ChainedReduction:
        axis = op.axis.axis.data
        positions = conversion.positions
        parts = (positions.parts.get((axis, place)) for place in range(len(conversion.schedule.factors(axis))))
        over = [part.owner for part in parts if part is not None and isinstance(part.owner, AxisOp)]
        others = {column, *(loop.axis.axis.data for loop in op.walk() if isinstance(loop, ReduceOp))}
        rows = dict.fromkeys(axis for axis, _, _ in positions.registers if axis not in others)
        return ChainedReduction(conversion, op, tuple(rows), column, over)

    @property
    def by_matrices(self) -> bool:
        """Whether matrix instructions compute the products, and not vectors of a CPU."""
        return len(self.conversion.matrices) == 2

    @property
    def multiplied(self) -> Attribute | None:
        """The type of what matrix instructions multiply, all of one type; None without them."""
        taken = multiplied(self.op.yielded[VECTOR].owner) if self.by_matrices else None
        return None if taken is None else element_of(taken.type)

    @property
    def axis(self) -> str:
        return self.op.axis.axis.data

    @property
    def dimensions(self) -> list[int]:
        """The register dimensions along the axis."""
        return [dimension for factor in self.over if (dimension := factor.dimension) is not None]

    @property
    def lanes(self) -> list[SSAValue]:
        return [factor.result for factor in self.over if factor.dimension is None]

    def build(self, outer: TileBuilder) -> None:
        """The loop over the keys.

        The maximum is that of all lanes of a row in each step, since the sums of vectors are; the sum of weights is put
        together in the end, of threads and of the lanes of vectors. Where scores are multiples of products, the maximum
        is one of products until then.
        """
        conversion, monoid = self.conversion, self.op.monoid.monoid
        stages = monoid.stages
        assert stages is not None
        first, rest = MONOIDS[stages.first], MONOIDS[stages.rest]
        loops = conversion.open_axis(outer, (self.op,))
        b = loops[-1].builder if loops else outer
        self._leave_steps(outer, loops)
        score = _Score.of(self.op, self.multiplied)
        weight = self.op.yielded[WEIGHT]
        conversion.convert(b, _needed(self.op, [score.product, *score.conditions, weight]))
        scores = self._scores(b, score)
        weights = b.fit(conversion.values[weight], shape_of(scores.type))

        within = self.dimensions if self.by_matrices else self.dimensions[:-1]
        rows, apart = (
            [1 if d in dimensions else n for d, n in enumerate(shape_of(scores.type))]
            for dimensions in (self.dimensions, within)
        )
        vectors = conversion.positions.shape_along((*self.rows, self.column))
        types = [with_shape(scores.type, shape) for shape in (rows, apart, vectors)]
        starts = monoid.identity([element_of(type) for type in types])
        monoids = [self.op.monoid]
        exponents = None if score.scale is None else Exponents(score.scale)
        if exponents is not None:
            types.append(types[0])
            starts = (exponents.lowest, *starts[1:], exponents.greatest_shift)
            monoids.append(MonoidAttr("min"))
        inits: list[SSAValue] = []
        if exponents is not None or not loops:
            inits = [outer.expand(outer.const(n, element_of(t)), t) for n, t in zip(starts, types, strict=True)]
        for loop in loops:
            loop.carry(types)
        state = loops[-1].carried if loops else inits
        total = self._across(b, first, _in_registers(b, first, scores, self.dimensions))
        (total,) = first.combine(b, [state[0]], [total])
        shifts: list[SSAValue] = []
        if exponents is None:
            weights, factors = stages.adapt(b, [scores, weights, b.constant_like(1.0, scores)], [total])
            before = stages.adapt(b, state, [total])
        else:
            power, shift = exponents.shifts(b, total)
            factors = exponents.exp(b, scores, power, shift)
            weights = b.alu("mul", weights, factors)
            rescaling = exponents.rescaling(b, state[SHIFT], shift)
            before = [b.alu("mul", state[place], b.expand_like(rescaling, state[place])) for place in (WEIGHT, VECTOR)]
            shifts.append(shift)
        (sum_of_weights,) = rest.combine(b, before[:1], [_in_registers(b, rest, weights, within)])
        values: list[SSAValue] = [total, sum_of_weights, self._product(b, loops, factors, before[1]), *shifts]
        for depth in reversed(range(len(loops))):
            around, starts = (loops[depth - 1].builder, loops[depth - 1].carried) if depth else (outer, inits)
            values = [*loops[depth].finish(around, monoids, starts, values).results]
        if exponents is not None:
            values[0] = exponents.maximum(outer, values[0])
        values[WEIGHT] = self._across(outer, rest, values[WEIGHT])
        values[WEIGHT] = _in_registers(outer, rest, values[WEIGHT], [d for d in self.dimensions if d not in within])
        of_rows = conversion.axes_of([score.product, *score.conditions, weight]) - {self.axis}
        of_vectors = of_rows | conversion.axes_of(self.op.yielded[VECTOR:]) - {self.axis}
        for result, value, axes in zip(self.op.results, values, (of_rows, of_rows, of_vectors), strict=False):
            conversion.values[result], conversion.varies[result] = value, axes
            value.name_hint = value.name_hint or result.name_hint

    def _leave_steps(self, outer: TileBuilder, loops: Sequence[SerialLoop]) -> None:
        """Let warps do nothing in steps that lie outside their own limits: they have rows of their own, and do not meet
        but where slabs are copied."""
        if not self.lanes:
            return
        factors = self.conversion.schedule.factors(self.axis)
        places = [place for place, factor in enumerate(factors) if factor.kind in SERIAL_KINDS and factor.extent > 1]
        if not self.op.limits.values or len(loops) != 1 or factors[places[0]].kind is not AxisKind.LOOP:
            return
        b, step = loops[0].builder, loops[0].index
        limits = self.conversion.limits.of_warps.of_loop(outer, self.op, places[0])
        conditions: list[SSAValue] = []
        if limits.lower is not None:
            conditions.append(b.alu("ge", step, limits.lower))
        if limits.upper is not None:
            conditions.append(b.alu("lt", step, limits.upper))
        if (needed := b.conjunction(conditions)) is not None:
            b.insert(LeaveUnlessOp.of(needed))

    def _scores(self, b: TileBuilder, score: _Score) -> SSAValue:
        """The scores of a step before they are scaled: −∞ where the mask does not allow any, and behind the end."""
        conversion, positions = self.conversion, self.conversion.positions
        value = conversion.values[score.product]
        held = positions.register_shape(positions.register_dimensions(self.rows) + self.dimensions)
        conditions = [conversion.values[condition] for condition in score.conditions]
        if (inside := positions.valid.get(self.axis)) is not None:
            conditions.append(inside)
        shape = broadcast_shape([held, *(shape_of(x.type) for x in (value, *conditions))])
        assert shape is not None
        value = b.fit(value, shape)
        allowed = b.conjunction(conditions)
        if allowed is None:
            return value
        return b.alu("where", b.fit(allowed, shape), value, b.constant_like(float("-inf"), value))

    def _across(self, b: TileBuilder, monoid: Monoid, value: SSAValue) -> SSAValue:
        if not self.lanes:
            return value
        across = ReduceAcrossOp.of(monoid.name, [value], self.lanes)
        built = b.pure(ReduceAcrossOp, tuple(across.operands), [value.type], across.properties)
        across.erase()
        return built.outputs[0]

    def _product(self, b: TileBuilder, loops: Sequence[SerialLoop], factors: SSAValue, state: SSAValue) -> SSAValue:
        """`state` and the sum of factor · vector over the elements of a step, as a loop.

        Of a loop that tile-mma makes instructions of, the factors are rounded to the type that the vectors have in
        memory: an instruction multiplies two of one type. Others leave out the elements outside of the limits.
        """
        conversion, op = self.conversion, self.op
        count = prod(factor.extent for factor in self.over)
        if self.by_matrices:
            element = self.multiplied
            assert element is not None, "schedule_checks looks at the factors"
            factors = b.cast(factors, element)
            depth = 2 * 4 * 2  # what `Schedule.spread` makes of the mma factor
            kinds = (count // depth, AxisKind.UNROLL), (depth, AxisKind.MMA)
        else:
            depth, kinds = 1, ((count, AxisKind.LOOP),)
        nest: list[tuple[ForOp, TileBuilder]] = []
        builder, init = b, state
        limits = UNLIMITED if self.by_matrices else conversion.limits.of_elements(b, op)
        for extent, kind in kinds:
            if extent == 1:
                continue
            loop = ForOp.of(AxisAttr(self.axis, extent, kind), ("add",), (state.type,), (init,), limits)
            loop.index.name_hint = f"{self.axis}{len(nest) or ''}"
            (init,) = loop.carried
            init.name_hint = "acc"
            nest.append((loop, builder))
            builder = builder.nested(loop.body.block)
        place = None
        for loop, _ in nest:
            stride = depth if loop.axis.axis_kind is AxisKind.UNROLL else 1
            place = builder.add_term(place, loop.index, stride)
        assert place is not None
        self._bind(b, builder, loops, place)
        conversion.convert(builder, _needed(op, op.yielded[VECTOR:]))
        vector = conversion.values[op.yielded[VECTOR]]
        factor = TakeAcrossOp.of(factors, place, [part.result for part in self.over])
        factor = builder.cast(builder.insert(factor).result, element_of(vector.type))
        added = builder.alu("mul", factor, vector)
        new = builder.alu("add", init, builder.fit(added, shape_of(init.type)))
        for loop, around in reversed(nest):
            loop.body.block.add_op(YieldOp.create(operands=(new,)))
            new = around.insert(loop).results[0]
        return new

    def _bind(self, outer: TileBuilder, builder: TileBuilder, loops: Sequence[SerialLoop], place: SSAValue) -> None:
        """Let the position along the axis be that of one place of a step."""
        conversion = self.conversion
        factors = conversion.schedule.factors(self.axis)
        position, serial = None, iter(loops)
        for number, factor in enumerate(factors):
            if factor.kind in (AxisKind.LOOP, AxisKind.UNROLL) and factor.extent > 1:
                stride = prod(inner.extent for inner in factors[number + 1 :])
                position = outer.add_term(position, next(serial).index, stride)
        position = place if position is None else builder.alu("add", position, place)
        conversion.values[self.op.index] = position
        conversion.positions.find_valid(builder, self.axis, position)


@dataclass(frozen=True)
class _Score:
    """What the score of an element is made of: `scale · product` where all conditions hold, else −∞.

    scale: positive; None where the score is made of the product in another way, and `product` is all of it. Products of
    f16 are not so great that their multiples overflow; others are not made greater.
    """

    product: SSAValue
    scale: float | None
    conditions: tuple[SSAValue, ...]

    @staticmethod
    def of(op: ReduceOp, multiplied: Attribute | None) -> _Score:
        value, scale, conditions = op.yielded[0], 1.0, list[SSAValue]()
        while True:
            owner = value.owner
            if isinstance(owner, WhereOp) and constant_value(owner.operands[2]) == float("-inf"):
                conditions.append(owner.operands[0])
                value = owner.operands[1]
            elif isinstance(owner, MulOp) and (factor := _positive(owner)) is not None:
                scale *= factor[0]
                value = factor[1]
            else:
                break
        greatest = MOST_OF_F16 if multiplied == f16 else 1
        if isinstance(owner, ReduceOp) and value.type == f32 and scale * LOG2_E <= greatest:
            return _Score(value, scale, tuple(conditions))
        return _Score(op.yielded[0], None, ())


def _positive(op: MulOp) -> tuple[float, SSAValue] | None:
    """The positive factor, and what it multiplies, if one of the operands is such a constant."""
    for factor, other in (op.operands, reversed(op.operands)):
        number = constant_value(factor)
        if isinstance(number, float) and 0 < number < float("inf"):
            return number, other
    return None


def _in_registers(b: TileBuilder, monoid: Monoid, value: SSAValue, dimensions: Sequence[int]) -> SSAValue:
    return b.reduce_axis(monoid.name, [value], sorted(dimensions))[0] if dimensions else value


def _needed(op: ReduceOp, values: Sequence[SSAValue]) -> list[Operation]:
    """The ops in the body of a reduction that these values are made of, in order."""
    block = op.body.block
    needed: set[Operation] = set()
    stack = [value.owner for value in values]
    while stack:
        owner = stack.pop()
        while isinstance(owner, Operation) and owner.parent is not block:
            owner = owner.parent_op()
        if not isinstance(owner, Operation) or owner in needed:
            continue
        needed.add(owner)
        stack += [operand.owner for inside in owner.walk() for operand in inside.operands]
    return [inside for inside in block.ops if inside in needed]
