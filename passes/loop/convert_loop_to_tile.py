"""convert-loop-to-tile: carry out a kernel's schedule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.axes import SERIAL_KINDS, AxisAttr, AxisKind
from ...dialects.limits import UNLIMITED
from ...dialects.loop import ForOp, ReduceOp, ScanOp, YieldOp
from ...dialects.monoids import Monoid
from ...dialects.schedule import MatrixFactors, Schedule
from ...dialects.tile import (
    LeaveUnlessOp,
    ReadOp,
    ReduceAcrossOp,
    ScanAcrossOp,
    Tile,
    WriteOp,
)
from ...dialects.traversal import ops_inside
from ...dialects.types import broadcast_shape, element_of, index, shape_of, with_shape
from ...dialects.uop import KernelOp, LoadOp, StoreOp
from ..tile.tile_builder import TileBuilder, joined_shape
from .axis_positions import AxisPositions, registers_of
from .chained_products import ChainedReduction
from .kernel_shape import shape_of_kernel
from .matrix_products import perfect_nest
from .row_starts import RowStart, common_row_start
from .schedule_checks import axis_extents, check_schedule
from .serial_loops import LOOP_KINDS, Scans, SerialLoop
from .sibling_reductions import with_siblings
from .step_limits import StepLimits


class ConvertLoopToTilePass(ModulePass):
    """Loop form and `#tile.schedule` → tile form.

    Block, warp, thread, lane and register factors become `tile.axis` values at the kernel's top, serial factors
    loops where the axis's loop stood. The index of a loop becomes the mixed-radix position over its factors: a
    scalar, or a vector where the axis has register factors. Every vector has one dimension for each register
    factor of the schedule, in its order.

    The mma factors of rows and columns are the lanes and registers that a matrix instruction's accumulators lie in, 8
    lanes and 2 registers of 16 rows and 4 lanes and 2 registers of 8 columns; these registers are the last dimensions.
    The mma factor of the reduced axis is a loop, which tile-mma makes instructions of. Of a chain of two products, with
    a reduction in two stages in between (chained_products.py), the second takes place by place what lanes and registers
    hold of the first, `tile.take_across`.

    - `loop.reduce`: serial factors carry the state, register factors are combined with `uop.reduce_axis`, threads
      with `tile.reduce_across`. A reduction that only reduces another of the same monoid is carried out with it.
      Reductions side by side that walk the same axes share their loops, so that what they read is read once. A
      monoid with two stages combines the registers in each step: the first values alone, then the others.
    - `loop.scan`: the serial loops of its axis carry the state; register and thread factors, which are inside of them,
      are scanned with `tile.scan_across`. Steps behind the end of a ragged axis come last, and nobody reads what they
      change.
    - A ragged axis (product of factors above the extent) is masked: accesses whose index varies with it, and the
      elements of its reductions, which are the monoid's identity behind the end.
    - The positions of an axis that is aligned begin in front of its rows, and are masked there, too.
    - What does not vary with a block or thread axis is computed by all its blocks or threads, and written by the
      first.
    - Limits of a loop become those of the outermost serial loop of its axis, rounded outwards to its steps and alike
      for all threads of a block; blocks in which nothing is inside the limits leave at once, and between two products
      warps leave a step.

    Leaves alone: kernels that are in tile form. Refused: a kernel without schedule, a schedule that does not fit it.
    """

    name = "convert-loop-to-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and not _is_tile_form(kernel):
                schedule = check_schedule(kernel)
                extents = axis_extents(kernel)
                start: RowStart = ()
                if (align := schedule.align) is not None:
                    start = common_row_start(shape_of_kernel(kernel), align.axis, align.elements)
                top = TileBuilder(kernel.body.block)
                top.location = kernel.location
                positions = AxisPositions(top, schedule.spread(), extents, registers_of(schedule), start)
                _Conversion(kernel, schedule.spread(), schedule.matrices, positions).run()


def _is_tile_form(kernel: KernelOp) -> bool:
    classes = frozenset(Tile.operations)
    return any(type(op) in classes for op in ops_inside(kernel.body))


def _reduced_inside(loop: ForOp) -> set[str]:
    """The axes of the reductions in a loop, and in loops inside of it."""
    found: set[str] = set()
    pending: list[Operation] = list(loop.body.block.ops)
    while pending:
        op = pending.pop()
        if isinstance(op, ReduceOp):
            found.add(op.axis.axis.data)
        elif isinstance(op, ForOp):
            pending += op.body.block.ops
    return found


@dataclass
class _Conversion:
    """The conversion of one kernel.

    matrices: the products that matrix instructions compute.
    values: value of loop form → value of tile form.
    varies: value of loop form → the axes that it varies with.
    scans: parallel loop of loop form → the scans over it.
    """

    kernel: KernelOp
    schedule: Schedule
    matrices: Sequence[MatrixFactors]
    positions: AxisPositions
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    varies: dict[SSAValue, frozenset[str]] = field(default_factory=dict[SSAValue, frozenset[str]])
    scans: dict[Operation, Scans] = field(default_factory=dict[Operation, "Scans"])

    def run(self) -> None:
        block = self.kernel.body.block
        old = list(block.ops)
        stores = [op for op in ops_inside(self.kernel.body) if isinstance(op, StoreOp)]
        for op in old:
            op.detach()
        for argument in block.args:
            self.values[argument] = argument
            self.varies[argument] = frozenset()
        self.positions.build_parts()
        self.limits = StepLimits(stores, self.schedule, self.positions.parts, self.values)
        if (needed := self.limits.needed(self.positions.top)) is not None:
            self.positions.top.insert(LeaveUnlessOp.of(needed))
        self.convert(self.positions.top, old)
        for op in reversed(old):
            op.erase(safe_erase=False)

    # Ops.

    def convert(self, builder: TileBuilder, ops: Iterable[Operation]) -> None:
        for op, siblings in with_siblings(self.without_unrolled(ops)):
            with builder.at(op.location):
                if isinstance(op, ForOp):
                    self.parallel(builder, op)
                elif isinstance(op, ReduceOp):
                    self.reduce(builder, (op, *siblings))
                elif isinstance(op, ScanOp):
                    self.define(op, self.scan(builder, op), self.axes_of(op.operands))
                elif isinstance(op, LoadOp):
                    self.define(op, [self.load(builder, op)], self.axes_of(op.operands))
                elif isinstance(op, StoreOp):
                    self.store(builder, op)
                elif not isinstance(op, YieldOp):
                    self.define(op, self.elementwise(builder, op), self.axes_of(op.operands))

    def without_unrolled(self, ops: Iterable[Operation]) -> Iterator[Operation]:
        """The ops of a block, with the bodies of loops that nothing is left of behind reductions in the place of these
        loops: what they reduce can share the loops of what is reduced in front of them."""
        reduced: set[str] = set()
        pending = list(reversed(list(ops)))
        while pending:
            op = pending.pop()
            if isinstance(op, ReduceOp):
                reduced.add(op.axis.axis.data)
            if isinstance(op, ForOp) and self.is_unrolled(op) and not reduced.isdisjoint(_reduced_inside(op)):
                self.bind((op,), {})
                self.scans[op] = Scans(())
                pending += reversed(list(op.body.block.ops))
            else:
                yield op

    def is_unrolled(self, op: ForOp) -> bool:
        """Whether no factor of the loop's axis is a loop."""
        factors = self.schedule.factors(op.axis.axis.data)
        return not any(factor.kind in LOOP_KINDS and factor.extent > 1 for factor in factors)

    def define(self, op: Operation, values: Sequence[SSAValue], varies: frozenset[str]) -> None:
        for result, value in zip(op.results, values, strict=True):
            self.values[result] = value
            self.varies[result] = varies
            if value.name_hint is None:
                value.name_hint = result.name_hint

    def axes_of(self, values: Iterable[SSAValue]) -> frozenset[str]:
        return frozenset[str]().union(*(self.varies[value] for value in values))

    def elementwise(self, builder: TileBuilder, op: Operation) -> Sequence[SSAValue]:
        """An ALU op, a cast or a constant on the vectors that its operands have become."""
        operands = [self.values[operand] for operand in op.operands]
        shape = joined_shape(operands)
        types = [with_shape(result.type, shape) for result in op.results]
        return builder.pure(type(op), [builder.fit(x, shape) for x in operands], types, op.properties).results

    def load(self, builder: TileBuilder, op: LoadOp) -> SSAValue:
        indices = [self.values[i] for i in op.indices]
        mask = self.mask(builder, self.axes_of(op.operands), op.mask)
        shape = joined_shape(indices if mask is None else [*indices, mask])
        element = op.result.type
        if not indices:  # One element; it is there whatever the mask says, and varies as the mask does.
            value = self.read(builder, op.buffer, (), element, None)
            if mask is None:
                return value
            return builder.alu("where", mask, value, builder.constant_like(0, value))
        if shape != joined_shape(indices):
            indices[0] = builder.fit(indices[0], shape)
        type = with_shape(element, shape)
        return self.read(builder, op.buffer, indices, type, None if mask is None else builder.fit(mask, shape))

    def read(
        self,
        builder: TileBuilder,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        type: Attribute,
        mask: SSAValue | None,
    ) -> SSAValue:
        # Nobody writes what a kernel reads: two equal reads are one.
        op = ReadOp.of(self.values[buffer], indices, type, mask)
        read = builder.pure(ReadOp, tuple(op.operands), (type,), op.properties)
        op.erase()
        return read.result

    def store(self, builder: TileBuilder, op: StoreOp) -> None:
        indices = [self.values[i] for i in op.indices]
        value = self.values[op.value]
        conditions: list[SSAValue] = []
        if (mask := self.mask(builder, self.axes_of(op.operands), op.mask)) is not None:
            conditions.append(mask)
        addresses = self.axes_of(op.indices)
        addressed = {part for (axis, _), part in self.positions.parts.items() if axis in addresses}
        for part in dict.fromkeys(self.positions.parts.values()):
            if part not in addressed and not shape_of(part.type):  # Blocks and threads that hold copies of one element.
                conditions.append(builder.alu("eq", part, builder.const(0, index)))
        guard = builder.conjunction(conditions)
        shape = joined_shape([value, *indices, *([] if guard is None else [guard])])
        value, guard = builder.fit(value, shape), None if guard is None else builder.fit(guard, shape)
        builder.insert(WriteOp.of(value, self.values[op.buffer], indices, guard))

    def mask(self, builder: TileBuilder, axes: frozenset[str], own: SSAValue | None) -> SSAValue | None:
        """Whether the positions along these axes are inside, and the access's own mask holds; None when all do."""
        conditions = self.positions.conditions(axis for axis, _ in self.schedule.axes if axis in axes)
        if own is not None:
            conditions.append(self.values[own])
        return builder.conjunction(conditions)

    # Loops.

    def bind(self, siblings: Sequence[ForOp | ReduceOp], opened: Mapping[int, SerialLoop]) -> None:
        """Say what the index of an axis is inside its loops, which the siblings share."""
        axis = siblings[0].axis.axis.data
        position = self.positions.bind(axis, opened, siblings[0].location)
        for loop in siblings:
            self.values[loop.index] = position
            self.varies[loop.index] = frozenset((axis,))

    def open_axis(self, outer: TileBuilder, siblings: Sequence[ForOp | ReduceOp]) -> list[SerialLoop]:
        """Begin the serial loops of an axis, and say what its index and its validity are inside."""
        opened = self.open_loops(outer, siblings[0], LOOP_KINDS)
        self.bind(siblings, opened)
        return list(opened.values())

    def open_guard(self, outer: TileBuilder, op: ReduceOp) -> list[SerialLoop]:
        """Begin a loop of one step, for a reduction without others that need not be carried out in all blocks."""
        limits = self.limits.of_all(outer, op)
        if not limits.values:
            return []
        body = outer.nested(Block(arg_types=(index,)))
        body.location = op.location
        guard = SerialLoop(AxisAttr(op.axis.axis.data, 1, AxisKind.LOOP), body, limits)
        guard.index.name_hint = op.axis.axis.data
        return [guard]

    def open_loops(
        self, outer: TileBuilder, loop: ForOp | ReduceOp, kinds: Sequence[AxisKind]
    ) -> dict[int, SerialLoop]:
        """Begin the loops of the factors of these kinds: place of the factor → loop, outermost first."""
        axis = loop.axis.axis.data
        factors = self.schedule.factors(axis)
        count = sum(factor.kind in LOOP_KINDS and factor.extent > 1 for factor in factors)
        opened: dict[int, SerialLoop] = {}
        for place, factor in enumerate(factors):
            if factor.kind not in kinds or factor.extent == 1:
                continue
            limits = UNLIMITED
            if factor.kind is AxisKind.LOOP and not any(other.limits.values for other in opened.values()):
                limits = self.limits.of_loop(outer, loop, place)
            outer = outer.nested(Block(arg_types=(index,)))
            outer.location = loop.location
            opened[place] = SerialLoop(AxisAttr(axis, factor.extent, factor.kind), outer, limits)
            self.limits.opened.setdefault(axis, {})[place] = opened[place].index
            is_inner = any(f.kind in LOOP_KINDS and f.extent > 1 for f in factors[:place])
            opened[place].index.name_hint = axis + ("oi"[is_inner] if count == 2 else "")
        return opened

    def parallel(self, outer: TileBuilder, op: ForOp) -> None:
        loops = self.open_axis(outer, (op,))
        scans = self.scans[op] = Scans(loops)
        builders = [outer, *(loop.builder for loop in loops)]
        self.convert(builders[-1], op.body.block.ops)
        state: Sequence[SSAValue] = scans.state
        for depth in reversed(range(len(loops))):
            inits = loops[depth - 1].carried if depth else ()
            state = loops[depth].finish(builders[depth], scans.monoids, inits, state).results

    def scan(self, builder: TileBuilder, op: ScanOp) -> Sequence[SSAValue]:
        """The elements of this step's tile, scanned behind the state that the loops of the axis carry."""
        axis = op.loop.axis.axis.data
        over = [part for (own, _), part in self.positions.parts.items() if own == axis]
        values = [self.values[value] for value in op.inputs]
        dimensions = self.positions.register_dimensions([axis])
        shape = broadcast_shape([*(shape_of(value.type) for value in values), self.positions.shape_along([axis])])
        assert shape is not None
        values = [builder.fit(value, shape) for value in values]
        begun = [1 if dimension in dimensions else extent for dimension, extent in enumerate(shape)]
        types = [with_shape(value.type, begun) for value in values]
        before = self.scans[op.loop].carry(op.monoid, types)
        if before is None:
            numbers = op.monoid.monoid.identity([element_of(type) for type in types])
            before = [
                builder.expand(builder.const(number, element_of(type)), type)
                for number, type in zip(numbers, types, strict=True)
            ]
        if over:
            across = ScanAcrossOp.of(op.monoid.data, values, before, over)
            builder.insert(across)
            scanned, state = list(across.scanned), list(across.last)
        else:
            scanned = state = op.monoid.monoid.combine(builder, before, values)
        self.scans[op.loop].state += state
        return scanned

    def reduce(self, outer: TileBuilder, siblings: Sequence[ReduceOp]) -> None:
        """Carry out reductions that walk the same axes, in one nest of loops."""
        if (chain := self.schedule.chain) is not None and siblings[0].axis.axis.data == chain[0]:
            ChainedReduction.of(self, siblings[0], chain[1]).build(outer)
            return
        nests = [perfect_nest(op) for op in siblings]
        axes = [reduction.axis.axis.data for reduction in nests[0]]
        loops = self.open_nest(outer, nests)
        builder = loops[-1].builder if loops else outer
        state: Sequence[SSAValue] = [
            value
            for op, nest in zip(siblings, nests, strict=True)
            for value in self.combined(builder, op.monoid.monoid, loops, self.elements(builder, nest[-1], axes), axes)
        ]
        monoids = [op.monoid for op in siblings]
        for depth in reversed(range(len(loops))):
            around, inits = (loops[depth - 1].builder, loops[depth - 1].carried) if depth else (outer, ())
            state = loops[depth].finish(around, monoids, inits, state).results

        dimensions = self.positions.register_dimensions(axes)
        threads = [part for (axis, _), part in self.positions.parts.items() if axis in axes and not shape_of(part.type)]
        for op, nest in zip(siblings, nests, strict=True):
            own, state = state[: len(op.results)], state[len(op.results) :]
            if dimensions and loops and op.monoid.monoid.stages is None:
                own = outer.reduce_axis(op.monoid.data, own, dimensions)
            if threads:
                own = self.across(outer, op.monoid.monoid, own, threads)
            self.define(op, own, self.axes_of(nest[-1].yielded) - set(axes))

    def across(
        self, builder: TileBuilder, monoid: Monoid, state: Sequence[SSAValue], threads: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """The state of all these threads: at once, or in two stages where its values have different shapes."""

        def reduce(monoid: Monoid, values: list[SSAValue]) -> list[SSAValue]:
            across = ReduceAcrossOp.of(monoid.name, values, threads)
            types = [value.type for value in values]
            combined = builder.pure(ReduceAcrossOp, tuple(across.operands), types, across.properties).outputs
            across.erase()
            return list(combined)

        alike = len({shape_of(value.type) for value in state}) == 1
        return reduce(monoid, list(state)) if alike else monoid.reduce(builder, state, reduce)

    def open_nest(self, outer: TileBuilder, nests: Sequence[Sequence[ReduceOp]]) -> list[SerialLoop]:
        """Begin the loops of perfect nests over the same axes, and convert what stands in their bodies. That over a
        matrix instruction is innermost, whichever axis it belongs to."""
        levels = list(zip(*nests, strict=True))
        inner = {reduction for nest in nests for reduction in nest[1:]}
        bodies = [[op for each in level for op in each.body.block.ops if op not in inner] for level in levels]
        matrix = self.schedule.of_kinds((AxisKind.MMA,))
        builder, loops = outer, list[SerialLoop]()
        if not any(level[0].axis.axis.data == axis for level in levels[:-1] for axis, _, _ in matrix):
            for level, body in zip(levels, bodies, strict=True):
                begun = self.open_axis(builder, level) or self.open_guard(builder, level[0])
                self.limits.report_dropped(level[0], [each.limits for each in begun])
                loops += begun
                builder = loops[-1].builder if loops else outer
                self.convert(builder, body)
            return loops
        opened: dict[ReduceOp, dict[int, SerialLoop]] = {level[0]: {} for level in levels}
        for kinds in (SERIAL_KINDS, (AxisKind.MMA,)):
            for first, *_ in levels:
                added = self.open_loops(builder, first, kinds)
                opened[first] |= added
                loops += added.values()
                builder = loops[-1].builder if loops else outer
        for level in levels:
            self.bind(level, opened[level[0]])
        for body in bodies:
            self.convert(builder, body)
        return loops

    def combined(
        self,
        builder: TileBuilder,
        monoid: Monoid,
        loops: Sequence[SerialLoop],
        elements: Sequence[SSAValue],
        axes: Sequence[str],
    ) -> Sequence[SSAValue]:
        """The state behind a step: the registers of each step combined where there is no other, or where that is less
        work in two stages; else as many states side by side as there are registers."""
        dimensions = self.positions.register_dimensions(axes)

        def reduce(monoid: Monoid, values: list[SSAValue]) -> list[SSAValue]:
            return list(builder.reduce_axis(monoid.name, values, dimensions)) if dimensions else values

        if not loops:
            return monoid.reduce(builder, elements, reduce) if dimensions else elements
        narrow = dimensions if monoid.stages is not None else ()
        types = [
            with_shape(value.type, [1 if d in narrow else n for d, n in enumerate(shape_of(value.type))])
            for value in elements
        ]
        carried = [loop.carry(types) for loop in loops][-1]
        if monoid.stages is not None:
            return monoid.stages.fold(builder, carried, elements, reduce)
        return monoid.combine(builder, carried, elements)

    def elements(self, builder: TileBuilder, op: ReduceOp, axes: Sequence[str]) -> list[SSAValue]:
        """What a thread combines in one step, as wide as the axes' registers; identities at positions outside.

        The values of a monoid with two stages are no wider than they need to be, whatever the others vary with.
        """
        yielded = [self.values[value] for value in op.yielded]
        inside = builder.conjunction(self.positions.conditions(axes))
        common = [
            self.positions.shape_along(axes),
            () if inside is None else shape_of(inside.type),
        ]
        own = [shape_of(value.type) for value in yielded]
        firsts = [op.monoid.monoid.firsts(place) for place in range(len(own))]
        shapes = [broadcast_shape([*common, *own[:first], shape]) for first, shape in zip(firsts, own, strict=True)]
        values = [builder.fit(value, shape) for value, shape in zip(yielded, shapes, strict=True) if shape is not None]
        assert len(values) == len(yielded), "vectors of one kernel have one rank"
        if inside is None:
            return values
        identities = op.monoid.monoid.identity([element_of(value.type) for value in values])
        return [
            builder.alu("where", inside, value, builder.constant_like(identity, value))
            for value, identity in zip(values, identities, strict=True)
        ]
