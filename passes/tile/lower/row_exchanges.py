"""How the lanes of a warp exchange the rows of accumulators through shared memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from ....dialects.atoms import COLUMN_LANES, ROW_LANES
from ....dialects.axes import WARP
from ....dialects.gpu_kernel import LoadOp, StoreOp
from ....dialects.layouts import slab_type
from ....dialects.types import byte_width, element_of
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from .accesses import flat_index, moved_type
from .indices import ZERO
from .lowering import Lowering
from .row_columns import COLUMNS, ROWS, Columns
from .scopes import Scope
from .values import Place, array_type

RUN_BYTES = 16
"""What a lane stores at once, or less of a short row."""

UNIT = 4
"""Elements of an accumulator that a lane holds."""


Store = Callable[[Scope, SSAValue, Place, Mapping[int, LinearForm]], None]
"""Stores elements side by side, of which the first is at a place of the tile in the lane with the coordinates given, by
the extents of the axes."""


@dataclass(frozen=True)
class RowExchange(ABC):
    """The part of shared memory through which the lanes of a warp exchange the rows of accumulators side by side.

    value: the tile, which has these columns. run: elements that a lane stores at once.
    array: the tile in registers. scratch: shared memory, in which the part of the warp begins at `base`.
    """

    lowering: Lowering
    value: SSAValue
    columns: Columns
    run: int
    array: SSAValue
    scratch: SSAValue
    base: LinearForm
    store: Store

    @staticmethod
    def elements(columns: Columns, element: Attribute) -> int:
        """How many the part of a warp has."""
        return columns.elements

    @property
    def takes(self) -> int:
        """How often a lane of the warp takes elements."""
        return self.columns.elements // self.run

    @abstractmethod
    def put(self, scope: Scope, outer: Place, extents: Sequence[int]) -> None:
        """Put what a lane holds of the rows at `outer` there: a part of the tile with these extents."""

    @abstractmethod
    def take(self, scope: Scope, outer: Place, number: LinearForm) -> None:
        """Take the elements of this number from there, and store them. Numbers differ by lanes."""

    def _move_in(self, scope: Scope, place: Place, width: int, at: LinearForm) -> None:
        values, indices, value = self.lowering.values, self.lowering.indices, self.value
        moved = moved_type(element_of(value.type), width)
        held = scope.insert(LoadOp.of(self.array, values.array_place(scope, value, place), None, moved)).result
        scope.insert(StoreOp.of(held, self.scratch, [indices.value(scope, at + self.base)]))

    def _taken(self, scope: Scope, at: LinearForm) -> SSAValue:
        """The elements there that are stored at once."""
        moved = moved_type(element_of(self.scratch.type), self.run)
        return scope.insert(LoadOp.of(self.scratch, [self.lowering.indices.value(scope, at)], None, moved)).result


class Pairs(RowExchange):
    """16-bit elements: rows, into which a lane puts the 2 neighbours that it holds of each of them."""

    def put(self, scope: Scope, outer: Place, extents: Sequence[int]) -> None:
        row, column = (digit.position for digit in self.lowering.grid.digits[-2:])
        with self.lowering.values.nest(scope, extents, 2) as (inner, own):
            place = [a + b for a, b in zip(outer, own, strict=True)]
            at = (place[-2] * ROW_LANES + row, self.columns.number(place) * COLUMNS + column * 2)
            self._move_in(inner, place, 2, self._index(inner, at))

    def take(self, scope: Scope, outer: Place, number: LinearForm) -> None:
        """Neighbouring lanes take neighbouring runs of a row."""
        indices, columns = self.lowering.indices, self.columns
        row = indices.quotient(scope, number, columns.count)
        run = indices.remainder(scope, number, columns.count)
        value = self._taken(scope, self._index(scope, (row, run * COLUMNS)) + self.base)
        place = columns.at(indices, scope, outer, run)
        place[-2] = indices.quotient(scope, row, ROW_LANES)
        lanes = {ROW_LANES: indices.remainder(scope, row, ROW_LANES), COLUMN_LANES: ZERO}
        self.store(scope, value, place, lanes)

    def _index(self, scope: Scope, place: tuple[LinearForm, LinearForm]) -> LinearForm:
        slab = slab_type(element_of(self.scratch.type), (ROWS, self.columns.length), swizzle=self.run)
        return flat_index(self.lowering.indices, scope, slab, place)


class Units(RowExchange):
    """32-bit elements: units of 16 bytes, the 4 elements of an accumulator that a lane holds: 2 of rows r and r + 8.

    The units of two neighbouring lanes make 4 columns of both rows. Of the units of accumulator j, that of lane l lies
    at place l xor (0, 1, 4, 5)[j mod 4]: neither the lanes that put one accumulator there, nor the 8 that take two
    halves of each of four, meet in a bank.
    """

    @property
    def takes(self) -> int:
        return self.columns.elements // (2 * self.run)  # two runs each

    def put(self, scope: Scope, outer: Place, extents: Sequence[int]) -> None:
        indices, steps = self.lowering.indices, [*(1 for _ in extents[:-2]), *extents[-2:]]
        lane = indices.remainder(self.lowering.root, self.lowering.grid.thread, WARP)
        with self.lowering.values.steps(scope, extents, steps) as (inner, own):
            place = [a + b for a, b in zip(outer, own, strict=True)]
            accumulator = self.columns.number(place)
            fixed = indices.value(inner, indices.pinned(lane * UNIT))
            bits = indices.value(inner, self._bits(inner, accumulator) * UNIT)
            unit = indices.leaf(inner.alu("xor", fixed, bits), Interval.of_extent(WARP * UNIT))
            self._move_in(inner, place, UNIT, unit + accumulator * (WARP * UNIT))

    def take(self, scope: Scope, outer: Place, number: LinearForm) -> None:
        """Neighbouring lanes take neighbouring halves of accumulators' rows."""
        indices, values, count = self.lowering.indices, self.lowering.values, self.columns.count
        half = indices.remainder(scope, number, 2)
        accumulator = indices.remainder(scope, indices.quotient(scope, number, 2), count)
        row = indices.quotient(scope, number, 2 * count)
        lane, permuted = row * COLUMN_LANES + half * 2, 2 * COLUMN_LANES
        low = indices.value(scope, indices.remainder(scope, lane, permuted))
        low = scope.alu("xor", low, indices.value(scope, self._bits(scope, accumulator)))
        rest = self.base + accumulator * (WARP * UNIT) + indices.quotient(scope, lane, permuted) * (permuted * UNIT)
        element = element_of(self.scratch.type)
        units, rows = (values.allocate(scope, array_type(element, (2 * UNIT,)), name) for name in ("units", "rows"))
        for neighbour in range(2):
            unit = scope.alu("xor", low, indices.constant(neighbour)) if neighbour else low
            at = indices.pinned(rest + indices.leaf(unit, Interval.of_extent(permuted)) * UNIT)
            taken = self._taken(scope, at)
            scope.insert(StoreOp.of(taken, units, [indices.constant(neighbour * UNIT)]))
            for side in range(2):
                pair = LoadOp.of(units, [indices.constant(neighbour * UNIT + side * 2)], None, moved_type(element, 2))
                place = indices.constant(side * UNIT + neighbour * 2)
                scope.insert(StoreOp.of(scope.insert(pair).result, rows, [place]))
        place = self.columns.at(indices, scope, outer, accumulator)
        lanes = {ROW_LANES: row, COLUMN_LANES: half * 2}
        with values.nest(scope, (2,)) as (inner, (side,)):
            place[-2] = side
            value = LoadOp.of(rows, [indices.value(inner, side * UNIT)], None, moved_type(element, UNIT))
            self.store(inner, inner.insert(value).result, place, lanes)

    def _bits(self, scope: Scope, accumulator: LinearForm) -> LinearForm:
        """Those that are reversed in the numbers of the lanes whose units of an accumulator are put somewhere."""
        indices = self.lowering.indices
        low, high = accumulator, indices.quotient(scope, accumulator, 2)
        return indices.remainder(scope, low, 2) + indices.remainder(scope, high, 2) * COLUMN_LANES


