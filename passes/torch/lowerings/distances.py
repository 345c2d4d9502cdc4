"""Distances between the rows of matrices."""

from __future__ import annotations

from xdsl.dialects.builtin import i64

from ....dialects.monoids import Number
from .lowering import Lowering
from .reductions import norm_along
from .registry import lowering
from .tensor import Tensor


@lowering("dist")
def dist(b: Lowering, self: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """The p-norm of the difference."""
    x, y = b.operands([self, other], b.compute)
    return norm_along(x - y, range(x.rank), float(p)).reshape(())


@lowering("_cdist_forward")
def cdist(b: Lowering, x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """Between each of the rows of x1, … × P × M, and of x2, … × R × M: … × P × R, leading axes broadcast.

    Always of the differences: the product form of the Euclidean distance, which `compute_mode` may ask for, cancels.
    """
    *leading, left, right = b.shape
    shape = (*leading, left, right, x1.shape[-1])
    x = x1.cast(b.compute).unsqueeze(-2).broadcast_to(shape)
    y = x2.cast(b.compute).unsqueeze(-3).broadcast_to(shape)
    return norm_along(x - y, [len(shape) - 1], p).reshape(b.shape)


@lowering("_pdist_forward")
def pdist(b: Lowering, self: Tensor, p: float = 2) -> Tensor:
    """Between the rows i < j of an N × M matrix, in the order of (i, j).

    Pair k has the row i whose pairs begin at or before k: i is the number of rows after the first that begin by k.
    """
    rows = self.shape[0]
    pairs = b.shape[0]
    if not pairs:
        return b.full((0,), 0, b.compute)
    pair = b.iota(pairs, i64)
    row = b.iota(rows - 1, i64)
    shape = (pairs, rows - 1)
    begun = _first_pair(row, rows).unsqueeze(0).broadcast_to(shape) <= pair.unsqueeze(1).broadcast_to(shape)
    first = begun.cast(i64).sum([1]).reshape((pairs,)) - 1
    second = pair - _first_pair(first, rows) + first + 1
    x = self.cast(b.compute)
    return norm_along(x.take(0, first) - x.take(0, second), [1], p).reshape(b.shape)


def _first_pair(row: Tensor, rows: int) -> Tensor:
    """The number of pairs of the rows before: Σ (rows − 1 − r) over r < row."""
    return (row * (2 * rows - 1 - row)).alu("floordiv", 2)
