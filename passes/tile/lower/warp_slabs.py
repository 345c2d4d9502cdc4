"""Slabs of which each warp reads a part of its own, as queries of attention are: a warp that copies what it reads waits
for nobody else."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.axes import WARP, AxisKind
from ....dialects.tile import AxisOp, ReadOp, StageOp
from ....dialects.types import shape_of
from ....rewriting.linear import LinearForm
from ..linear import bounds_of, linear_form
from .grid import Grid


def is_read_by_warps(grid: Grid, op: StageOp) -> bool:
    """Whether warp w reads nothing but rows of part w of the slab, of as many equal parts as there are warps."""
    warps, shape = grid.threads // WARP, shape_of(op.result.type)
    rows = next((dimension for dimension, extent in enumerate(shape) if extent > 1), None)
    if warps < 2 or grid.threads % WARP or rows is None or shape[rows] % warps:
        return False
    reads = [use.operation for use in op.result.uses]
    return all(
        isinstance(read, ReadOp) and _is_in_part(grid, read.indices[rows], shape[rows] // warps) for read in reads
    )


def _is_in_part(grid: Grid, index: SSAValue, rows: int) -> bool:
    """Whether an index is the warp's number times `rows`, and less than `rows` beside that."""
    form = linear_form(index)
    if form is None:
        return False
    warps = [leaf for leaf, coefficient in form.terms.items() if coefficient == rows and _is_number_of_warp(grid, leaf)]
    if len(warps) != 1:
        return False
    beside = bounds_of(form - LinearForm({warps[0]: rows}))
    return beside.low >= 0 and beside.high < rows


def _is_number_of_warp(grid: Grid, leaf: SSAValue) -> bool:
    axis = leaf.owner
    if not isinstance(axis, AxisOp) or axis.axis.axis_kind is not AxisKind.WARP:
        return False
    digit = grid.bind(axis)
    return digit.stride == WARP and digit.extent * WARP == grid.threads
