"""The columns of accumulators that lie side by side in a row of a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.atoms import COLUMN_LANES, ROW_LANES
from ....dialects.axes import AxisKind
from ....dialects.tile import AxisOp
from ....dialects.types import shape_of
from ....rewriting.linear import LinearForm
from .indices import is_multiple

ROWS = 16
"""Rows of an accumulator. Lane l ÷ 4 holds two of them, 8 apart."""

COLUMNS = 8
"""Columns of an accumulator. Lane l mod 4 holds two neighbours."""


@dataclass(frozen=True)
class Columns:
    """The axes along a row of the buffer, in which `count` accumulators lie side by side, a register dimension's.

    By itself 8 · register + 2 · lane + pair; where the product was transposed 16 · register + 8 · half + lane.

    dimension: that of the registers; −1 where a single transposed accumulator has none.
    rank: dimensions of the tile, of which the last two are the halves of 8 rows and the pairs of neighbours.
    """

    dimension: int
    rank: int
    count: int
    transposed: bool

    @staticmethod
    def of(index: LinearForm, shape: Sequence[int]) -> Columns | None:
        """The columns that the last index of a buffer counts; None where those are of no accumulators, or too few."""
        rank = len(shape)
        units = {_dimension(leaf): coefficient for leaf, coefficient in index.terms.items()}
        transposed = units.get(rank - 2) == ROW_LANES
        wanted = ROWS if transposed else COLUMNS
        dimension = next((d for d, unit in units.items() if unit == wanted and 0 <= d < rank - 2), -1)
        count = shape[dimension] if dimension >= 0 else 1
        if count & (count - 1) or count < (1 if transposed else 2):
            return None
        return Columns(dimension, rank, count, transposed)

    @property
    def length(self) -> int:
        """Elements of a row."""
        return (ROWS if self.transposed else COLUMNS) * self.count

    @property
    def elements(self) -> int:
        return ROWS * COLUMNS * self.count

    def coefficient(self, form: LinearForm, run: int) -> int | None:
        """How often a form counts columns, 0 or 1, if all the rest of it are multiples of a run then; else None."""
        found = dict.fromkeys(self._units().values(), 0)
        rest = LinearForm({}, form.constant)
        for leaf, coefficient in form.terms.items():
            unit = self._units().get(_axis(leaf))
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

    def _units(self) -> dict[tuple[bool, int], int]:
        """Axis → how many columns are from one place of it to the next."""
        if self.transposed:
            units = {(False, self.rank - 2): ROW_LANES, (True, ROW_LANES): 1}
            return units | ({(False, self.dimension): ROWS} if self.dimension >= 0 else {})
        return {(False, self.dimension): COLUMNS, (True, COLUMN_LANES): 2, (False, self.rank - 1): 1}


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
