"""Where the blocks, threads and registers of a schedule stand along its axes, and which of these places are inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, SSAValue

from ...dialects.axes import THREAD_KINDS, AxisKind
from ...dialects.schedule import Factor, Schedule
from ...dialects.tile import AxisOp
from ...dialects.types import index, shape_of, with_shape
from ..tile.tile_builder import TileBuilder
from .row_starts import RowStart
from .serial_loops import SerialLoop

Register = tuple[str, int, Factor]
"""(axis, place among its factors, factor)"""


def registers_of(schedule: Schedule) -> list[Register]:
    """The register factors that are the dimensions of vectors: those of an accumulator's fragment stand last, and in
    front of them those of the axis that chains two products, of which the innermost is not its own."""
    registers = [
        register
        for register in schedule.spread().of_kinds([AxisKind.REGISTER])
        if register[2].extent > 1 and register[2].of is None
    ]
    last: tuple[str, ...] = ()
    if (matrix := schedule.matrix) is not None:
        registers.sort(key=lambda register: register[0] == schedule.chained)
        last = matrix.row, matrix.column
    elif (chain := schedule.chain) is not None:
        last = chain[1:]
    for fragment in last:
        innermost = [register for register in registers if register[0] == fragment][-1]
        registers.remove(innermost)
        registers.append(innermost)
    return registers


@dataclass
class AxisPositions:
    """The positions along the axes of one kernel.

    top: what builds at the kernel's top.
    registers: the dimensions of vectors.
    start: where the rows begin that the schedule aligns.
    parts: (axis, place of a factor) → its `tile.axis`, which factors of two axes may share.
    latest: axis → the position along it in its latest loop.
    valid: ragged axis → whether that position is inside; what varies with it stands in that loop.
    """

    top: TileBuilder
    schedule: Schedule
    extents: dict[str, int]
    registers: Sequence[Register]
    start: RowStart
    parts: dict[tuple[str, int], SSAValue] = field(default_factory=dict[tuple[str, int], SSAValue])
    latest: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    valid: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def build_parts(self) -> None:
        """The `tile.axis` of the factors that no loop walks, at the top."""
        for axis, place, factor in self.schedule.of_kinds([AxisKind.BLOCK, *THREAD_KINDS, AxisKind.REGISTER]):
            if factor.extent > 1 and factor.of is None:
                self.parts[axis, place] = self._part(axis, place, factor)
        for axis, place, factor in self.schedule.of_kinds([*THREAD_KINDS, AxisKind.REGISTER]):
            if factor.extent > 1 and (shared := self.schedule.shared(factor)) is not None:
                self.parts[axis, place] = self.parts[shared]

    def _part(self, axis: str, place: int, factor: Factor) -> SSAValue:
        """The `tile.axis` of one factor."""
        type: Attribute = index
        if factor.kind is AxisKind.REGISTER:
            dimension = self.registers.index((axis, place, factor))
            type = with_shape(index, self.register_shape([dimension]))
        part = self.top.insert(AxisOp.of(axis, factor.extent, factor.kind, type)).result
        part.name_hint = factor.kind.value[0] + axis
        return part

    def register_shape(self, dimensions: Sequence[int]) -> tuple[int, ...]:
        """The shape of a vector that varies along these register dimensions; a scalar's when there are none."""
        if not dimensions:
            return ()
        return tuple(
            factor.extent if dimension in dimensions else 1 for dimension, (_, _, factor) in enumerate(self.registers)
        )

    def shape_along(self, axes: Iterable[str]) -> tuple[int, ...]:
        """The shape of a vector that varies along the registers of these axes."""
        return self.register_shape(self.register_dimensions(axes))

    def register_dimensions(self, axes: Iterable[str]) -> list[int]:
        return [dimension for dimension, (axis, _, _) in enumerate(self.registers) if axis in axes]

    def bind(self, axis: str, opened: Mapping[int, SerialLoop], location: LocationAttr) -> SSAValue:
        """The position along an axis inside its loops: place of the factor → loop, the outermost first."""
        factors = self.schedule.factors(axis)
        strides = [prod(inner.extent for inner in factors[place + 1 :]) for place in range(len(factors))]

        # The part of the position that no loop changes stands at the top, that of a loop in its body, registers last.
        builder, position = self.top, None
        with self.top.at(location):
            for place, stride in enumerate(strides):
                part = self.parts.get((axis, place))
                if part is not None and not shape_of(part.type):
                    position = builder.add_term(position, part, stride)
            if (shift := self._shift(axis)) is not None:
                position = builder.add_term(position, shift, -1)
        for place, serial in opened.items():
            builder = serial.builder
            position = builder.add_term(position, serial.index, strides[place])
        with builder.at(location):
            for place, stride in enumerate(strides):
                part = self.parts.get((axis, place))
                if part is not None and shape_of(part.type):
                    position = builder.add_term(position, part, stride)
            if position is None:
                position = builder.const(0, index)
            self.latest[axis] = position
            if self.find_valid(builder, axis, position) and shift is not None:
                behind = builder.alu("ge", position, builder.const(0, index))
                self.valid[axis] = builder.alu("and", behind, self.valid[axis])
        return position

    def conditions(self, axes: Iterable[str]) -> list[SSAValue]:
        """Which of the latest positions along these axes have to be inside: where all of these hold, all are."""
        return [self.valid[axis] for axis in axes if axis in self.valid]

    def find_valid(self, builder: TileBuilder, axis: str, position: SSAValue) -> bool:
        """Say whether a position is in front of the end of its axis, if that is ragged: whether it is."""
        extent = self.extents[axis]
        if prod(factor.extent for factor in self.schedule.factors(axis)) <= extent:
            return False
        self.valid[axis] = builder.alu("lt", position, builder.const(extent, index))
        return True

    def _shift(self, axis: str) -> SSAValue | None:
        """How many positions along the axis are in front of a thread's row; None where none are."""
        align = self.schedule.align
        if align is None or align.axis != axis or not self.start:
            return None
        start: SSAValue | None = None
        for other, coefficient in self.start:
            start = self.top.add_term(start, self.latest[other], coefficient)
        assert start is not None
        return self.top.alu("floormod", start, self.top.const(align.elements, index))
