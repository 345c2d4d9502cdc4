"""What the limits of loops become when a schedule is carried out: limits of steps, alike for all threads of a block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.axes import SERIAL_KINDS, AxisKind
from ...dialects.limits import UNLIMITED, Limits
from ...dialects.loop import ForOp, ReduceOp
from ...dialects.schedule import Schedule
from ...dialects.tile import ReadOp
from ...dialects.types import index
from ...dialects.uop import (
    AddOp,
    AluOp,
    CastOp,
    ConstOp,
    FloordivOp,
    LoadOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    StoreOp,
    SubOp,
    constant_value,
)
from ...rewriting.diagnostics import emit_remark
from ...rewriting.interval_arithmetic import whole
from ...rewriting.intervals import IntervalAnalysis
from ..tile.tile_builder import TileBuilder

Ends = tuple[SSAValue, SSAValue]
"""The least and the greatest value that an index has in the threads and registers of a block: scalars of tile form, one
and the same where all have the same."""


@dataclass
class StepLimits:
    """The limits of one kernel's loops, as limits of the serial loops that a schedule makes of them.

    stores: those of the kernel.
    parts: (axis, place of a factor) → its `tile.axis`.
    values: buffer of loop form → buffer of tile form.
    opened: axis → place of a factor → index of its loop, of those that are open.
    fixed: kinds of factors beside them that are one number for all that the limits are alike for.
    """

    stores: Sequence[StoreOp]
    schedule: Schedule
    parts: Mapping[tuple[str, int], SSAValue]
    values: Mapping[SSAValue, SSAValue]
    opened: dict[str, dict[int, SSAValue]] = field(default_factory=dict[str, dict[int, SSAValue]])
    fixed: Sequence[AxisKind] = (AxisKind.BLOCK,)
    intervals: IntervalAnalysis = field(default_factory=IntervalAnalysis)

    @property
    def of_warps(self) -> StepLimits:
        """The limits of what each warp executes, alike for its lanes."""
        return replace(self, fixed=(AxisKind.BLOCK, AxisKind.WARP))

    def of_loop(self, builder: TileBuilder, loop: ForOp | ReduceOp, place: int) -> Limits:
        """The steps of the loop of a factor in which some position may be inside the limits of its axis.

        A step takes a whole tile, so limits are rounded outwards; the thread and register positions that they and the
        tile's own begin depend on take their least and greatest values.
        """
        if not loop.limits.values:
            return UNLIMITED
        axis = loop.axis.axis.data
        outside = [other for other in range(place) if self.schedule.factors(axis)[other].extent > 1]
        return self._of_steps(builder, loop, _strides(self.schedule, axis)[place], outside)

    def of_elements(self, builder: TileBuilder, loop: ReduceOp) -> Limits:
        """The limits of the elements of a step, counted from its first: where the serial loops of the axis are open."""
        factors = self.schedule.factors(loop.axis.axis.data)
        serial = [place for place, factor in enumerate(factors) if factor.kind in SERIAL_KINDS and factor.extent > 1]
        return self._of_steps(builder, loop, 1, serial) if loop.limits.values else UNLIMITED

    def _of_steps(self, builder: TileBuilder, loop: ForOp | ReduceOp, stride: int, outside: Sequence[int]) -> Limits:
        """The limits of steps of so many positions each, behind what the factors at the places `outside` add."""
        least, greatest = self._position(builder, loop.axis.axis.data, outside)

        def step(distance: SSAValue, before: SSAValue | None) -> SSAValue:
            if before is not None:
                distance = builder.alu("sub", distance, before)
            return distance if stride == 1 else builder.alu("floordiv", distance, builder.const(stride, index))

        lower = upper = None
        with builder.at(loop.location):
            if (ends := self._limit(builder, loop, loop.limits.lower)) is not None:
                lower = step(ends[0], greatest)
            if (ends := self._limit(builder, loop, loop.limits.upper)) is not None:
                last = ends[1]
                if stride > 1:
                    last = builder.alu("add", last, builder.const(stride - 1, index))
                upper = step(last, least)
        return Limits(lower, upper)

    def of_all(self, builder: TileBuilder, loop: ReduceOp) -> Limits:
        """Limits of one step that takes all positions of an axis, of which no loop is left: it is executed where some
        may be inside. None where that is certain, or where it is alike for all blocks: some position then is.
        """
        limits = loop.limits
        if not any(_depends_on_a_loop(limit) for limit in limits.values):
            return UNLIMITED
        (lower, upper), last = limits, loop.axis.extent.data - 1
        low, high = (None if limit is None else self.intervals.of(limit) for limit in (lower, upper))
        if (low is None or low.high <= last) and (high is None or high.low >= 1):
            return UNLIMITED
        return self._of_steps(builder, loop, prod(f.extent for f in self.schedule.factors(loop.axis.axis.data)), ())

    def report_dropped(self, loop: ReduceOp, limits: Sequence[Limits]) -> None:
        """Remark that no serial loop of a reduction's axis is there to have its limits."""
        if loop.limits.values and not any(each.values for each in limits):
            emit_remark(loop, f"the limits of axis {loop.axis.axis.data} are dropped: each block takes it in one step")

    def needed(self, builder: TileBuilder) -> SSAValue | None:
        """Whether a block computes anything that is inside the limits of the axes that are spread over blocks; None
        where that is certain, or not known."""
        axes = dict.fromkeys(axis for axis, _, factor in self.schedule.of_kinds([AxisKind.BLOCK]) if factor.extent > 1)
        return builder.conjunction(condition for axis in axes for condition in self._needed_along(builder, axis))

    def _needed_along(self, builder: TileBuilder, axis: str) -> Iterator[SSAValue]:
        loops = _loops_around(self.stores, axis)
        if not loops or not all(loop.limits.values for loop in loops):
            return
        every = range(len(self.schedule.factors(axis)))
        least, greatest = self._position(builder, axis, every)
        assert least is not None
        assert greatest is not None
        with builder.at(loops[0].location):
            for side, name, own in ((0, "min", greatest), (1, "max", least)):
                ends = [self._limit(builder, loop, loop.limits[side]) for loop in loops]
                known = [pair[side] for pair in ends if pair is not None]
                if len(known) < len(ends):
                    continue
                limit = known[0]
                for other in known[1:]:
                    limit = limit if other is limit else builder.alu(name, limit, other)
                yield builder.alu("ge" if side == 0 else "lt", own, limit)

    def _position(
        self, builder: TileBuilder, axis: str, places: Sequence[int]
    ) -> tuple[SSAValue | None, SSAValue | None]:
        """The least and the greatest that some factors add to a position along an axis; None for nothing."""
        least: SSAValue | None = None
        spread = 0
        strides, factors = _strides(self.schedule, axis), self.schedule.factors(axis)
        for place in places:
            part = self.opened.get(axis, {}).get(place)
            if part is None and factors[place].kind in self.fixed:
                part = self.parts.get((axis, place))
            if part is not None:
                least = builder.add_term(least, part, strides[place])
            else:
                spread += (factors[place].extent - 1) * strides[place]
        if not spread:
            return least, least
        width = builder.const(spread, index)
        return least, width if least is None else builder.alu("add", least, width)

    def _limit(self, builder: TileBuilder, loop: ForOp | ReduceOp, limit: SSAValue | None) -> Ends | None:
        """The ends of a limit; None where there is none, or where what it is made of differs between threads."""
        if limit is None:
            return None
        ends = self._ends(builder, limit)
        if ends is None:
            emit_remark(
                loop,
                f"a limit of axis {loop.axis.axis.data} is dropped: what it is made of differs between the threads of a"
                " block, and its least and greatest values are not known",
            )
        return ends

    def _ends(self, builder: TileBuilder, root: SSAValue) -> Ends | None:
        """The least and the greatest value of an index of loop form."""
        known: dict[SSAValue, Ends | None] = {}
        stack = [root]
        while stack:
            value = stack[-1]
            missing = [operand for operand in _made_of(value) if operand not in known]
            if missing and value not in known:
                stack += missing
                continue
            stack.pop()
            if value not in known:
                ends = [known[operand] for operand in _made_of(value)]
                pairs = [pair for pair in ends if pair is not None]
                known[value] = self._computed(builder, value, pairs) if len(pairs) == len(ends) else None
        return known[root]

    def _computed(self, builder: TileBuilder, value: SSAValue, operands: Sequence[Ends]) -> Ends | None:
        op = value.owner
        if isinstance(op, Block):
            loop = op.parent_op()
            if not isinstance(loop, ForOp | ReduceOp):
                return None
            axis = loop.axis.axis.data
            least, greatest = self._position(builder, axis, range(len(self.schedule.factors(axis))))
            zero = builder.const(0, index)
            return zero if least is None else least, zero if greatest is None else greatest
        if isinstance(op, LoadOp):
            if op.mask is not None or any(low is not high for low, high in operands):
                return None
            read = ReadOp.of(self.values[op.buffer], [low for low, _ in operands], op.result.type)
            found = builder.pure(ReadOp, tuple(read.operands), (op.result.type,), read.properties).result
            read.erase()
            return found, found
        if all(low is high for low, high in operands) and isinstance(op, AluOp | CastOp | ConstOp):
            same = builder.pure_like(op, [low for low, _ in operands]).results[0]
            return same, same
        if not isinstance(op, AluOp | CastOp):
            return None
        return _monotone(builder, op, operands)


