"""A reduction in two stages of what one matrix product computes, whose sum of vectors is another: attention.

Of `online_attention` over keys k of (score[i, k], weight, value[k, l]) the scores are a product, of which a warp holds
a tile. The second sum, Σ exp(score − maximum) · value, is a product of that tile, and what lanes and registers hold
along the columns of the first is what A of the second wants there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from xdsl.ir import Operation, SSAValue

from ...dialects.axes import AxisAttr, AxisKind
from ...dialects.loop import ForOp, ReduceOp, YieldOp
from ...dialects.monoids import MONOIDS, Monoid, MonoidAttr
from ...dialects.schedule import Schedule
from ...dialects.tile import AxisOp, ReduceAcrossOp, TakeAcrossOp
from ...dialects.types import element_of, index, shape_of, with_shape
from ..tile.tile_builder import TileBuilder, joined_shape
from .matrix_products import multiplied

WEIGHT, VECTOR = 1, 2
"""Places among the values of the monoid: of the sum of weights, which are alike for all columns of the second product,
and of the sum of vectors."""


class Loop(Protocol):
    """A serial loop whose body is being built."""

    builder: TileBuilder

    @property
    def index(self) -> SSAValue: ...

    @property
    def carried(self) -> Sequence[SSAValue]: ...

    def carry(self, types: Iterable[object]) -> Sequence[SSAValue]: ...

    def finish(
        self, outer: TileBuilder, monoids: Sequence[MonoidAttr], inits: Sequence[SSAValue], state: Sequence[SSAValue]
    ) -> ForOp: ...


class Conversion(Protocol):
    """What carrying out a schedule knows of the kernel: `convert_loop_to_tile._Conversion`."""

    schedule: Schedule
    extents: dict[str, int]
    values: dict[SSAValue, SSAValue]
    varies: dict[SSAValue, frozenset[str]]
    valid: dict[str, SSAValue]
    parts: dict[tuple[str, int], SSAValue]

    def convert(self, builder: TileBuilder, ops: Iterable[Operation]) -> None: ...
    def open_axis(self, outer: TileBuilder, siblings: Sequence[ForOp | ReduceOp]) -> Sequence[Loop]: ...
    def register_shape(self, dimensions: Sequence[int]) -> tuple[int, ...]: ...
    def register_dimensions(self, axes: Iterable[str]) -> list[int]: ...
    def axes_of(self, values: Iterable[SSAValue]) -> frozenset[str]: ...


@dataclass(frozen=True)
class ChainedReduction:
    """The reduction of a kernel whose schedule chains two products: row and column are those of the second.

    over: the factors of its axis that lanes and registers hold, the outermost first.
    """

    conversion: Conversion
    op: ReduceOp
    row: str
    column: str
    over: Sequence[AxisOp]

    @staticmethod
    def of(conversion: Conversion, op: ReduceOp, row: str, column: str) -> ChainedReduction:
        axis = op.axis.axis.data
        parts = (conversion.parts.get((axis, place)) for place in range(len(conversion.schedule.factors(axis))))
        over = [part.owner for part in parts if part is not None and isinstance(part.owner, AxisOp)]
        return ChainedReduction(conversion, op, row, column, over)

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

    def build(self, outer: TileBuilder) -> list[SSAValue]:
        """The loop over the keys; what it gives, of the monoid's values.

        The maximum is that of all lanes of a row in each step, since the sums of vectors are; the sum of weights is put
        together in the end.
        """
        conversion, monoid = self.conversion, self.op.monoid.monoid
        stages = monoid.stages
        assert stages is not None
        first, rest = MONOIDS[stages.first], MONOIDS[stages.rest]
        loops = conversion.open_axis(outer, (self.op,))
        b = loops[-1].builder if loops else outer
        conversion.convert(b, _needed(self.op, self.op.yielded[:VECTOR]))
        scores, weights = self._elements(b)
        ones = b.constant_like(1.0, scores)

        rows = [1 if d in self.dimensions else n for d, n in enumerate(shape_of(scores.type))]
        vectors = conversion.register_shape(conversion.register_dimensions((self.row, self.column)))
        types = [with_shape(scores.type, shape) for shape in (rows, rows, vectors)]
        if loops:
            for loop in loops:
                loop.carry(types)
            state = loops[-1].carried
        else:
            numbers = monoid.identity([element_of(type) for type in types])
            state = [b.expand(b.const(n, element_of(t)), t) for n, t in zip(numbers, types, strict=True)]
        total = self._across(b, first, self._in_registers(b, first, scores))
        (total,) = first.combine(b, [state[0]], [total])
        weights, factors = stages.adapt(b, [scores, weights, ones], total)
        before = stages.adapt(b, state, total)
        (weight,) = rest.combine(b, before[:1], [self._in_registers(b, rest, weights)])
        values = [total, weight, self._product(b, loops, factors, before[1])]
        for depth in reversed(range(len(loops))):
            around, inits = (loops[depth - 1].builder, loops[depth - 1].carried) if depth else (outer, ())
            values = list(loops[depth].finish(around, [self.op.monoid], inits, values).results)
        values[WEIGHT] = self._across(outer, rest, values[WEIGHT])
        return values

    def _elements(self, b: TileBuilder) -> tuple[SSAValue, SSAValue]:
        """Scores and weights of a step; the score is the identity behind the end of the axis."""
        conversion = self.conversion
        scores, weights = (conversion.values[value] for value in self.op.yielded[:VECTOR])
        inside = conversion.valid.get(self.axis)
        held = conversion.register_dimensions((self.row,)) + self.dimensions
        shape = tuple(
            max(n, m) for n, m in zip(conversion.register_shape(held), joined_shape([scores, weights]), strict=True)
        )
        scores, weights = b.fit(scores, shape), b.fit(weights, shape)
        if inside is not None:
            (identity, *_) = self.op.monoid.monoid.identity([element_of(value.type) for value in self.op.yielded])
            scores = b.alu("where", b.fit(inside, shape), scores, b.constant_like(identity, scores))
        return scores, weights

    def _in_registers(self, b: TileBuilder, monoid: Monoid, value: SSAValue) -> SSAValue:
        return b.reduce_axis(monoid.name, [value], self.dimensions)[0]

    def _across(self, b: TileBuilder, monoid: Monoid, value: SSAValue) -> SSAValue:
        across = ReduceAcrossOp.of(monoid.name, [value], self.lanes)
        built = b.pure(ReduceAcrossOp, tuple(across.operands), [value.type], across.properties)
        across.erase()
        return built.outputs[0]

    def _product(self, b: TileBuilder, loops: Sequence[Loop], factors: SSAValue, state: SSAValue) -> SSAValue:
        """`state` and the sum of factor · vector over the elements of a step, as a loop of which tile-mma makes
        instructions.

        The factors are rounded to the type that the vectors have in memory: an instruction multiplies two of one type.
        """
        conversion, op = self.conversion, self.op
        taken = multiplied(op.yielded[VECTOR].owner)
        assert taken is not None, "schedule_checks looks at the factors"
        factors = b.cast(factors, element_of(taken.type))
        depth = 2 * 4 * 2  # what `Schedule.spread` makes of the mma factor
        count = shape_of(factors.type)
        steps = 1
        for dimension in self.dimensions[:-2]:
            steps *= count[dimension]
        nest: list[tuple[ForOp, TileBuilder]] = []
        builder, init = b, state
        for extent, kind in ((steps, AxisKind.UNROLL), (depth, AxisKind.MMA)):
            if extent == 1:
                continue
            loop = ForOp.of(AxisAttr(self.axis, extent, kind), ("add",), (state.type,), (init,))
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

    def _bind(self, outer: TileBuilder, builder: TileBuilder, loops: Sequence[Loop], place: SSAValue) -> None:
        """Let the position along the axis be that of one place of a step."""
        conversion = self.conversion
        factors = conversion.schedule.factors(self.axis)
        position, serial = None, iter(loops)
        for number, factor in enumerate(factors):
            if factor.kind in (AxisKind.LOOP, AxisKind.UNROLL) and factor.extent > 1:
                stride = 1
                for inner in factors[number + 1 :]:
                    stride *= inner.extent
                position = outer.add_term(position, next(serial).index, stride)
        position = place if position is None else builder.alu("add", position, place)
        conversion.values[self.op.index] = position
        covered = 1
        for factor in factors:
            covered *= factor.extent
        if covered > conversion.extents[self.axis]:
            conversion.valid[self.axis] = builder.alu(
                "lt", position, builder.const(conversion.extents[self.axis], index)
            )


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
