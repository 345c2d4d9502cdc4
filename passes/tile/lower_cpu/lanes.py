"""Which dimensions of register tiles the lanes of vectors go along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.ir import Attribute, Operation

from ....dialects.layouts import strides_of
from ....dialects.loop import ForOp
from ....dialects.tile import AxisOp, ReadOp, WriteOp
from ....dialects.traversal import ops_inside
from ....dialects.types import element_of, index, is_bool, is_memref, is_vector, shape_of
from ....dialects.uop import ExpandOp, KernelOp
from ..accesses import accesses_of, value_of
from ..linear import linear_form
from ..lower.indices import ZERO


def choose_lanes(kernel: KernelOp, most: int) -> tuple[Sequence[int], int]:
    """The dimensions that lanes go along, and how many a vector has, at most `most`; none where there are no register
    axes. Of a tile that has several of the dimensions, lanes go along the one that is named first.

    One is that which has the most of accesses. Others are those that no tile has together with it, and those where a
    tile that has both lanes may go along one of them only (`_precedes`).
    """
    axes = [op for op in kernel.body.block.ops if isinstance(op, AxisOp) and op.dimension is not None]
    extents = {axis.dimension: axis.extent for axis in axes if axis.dimension is not None}
    able = [dimension for dimension, extent in extents.items() if gcd(extent, most) > 1]
    if not able:
        return (), 1
    accesses = [_access(op, axes) for op in accesses_of(kernel)]
    runs = {dimension: sum(x.steps for x in accesses if dimension in x.runs) for dimension in able}
    able.sort(key=lambda dimension: (runs[dimension], gcd(extents[dimension], most), dimension), reverse=True)
    lanes = gcd(extents[able[0]], most)
    types = [result.type for op in ops_inside(kernel.body) for result in op.results]
    shapes = {shape_of(type) for type in types if is_vector(type)}
    chosen = able[:1]
    for dimension in able[1:]:
        if not runs[dimension] or extents[dimension] % lanes:
            continue
        others = [other for other in chosen if any(_has(shape, dimension) and _has(shape, other) for shape in shapes)]
        if all(_precedes(kernel, accesses, other, dimension) for other in others):
            chosen.append(dimension)
        elif all(_precedes(kernel, accesses, dimension, other) for other in others):
            chosen.insert(0, dimension)
    return chosen, lanes


@dataclass(frozen=True)
class _Access:
    """shape: that of what is read or written. steps: how often the loops around carry it out. runs: the dimensions
    along which its elements lie side by side."""

    shape: Sequence[int]
    steps: int
    runs: frozenset[int]


def _access(op: ReadOp | WriteOp, axes: Sequence[AxisOp]) -> _Access:
    type = op.buffer.type
    assert is_memref(type)
    place = ZERO
    for value, stride in zip(op.indices, strides_of(type), strict=True):
        form = linear_form(value)
        place += ZERO if form is None else form * stride
    runs = (axis.dimension for axis in axes if place.terms.get(axis.result) == 1)
    runs = frozenset(dimension for dimension in runs if dimension is not None)
    return _Access(shape_of(value_of(op).type), _steps_around(op), runs)


def _steps_around(op: Operation) -> int:
    """How often the loops around an op carry it out."""
    steps = 1
    while isinstance(parent := op.parent_op(), ForOp):
        steps *= parent.axis.extent.data
        op = parent
    return steps


def _precedes(kernel: KernelOp, accesses: Sequence[_Access], first: int, second: int) -> bool:
    """Whether tiles with both dimensions may have lanes along the first, and others along the second: as the scores of
    attention, which are sums along the first.

    Accesses of these tiles run along the first; and none is made of vectors along the second, which would be taken
    apart: only their places and masks are.
    """
    both = [access.runs for access in accesses if _has(access.shape, first) and _has(access.shape, second)]
    if not both or not all(first in runs and second not in runs for runs in both):
        return False
    for op in ops_inside(kernel.body):
        if isinstance(op, ExpandOp) and not _says_where(op.result.type):
            before, after = shape_of(op.input.type), shape_of(op.result.type)
            if _has(before, second) and not _has(before, first) and _has(after, first):
                return False
    return True


def _says_where(type: Attribute) -> bool:
    """Whether elements are indices, or conditions on them."""
    element = element_of(type)
    return element == index or is_bool(element)


def _has(shape: Sequence[int], dimension: int) -> bool:
    return bool(shape) and shape[dimension] > 1