def _monotone(builder: TileBuilder, op: AluOp | CastOp, operands: Sequence[Ends]) -> Ends | None:
    """The ends of what grows, or falls, with each operand."""
    if isinstance(op, CastOp):
        if not _keeps_order(op):
            return None
        low, high = (builder.cast(end, op.result.type) for end in operands[0])
        return low, high
    first, last = operands[0], operands[-1]
    name = op.row().name
    if isinstance(op, NegOp):
        return builder.alu(name, first[1]), builder.alu(name, first[0])
    if isinstance(op, SubOp):
        return builder.alu(name, first[0], last[1]), builder.alu(name, first[1], last[0])
    if isinstance(op, FloordivOp | MulOp):
        number = constant_value(op.operands[1])
        if not isinstance(number, int) or (number <= 0 and isinstance(op, FloordivOp)):
            return None
        low, high = (builder.alu(name, end, last[0]) for end in (first if number >= 0 else first[::-1]))
        return low, high
    if isinstance(op, AddOp | MinOp | MaxOp):
        return builder.alu(name, first[0], last[0]), builder.alu(name, first[1], last[1])
    return None


def _keeps_order(op: CastOp) -> bool:
    """Whether a cast of integers gives the same number, whichever it is."""
    source, target = whole(op.input.type), whole(op.result.type)
    return source is not None and target is not None and target.contains(source)


