"""tile-vectorize: move elements that lie side by side at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from ...dialects.axes import AxisKind
from ...dialects.layouts import SwizzleAttr, span_of, strides_of
from ...dialects.tile import AxisOp, ReadOp, StageOp, WriteOp
from ...dialects.types import byte_width, element_of, shape_of
from ...dialects.uop import KernelOp
from ...rewriting.linear import LinearForm
from .accesses import accesses_of, kernels_of, replace_access, value_of
from .linear import conjuncts, linear_form, negative_form

VECTOR_BYTES = (16, 8, 4)
"""What one instruction of a thread moves."""


class TileVectorizePass(ModulePass):
    """Set `vector N` on reads and writes of which a thread's elements lie side by side.

    The widest N such that N elements make 16, 8 or 4 bytes, a register dimension, the last if several serve, is a
    multiple of N, its elements lie one behind the other in memory, and every group of N of them is proved to begin at
    a multiple of N: in the linear form of the element's place all other coefficients are multiples of N, strides of
    rows included.
    A mask must be proved to be the same for the N elements: it does not vary along them, or compares at a
    multiple of N.

    Leaves alone: accesses for which that is not proved, those that have a width, and reads of matrices. Buffers begin
    at multiples of 16 bytes.
    """

    name = "tile-vectorize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            matrix = _matrix_axes(kernel)
            for access in accesses_of(kernel):
                if access.vector is not None or (isinstance(access, ReadOp) and access.ldmatrix is not None):
                    continue
                if (found := widest_vector(access, matrix)) is not None:
                    width, dimension = found
                    is_last = dimension == len(shape_of(value_of(access).type)) - 1
                    replace_access(access, vector=width, along=None if is_last else dimension)


def _matrix_axes(kernel: KernelOp) -> Collection[str]:
    """The axes that a matrix instruction goes over."""
    matrix = None if kernel.schedule is None else kernel.schedule.data.matrix
    return () if matrix is None else (matrix.row, matrix.column, matrix.reduced)


def widest_vector(access: ReadOp | WriteOp, matrix: Collection[str] = ()) -> tuple[int, int] | None:
    """The greatest number of elements that the access is proved to be able to move at once, and the register dimension
    that they lie along; None when it is one element.

    matrix: axes of a matrix instruction, whose fragments are runs of registers in the order of the dimensions: along
    them, only elements of the last are moved at once.
    """
    type, shape = cast("MemRefType[Attribute]", access.buffer.type), shape_of(value_of(access).type)
    if isinstance(type.layout, SwizzleAttr):
        return None
    size = byte_width(element_of(type))
    rank = len(shape)
    dimensions = [d for d in range(rank)[::-1] if d == rank - 1 or not _goes_along(access, d, matrix)]
    for width in (total // size for total in VECTOR_BYTES):
        for dimension in dimensions:
            if (
                width > 1
                and shape[dimension] % width == 0
                and _is_aligned(access, type, width, dimension)
                and _is_masked_alike(access, width, dimension)
            ):
                return width, dimension
    return None


def _goes_along(access: ReadOp | WriteOp, dimension: int, axes: Collection[str]) -> bool:
    """Whether registers of one of these axes may be what the access's elements along a dimension are."""
    if not axes:
        return False
    forms = [linear_form(index) for index in access.indices]
    along = [leaf.owner for form in forms if form is not None for leaf in form.terms if _varies(leaf, dimension)]
    return None in forms or any(not isinstance(op, AxisOp) or op.axis.axis.data in axes for op in along)


def _is_aligned(access: ReadOp | WriteOp, type: MemRefType[Attribute], width: int, dimension: int) -> bool:
    """Whether groups of `width` elements along a register dimension are aligned vectors of the buffer."""
    place = LinearForm({})
    for index, stride in zip(access.indices, strides_of(type), strict=True):
        form = linear_form(index)
        if form is not None:
            place += form * stride
        elif stride % width or _varies(index, dimension):
            return False
    staged = access.buffer.owner
    if isinstance(staged, StageOp) and staged.buffers.value.data > 1 and span_of(type) % width:
        return False  # the second of several buffers begins where the first ends
    return _is_run(place, width, dimension)


def _is_masked_alike(access: ReadOp | WriteOp, width: int, dimension: int) -> bool:
    """Whether the mask is proved to be the same for all elements of each group."""
    if access.mask is None:
        return True
    for condition in conjuncts(access.mask):
        if not _varies(condition, dimension):
            continue
        # A run that begins at a multiple of the width becomes 0 only where a group begins.
        form = negative_form(condition)
        if form is None or not _is_run(form, width, dimension):
            return False
    return True


def _is_run(form: LinearForm, width: int, dimension: int) -> bool:
    """Whether the form counts up by 1 along a register dimension, from multiples of `width`."""
    others = {leaf: c for leaf, c in form.terms.items() if not _varies(leaf, dimension)}
    along = [c for leaf, c in form.terms.items() if leaf not in others]
    return along == [1] and form.constant % width == 0 and all(c % width == 0 for c in others.values())


def _varies(value: SSAValue, dimension: int) -> bool:
    """Whether a value differs along a register dimension."""
    owner = value.owner
    if isinstance(owner, AxisOp) and owner.axis.axis_kind is not AxisKind.REGISTER:
        return False
    shape = shape_of(value.type)
    return bool(shape) and shape[dimension] > 1
