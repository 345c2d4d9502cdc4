"""tile.stage → an array of the task, filled vector by vector."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from ....dialects.cpu_kernel import AllocOp, ForOp, TransposeOp
from ....dialects.layouts import LOCAL, span_of, strides_of
from ....dialects.tile import StageOp
from ....dialects.types import is_memref, with_shape
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from ..lower.accesses import flat_index
from ..lower.indices import ZERO
from .accesses import load, store
from .lowering import ONLY, CPULowering
from .masks import mask_of
from .transposes import columns_of
from .vector_scope import VectorScope, lanes_of


def lower_stage(lowering: CPULowering, scope: VectorScope, op: StageOp) -> None:
    """An array of the task, into which the box is copied; what of it is outside of the buffer becomes 0.

    Vectors go along the dimension along which the elements of the array are neighbours. Where those of the buffer are
    neighbours along another one, squares are transposed on the way.
    """
    slab = op.result.type
    assert is_memref(slab)
    array_type = MemRefType(slab.element_type, [span_of(slab)], memory_space=LOCAL)
    array = lowering.root.insert(AllocOp.of(array_type)).result
    array.name_hint = op.result.name_hint
    lowering.buffers[op.result] = array
    _Copy(lowering, op, slab).build(scope)


class _Copy:
    """The copy of one box.

    along: the dimension along which elements of the array are neighbours. last: that of the buffer.
    """

    def __init__(self, lowering: CPULowering, op: StageOp, slab: MemRefType[Attribute]):
        self.lowering = lowering
        self.op = op
        self.slab = slab
        self.origin = [lowering.form_at(lowering.root, value, (), ONLY) for value in op.origin]
        self.shape = slab.get_shape()
        self.last = len(self.shape) - 1
        self.along = strides_of(slab).index(1) if self.shape else self.last
        source = op.buffer.type
        assert is_memref(source)
        self.source = source
        limits = [op.limit_along(dimension) for dimension in range(len(self.shape))]
        self.ends = [
            LinearForm({}, extent) if limit is None else lowering.form_at(lowering.root, limit, (), ONLY)
            for limit, extent in zip(limits, source.get_shape(), strict=True)
        ]

    def build(self, scope: VectorScope) -> None:
        lanes = self.lowering.lanes
        is_square = (
            self.along != self.last and lanes > 1 and min(self.shape[self.along], self.shape[self.last]) >= lanes
        )
        steps = [1] * len(self.shape)
        if self.shape:
            steps[self.along] = lanes
        if is_square:
            steps[self.last] = lanes
        self._nest(scope, steps, 0, [], [], is_square)

    def _nest(
        self,
        scope: VectorScope,
        steps: Sequence[int],
        dimension: int,
        place: list[LinearForm],
        counts: list[int],
        is_square: bool,
    ) -> None:
        """Loops over the dimensions from this one on, whole steps and then what is left of each."""
        if dimension == len(self.shape):
            (self._square if is_square else self._vector)(scope, place, counts)
            return
        extent, step = self.shape[dimension], steps[dimension]
        whole = extent // step * step
        if whole:
            with self._loop(scope, whole, step) as (inner, position):
                self._nest(inner, steps, dimension + 1, [*place, position], [*counts, step], is_square)
        if whole < extent:
            position = LinearForm({}, whole)
            self._nest(scope, steps, dimension + 1, [*place, position], [*counts, extent - whole], is_square)

    @contextmanager
    def _loop(self, scope: VectorScope, extent: int, step: int) -> Generator[tuple[VectorScope, LinearForm]]:
        """A loop in steps, and the position in it."""
        indices = self.lowering.indices
        with ExitStack() as loops:
            position = ZERO
            if extent > step:
                loop = ForOp.of(indices.constant(0), indices.constant(extent), (), step)
                scope = loops.enter_context(scope.inside(loop, loop.body.block))
                position = indices.leaf(loop.index, Interval(0, extent - step))
            yield scope, position

    def _vector(self, scope: VectorScope, place: Sequence[LinearForm], counts: Sequence[int]) -> None:
        """One vector, or one element, from a place on."""
        value = self._load(scope, place, self.along, counts[self.along] if counts else 1)
        self._store(scope, value, place, counts[self.along] if counts else 1)

    def _square(self, scope: VectorScope, place: Sequence[LinearForm], counts: Sequence[int]) -> None:
        """Vectors along the last dimension of the buffer, which become vectors along that of the array."""
        rows, columns = counts[self.along], counts[self.last]
        if self._is_whole(place, rows, columns):
            self._transpose(scope, place)
            return
        element = self.slab.element_type
        nothing = scope.fit(scope.const(0, element), self.lowering.lanes)
        vectors: list[SSAValue] = []
        for row in range(self.lowering.lanes):
            at = self._moved(place, self.along, row)
            vectors.append(self._load(scope, at, self.last, columns) if row < rows else nothing)
        for column, vector in enumerate(columns_of(scope, vectors)[:columns]):
            self._store(scope, vector, self._moved(place, self.last, column), rows)

    def _is_whole(self, place: Sequence[LinearForm], rows: int, columns: int) -> bool:
        """Whether all elements of a square are in the buffer, and are copied as they are."""
        lanes, bounds = self.lowering.lanes, self.lowering.indices.bounds
        if not rows == columns == lanes or self.source.element_type != self.slab.element_type:
            return False
        first = [origin + x for origin, x in zip(self.origin, place, strict=True)]
        last = self._moved(self._moved(first, self.along, lanes - 1), self.last, lanes - 1)
        return all(bounds(x).low >= 0 for x in first) and all(
            bounds(x - end).high < 0 for x, end in zip(last, self.ends, strict=True)
        )

    def _transpose(self, scope: VectorScope, place: Sequence[LinearForm]) -> None:
        indices, buffers = self.lowering.indices, self.lowering.buffers
        at = [origin + x for origin, x in zip(self.origin, place, strict=True)]
        source = indices.value(scope, flat_index(indices, scope, self.source, at))
        target = indices.value(scope, flat_index(indices, scope, self.slab, place))
        scope.insert(
            TransposeOp.of(
                (buffers[self.op.buffer], source),
                strides_of(self.source)[self.along],
                (buffers[self.op.result], target),
                strides_of(self.slab)[self.last],
                self.lowering.lanes,
            )
        )

    @staticmethod
    def _moved(place: Sequence[LinearForm], dimension: int, steps: int) -> list[LinearForm]:
        moved = list(place)
        moved[dimension] += LinearForm({}, steps)
        return moved

    def _lanes_along(self, place: Sequence[LinearForm], dimension: int) -> list[LinearForm]:
        """The places of all lanes of a vector that begins at one."""
        places = list(place)
        if self.lowering.lanes > 1 and places:
            places[dimension] += self.lowering.lane
        return places

    def _load(self, scope: VectorScope, place: Sequence[LinearForm], dimension: int, count: int) -> SSAValue:
        """`count` elements along a dimension, a vector that is 0 behind them."""
        lowering = self.lowering
        type = with_shape(self.source.element_type, (lowering.lanes,) if lowering.lanes > 1 else ())
        places = self._lanes_along(place, dimension)
        at = [origin + x for origin, x in zip(self.origin, places, strict=True)]
        behind = [LinearForm({}, -1) - x for x in at]
        before = [x - end for x, end in zip(at, self.ends, strict=True)]
        mask = mask_of(lowering, scope, [*behind, *before, *self._first(count)])
        value = scope.const(0, self.source.element_type)
        if mask is not None:
            address = flat_index(lowering.indices, scope, self.source, at)
            value = load(lowering, scope, lowering.buffers[self.op.buffer], address, type, mask)
        return scope.cast(scope.fit(value, lanes_of(type)), self.slab.element_type)

    def _store(self, scope: VectorScope, value: SSAValue, place: Sequence[LinearForm], count: int) -> None:
        lowering = self.lowering
        address = flat_index(lowering.indices, scope, self.slab, self._lanes_along(place, self.along))
        mask = mask_of(lowering, scope, self._first(count))
        assert mask is not None
        store(lowering, scope, value, lowering.buffers[self.op.result], address, mask)

    def _first(self, count: int) -> list[LinearForm]:
        """The condition of the first lanes."""
        return [] if self.lowering.lanes == 1 else [self.lowering.lane - LinearForm({}, count)]
