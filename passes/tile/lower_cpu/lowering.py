"""What the lowering of one kernel to a CPU knows and shares between its parts: the vectors that a tile has become."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from xdsl.ir import Attribute, SSAValue

from ....dialects.cpu_kernel import ExtractOp, LanesOp
from ....dialects.tile import AxisOp
from ....dialects.types import element_of, index, shape_of, with_shape
from ....dialects.uop import KernelOp
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from ..linear import extent_of
from ..lower.indices import Indices
from ..lower.values import Value, Values
from .vector_scope import VectorScope, lanes_of

Place = tuple[int, ...]
"""Which part of a tile: an element along each dimension, a vector along that of the lanes."""

ONLY: Place = ()
"""The place of a scalar."""


@dataclass
class CPULowering:
    """The lowering of one kernel.

    root: the kernel's body.
    lanes: those of a vector; 1 where the kernel has none. lane_dimensions: the dimensions of tiles that they go along;
    of a tile that has several, along the first.
    registers: vectors that the machine holds.
    ragged: forms of the conditions of tile form: each is negative where the condition holds.
    parts: value of tile form → its scalars and vectors. A scalar may stand for a vector whose lanes are all alike.
    buffers: argument or slab of tile form → flat buffer or array.
    window: dimension → the places along it that are computed here, if not all.
    taken: (tile, factors of an axis) → the array in which its elements along the axis are side by side.
    """

    kernel: KernelOp
    root: VectorScope
    indices: Indices
    elements: Values
    lanes: int
    lane_dimensions: Sequence[int]
    registers: int
    ragged: Sequence[LinearForm]
    parts: dict[SSAValue, dict[Place, Value]] = field(default_factory=dict[SSAValue, dict[Place, Value]])
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    window: dict[int, range] = field(default_factory=dict[int, range])
    taken: dict[tuple[SSAValue, tuple[SSAValue, ...]], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, tuple[SSAValue, ...]], SSAValue]
    )

    @cached_property
    def lane(self) -> LinearForm:
        """The number of the lane, as a form."""
        lanes = self.root.pure(LanesOp, (), (with_shape(index, (self.lanes,)),)).result
        return self.indices.leaf(lanes, Interval.of_extent(self.lanes))

    # Parts of tiles.

    def lane_dimension(self, shape: Sequence[int]) -> int | None:
        """The dimension of a tile of this shape that lanes go along."""
        return next((dimension for dimension in self.lane_dimensions if shape and shape[dimension] > 1), None)

    def has_lanes(self, shape: Sequence[int]) -> bool:
        """Whether a tile of this shape has vectors for its parts."""
        return self.lane_dimension(shape) is not None

    def part_type(self, type: Attribute) -> Attribute:
        """The type of a part of a tile of this type."""
        return with_shape(element_of(type), (self.lanes,) if self.has_lanes(shape_of(type)) else ())

    def places(self, shape: Sequence[int]) -> Iterator[Place]:
        """The places of the parts of a tile."""
        extents = list(shape)
        if (dimension := self.lane_dimension(shape)) is not None:
            extents[dimension] //= self.lanes
        every = (range(extent) for extent in extents)
        if not self.window:
            return product(*every)
        return product(*(self.window.get(d, all) if len(all) > 1 else all for d, all in enumerate(every)))

    @contextmanager
    def within(self, dimension: int, places: range) -> Generator[None]:
        """Compute only these places along a dimension."""
        self.window[dimension] = places
        try:
            yield
        finally:
            del self.window[dimension]

    def at(self, scope: VectorScope, value: SSAValue, tile: Sequence[int], place: Place) -> Value:
        """The part of a value at a place of a tile of this shape, which it is expanded to: one lane of a vector where
        those of the tile go along another dimension."""
        shape = shape_of(value.type)
        if not shape:
            return self.parts[value][ONLY]
        own = [0 if extent == 1 else x for extent, x in zip(shape, place, strict=True)]
        along = self.lane_dimension(shape)
        if along is None or along == self.lane_dimension(tile):
            return self.parts[value][tuple(own)]
        own[along], lane = divmod(own[along], self.lanes)
        return self._of_lane(scope, self.parts[value][tuple(own)], lane)

    def _of_lane(self, scope: VectorScope, part: Value, lane: int) -> Value:
        if isinstance(part, SSAValue):
            return scope.insert(ExtractOp.of(part, lane)).result if lanes_of(part.type) else part
        total = LinearForm({}, part.constant)
        for leaf, coefficient in part.terms.items():
            if isinstance(leaf.owner, LanesOp):
                total += LinearForm({}, lane * coefficient)
            else:
                bounds = self.indices.bounds(LinearForm({leaf: 1}))
                of_lane = self._of_lane(scope, leaf, lane)
                assert isinstance(of_lane, SSAValue)
                total += self.indices.leaf(of_lane, bounds) * coefficient
        return total

    def form_at(self, scope: VectorScope, value: SSAValue, tile: Sequence[int], place: Place) -> LinearForm:
        """The same of an index."""
        form = self.at(scope, value, tile, place)
        assert isinstance(form, LinearForm)
        return form

    def sum_at(self, scope: VectorScope, form: LinearForm, tile: Sequence[int], place: Place) -> LinearForm:
        """A linear form of tile form's indices, as one of the kernel's at a place."""
        total = LinearForm({}, form.constant)
        for leaf, coefficient in form.terms.items():
            total += self.form_at(scope, leaf, tile, place) * coefficient
        return total

    def vector_at(self, scope: VectorScope, value: SSAValue, place: Place) -> SSAValue:
        """The part of a tile at one of its places as a value of `part_type`."""
        part = self.elements.scalar(scope, self.parts[value][place])
        return scope.fit(part, self.lanes if self.has_lanes(shape_of(value.type)) else 0)

    def set(self, value: SSAValue, parts: dict[Place, Value]) -> None:
        for part in parts.values():
            if isinstance(part, SSAValue) and part.name_hint is None:
                part.name_hint = value.name_hint
        self.parts[value] = parts

    def set_position(self, axis: AxisOp) -> None:
        """The positions along a register axis."""
        shape = shape_of(axis.result.type)
        dimension = axis.dimension
        parts: dict[Place, Value] = {}
        for place in self.places(shape):
            assert dimension is not None
            if dimension == self.lane_dimension(shape):
                parts[place] = self.lane + LinearForm({}, place[dimension] * self.lanes)
            else:
                parts[place] = LinearForm({}, place[dimension])
        self.parts[axis.result] = parts

    # Ragged axes.

    def whole_steps(self, leaf: SSAValue) -> int | None:
        """Steps of a loop or a block axis after which some condition may not hold any more, that holds in all of them;
        None where there is no such step, or no step before it."""
        steps = [self._whole_steps(leaf, form) for form in self.ragged if form.terms.get(leaf, 0) > 0]
        inside = [step for step in steps if 0 < step < extent_of(leaf)]
        return min(inside, default=None)

    def _whole_steps(self, leaf: SSAValue, form: LinearForm) -> int:
        coefficient, greatest = form.terms[leaf], form.constant
        for other, factor in form.terms.items():
            if other is not leaf:
                bounds = self._bounds(other)
                greatest += factor * (bounds.high if factor > 0 else bounds.low)
        return (-greatest - 1) // coefficient + 1

    def _bounds(self, leaf: SSAValue) -> Interval:
        """What is known of an index here: of an open loop, all that its parts say."""
        parts = self.parts.get(leaf)
        if parts is None or shape_of(leaf.type):
            return Interval.of_extent(extent_of(leaf))
        form = parts[()]
        assert isinstance(form, LinearForm)
        return self.indices.bounds(form)