class Columnwise(RowExchange):
    """Transposed accumulators: rows of the buffer, into which a lane puts single elements.

    A row of `length` elements is 16 bytes longer than they are: 4 rows that are 2 apart, of 8 neighbours each, then lie
    in different banks. So do the 128 bytes that lanes take at once: a part of a row or, of shorter ones, those that are
    as many apart as a row has units of 16 bytes.
    """

    @staticmethod
    def elements(columns: Columns, element: Attribute) -> int:
        return COLUMNS * Columnwise._stride(columns, element)

    @staticmethod
    def _stride(columns: Columns, element: Attribute) -> int:
        """Elements from one row to the next."""
        return columns.length + RUN_BYTES // byte_width(element)

    def put(self, scope: Scope, outer: Place, extents: Sequence[int]) -> None:
        columns, stride = self.columns, self._stride(self.columns, element_of(self.value.type))
        lane_column, lane_row = (digit.position for digit in self.lowering.grid.digits[-2:])
        with self.lowering.values.nest(scope, extents) as (inner, own):
            place = [a + b for a, b in zip(outer, own, strict=True)]
            column = place[-2] * ROW_LANES + lane_column + columns.number(place) * ROWS
            self._move_in(inner, place, 1, (place[-1] + lane_row * 2) * stride + column)

    def take(self, scope: Scope, outer: Place, number: LinearForm) -> None:
        """Neighbouring lanes take neighbouring runs of a row."""
        indices, columns, element = self.lowering.indices, self.columns, element_of(self.value.type)
        runs = columns.length // self.run
        row, run = indices.quotient(scope, number, runs), indices.remainder(scope, number, runs)
        apart = columns.length * byte_width(element) // RUN_BYTES
        if (together := COLUMNS // apart) > 1:
            row = indices.quotient(scope, row, together) + indices.remainder(scope, row, together) * apart
        column = run * self.run
        value = self._taken(scope, row * self._stride(columns, element) + column + self.base)
        place = columns.at(indices, scope, outer, indices.quotient(scope, column, ROWS))
        within = indices.remainder(scope, column, ROWS)
        place[-2], place[-1] = indices.quotient(scope, within, ROW_LANES), indices.remainder(scope, row, 2)
        lanes = {ROW_LANES: indices.remainder(scope, within, ROW_LANES), COLUMN_LANES: indices.quotient(scope, row, 2)}
        self.store(scope, value, place, lanes)
