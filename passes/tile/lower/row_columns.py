"""The columns of accumulators that lie side by side in a row of a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ....dialects.atoms import COLUMN_LANES, ROW_LANES
from ....dialects.axes import AxisKind
from ....dialects.tile import AxisOp
from ....dialects.types import shape_of
from ....rewriting.linear import LinearForm
from .indices import Indices, is_multiple
from .scopes import Scope
from .values import Place

ROWS = 16
"""Rows of an accumulator. Lane l ÷ 4 holds two of them, 8 apart."""

COLUMNS = 8
"""Columns of an accumulator. Lane l mod 4 holds two neighbours."""


@dataclass(frozen=True)
class Columns:
    """The axes along a row of the buffer, in which `count` accumulators lie side by side.

    An accumulator's columns are 2 · lane + pair; where the product was transposed 8 · half + lane.

    dimensions: register dimensions whose places are accumulators side by side, and their extents; the last is the
    innermost. rank: dimensions of the tile, of which the last two are the halves of 8 rows and the pairs of neighbours.
    """

    dimensions: tuple[tuple[int, int], ...]
    rank: int
    transposed: bool

    @staticmethod
    def of(place: LinearForm, shape: Sequence[int]) -> Columns | None:
        """The columns that a place in a flat buffer counts; None where those are of no accumulators, or too few."""
        rank = len(shape)
        dimension_of = {c: dimension for leaf, c in place.terms.items() if (dimension := _dimension(leaf)) >= 0}
        transposed = dimension_of.get(ROW_LANES) == rank - 2
        dimensions: list[tuple[int, int]] = []
        length = ROWS if transposed else COLUMNS
        while 0 <= (dimension := dimension_of.get(length, -1)) < rank - 2:
            dimensions.insert(0, (dimension, shape[dimension]))
            length *= shape[dimension]
        columns = Columns(tuple(dimensions), rank, transposed)
        if transposed and columns.count & (columns.count - 1):
            return None
        return None if not transposed and columns.count < 2 else columns

    @property
    def count(self) -> int:
        return prod(extent for _, extent in self.dimensions)

    @property
    def length(self) -> int:
        """Elements of a row."""
        return (ROWS if self.transposed else COLUMNS) * self.count

    @property
    def elements(self) -> int:
        return ROWS * COLUMNS * self.count

    def number(self, place: Place) -> LinearForm:
        """The number of the accumulator at a place of the tile."""
        number = LinearForm({})
        for dimension, extent in self.dimensions:
            number = number * extent + place[dimension]
        return number

    def at(self, indices: Indices, scope: Scope, outer: Place, number: LinearForm) -> list[LinearForm]:
        """The place of the tile of an accumulator of this number among those at `outer`."""
        place = list(outer)
        for position, (dimension, extent) in reversed(list(enumerate(self.dimensions))):
            place[dimension] = indices.remainder(scope, number, extent) if position else number
            number = indices.quotient(scope, number, extent)
        return place

    def coefficient(self, form: LinearForm, run: int) -> int | None:
        """How often a form counts the columns of a run in an accumulator, 0 or 1, if all the rest of it are multiples
        of a run then; else None."""
        units = {(True, ROW_LANES): 1} if self.transposed else {(True, COLUMN_LANES): 2, (False, self.rank - 1): 1}
        found = dict.fromkeys(units.values(), 0)
        rest = LinearForm({}, form.constant)
        for leaf, coefficient in form.terms.items():
            unit = units.get(_axis(leaf))
            if unit is None:
                rest += LinearForm({leaf: coefficient})
            elif coefficient % unit:
                return None
            else:
                found[unit] = coefficient // unit
        counts = set(found.values())
        if counts == {0}:
            return 0
        return 1 if counts == {1} and is_multiple(rest, run) else None


def _axis(leaf: SSAValue) -> tuple[bool, int]:
    """(whether it is one of lanes, the extent of these or the register dimension); −1 for neither."""
    owner = leaf.owner
    if isinstance(owner, AxisOp) and owner.axis.axis_kind is AxisKind.LANE:
        return True, owner.extent
    return False, _dimension(leaf)


def _dimension(leaf: SSAValue) -> int:
    """The dimension of a register axis; −1 for others."""
    shape = shape_of(leaf.type)
    return max(range(len(shape)), key=lambda dimension: shape[dimension]) if shape else -1