def _depends_on_a_loop(root: SSAValue) -> bool:
    stack, seen = [root], {root}
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Block):
            if isinstance(owner.parent_op(), ForOp | ReduceOp):
                return True
            continue
        new = [operand for operand in owner.operands if operand not in seen]
        seen.update(new)
        stack += new
    return False


def _made_of(value: SSAValue) -> Sequence[SSAValue]:
    op = value.owner
    if isinstance(op, LoadOp):
        return op.indices
    return op.operands if isinstance(op, AluOp | CastOp) else ()


def _strides(schedule: Schedule, axis: str) -> list[int]:
    """How far a step of each factor of an axis goes."""
    factors = schedule.factors(axis)
    return [prod(inner.extent for inner in factors[place + 1 :]) for place in range(len(factors))]


def _loops_around(stores: Sequence[StoreOp], axis: str) -> list[ForOp]:
    """The loops over an axis that stores stand in; none where one stands in none."""
    loops = {store: _loop_around(store, axis) for store in stores}
    found = [loop for loop in loops.values() if loop is not None]
    return list(dict.fromkeys(found)) if len(found) == len(stores) else []


def _loop_around(op: Operation, axis: str) -> ForOp | None:
    parent = op.parent_op()
    while isinstance(parent, ForOp):
        if parent.axis.axis.data == axis:
            return parent
        parent = parent.parent_op()
    return None
