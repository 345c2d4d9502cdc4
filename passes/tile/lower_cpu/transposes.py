"""Rectangles of elements in vectors: rows become columns by shuffles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects.cpu_kernel import ShuffleOp
from ....dialects.cpu_kernel.transposes import exchanged_lanes
from .vector_scope import VectorScope, lanes_of


def columns_of(scope: VectorScope, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """The columns of a rectangle, one for each lane: lane `i` of result `j` is lane `j` of row `i`. There is a power of
    two of rows, no more than lanes; lanes of a result that no row has are undefined."""
    lanes, count = lanes_of(rows[0].type), len(rows)
    vectors = _squares(scope, rows)
    return [
        vectors[lane % count] if lane < count else _turned(scope, vectors[lane % count], lane - lane % count)
        for lane in range(lanes)
    ]


def rows_of(scope: VectorScope, columns: Sequence[SSAValue], count: int) -> list[SSAValue]:
    """The `count` rows of a rectangle, a power of two of them: lane `j` of result `i` is lane `i` of column `j`.
    There is a column for each lane."""
    lanes = len(columns)
    vectors = list(columns)
    while len(vectors) > count:  # Columns that are far apart share vectors.
        half = len(vectors) // 2
        vectors = [_beside(scope, vectors[place], vectors[place + half], lanes, half) for place in range(half)]
    return _squares(scope, vectors)


def _squares(scope: VectorScope, rows: Sequence[SSAValue]) -> list[SSAValue]:
    """Each square of as many lanes as there are rows, transposed.

    Squares within squares: with each step, the squares off the diagonal change places (J. O. Eklundh, "A fast computer
    method for matrix transposing", 1972): n · log₂ n shuffles for n vectors.
    """
    vectors = list(rows)
    step = 1
    while step < len(vectors):
        for place in range(len(vectors)):
            if not place & step:
                pair = vectors[place], vectors[place + step]
                vectors[place], vectors[place + step] = exchanged(scope, pair, step)
        step *= 2
    return vectors


def exchanged(scope: VectorScope, pair: tuple[SSAValue, SSAValue], step: int) -> tuple[SSAValue, SSAValue]:
    """Two vectors, whose squares of `step` lanes off the diagonal have changed places."""
    first, second = exchanged_lanes(lanes_of(pair[0].type), step)
    return scope.insert(ShuffleOp.of(*pair, first)).result, scope.insert(ShuffleOp.of(*pair, second)).result


def _turned(scope: VectorScope, vector: SSAValue, by: int) -> SSAValue:
    """The vector with lane `by` as its first."""
    lanes = lanes_of(vector.type)
    return scope.insert(ShuffleOp.of(vector, vector, [(lane + by) % lanes for lane in range(lanes)])).result


def _beside(scope: VectorScope, first: SSAValue, second: SSAValue, lanes: int, at: int) -> SSAValue:
    """In each run of 2 · `at` lanes, the first `at` lanes of that run of one vector, then those of another."""
    picked = [lane if lane % (2 * at) < at else lanes + lane - at for lane in range(lanes)]
    return scope.insert(ShuffleOp.of(first, second, picked)).result
