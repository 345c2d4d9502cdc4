"""Loops of tile form whose bodies are being built, and the scans that they carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Region, SSAValue

from ...dialects.axes import SERIAL_KINDS, AxisAttr, AxisKind
from ...dialects.limits import UNLIMITED, Limits
from ...dialects.loop import ForOp, YieldOp
from ...dialects.monoids import MonoidAttr
from ..tile.tile_builder import TileBuilder

LOOP_KINDS = (*SERIAL_KINDS, AxisKind.MMA)
"""Kinds of factors that are loops in tile form."""


@dataclass
class SerialLoop:
    """A serial factor whose body is being built; the op follows when the types of its state are known."""

    axis: AxisAttr
    builder: TileBuilder
    limits: Limits = UNLIMITED

    @property
    def index(self) -> SSAValue:
        return self.builder.block.args[0]

    @property
    def carried(self) -> Sequence[SSAValue]:
        return self.builder.block.args[1:]

    def carry(self, types: Iterable[Attribute]) -> Sequence[SSAValue]:
        """Carry more state; its values in the body."""
        block = self.builder.block
        first = len(block.args)
        for type in types:
            block.insert_arg(type, len(block.args)).name_hint = "acc"
        return block.args[first:]

    def finish(
        self, outer: TileBuilder, monoids: Sequence[MonoidAttr], inits: Sequence[SSAValue], state: Sequence[SSAValue]
    ) -> ForOp:
        """Insert the loop, which yields `state`, the values of the monoids, in the block around it."""
        if state:
            self.builder.insert(YieldOp.create(operands=state))
        body = Region(self.builder.block)
        return outer.insert(ForOp.around(body, self.axis, monoids, [value.type for value in state], inits, self.limits))


@dataclass
class Scans:
    """The scans over one axis: the serial loops that carry them, and the state after a step."""

    loops: Sequence[SerialLoop]
    monoids: list[MonoidAttr] = field(default_factory=list[MonoidAttr])
    state: list[SSAValue] = field(default_factory=list[SSAValue])

    def carry(self, monoid: MonoidAttr, types: Sequence[Attribute]) -> Sequence[SSAValue] | None:
        """Carry one more scan; its state before a step, None where there is no step but one."""
        before: Sequence[SSAValue] | None = None
        if self.loops:
            self.monoids.append(monoid)
        for loop in self.loops:
            before = loop.carry(types)
        return before
